"""Result files of AgentFarm's benchmark runner; every measured iteration is a sample.

Its own aggregates are not used: they are nearest-rank with rounding to even, and the iterations
say more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.files.table_file import Table

if TYPE_CHECKING:
    from pathlib import Path

_INSTRUMENTS = {"psutil": "up to 10 times", "cprofile": "1.4 times"}
"""Instruments that AgentFarm's timer includes, and that therefore add to short times."""


def is_agentfarm_result(content: Mapping[str, Any]) -> bool:
    """Return whether a JSON object is a result of AgentFarm."""
    return "iteration_metrics" in content


def result_table(
    path: Path, content: Mapping[str, Any], chosen: Iterable[str]
) -> tuple[Table, tuple[str, ...]]:
    """Return the iterations as rows (`iteration`, `benchmark`, `duration_s`, and chosen metrics)
    with remarks. Raises UsageError.
    """
    iterations = content["iteration_metrics"]
    if not isinstance(iterations, list) or not iterations:
        raise UsageError(f"{path}: holds no iterations; its aggregates alone cannot be compared")
    wanted = list(chosen)
    columns: dict[str, list[Any]] = {name: [] for name in ("case", "duration_s", *wanted)}
    for place, iteration in enumerate(iterations):
        if not isinstance(iteration, dict):
            raise UsageError(f"{path}: iteration_metrics.{place} is no object")
        measured = iteration.get("metrics")
        of_iteration = measured if isinstance(measured, dict) else {}
        # No two files share an iteration, so that none is paired.
        columns["case"].append(f"{path}: iteration {iteration.get('index', place)}")
        columns["duration_s"].append(iteration.get("duration_s"))
        for name in wanted:
            columns[name].append(of_iteration.get(name))
    missing = [name for name in wanted if all(cell is None for cell in columns[name])]
    if missing:
        raise UsageError(f"{path}: no iteration has '{missing[0]}'{_others(iterations)}")
    benchmark = content.get("name")
    columns["benchmark"] = [benchmark if isinstance(benchmark, str) else ""] * len(iterations)
    table = Table(path, tuple(columns), columns, list(range(1, len(iterations) + 1)))
    return table, tuple(f"{path}: {one}" for one in _notes(content, len(iterations)))


def _others(iterations: list[dict[str, Any]]) -> str:
    measured = iterations[0].get("metrics")
    numbers = [
        name
        for name, value in (measured.items() if isinstance(measured, dict) else ())
        if isinstance(value, int | float)
    ]
    return f"; they have {', '.join(numbers[:12])}" if numbers else ""


def _notes(content: Mapping[str, Any], iterations: int) -> list[str]:
    said = []
    if iterations > 1:
        said.append(f"{iterations} iterations of one process share its luck: run it several times")
    if content.get("timed_alone") is True:  # by agentbench, whose profilers have their own passes
        return said
    kinds = {
        str(artifact.get("type", "")).lower() + str(artifact.get("name", "")).lower()
        for artifact in content.get("artifacts") or ()
        if isinstance(artifact, dict)
    }
    for name, factor in _INSTRUMENTS.items():
        if any(name in kind for kind in kinds):
            said.append(f"timed with {name} inside, which makes short times {factor} as long")
    return said
