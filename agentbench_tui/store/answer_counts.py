"""Counts over the answers of an execution, from one pass over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agentbench_tui.store.database import reading

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path


class AnswerCounts(NamedTuple):
    """Counts of an execution's answers."""

    observed: int
    retries: int
    """Attempts after the first."""
    api_calls: int
    failed: int
    tokens_estimated: int
    """Answers whose output tokens were counted by agentbench."""
    costs_estimated: int
    """Answers whose cost is the price of such tokens."""
    input_unknown: int
    """Answers without a failure that have output tokens and no input tokens."""


def answer_counts(connection: sqlite3.Connection, execution_key: int) -> AnswerCounts:
    """Count the answers of an execution; all 0 without any."""
    row = connection.execute(
        "SELECT COUNT(*), TOTAL(attempt), TOTAL(api_calls), COUNT(failure_kind),"
        " TOTAL(tokens_estimated), TOTAL(tokens_estimated AND cost_usd IS NOT NULL"
        "  AND json_extract(answer, '$.cost_usd') IS NULL),"
        " TOTAL(failure_kind IS NULL AND output_tokens IS NOT NULL AND input_tokens IS NULL)"
        " FROM answers WHERE execution_key=?",
        (execution_key,),
    ).fetchone()
    return AnswerCounts(*map(int, row))


def failure_counts(connection: sqlite3.Connection, execution_key: int) -> dict[str, int]:
    """Return the number of answers that ended with each failure kind."""
    return {
        row[0]: row[1]
        for row in connection.execute(
            "SELECT failure_kind, COUNT(*) FROM answers WHERE execution_key=?"
            " AND failure_kind IS NOT NULL GROUP BY 1",
            (execution_key,),
        ).fetchall()
    }


def answers_stored(file: Path) -> int:
    """Return the number of answers in a database."""
    with reading(file) as connection:
        count: int = connection.execute("SELECT COUNT(*) FROM answers").fetchone()[0]
    return count
