"""Iterations of executions: their totals, and those that were never closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3


class IterationTotals(NamedTuple):
    """Totals over measured iterations, without warm-up."""

    asking_s: float
    cpu_seconds: float | None
    """None unless known for every iteration, since a partial sum would be misleading."""
    memory_peak_mb: float | None


class OpenIteration(NamedTuple):
    """Answers of an iteration without a row in `iterations`."""

    execution_key: int
    repeat: int
    iteration: int
    missing: int
    """Number of missing answers: the newest of the iteration."""
    started_at: str
    """When the execution started."""


class AnswerTime(NamedTuple):
    """When an answer was in flight, in ms since the run began, and how it ended."""

    sent_ms: float
    e2e_ms: float
    """0 if unknown."""
    answered: bool
    correct: bool


_TOTALS = (
    "TOTAL(asking_s), CASE WHEN COUNT(cpu_seconds) = COUNT(*) THEN SUM(cpu_seconds) END,"
    " MAX(memory_peak_mb) FROM iterations WHERE execution_key=? AND NOT warmup"
)


def iteration_totals(connection: sqlite3.Connection, execution_key: int) -> IterationTotals:
    """Return the totals of an execution's iterations."""
    row = connection.execute(f"SELECT {_TOTALS}", (execution_key,)).fetchone()
    return IterationTotals(*row)


def totals_by_repeat(
    connection: sqlite3.Connection, execution_key: int
) -> dict[int, IterationTotals]:
    """Return the iteration totals of each repeat."""
    rows = connection.execute(f"SELECT repeat, {_TOTALS} GROUP BY repeat", (execution_key,))
    return {repeat: IterationTotals(*totals) for repeat, *totals in rows.fetchall()}


def open_iterations(connection: sqlite3.Connection, run_key: int) -> list[OpenIteration]:
    """Return the iterations of a run that a killed process could not close."""
    rows = connection.execute(
        "SELECT a.execution_key, a.repeat, a.iteration, COUNT(*) - COALESCE((SELECT"
        "  SUM(i.observed) FROM iterations i WHERE NOT i.warmup AND i.repeat=a.repeat"
        "  AND i.execution_key=a.execution_key AND i.iteration=a.iteration), 0) AS missing,"
        " e.start_time FROM answers a JOIN benchmark_executions e ON e.key=a.execution_key"
        # A rerun takes over the iterations of the earlier run last, and only then plans anything.
        " WHERE a.run_key=? AND (e.replaces IS NULL OR e.planned > 0)"
        " GROUP BY 1, 2, 3 HAVING missing > 0",
        (run_key,),
    )
    return [*map(OpenIteration._make, rows.fetchall())]


def newest_answer_times(
    connection: sqlite3.Connection, open_iteration: OpenIteration
) -> list[AnswerTime]:
    """Return the times of the answers that an open iteration lacks, newest first."""
    key, repeat, iteration, missing, _ = open_iteration
    rows = connection.execute(
        "SELECT sent_ms, COALESCE(e2e_ms, 0), failure_kind IS NULL, correct IS 1 FROM answers"
        " WHERE execution_key=? AND repeat=? AND iteration=? ORDER BY seq DESC LIMIT ?",
        (key, repeat, iteration, missing),
    )
    return [*map(AnswerTime._make, rows.fetchall())]


def counts_of_iterations(connection: sqlite3.Connection, execution_key: int) -> tuple[int, int]:
    """Return (observed, answered) over all iterations of an execution."""
    observed, answered = connection.execute(
        "SELECT CAST(TOTAL(observed) AS INTEGER), CAST(TOTAL(answered) AS INTEGER)"
        " FROM iterations WHERE execution_key=?",
        (execution_key,),
    ).fetchone()
    return observed, answered
