"""The answers of one execution for a reader: filtered, sorted, one page at a time.

A page goes on where the one before ended, by the value it is sorted by and then by order of
commit, so that the last page of a hundred thousand answers costs no more than the first.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

Which = Literal["all", "wrong", "failed", "slow", "apart"]
Sort = Literal["order", "time", "credit", "tokens", "cost"]
Row = dict[str, Any]

PAGE_ROWS = 1_000
MOST_SEARCHED = 200_000
"""Answers that are looked at for words: the first ones of an execution that has more."""
_SAID = 300
"""Maximum characters of a question, expected answer or answer."""
_WHOLE = "replace(a.answer, '\\u0000', '\\u2400')"
"""SQLite ends a text at its first NUL; the sign for one takes its place."""


def _exact(document: str, path: str) -> str:
    """Return the SQL of a value in a JSON document.

    SQLite makes a float of a whole number beyond 64 bits, writes 15 digits of a float and takes
    `true` for 1. In the array that it makes of several values each is as it was.
    """
    return (
        f"CASE WHEN json_type({document}, '{path}') IN ('integer', 'real', 'true', 'false')"
        f" THEN replace(trim(json_extract({document}, '{path}', '{path}.x'), '[]'), ',null', '')"
        f" ELSE json_extract({document}, '{path}') END"
    )


SAID = (
    f"coalesce(nullif(json_extract({_WHOLE}, '$.text'), ''),"
    f" json_extract({_WHOLE}, '$.tool_calls'), {_exact(_WHOLE, '$.data')})"
)
"""SQL expression of the content of an answer `a`: its text, else its calls or data."""
INPUT = "json_extract(c.body, '$.input')"
"""SQL expression of the input of a case `c`: text, or JSON."""
EXPECTED = _exact("c.body", "$.expected")
"""SQL expression of the expected answer of a case `c`."""
_VALUES = {
    "order": "a.seq",
    "time": "-COALESCE(a.e2e_ms, -1.0)",
    "credit": "COALESCE(a.credit, -1.0)",
    "tokens": "-COALESCE(a.input_tokens + a.output_tokens, a.output_tokens, a.input_tokens, -1)",
    "cost": "-COALESCE(a.cost_usd, -1.0)",
}
"""Sort keys of a page, ascending: the worst answers first, unknown values last, except that an
answer without credit counts as the worst.
"""


class Wanted(msgspec.Struct, frozen=True):
    """Filter and order of answers."""

    which: Which = "all"
    """`slow`: answers over `slow_ms`; `apart`: answers of cases whose repeats were scored
    differently.
    """
    kind: str | None = None
    """For `failed`: only this kind of failure."""
    words: str = ""
    """Words that must occur in the case's id, its input or the answer, ignoring case."""
    sort: Sort = "order"
    slow_ms: float | None = None


class AnswerPage(msgspec.Struct, frozen=True):
    """One page of the selected answers."""

    rows: list[Row]
    after: tuple[float, int] | None
    """Start of the next page; None at the end."""


def answer_page(
    connection: sqlite3.Connection,
    execution_key: int,
    wanted: Wanted,
    after: tuple[float, int] | None = None,
    limit: int = PAGE_ROWS,
) -> AnswerPage:
    """Return one page:

    `seq`, `case_id`, `repeat`, `iteration`, `attempt`, `failure_kind`, `correct`, `credit`,
    `e2e_ms`, `ttft_ms`, tokens, `cost_usd`, and the beginnings of `asked`, `expected` and `said`.
    """
    condition, values = _condition(execution_key, wanted)
    value = _VALUES[wanted.sort]
    if after is not None:
        condition += f" AND ({value}, a.seq) > (?, ?)"
        values += after
    rows = connection.execute(
        f"SELECT {value} AS place, a.seq, c.case_id, a.repeat, a.iteration, a.attempt,"  # noqa: S608
        " a.failure_kind, a.correct, a.credit, a.e2e_ms, a.ttft_ms, a.input_tokens,"
        " a.output_tokens, a.tokens_estimated, a.cost_usd,"
        f" substr({INPUT}, 1, {_SAID}) AS asked,"
        f" substr({EXPECTED}, 1, {_SAID}) AS expected,"
        f" substr({SAID}, 1, {_SAID}) AS said FROM answers a JOIN cases c ON c.key=a.case_key"
        f" WHERE {condition} ORDER BY {value}, a.seq LIMIT ?",
        (*values, limit + 1),
    ).fetchall()
    names = [*rows[0].keys()] if rows else []
    found = [dict(zip(names, tuple(row), strict=True)) for row in rows[:limit]]
    more = len(rows) > limit
    return AnswerPage(found, (found[-1]["place"], found[-1]["seq"]) if more else None)


