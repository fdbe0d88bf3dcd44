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


class EventPosition(NamedTuple):
    """The last `seq` of each followed table that a viewer has seen of a run."""

    failures: int = 0
    gauges: int = 0
    ticks: int = 0
    iterations: int = 0


_EVENT_COLUMNS = {
    "failures": "e.id AS execution_id, t.stage, t.kind, t.detail, t.at",
    "gauges": "t.at, t.scope, t.reading",
    "ticks": "e.id AS execution_id, t.at, t.observed, t.answered, t.correct, t.tokens, t.cost_usd",
    "iterations": "e.id AS execution_id, t.repeat, t.iteration, t.warmup, t.status, t.observed,"
    " t.answered, t.correct, t.asking_s",
}


def event_rows_after(
    connection: sqlite3.Connection, run_key: int, after: EventPosition, limit: int
) -> dict[str, list[Row]]:
    """Return followed table → its rows of a run after a position, in order, at most `limit`."""
    found = {}
    for table, columns in _EVENT_COLUMNS.items():
        join = (
            ""
            if table == "gauges"
            else " LEFT JOIN benchmark_executions e ON e.key=t.execution_key"
        )
        found[table] = rows_of(
            connection,
            f"SELECT t.seq, {columns} FROM {table} t{join}"  # noqa: S608  # constants alone
            " WHERE t.run_key=? AND t.seq>? ORDER BY t.seq LIMIT ?",
            (run_key, getattr(after, table), limit),
        )
    return found


def state_of_run(connection: sqlite3.Connection, run_key: int) -> tuple[Row, list[Row]]:
    """Return the status of a run, and how far each of its executions is.

    What a running execution has observed is the sum of its ticks, which are at most a second old.
    """
    (run,) = rows_of(
        connection, "SELECT id AS run_id, status, stop_reason FROM runs WHERE key=?", (run_key,)
    )
    executions = rows_of(
        connection,
        "WITH sums AS (SELECT execution_key, SUM(observed) AS observed, SUM(answered) AS answered,"
        "  SUM(correct) AS correct FROM ticks WHERE run_key=?1 GROUP BY execution_key)"
        " SELECT e.id AS execution_id, e.agent_id, e.benchmark_id, e.status, e.planned,"
        " MAX(e.observed, COALESCE(s.observed, 0)) AS observed,"
        " MAX(e.answered, COALESCE(s.answered, 0)) AS answered,"
        " MAX(e.correct, COALESCE(s.correct, 0)) AS correct"
        " FROM benchmark_executions e LEFT JOIN sums s ON s.execution_key=e.key"
        " WHERE e.run_key=?1 ORDER BY e.ordinal",
        (run_key,),
    )
    return run, executions


def reported_states(connection: sqlite3.Connection, run_key: int) -> list[tuple[int, float, str]]:
    """Return (execution key, seconds since 1970, JSON) of what the run last reported of each."""
    return connection.execute(
        "SELECT execution_key, updated_at, state FROM live WHERE run_key=?", (run_key,)
    ).fetchall()
