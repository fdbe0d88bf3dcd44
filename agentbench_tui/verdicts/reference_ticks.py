"""How times were spread in the execution that one is held against while it still goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.store.baselines import DEFAULT, baselines_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping
    from typing import Any

_COLUMNS = ("e2e_histogram", "ttft_histogram", "itl_histogram", "queue_histogram")


@dataclass(frozen=True, slots=True)
class Reference:
    """An earlier execution of the same agent on the same benchmark."""

    name: str
    """What it is, for a legend: `baseline run 01a2…`, `run before`."""
    histograms: Mapping[str, Histogram]
    """Column of `ticks` → all its ticks together, in ms."""


def reference_of(connection: sqlite3.Connection, execution: Mapping[str, Any]) -> Reference | None:
    """Of an execution, a row of `benchmark_executions`: the run, version or tag that was set as its
    baseline, else the newest complete one before it. None where there is none."""
    where, values, name = _wanted(connection, execution)
    row = connection.execute(
        "SELECT e.key, r.id FROM benchmark_executions e JOIN runs r ON r.key=e.run_key"
        " WHERE e.agent_id=? AND e.suite_id=? AND e.benchmark_id=? AND e.parameters=?"
        " AND e.simulated=? AND e.status='complete' AND e.run_key<>? AND e.created_at<?"
        + where  # ours
        + " ORDER BY e.created_at DESC, e.key DESC LIMIT 1",
        (
            execution["agent_id"], execution["suite_id"], execution["benchmark_id"],
            execution["parameters"], execution["simulated"], execution["run_key"],
            execution["created_at"], *values,
        ),
    ).fetchone()  # fmt: skip
    if row is None:
        return None
    found = {column: Histogram() for column in _COLUMNS}
    for tick in connection.execute(
        f"SELECT {', '.join(_COLUMNS)} FROM ticks WHERE execution_key=?",  # noqa: S608  # ours
        (row["key"],),
    ).fetchall():
        for column in _COLUMNS:
            if tick[column]:
                found[column].merge(Histogram.from_bytes(tick[column]))
    return Reference(name or f"run {row['id'][:13]} before", found)


def _wanted(
    connection: sqlite3.Connection, execution: Mapping[str, Any]
) -> tuple[str, tuple[str, ...], str]:
    """(condition, its values, name) of the baseline that was set; empty without one."""
    for one in baselines_of(connection, execution["agent_id"]):
        fits = one.suite_id in {"", execution["suite_id"]} and one.benchmark_id in {
            "",
            execution["benchmark_id"],
        }
        if one.name != DEFAULT or not fits:
            continue
        name = f"baseline {one.kind} {one.target[:13]}"
        if one.kind == "version":
            return " AND e.agent_version=?", (one.target,), name
        if one.kind == "run":
            return " AND r.id=?", (one.target,), name
        tagged = " AND EXISTS (SELECT 1 FROM json_each(r.tags) WHERE value=?)"
        return tagged, (one.target,), name
    return "", (), ""
