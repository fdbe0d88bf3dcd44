"""Runs and reports of stress scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3


class StressRunRow(NamedTuple):
    """A run with the report of a stress scenario."""

    run_id: str
    status: str
    started_at: str
    scenarios: int
    agents: str
    """Ids, with a comma between them."""


def newest_stress_runs(connection: sqlite3.Connection, limit: int) -> list[StressRunRow]:
    """Return runs with the report of a stress scenario, newest first."""
    rows = connection.execute(
        "SELECT r.id AS run_id, r.status, r.started_at, COUNT(*) AS scenarios,"
        " (SELECT GROUP_CONCAT(agent_id) FROM (SELECT DISTINCT agent_id"
        "  FROM benchmark_executions WHERE run_key=r.key ORDER BY agent_id)) AS agents"
        " FROM (SELECT DISTINCT run_key FROM stress_reports ORDER BY run_key DESC LIMIT ?) k"
        " JOIN runs r ON r.key=k.run_key JOIN stress_reports s ON s.run_key=r.key"
        " GROUP BY r.key ORDER BY r.key DESC",
        (limit,),
    )
    return [*map(StressRunRow._make, rows.fetchall())]


class ScenarioState(NamedTuple):
    """Current state of a scenario's execution."""

    key: int
    agent_id: str
    benchmark_id: str
    document: str | None
    """Its report so far, JSON."""
    state: str | None
    """Its live row, JSON."""


def report_document(connection: sqlite3.Connection, execution_key: int) -> str | None:
    """Return the last stored report of an execution as JSON; None if there is none."""
    row = connection.execute(
        "SELECT document FROM stress_reports WHERE execution_key=?", (execution_key,)
    ).fetchone()
    return None if row is None else str(row[0])


def scenario_states(connection: sqlite3.Connection, run_id: str) -> list[ScenarioState]:
    """Return the executions of a run, in order."""
    rows = connection.execute(
        "SELECT e.key, e.agent_id, e.benchmark_id, s.document, l.state FROM benchmark_executions e"
        " LEFT JOIN stress_reports s ON s.execution_key=e.key"
        " LEFT JOIN live l ON l.execution_key=e.key"
        " WHERE e.run_key=(SELECT key FROM runs WHERE id=?) ORDER BY e.ordinal",
        (run_id,),
    )
    return [*map(ScenarioState._make, rows.fetchall())]