def count_wanted(connection: sqlite3.Connection, execution_key: int, wanted: Wanted) -> int:
    """Return the number of answers on all pages together."""
    condition, values = _condition(execution_key, wanted)
    row = connection.execute(
        f"SELECT COUNT(*) FROM answers a JOIN cases c ON c.key=a.case_key WHERE {condition}",  # noqa: S608
        values,
    ).fetchone()
    return int(row[0])


def seqs_of_case(
    connection: sqlite3.Connection, execution_key: int, case_id: str
) -> tuple[int, ...]:
    """Return the `seq` of every answer of an execution to one case, in order."""
    rows = connection.execute(
        "SELECT a.seq FROM benchmark_executions e"
        " JOIN cases c ON c.dataset_key=e.dataset_key AND c.case_id=?"
        " JOIN answers a ON a.execution_key=e.key AND a.case_key=c.key WHERE e.key=?"
        " ORDER BY a.seq",
        (case_id, execution_key),
    ).fetchall()
    return tuple(row[0] for row in rows)


def observation_at(connection: sqlite3.Connection, seq: int) -> Row | None:
    """One answer with everything that is kept of it, and its `run_id`: `case`, `answer`, `scores`,
    `figures` and `attempts` decoded, `messages` and `failures` as rows; None when it is gone."""
    found = connection.execute(
        "SELECT a.*, c.case_id, c.body, r.id AS run_id FROM answers a"
        " JOIN cases c ON c.key=a.case_key JOIN runs r ON r.key=a.run_key WHERE a.seq=?",
        (seq,),
    ).fetchone()
    if found is None:
        return None
    row = dict(zip(found.keys(), tuple(found), strict=True))
    row["case"] = json.loads(row.pop("body"))
    row["answer"] = json.loads(row["answer"]) if row["answer"] else None
    row["scores"] = json.loads(row["scores"]) if row["scores"] else []
    row["figures"] = json.loads(row["figures"]) if row["figures"] else {}
    place = tuple(row[name] for name in ("execution_key", "case_key", "repeat", "iteration"))
    for name, columns, order in (
        ("messages", "position, role, content, tool_calls, tool_call_id", "position"),
        ("failures", "attempt, stage, kind, detail, at", "seq"),
        ("attempts", "attempt, failure_kind, sent_ms, e2e_ms, retry_after_s", "seq"),
    ):
        rows = connection.execute(
            f"SELECT {columns} FROM {name} WHERE execution_key=? AND case_key=? AND repeat=?"  # noqa: S608
            f" AND iteration=? ORDER BY {order}",
            place,
        ).fetchall()
        row[name] = [dict(zip(one.keys(), tuple(one), strict=True)) for one in rows]
    return row


def _condition(execution_key: int, wanted: Wanted) -> tuple[str, tuple[Any, ...]]:
    parts = ["a.execution_key=?"]
    values: list[Any] = [execution_key]
    if wanted.which == "wrong":
        parts.append("a.failure_kind IS NULL AND a.correct IS 0")
    elif wanted.which == "failed":
        parts.append("a.failure_kind IS NOT NULL")
        if wanted.kind is not None:
            parts.append("a.failure_kind=?")
            values.append(wanted.kind)
    elif wanted.which == "slow":
        parts.append("a.e2e_ms>?")
        values.append(wanted.slow_ms)
    elif wanted.which == "apart":
        parts.append(
            "a.case_key IN (SELECT case_key FROM answers WHERE execution_key=?"
            " GROUP BY case_key HAVING COUNT(DISTINCT COALESCE(correct, -1))>1)"
        )
        values.append(execution_key)
    if wanted.words:
        pattern = "%" + "".join(f"\\{one}" if one in "\\%_" else one for one in wanted.words) + "%"
        parts.append(
            "a.seq<=COALESCE((SELECT seq FROM answers WHERE execution_key=? ORDER BY seq"  # noqa: S608
            " LIMIT 1 OFFSET ?), a.seq) AND (c.case_id LIKE ? ESCAPE '\\'"
            " OR json_extract(c.body, '$.input') LIKE ? ESCAPE '\\'"
            f" OR json_extract({_WHOLE}, '$.text') LIKE ? ESCAPE '\\')"
        )
        values += [execution_key, MOST_SEARCHED - 1, pattern, pattern, pattern]
    return " AND ".join(parts), tuple(values)


class TypicalAnswer(NamedTuple):
    """An execution's answer to a case, and the expected one."""

    failure_kind: str | None
    expected: Any
    answer: Any


