"""Results of experiments in the form that reporters and AgentFarm's tools read.

A reporter is a function `(results, output_dir)`, named as `python:module:function` or
`python:file.py:function`, or by an entry point of the group `agentbench.reporters`. It gets one
`ExperimentResult` for each execution and writes what it likes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from agentbench_tui.experiments.aggregate import named_numbers
from agentbench_tui.experiments.values import LEAST_FOR
from agentbench_tui.instruments.registry import PYTHON
from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.store.queries.experiments import iterations_of, measured_executions

if TYPE_CHECKING:
    import sqlite3

ENTRY_POINTS = "agentbench.reporters"

UNFINISHED = frozenset({"planned", "running", "interrupted"})
"""Statuses that `agentbench resume` continues."""

Reporter = Callable[[Sequence[Any], str], Any]
"""Gets the results and a folder; see `reports.custom` for what they are."""


@dataclass(slots=True)
class ExperimentResult:
    """One execution: a variant of an experiment at one point of a sweep."""

    name: str
    """Name of the experiment."""
    run_id: str
    variant: str
    parameters: dict[str, Any]
    iterations: dict[str, int]
    """`warmup` and `measured`, of each repeat."""
    metrics: dict[str, dict[str, float | None]]
    """`duration_s` and every number that iterations gave, by its path → mean, p50, p95, p99."""
    iteration_metrics: list[dict[str, Any]]
    """For each iteration: `index`, `repeat`, `status`, `duration_s`, `metrics`, `error`."""
    environment: dict[str, Any] = field(default_factory=dict)
    vcs: dict[str, Any] = field(default_factory=dict)
    artifacts: list[dict[str, str]] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    notes: str = ""
    status: str = "success"
    """`success` if every iteration was measured, else how it ended."""
    timed_alone: bool = True
    """Whether no instrument ran inside the timer; AgentFarm's own files do not say so."""


def results_of(
    connection: sqlite3.Connection, run_id: str, output_dir: Path
) -> list[ExperimentResult]:
    """Return every experiment of a run; artifacts are the files in its folder in `output_dir`."""
    results = []
    for row in measured_executions(connection, run_id):
        tags, notes, vcs, environment = map(
            _decoded, (row.tags, row.notes, row.vcs, row.environment)
        )
        benchmark = next(
            one
            for one in msgspec.json.decode(row.suite)["benchmarks"]
            if one["benchmark_id"] == row.benchmark_id
        )
        if benchmark["kind"] != "experiment":
            continue
        options = msgspec.json.decode(row.model_configuration).get("options", {})
        iterations = _iterations(connection, row.key)
        results.append(
            ExperimentResult(
                benchmark["experiment"],
                run_id,
                row.agent_id,
                {**msgspec.json.decode(row.parameters), **options},
                dict(benchmark["iterations"]),
                _metrics(iterations),
                iterations,
                environment or {},
                vcs or {},
                _artifacts(output_dir, f"{row.ordinal:03}-{row.agent_id}-"),
                tags or [],
                notes or "",
                "success" if row.status == "complete" else row.status,
            )
        )
    return results


def write_results(results: Sequence[ExperimentResult], output_dir: Path) -> list[Path]:
    """Write a JSON file for each finished result, never overwriting another: for a resumed run only
    new ones. Raises OSError.
    """
    output_dir.mkdir(parents=True, exist_ok=True)
    paths = []
    for place, one in enumerate(results):
        path = output_dir / f"{place:03}-{one.variant}.json"
        if path.exists() or one.status in UNFINISHED:
            continue
        with path.open("x", encoding="utf-8") as file:
            json.dump(asdict(one), file, indent=2, allow_nan=False)
        paths.append(path)
    return paths


def find_reporter(name: str, folder: Path) -> Reporter:
    """Return the reporter of that name; a `python:` file is relative to `folder`.

    Raises UsageError.
    """
    if name.startswith(PYTHON):
        from agentbench_tui.scoring.custom import load_callable

        return load_callable(name.removeprefix(PYTHON), folder)
    points = metadata.entry_points(group=ENTRY_POINTS)
    for point in points.select(name=name):
        try:
            found: Reporter = point.load()
        except Exception as error:
            raise UsageError(f"reporter `{name}` cannot be loaded: {error!r}") from error
        return found
    near = did_you_mean(name, points.names) or (
        f"; there are {', '.join(sorted(points.names))}" if points.names else "; none is installed"
    )
    raise UsageError(f"no reporter is called `{name}`{near}")


def _decoded(text: str | None) -> Any:
    if not text:
        return None
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _iterations(connection: sqlite3.Connection, key: int) -> list[dict[str, Any]]:
    found = []
    for repeat, iteration, failure, e2e_ms, answer, detail in iterations_of(connection, key):
        content = {} if answer is None else msgspec.json.decode(answer)
        instruments = (content.get("metadata") or {}).get("instruments") or {}
        found.append(
            {
                "index": iteration,
                "repeat": repeat,
                "status": "ok" if failure is None else failure,
                "duration_s": None if e2e_ms is None else e2e_ms / 1e3,
                "metrics": {**instruments, **(content.get("data") or {})},
                "error": detail,
            }
        )
    return found


def _metrics(iterations: Sequence[dict[str, Any]]) -> dict[str, dict[str, float | None]]:
    columns: dict[str, list[float]] = {}
    for one in iterations:
        if one["status"] != "ok":
            continue
        for name, value in [("duration_s", one["duration_s"]), *named_numbers(one["metrics"])]:
            columns.setdefault(name, []).append(value)
    return {name: _figures(values) for name, values in columns.items()}


def _figures(values: Sequence[float]) -> dict[str, float | None]:
    return {"mean": float(np.mean(values))} | {
        f"p{round(100 * share)}": float(np.quantile(values, share))
        if len(values) >= least
        else None
        for share, least in LEAST_FOR.items()
    }


def _artifacts(folder: Path, prefix: str) -> list[dict[str, str]]:
    return [
        {"name": path.name, "type": path.suffix.removeprefix("."), "path": str(path)}
        for path in sorted(folder.glob(f"{prefix}*/*"))
    ]
