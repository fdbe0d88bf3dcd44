"""What the gauges of a run come to for one of its executions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentbench_tui.engine.task.aggregate import MetricValue

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

Row = tuple[Any, ...]
"""Of `gauge_summaries`: the execution's key, scope, field, low, mean, high, n."""


def gauge_rows(connection: sqlite3.Connection, execution_key: int, agent_id: str) -> list[Row]:
    """Min, mean and max of every numeric gauge while the execution went on.

    The numbers of a GPU and of its slice are names, not measurements.
    """
    return connection.execute(
        "SELECT e.key, g.scope, r.key, MIN(r.value), AVG(r.value), MAX(r.value), COUNT(*)"
        " FROM benchmark_executions e"
        " JOIN gauges g ON g.run_key=e.run_key"
        " AND g.at >= unixepoch(e.start_time)"
        " AND g.at <= unixepoch(COALESCE(e.end_time, 'now')) + 1"
        " JOIN json_each(g.reading) r ON r.type IN ('integer', 'real')"
        " AND r.key NOT IN ('index', 'slice')"
        " WHERE e.key=? AND (g.scope NOT LIKE 'agent:%' OR g.scope = 'agent:' || ?)"
        " GROUP BY g.scope, r.key",
        (execution_key, agent_id),
    ).fetchall()


def gpu_usage(rows: Iterable[Row]) -> MetricValue | None:
    """`gpu_usage_percent`; None where no GPU was read."""
    found = [
        (mean, n)
        for _, scope, field, _, mean, _, n in rows
        if scope.startswith("gpu:") and field == "utilisation_percent"
    ]
    if not found:
        return None
    value = sum(mean for mean, _ in found) / len(found)
    return MetricValue("gpu_usage_percent", value, "%", n=sum(n for _, n in found))


def write_gauges(connection: sqlite3.Connection, execution_key: int, rows: Iterable[Row]) -> None:
    """Instead of those that the execution had."""
    connection.execute("DELETE FROM gauge_summaries WHERE execution_key=?", (execution_key,))
    connection.executemany(
        "INSERT INTO gauge_summaries (execution_key, scope, field, low, mean, high, n)"
        " VALUES (?,?,?,?,?,?,?)",
        rows,
    )
