"""`agentbench.answers/1`: the observations of a run, one per row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.contracts.runs import AnswerLine, AnswersDocument
from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.store.queries.answers import answers_of, count_answers
from agentbench_tui.store.queries.runs import executions_of

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.store.queries.runs import Row
    from agentbench_tui.verdicts.evidence.place import Execution


def executions_wanted(
    connection: sqlite3.Connection, run: Row, agent: str | None, benchmark: str | None
) -> list[Execution]:
    """Return the executions of a run that are of this agent and this benchmark.

    Raises UsageError, with the nearest name, for one that the run does not have.
    """
    found = executions_of(connection, run["key"])
    for option, column, wanted in (
        ("agent", "agent_id", agent),
        ("benchmark", "benchmark_id", benchmark),
    ):
        if wanted is None:
            continue
        known = sorted({execution[column] for execution in found})
        if wanted not in known:
            raise UsageError(
                f"--{option} {wanted}: not in this run{did_you_mean(wanted, known)};"
                f" there are {', '.join(known)}"
            )
        found = [execution for execution in found if execution[column] == wanted]
    return found


def answers_document(
    connection: sqlite3.Connection,
    run: Row,
    *,
    agent: str | None,
    benchmark: str | None,
    wrong_only: bool,
    limit: int,
) -> AnswersDocument:
    """Return the first `limit` observations of a run, and how many more there are."""
    lines: list[AnswerLine] = []
    total = 0
    for execution in executions_wanted(connection, run, agent, benchmark):
        named = {"agent_id": execution["agent_id"], "benchmark_id": execution["benchmark_id"]}
        total += count_answers(connection, execution["key"], wrong_only=wrong_only)
        room = limit - len(lines)
        found = answers_of(connection, execution["key"], wrong_only=wrong_only, limit=room)
        lines += msgspec.convert([{**named, **answer} for answer in found], list[AnswerLine])
    return AnswersDocument(run_id=run["id"], answers=tuple(lines), more=total - len(lines))