def typical_answer(
    connection: sqlite3.Connection,
    execution_key: int,
    dataset_key: int | None,
    case_id: str,
    *,
    right: bool,
) -> TypicalAnswer | None:
    """Return the first answer to a case that is right (or wrong); if there is none, the first;
    None without any.
    """
    row = connection.execute(
        f"SELECT a.failure_kind, {EXPECTED}, {SAID}"  # noqa: S608  # ours
        " FROM cases c JOIN answers a ON a.execution_key=? AND a.case_key=c.key"
        " WHERE c.dataset_key=? AND c.case_id=?"
        " ORDER BY (a.correct IS 1) IS ? DESC, a.repeat, a.iteration LIMIT 1",
        (execution_key, dataset_key, case_id, int(right)),
    ).fetchone()
    return None if row is None else TypicalAnswer(*row)


class ReportedAnswer(NamedTuple):
    """One observation."""

    case_id: str
    repeat: int
    iteration: int
    attempt: int
    failure_kind: str | None
    correct: int | None
    credit: float | None
    e2e_ms: float | None
    cost_usd: float | None
    asked: str | None
    """Input of the case: text, or JSON of messages."""
    expected: str | None
    said: str | None
    """The answer: its text, else its calls or data."""
    detail: str | None
    """Why it failed."""


DETAIL = (
    "(SELECT substr(f.detail, 1, ?)"
    " FROM failures f WHERE f.execution_key=a.execution_key AND f.case_key=a.case_key"
    " AND f.repeat=a.repeat AND f.iteration=a.iteration ORDER BY f.seq DESC LIMIT 1)"
)
"""SQL expression of the detail of the last failure of an answer `a`, cut to a bound length."""
_REPORTED = (
    "c.case_id, a.repeat, a.iteration, a.attempt, a.failure_kind, a.correct, a.credit,"  # ours
    f" a.e2e_ms, a.cost_usd, substr({INPUT}, 1, ?),"
    f" substr({EXPECTED}, 1, ?), substr({SAID}, 1, ?),"
    f" CASE WHEN a.failure_kind IS NOT NULL THEN {DETAIL} END"
)
"""SQL of the columns of `ReportedAnswer`, with the maximum length of each of its four texts."""


def reported_answers(
    connection: sqlite3.Connection, execution_key: int, longest: int
) -> Iterator[ReportedAnswer]:
    """Return all answers of an execution: failures, then wrong ones, then right ones.

    Texts are cut to `longest` characters.
    """
    rows = connection.execute(
        f"SELECT {_REPORTED}"  # noqa: S608  # ours
        " FROM answers a JOIN cases c ON c.key=a.case_key WHERE a.execution_key=?"
        " ORDER BY a.failure_kind IS NULL, a.correct IS 1, a.seq",
        (longest, longest, longest, longest, execution_key),
    )
    return map(ReportedAnswer._make, rows)


_BATCH = 500
"""Answers that are read at a time."""


def reported_answers_of_run(
    connection: sqlite3.Connection, run_key: int, longest: int
) -> Iterator[tuple[int, int, ReportedAnswer]]:
    """Return (execution key, case key, answer) of all answers of a run, as `reported_answers`.

    Only their order is held in memory, and the texts of one batch.
    """
    order = [
        row[0]
        for row in connection.execute(
            "SELECT seq FROM answers WHERE run_key=?"
            " ORDER BY failure_kind IS NULL, correct IS 1, seq",
            (run_key,),
        )
    ]
    for start in range(0, len(order), _BATCH):
        part = order[start : start + _BATCH]
        rows = connection.execute(
            f"SELECT a.seq, a.execution_key, a.case_key, {_REPORTED}"  # noqa: S608  # ours
            " FROM json_each(?) wanted JOIN answers a ON a.seq=wanted.value"
            " JOIN cases c ON c.key=a.case_key",
            (longest, longest, longest, longest, json.dumps(part)),
        )
        found = {row[0]: (row[1], row[2], ReportedAnswer._make(row[3:])) for row in rows}
        yield from (found[seq] for seq in part if seq in found)


class TranscriptMessage(NamedTuple):
    """One message of a conversation with an agent."""

    role: str
    content: str
    tool_calls: str | None


def has_messages(connection: sqlite3.Connection, run_key: int) -> bool:
    """Return whether a run stored conversations."""
    row = connection.execute(
        "SELECT EXISTS(SELECT 1 FROM benchmark_executions e JOIN messages m"
        " ON m.execution_key=e.key WHERE e.run_key=?)",
        (run_key,),
    ).fetchone()
    return bool(row[0])


def transcript_of(
    connection: sqlite3.Connection, place: tuple[int, int, int, int], longest: int
) -> list[TranscriptMessage]:
    """Return the messages behind one answer, in order; texts cut to `longest`.

    `place`: keys of execution and case, repeat, iteration.
    """
    rows = connection.execute(
        "SELECT role, substr(content, 1, ?), substr(tool_calls, 1, ?) FROM messages"
        " WHERE execution_key=? AND case_key=? AND repeat=? AND iteration=? ORDER BY position",
        (longest, longest, *place),
    )
    return [*map(TranscriptMessage._make, rows.fetchall())]
