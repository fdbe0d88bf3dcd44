"""The latest executions everywhere: what a leaderboard of a store with many runs begins with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3

Row = dict[str, Any]

_LATEST = (
    "SELECT e.*, v.fingerprint, r.id AS run_id FROM ("
    # Of the row with the greatest time, and of equal ones the greatest key, SQLite gives run_key.
    " SELECT run_key, agent_id, agent_version, simulated, suite_id, benchmark_id, parameters,"
    " MAX(printf('%s %012d', created_at, key)) FROM benchmark_executions WHERE status='complete'"
    " AND (:suite IS NULL OR suite_id=:suite) AND (:since IS NULL OR created_at>:since)"
    " AND (:benchmark IS NULL OR benchmark_id=:benchmark) AND (:run IS NULL OR run_key=:run)"
    " GROUP BY agent_id, agent_version, simulated, suite_id, benchmark_id, parameters) n"
    # CROSS and + keep SQLite to this order: few runs, and the executions of each by its key.
    " CROSS JOIN benchmark_executions e ON e.run_key=n.run_key AND e.status='complete'"
    " AND +e.agent_id=n.agent_id AND e.agent_version=n.agent_version AND e.simulated=n.simulated"
    " AND +e.suite_id=n.suite_id AND e.benchmark_id=n.benchmark_id AND e.parameters=n.parameters"
    " AND (:since IS NULL OR e.created_at>:since)"
    " JOIN runs r ON r.key=e.run_key LEFT JOIN environments v ON v.hash=r.environment_hash"
    " ORDER BY e.created_at, e.key"
)


def latest_executions(
    connection: sqlite3.Connection,
    *,
    suite: str | None = None,
    since: str | None = None,
    benchmark: str | None = None,
    run_key: int | None = None,
) -> list[Row]:
    """Of each version of an agent, on each benchmark and point, the complete executions of the
    latest run in which there are any; the oldest first.

    Rows as of `selection.executions_where`. `since`: made after this time (UTC, ISO 8601) only;
    `run_key`: only those of this run.
    """
    values = {"suite": suite, "since": since, "benchmark": benchmark, "run": run_key}
    cursor = connection.execute(_LATEST, values)
    names = [column[0] for column in cursor.description]
    rows = [dict(zip(names, tuple(row), strict=True)) for row in cursor.fetchall()]
    for row in rows:
        row["parameters"] = json.loads(row["parameters"])
    return rows
