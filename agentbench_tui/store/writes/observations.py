"""Observations of an execution: answers, their messages, attempts and failures, and iterations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from agentbench_tui.store.writes.rows import insert_into

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentbench_tui.store.writes.rows import RowWriter


class AnswerRow(NamedTuple):
    """One finished observation. Times in ms: `sent_ms` since the run began."""

    run_key: int
    execution_key: int
    case_key: int
    repeat: int
    iteration: int
    attempt: int
    failure_kind: str | None
    sent_ms: float
    e2e_ms: float | None
    waiting_ms: float
    ttft_ms: float | None
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    reasoning_tokens: int | None
    tokens_estimated: bool
    api_calls: int
    cost_usd: float | None
    credit: float | None
    correct: bool | None
    answer: str | None
    """JSON."""
    scores: str | None
    """JSON."""
    figures: str | None
    """Metric of the benchmark → number, JSON."""


class MessageRow(NamedTuple):
    """One message of an answer's transcript."""

    run_key: int
    execution_key: int
    case_key: int
    repeat: int
    iteration: int
    position: int
    role: str
    content: str
    tool_calls: str | None
    """JSON."""
    tool_call_id: str | None


class AttemptRow(NamedTuple):
    """One attempt that failed and was followed by another."""

    run_key: int
    execution_key: int
    case_key: int
    repeat: int
    iteration: int
    attempt: int
    failure_kind: str
    sent_ms: float
    e2e_ms: float
    retry_after_s: float | None
    partial: str | None
    """The answer so far, JSON."""


class FailureRow(NamedTuple):
    """A failure at a stage: start, warmup, retry (an attempt that is followed by another), answer,
    score or close.
    """

    run_key: int
    execution_key: int | None
    """None for a failure of the run itself."""
    case_key: int | None
    repeat: int | None
    iteration: int | None
    attempt: int | None
    stage: str
    kind: str
    detail: str
    at: str


class IterationRow(NamedTuple):
    """One stored pass over the cases."""

    repeat: int
    iteration: int
    warmup: bool
    status: str
    """ok, failed or stopped."""
    started_at: str
    asking_s: float
    observed: int
    answered: int
    correct: int
    cpu_seconds: float | None = None
    memory_peak_mb: float | None = None


_ANSWER = insert_into("answers", AnswerRow)
_MESSAGE = insert_into("messages", MessageRow)
_ATTEMPT = insert_into("attempts", AttemptRow)
_FAILURE = insert_into("failures", FailureRow)
_ITERATION = insert_into("iterations", IterationRow, "run_key", "execution_key")


def add_answer(writer: RowWriter, row: AnswerRow) -> None:
    """Queue a finished observation."""
    writer.add(_ANSWER, row)


def add_message(writer: RowWriter, row: MessageRow) -> None:
    """Queue a message."""
    writer.add(_MESSAGE, row)


def add_attempt(writer: RowWriter, row: AttemptRow) -> None:
    """Queue an attempt."""
    writer.add(_ATTEMPT, row)


def add_failure(writer: RowWriter, row: FailureRow) -> None:
    """Queue a failure."""
    writer.add(_FAILURE, row)


def add_iteration(writer: RowWriter, run_key: int, execution_key: int, row: IterationRow) -> None:
    """Queue an iteration."""
    writer.add(_ITERATION, (run_key, execution_key, *row))


class NewGrade(NamedTuple):
    """New grade of a stored answer, the one numbered `seq`."""

    credit: float | None
    correct: bool | None
    scores: str | None
    """JSON."""
    figures: str | None
    """Metric of the benchmark → number, JSON."""
    failure_kind: str | None
    seq: int
    run_key: int


def change_grade(writer: RowWriter, grade: NewGrade) -> None:
    """Replace the grade of a stored answer."""
    writer.add(
        "UPDATE answers SET credit=?, correct=?, scores=?, figures=?, failure_kind=?"
        " WHERE seq=? AND run_key=?",
        grade,
    )


def change_figures_of_failures(
    writer: RowWriter, execution_key: int, figures: str | None, excluded: Iterable[str]
) -> None:
    """Set the figures of observations that failed, other than by the `excluded` kinds."""
    writer.add(
        "UPDATE answers SET figures=? WHERE execution_key=? AND failure_kind IS NOT NULL"
        " AND failure_kind NOT IN (SELECT value FROM json_each(?))",
        (figures, execution_key, json.dumps([*excluded])),
    )


def remove_scoring_failures(writer: RowWriter, execution_key: int) -> None:
    """Remove the scoring failures of an execution."""
    writer.add("DELETE FROM failures WHERE execution_key=? AND stage='score'", (execution_key,))
