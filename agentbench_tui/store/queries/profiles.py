"""Data for the profile of an execution."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator


class ProfiledAnswerRow(NamedTuple):
    """One answer with its resource use."""

    seq: int
    case_id: str
    waiting_ms: float
    e2e_ms: float | None
    ttft_ms: float | None
    failure_kind: str | None
    correct: int | None
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    reasoning_tokens: int | None
    spans: str | None
    """JSON."""


class ProcessUsage(NamedTuple):
    """Resource use of an agent's processes while it was called."""

    cpu_percent: float | None
    """Percent of one core; None unless known for every iteration."""
    memory_peak_mb: float | None


class RepeatTimes(NamedTuple):
    """Times of the answers of one repeat."""

    answers: int
    spent_ms: float
    """Sum of their end-to-end times."""
    lasted_ms: float
    """From the first that was sent to the last that ended."""


class PlannedGroup(NamedTuple):
    """The group of a run's plan that an execution belongs to."""

    kind: str
    concurrency: int
    executions: int


def profiled_answers(
    connection: sqlite3.Connection, execution_key: int, limit: int
) -> list[ProfiledAnswerRow]:
    """Return the first answers of an execution."""
    rows = connection.execute(
        "SELECT a.seq, c.case_id, a.waiting_ms, a.e2e_ms, a.ttft_ms, a.failure_kind,"
        " a.correct, a.input_tokens, a.output_tokens, a.cached_tokens, a.reasoning_tokens,"
        " json_extract(a.answer, '$.spans') AS spans"
        " FROM answers a JOIN cases c ON c.key=a.case_key"
        " WHERE a.execution_key=? ORDER BY a.seq LIMIT ?",
        (execution_key, limit),
    )
    return [*map(ProfiledAnswerRow._make, rows.fetchall())]


def spans_of_answers(connection: sqlite3.Connection, execution_key: int) -> Iterator[str]:
    """Yield the spans as JSON of each answer that has some, one at a time."""
    rows = connection.execute(
        "SELECT json_extract(answer, '$.spans') FROM answers WHERE execution_key=?"
        " AND json_extract(answer, '$.spans') IS NOT NULL",
        (execution_key,),
    )
    return (row[0] for row in rows)


def process_usage(connection: sqlite3.Connection, execution_key: int) -> ProcessUsage:
    """Return the resource use of the agent's processes over the measured iterations of an
    execution.
    """
    row = connection.execute(
        "SELECT CASE WHEN COUNT(cpu_seconds) = COUNT(*) AND SUM(asking_s) > 0"
        " THEN 100 * SUM(cpu_seconds) / SUM(asking_s) END, MAX(memory_peak_mb)"
        " FROM iterations WHERE execution_key=? AND NOT warmup",
        (execution_key,),
    ).fetchone()
    return ProcessUsage(*row)


def repeat_times(connection: sqlite3.Connection, execution_key: int) -> list[RepeatTimes]:
    """Return the times of each repeat of an execution."""
    rows = connection.execute(
        "SELECT COUNT(*), SUM(e2e_ms), MAX(sent_ms + e2e_ms) - MIN(sent_ms) FROM answers"
        " WHERE execution_key=? AND e2e_ms IS NOT NULL GROUP BY repeat",
        (execution_key,),
    )
    return [*map(RepeatTimes._make, rows.fetchall())]


def planned_group(
    connection: sqlite3.Connection, run_key: int, execution_id: str
) -> PlannedGroup | None:
    """Return the group of an execution in its run's plan."""
    row = connection.execute(
        "SELECT COALESCE(json_extract(g.value, '$.benchmark.kind'), 'task'),"
        " COALESCE(json_extract(g.value, '$.benchmark.concurrency'), 1),"
        " json_array_length(g.value, '$.executions')"
        " FROM runs r, json_each(r.plan, '$.groups') g, json_each(g.value, '$.executions') e"
        " WHERE r.key=? AND json_extract(e.value, '$.id')=?",
        (run_key, execution_id),
    ).fetchone()
    return None if row is None else PlannedGroup(*row)
