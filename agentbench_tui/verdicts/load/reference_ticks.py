"""How times were spread in the execution that one is held against while it still goes on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.store.queries.baselines import DEFAULT, baselines_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from agentbench_tui.store.queries.baselines import Baseline

_LOOKED_AT = 500
"""Earlier executions among which a baseline is looked for."""
_COLUMNS = ("e2e_histogram", "ttft_histogram", "itl_histogram", "queue_histogram")


@dataclass(frozen=True, slots=True)
class Reference:
    """An earlier execution of the same agent on the same benchmark."""

    name: str
    """What it is, for a legend: `baseline run 01a2…`, `run before`."""
    histograms: Mapping[str, Histogram]
    """Column of `ticks` → all its ticks together, in ms."""


def reference_of(connection: sqlite3.Connection, execution_key: int) -> Reference | None:
    """Of an execution: the run, version or tag that was set as its baseline, else the newest
    complete one before it. None where there is none."""
    execution = connection.execute(
        "SELECT * FROM benchmark_executions WHERE key=?", (execution_key,)
    ).fetchone()
    baseline = _baseline(connection, execution)
    rows = connection.execute(
        "SELECT e.key, e.agent_version, r.id, r.tags FROM benchmark_executions e"
        " JOIN runs r ON r.key=e.run_key WHERE e.agent_id=? AND e.suite_id=? AND e.benchmark_id=?"
        " AND e.parameters=? AND e.simulated=? AND e.status='complete' AND e.run_key<>?"
        " AND e.created_at<? ORDER BY e.created_at DESC, e.key DESC LIMIT ?",
        (
            execution["agent_id"],
            execution["suite_id"],
            execution["benchmark_id"],
            execution["parameters"],
            execution["simulated"],
            execution["run_key"],
            execution["created_at"],
            1 if baseline is None else _LOOKED_AT,
        ),
    ).fetchall()
    for row in rows:
        if baseline is None:
            return Reference(f"run {row['id'][:13]} before", _histograms(connection, row["key"]))
        if _is_meant(baseline, row):
            name = f"baseline {baseline.kind} {baseline.target[:13]}"
            return Reference(name, _histograms(connection, row["key"]))
    return None


def _histograms(connection: sqlite3.Connection, execution_key: int) -> dict[str, Histogram]:
    found = {column: Histogram() for column in _COLUMNS}
    for tick in connection.execute(
        f"SELECT {', '.join(_COLUMNS)} FROM ticks WHERE execution_key=?",  # noqa: S608  # ours
        (execution_key,),
    ):
        for column in _COLUMNS:
            if tick[column]:
                found[column].merge(Histogram.from_bytes(tick[column]))
    return found


def _baseline(connection: sqlite3.Connection, execution: sqlite3.Row) -> Baseline | None:
    """The default one that was set for this agent here."""
    for one in baselines_of(connection, execution["agent_id"]):
        if (
            one.name == DEFAULT
            and one.suite_id in {"", execution["suite_id"]}
            and one.benchmark_id in {"", execution["benchmark_id"]}
        ):
            return one
    return None


def _is_meant(baseline: Baseline, row: sqlite3.Row) -> bool:
    if baseline.kind == "version":
        return bool(row["agent_version"] == baseline.target)
    if baseline.kind == "run":
        return bool(row["id"] == baseline.target)
    return baseline.target in json.loads(row["tags"])
