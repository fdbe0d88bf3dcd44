"""Readings of the gauges of a run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from agentbench_tui.store.queries.runs import Row, rows_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator


class GaugeSummaryRow(NamedTuple):
    """Summary of one numeric field of a scope during an execution; a row of `gauge_summaries`."""

    execution_key: int
    scope: str
    field: str
    low: float
    mean: float
    high: float
    n: int


def summarized_gauges(
    connection: sqlite3.Connection, execution_key: int, agent_id: str
) -> list[GaugeSummaryRow]:
    """Return min, mean and max of every numeric gauge during the execution, without the numbers
    that identify a GPU and its slice.
    """
    rows = connection.execute(
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
    )
    return [*map(GaugeSummaryRow._make, rows.fetchall())]


def gauges_of(connection: sqlite3.Connection, execution_key: int) -> dict[str, dict[str, Row]]:
    """Return scope → field → {low, mean, high, n} during the execution."""
    found: dict[str, dict[str, Row]] = {}
    for row in rows_of(
        connection,
        "SELECT scope, field, low, mean, high, n FROM gauge_summaries WHERE execution_key=?"
        " ORDER BY scope, field",
        (execution_key,),
    ):
        found.setdefault(row.pop("scope"), {})[row.pop("field")] = row
    return found


class MemoryPeak(NamedTuple):
    """Peak memory of an agent's processes."""

    high_mb: float | None
    """None without a reading."""
    readings: int


def memory_peak_of_agent(
    connection: sqlite3.Connection, execution_key: int, agent_id: str
) -> MemoryPeak:
    """Return the peak memory of an agent's processes during an execution."""
    row = connection.execute(
        "SELECT MAX(g.reading ->> '$.rss_mb'), COUNT(g.reading ->> '$.rss_mb')"
        " FROM benchmark_executions e JOIN gauges g ON g.run_key=e.run_key"
        " AND g.scope='agent:' || ? AND g.at >= unixepoch(e.start_time)"
        " AND g.at <= unixepoch(COALESCE(e.end_time, 'now')) + 1 WHERE e.key=?",
        (agent_id, execution_key),
    ).fetchone()
    return MemoryPeak(*row)


def memory_of_agent(connection: sqlite3.Connection, execution_id: str) -> list[tuple[float, float]]:
    """Return (seconds since 1970, MB) of every memory sample of the agent's processes during an
    execution.
    """
    rows = connection.execute(
        "SELECT g.at, g.reading ->> '$.rss_mb' FROM benchmark_executions e"
        " JOIN gauges g ON g.run_key=e.run_key AND g.scope='agent:' || e.agent_id"
        " AND g.at >= unixepoch(e.start_time)"
        " AND g.at <= unixepoch(COALESCE(e.end_time, 'now')) + 1"
        " WHERE e.id=? AND g.reading ->> '$.rss_mb' IS NOT NULL ORDER BY g.at",
        (execution_id,),
    )
    return [(row[0], row[1]) for row in rows.fetchall()]


def gauge_readings(
    connection: sqlite3.Connection, run_key: int, fields: tuple[str, ...]
) -> Iterator[tuple[float, str, str, float]]:
    """Time (seconds since 1970), scope, field and value of each reading, in order of time."""
    rows = connection.execute(
        "SELECT g.at, g.scope, r.key, r.value FROM gauges g JOIN json_each(g.reading) r"
        " ON r.type IN ('integer', 'real') AND r.key IN (SELECT value FROM json_each(?))"
        " WHERE g.run_key=? ORDER BY g.seq",
        (json.dumps(fields), run_key),
    )
    return iter(rows)


def readings_after(
    connection: sqlite3.Connection, run_key: int, after: int
) -> list[tuple[int, float, str, str]]:
    """Return (number, seconds since 1970, scope, JSON) of the readings of the host and its GPUs
    that are numbered above `after`, in order.
    """
    return connection.execute(
        "SELECT seq, at, scope, reading FROM gauges WHERE run_key=? AND seq>?"
        " AND (scope='host' OR scope LIKE 'gpu:%') ORDER BY seq",
        (run_key, after),
    ).fetchall()
