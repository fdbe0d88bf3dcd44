"""Reruns: which observations of an execution may be asked again, and what a rerun takes over.

An execution of a rerun names the execution that it continues, in `replaces` or `attempts_after` of
its row (see migration 11).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from agentbench_tui.store.writes.observations import (
    AnswerRow,
    AttemptRow,
    FailureRow,
    IterationRow,
    MessageRow,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Sequence

Place = tuple[int, int, int]
"""(case key, repeat, iteration)."""

PAGE = 1000
"""Answers in one transaction: a few tens of milliseconds."""
NOT_REPLACED = (
    "NOT EXISTS (SELECT 1 FROM benchmark_executions later"
    " WHERE later.replaces=e.id AND later.status='complete')"
)
"""SQL condition: no complete execution of a rerun holds the answers of execution `e`, so that no
history counts an answer twice."""


class StoredObservation(NamedTuple):
    """One observation of an execution, as far as a rerun chooses by it."""

    case_key: int
    case_id: str
    repeat: int
    iteration: int
    failure_kind: str | None
    correct: bool


class Spent(NamedTuple):
    """What one stored observation used."""

    execution_key: int
    place: Place
    cost_usd: float
    tokens: int


class Outcomes(NamedTuple):
    """How observations ended."""

    observed: int
    answered: int
    correct: int


def observations_of(
    connection: sqlite3.Connection, execution_key: int, *, drafted: bool = False
) -> list[StoredObservation]:
    """The observations of an execution, in the order of its cases; with `drafted` as a
    `store.draft.Draft` of its run has them, if the connection is that of one."""
    answers = "answers" if drafted else "main.answers"
    rows = connection.execute(
        "SELECT c.key, c.case_id, a.repeat, a.iteration, a.failure_kind, a.correct IS 1"  # noqa: S608  # ours
        f" FROM {answers} a JOIN cases c ON c.key=a.case_key WHERE a.execution_key=?"
        " ORDER BY a.repeat, a.iteration, c.key",
        (execution_key,),
    )
    return [*map(StoredObservation._make, rows.fetchall())]


def costs_of_answers(
    connection: sqlite3.Connection, execution_key: int
) -> dict[tuple[str, int, int], float]:
    """(case id, repeat, iteration) → cost in USD of each answer of an execution whose cost is
    known."""
    rows = connection.execute(
        "SELECT c.case_id, a.repeat, a.iteration, a.cost_usd FROM main.answers a"
        " JOIN cases c ON c.key=a.case_key"
        " WHERE a.execution_key=? AND a.failure_kind IS NULL AND a.cost_usd IS NOT NULL",
        (execution_key,),
    )
    return {(row[0], row[1], row[2]): row[3] for row in rows.fetchall()}


def keys_of_cases(
    connection: sqlite3.Connection, execution_key: int, case_ids: Collection[str]
) -> dict[str, int]:
    """Case id → key, in the dataset of an execution."""
    rows = connection.execute(
        "SELECT c.case_id, c.key FROM benchmark_executions e"
        " JOIN cases c ON c.dataset_key=e.dataset_key"
        " WHERE e.key=? AND c.case_id IN (SELECT value FROM json_each(?))",
        (execution_key, json.dumps([*case_ids])),
    )
    return dict(map(tuple, rows.fetchall()))


def is_taken_over(connection: sqlite3.Connection, execution_key: int) -> bool:
    """Return whether `finish_taking_over` was called for an execution."""
    (planned,) = connection.execute(
        "SELECT planned FROM benchmark_executions WHERE key=?", (execution_key,)
    ).fetchone()
    return bool(planned)


def use_dataset_of(connection: sqlite3.Connection, execution_key: int, earlier_id: str) -> None:
    """Give an execution the cases of an earlier one."""
    connection.execute(
        "UPDATE benchmark_executions SET dataset_key="
        "(SELECT dataset_key FROM benchmark_executions WHERE id=?) WHERE key=?",
        (earlier_id, execution_key),
    )


def copy_page(
    connection: sqlite3.Connection,
    target: tuple[int, int],
    earlier_key: int,
    after: int,
    asked: Sequence[Place],
) -> int | None:
    """Copy up to `PAGE` answers of an earlier execution, with their messages, attempts and
    failures, to the execution `target` (run key, execution key); those that are there already
    stay.

    `after`: the last answer that was copied, 0 at first; `asked`: observations that are not
    copied. Returns the last answer copied; None if there are no more.
    """
    (last,) = connection.execute(
        "SELECT MAX(seq) FROM (SELECT seq FROM answers WHERE execution_key=? AND seq>?"
        " ORDER BY seq LIMIT ?)",
        (earlier_key, after, PAGE),
    ).fetchone()
    if last is None:
        return None
    run_key, execution_key = target
    values = {
        "run": run_key, "execution": execution_key, "earlier": earlier_key, "after": after,
        "last": last, "asked": json.dumps([*asked]),
    }  # fmt: skip
    # Answers come last: the others are of those that are not there yet.
    for table, row in (
        ("messages", MessageRow),
        ("attempts", AttemptRow),
        ("failures", FailureRow),
        ("answers", AnswerRow),
    ):
        columns = row._fields[2:]
        connection.execute(
            f"INSERT INTO {table} (run_key, execution_key, {', '.join(columns)})"  # noqa: S608
            f" SELECT :run, :execution, {', '.join(f't.{name}' for name in columns)}"
            f" FROM answers a JOIN {table} t ON {_SAME_PLACE} WHERE a.execution_key=:earlier"
            f" AND a.seq>:after AND a.seq<=:last AND {_IS_MISSING} ORDER BY a.seq",
            values,
        )
    return int(last)


_SAME_PLACE = (
    "t.execution_key=a.execution_key AND t.case_key=a.case_key AND t.repeat=a.repeat"
    " AND t.iteration=a.iteration"
)
_IS_MISSING = (
    "(a.case_key, a.repeat, a.iteration) NOT IN (SELECT json_extract(value, '$[0]'),"
    " json_extract(value, '$[1]'), json_extract(value, '$[2]') FROM json_each(:asked))"
    " AND NOT EXISTS (SELECT 1 FROM answers there WHERE there.execution_key=:execution"
    " AND there.case_key=a.case_key AND there.repeat=a.repeat AND there.iteration=a.iteration)"
)


def finish_taking_over(
    connection: sqlite3.Connection,
    target: tuple[int, int],
    earlier_key: int,
    planned: int,
    *,
    keeps: bool,
) -> None:
    """Copy the iterations of an earlier execution whose answers were kept, and write how many
    observations the execution `target` (run key, execution key) will have."""
    run_key, execution_key = target
    if keeps:
        columns = ", ".join(IterationRow._fields)
        # Replaced answers took their time as well, but are counted where they are asked again.
        connection.execute(
            f"INSERT INTO iterations (run_key, execution_key, {columns})"  # noqa: S608  # ours
            " SELECT :run, :execution, repeat, iteration, warmup, MIN(status), MIN(started_at),"
            f"  SUM(asking_s), {_kept('1')}, {_kept('failure_kind IS NULL')},"
            f"  {_kept('correct IS 1')},"
            "  CASE WHEN COUNT(cpu_seconds) = COUNT(*) THEN SUM(cpu_seconds) END,"
            "  MAX(memory_peak_mb)"
            " FROM iterations i WHERE execution_key=:earlier AND NOT warmup"
            " GROUP BY repeat, iteration ORDER BY MIN(seq)",
            {"run": run_key, "execution": execution_key, "earlier": earlier_key},
        )
    connection.execute(
        "UPDATE benchmark_executions SET planned=? WHERE key=?", (planned, execution_key)
    )


def _kept(condition: str) -> str:
    """Return the SQL number of answers of an iteration `i` that execution `:execution` has."""
    return (
        f"(SELECT CAST(TOTAL({condition}) AS INTEGER) FROM answers"  # noqa: S608  # ours
        " WHERE execution_key=:execution AND repeat=i.repeat AND iteration=i.iteration)"
    )


def planned_of(connection: sqlite3.Connection, execution_key: int) -> tuple[int, int]:
    """(planned, stored) observations of an execution."""
    row = connection.execute(
        "SELECT planned, (SELECT COUNT(*) FROM answers WHERE execution_key=e.key)"
        " FROM benchmark_executions e WHERE key=?",
        (execution_key,),
    ).fetchone()
    return int(row[0]), int(row[1])


def spent_on(connection: sqlite3.Connection, run_key: int) -> list[Spent]:
    """Cost and tokens of each stored observation of a run."""
    rows = connection.execute(
        "SELECT execution_key, case_key, repeat, iteration, COALESCE(cost_usd, 0),"
        " COALESCE(input_tokens, 0) + COALESCE(output_tokens, 0) FROM answers WHERE run_key=?",
        (run_key,),
    )
    return [Spent(row[0], (row[1], row[2], row[3]), row[4], row[5]) for row in rows.fetchall()]


def outcomes_of(
    connection: sqlite3.Connection, execution_key: int, asked: Sequence[tuple[str, int, int]]
) -> Outcomes:
    """How those observations (case id, repeat, iteration) of an execution ended."""
    row = connection.execute(
        "SELECT COUNT(*), TOTAL(a.failure_kind IS NULL), TOTAL(a.correct IS 1)"
        " FROM json_each(?) asked JOIN benchmark_executions e ON e.key=?"
        " JOIN cases c ON c.dataset_key=e.dataset_key"
        " AND c.case_id=json_extract(asked.value, '$[0]')"
        " JOIN answers a ON a.execution_key=e.key AND a.case_key=c.key"
        " AND a.repeat=json_extract(asked.value, '$[1]')"
        " AND a.iteration=json_extract(asked.value, '$[2]')",
        (json.dumps([*asked]), execution_key),
    ).fetchone()
    return Outcomes(*map(int, row))


def ending_of_continued(
    connection: sqlite3.Connection, execution_key: int
) -> tuple[bool, str | None]:
    """Of an execution: whether it only has further attempts; and why the complete execution whose
    answers it holds had stopped early, None if it had not."""
    further, reason = connection.execute(
        "SELECT e.attempts_after IS NOT NULL, (SELECT p.stop_reason FROM benchmark_executions p"
        " WHERE p.id=e.replaces AND p.status='complete') FROM benchmark_executions e WHERE e.key=?",
        (execution_key,),
    ).fetchone()
    return bool(further), reason


def earlier_execution(connection: sqlite3.Connection, execution_key: int) -> str | None:
    """The id of the execution that an execution adds attempts to; None if it does not."""
    (found,) = connection.execute(
        "SELECT attempts_after FROM benchmark_executions WHERE key=?", (execution_key,)
    ).fetchone()
    return None if found is None else str(found)
