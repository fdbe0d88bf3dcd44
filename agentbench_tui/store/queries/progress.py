"""Progress of a run: counts, precision, and waits requested by servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agentbench_tui.store.queries.runs import Row, by_clock, rows_of

if TYPE_CHECKING:
    import sqlite3


def progress_of_run(connection: sqlite3.Connection, run_id: str) -> Row | None:
    """Return the progress of a run: planned, stored, answered and right observations, without
    load and stress, and how often a server asked to wait; None if unknown.
    """
    found = rows_of(
        connection,
        "SELECT r.status,"  # noqa: S608  # ours
        f" TOTAL(e.planned) FILTER (WHERE NOT {by_clock(connection)}) AS planned,"
        " (SELECT COUNT(*) FROM answers WHERE run_key=r.key) AS observed,"
        " (SELECT COUNT(*) FROM answers WHERE run_key=r.key AND failure_kind IS NULL) AS answered,"
        " (SELECT COUNT(*) FROM answers WHERE run_key=r.key AND correct) AS correct,"
        " (SELECT COUNT(*) FROM attempts WHERE run_key=r.key"
        "   AND (failure_kind='rate_limited' OR retry_after_s IS NOT NULL))"
        " + (SELECT COUNT(*) FROM answers WHERE run_key=r.key AND failure_kind='rate_limited')"
        " AS asked_to_wait"
        " FROM runs r LEFT JOIN benchmark_executions e ON e.run_key=r.key WHERE r.id=?"
        " GROUP BY r.key",
        (run_id,),
    )
    if not found:
        return None
    found[0]["planned"] = int(found[0]["planned"])
    return found[0]


def outlooks_of_run(connection: sqlite3.Connection, run_id: str) -> list[Row]:
    """Return the current precision of running executions, in words:

    `agent_id`, `benchmark_id`, `outlook`, if known.
    """
    return rows_of(
        connection,
        "SELECT e.agent_id, e.benchmark_id, json_extract(l.state, '$.outlook') AS outlook"
        " FROM runs r JOIN benchmark_executions e ON e.run_key=r.key"
        " JOIN live l ON l.execution_key=e.key WHERE r.id=? AND e.status='running'"
        " AND json_extract(l.state, '$.outlook') <> '' ORDER BY e.ordinal",
        (run_id,),
    )


def pauses_of_run(connection: sqlite3.Connection, run_id: str) -> list[Row]:
    """Return the executions that wait because their server asked for it: `agent_id`, and `pause_s`
    that remained when the run last wrote its state.
    """
    return rows_of(
        connection,
        "SELECT e.agent_id, MAX(json_extract(l.state, '$.pause_s')) AS pause_s"
        " FROM runs r JOIN benchmark_executions e ON e.run_key=r.key"
        " JOIN live l ON l.execution_key=e.key WHERE r.id=? AND e.status='running'"
        " AND json_extract(l.state, '$.pause_s') > 0 GROUP BY e.agent_id ORDER BY e.ordinal",
        (run_id,),
    )


class RunningExecution(NamedTuple):
    """A running execution."""

    execution_id: str
    agent_id: str
    state: str
    """JSON."""
    command: str | None
    """That started the run."""


def live_states(connection: sqlite3.Connection, run_id: str) -> list[RunningExecution]:
    """Return the last written state of a run's running executions."""
    rows = connection.execute(
        "SELECT e.id, e.agent_id, l.state, r.command FROM live l JOIN benchmark_executions e"
        " ON e.key=l.execution_key JOIN runs r ON r.key=e.run_key WHERE r.id=?",
        (run_id,),
    )
    return [*map(RunningExecution._make, rows.fetchall())]
