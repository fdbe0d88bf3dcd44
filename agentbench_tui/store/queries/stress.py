"""Runs and reports of stress scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3


class StressRun(NamedTuple):
    """A run with the report of a stress scenario."""

    run_id: str
    status: str
    started_at: str
    scenarios: int
    agents: str
    """Ids, with a comma between them."""


def newest_stress_runs(connection: sqlite3.Connection, limit: int) -> list[StressRun]:
    """Runs that have the report of a stress scenario, the newest first."""
    rows = connection.execute(
        "SELECT r.id AS run_id, r.status, r.started_at, COUNT(*) AS scenarios,"
        " (SELECT GROUP_CONCAT(agent_id) FROM (SELECT DISTINCT agent_id"
        "  FROM benchmark_executions WHERE run_key=r.key ORDER BY agent_id)) AS agents"
        " FROM (SELECT DISTINCT run_key FROM stress_reports ORDER BY run_key DESC LIMIT ?) k"
        " JOIN runs r ON r.key=k.run_key JOIN stress_reports s ON s.run_key=r.key"
        " GROUP BY r.key ORDER BY r.key DESC",
        (limit,),
    )
    return [*map(StressRun._make, rows.fetchall())]
