"""Queries on the answers of a run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from agentbench_tui.store.queries.answer_pages import DETAIL, EXPECTED, INPUT, SAID
from agentbench_tui.store.queries.runs import Row, rows_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable


_BEGINNING = 400
"""Maximum characters of a text of an answer in a list."""


def kept_answers(connection: sqlite3.Connection, execution_key: int) -> Row:
    """Return the numbers of observed, answered and right answers of an execution."""
    return rows_of(
        connection,
        "SELECT COUNT(*) AS observed, COUNT(*) FILTER (WHERE failure_kind IS NULL) AS answered,"
        " COUNT(*) FILTER (WHERE correct IS 1) AS correct FROM answers WHERE execution_key=?",
        (execution_key,),
    )[0]


def unknown_counts(connection: sqlite3.Connection, execution_key: int) -> Row:
    """Return how many answers of an execution without a failure have no `cost`, no `tokens`, or
    tokens known in `part`.
    """
    return rows_of(
        connection,
        "SELECT COUNT(*) FILTER (WHERE cost_usd IS NULL) AS cost,"
        " COUNT(*) FILTER (WHERE input_tokens IS NULL AND output_tokens IS NULL) AS tokens,"
        " COUNT(*) FILTER (WHERE (input_tokens IS NULL) <> (output_tokens IS NULL)) AS part"
        " FROM answers WHERE execution_key=? AND failure_kind IS NULL",
        (execution_key,),
    )[0]


def answers_of(
    connection: sqlite3.Connection,
    execution_key: int,
    *,
    wrong_only: bool = False,
    after: int = 0,
    limit: int = 100,
) -> list[Row]:
    """Return observations of an execution in commit order, one page at a time.

    Question, expected and actual answer are cut to 400 characters. `scorers` is the number of
    scorers that judged the answer, `wrong_by` are those that call it wrong, and `why` is
    their reasons, or the detail of its failure.
    """
    rows = rows_of(
        connection,
        "SELECT a.seq, c.case_id, a.repeat, a.iteration, a.attempt, a.failure_kind, a.e2e_ms,"  # noqa: S608
        " a.credit, a.correct, a.cost_usd, a.scores,"
        f" substr({INPUT}, 1, {_BEGINNING}) AS question,"
        f" substr({EXPECTED}, 1, {_BEGINNING}) AS expected,"
        f" substr({SAID}, 1, {_BEGINNING}) AS answer,"
        f" CASE WHEN a.failure_kind IS NOT NULL THEN {DETAIL} END AS detail"
        " FROM answers a JOIN cases c ON c.key=a.case_key"
        " WHERE a.execution_key=? AND a.seq>? AND (NOT ? OR a.correct IS NOT 1)"
        " ORDER BY a.seq LIMIT ?",
        (_BEGINNING, execution_key, after, wrong_only, limit),
    )
    for row in rows:
        scores = json.loads(row.pop("scores") or "[]")
        wrong = [score for score in scores if not score["correct"]]
        row["scorers"] = len(scores)
        row["wrong_by"] = [score["scorer"] for score in wrong]
        row["why"] = _why(wrong, len(scores) > 1, row["failure_kind"], row.pop("detail"))
    return rows


def _why(wrong: list[Row], named: bool, failure_kind: str | None, detail: str | None) -> str:
    """Return why an answer is not right, each reason with its scorer if there are several."""
    reasons = [
        f"{score['scorer']}: {score['reason']}" if named else score["reason"]
        for score in wrong
        if score.get("reason")
    ]
    if failure_kind is not None:
        reasons.insert(0, f"{failure_kind}: {detail}" if detail else failure_kind)
    return "; ".join(reasons)


def wrong_texts_with_expected(
    connection: sqlite3.Connection, execution_key: int, limit: int
) -> list[tuple[str, str]]:
    """Return expected and actual text of wrong answers in which the expected one occurs somewhere,
    not necessarily as a word.
    """
    rows = connection.execute(
        f"SELECT {EXPECTED} AS expected, {SAID} AS said"  # noqa: S608
        " FROM answers a JOIN cases c ON c.key=a.case_key"
        " WHERE a.execution_key=? AND a.failure_kind IS NULL AND a.correct IS 0"
        " AND instr(lower(said), lower(expected)) > 0 ORDER BY a.seq LIMIT ?",
        (execution_key, limit),
    )
    return [(str(expected), str(said)) for expected, said in map(tuple, rows)]


def answer_times(connection: sqlite3.Connection, execution_key: int) -> list[float]:
    """Return the end-to-end time of each answer in ms, in commit order."""
    rows = connection.execute(
        "SELECT e2e_ms FROM answers WHERE execution_key=? AND failure_kind IS NULL"
        " AND e2e_ms IS NOT NULL ORDER BY seq",
        (execution_key,),
    )
    return [row[0] for row in rows]


def count_answers(
    connection: sqlite3.Connection, execution_key: int, *, wrong_only: bool = False
) -> int:
    """Return the total number of observations for `answers_of`."""
    row = connection.execute(
        "SELECT COUNT(*) FROM answers WHERE execution_key=? AND (NOT ? OR correct IS NOT 1)",
        (execution_key, wrong_only),
    ).fetchone()
    return int(row[0])


class OutcomeCount(NamedTuple):
    """How many answers of an execution have one outcome."""

    failure_kind: str | None
    is_wrong: bool
    """Judged, and not right."""
    answers: int


def outcome_counts(connection: sqlite3.Connection, execution_key: int) -> list[OutcomeCount]:
    """Return the number of answers of an execution by outcome."""
    rows = connection.execute(
        "SELECT failure_kind, correct IS 0, COUNT(*) FROM answers WHERE execution_key=?"
        " GROUP BY 1, 2",
        (execution_key,),
    )
    return [OutcomeCount(kind, bool(wrong), n) for kind, wrong, n in map(tuple, rows.fetchall())]


def case_of(connection: sqlite3.Connection, execution_key: int, case_id: str) -> list[Row]:
    """Return every observation of one case in one execution: case, answer, scores, failures,
    messages.
    """
    observations = rows_of(
        connection,
        "SELECT a.*, c.case_id, c.body FROM benchmark_executions e"
        " JOIN cases c ON c.dataset_key=e.dataset_key AND c.case_id=?"
        " JOIN answers a ON a.execution_key=e.key AND a.case_key=c.key WHERE e.key=?"
        " ORDER BY a.repeat, a.iteration",
        (case_id, execution_key),
    )
    for row in observations:
        place = (execution_key, row["case_key"], row["repeat"], row["iteration"])
        row["case"] = json.loads(row.pop("body"))
        row["answer"] = json.loads(row["answer"]) if row["answer"] else None
        row["scores"] = json.loads(row["scores"]) if row["scores"] else []
        row["figures"] = json.loads(row["figures"]) if row["figures"] else {}
        row["messages"] = rows_of(
            connection,
            "SELECT position, role, content, tool_calls, tool_call_id FROM messages"
            " WHERE execution_key=? AND case_key=? AND repeat=? AND iteration=? ORDER BY position",
            place,
        )
        row["failures"] = rows_of(
            connection,
            "SELECT attempt, stage, kind, detail, at FROM failures"
            " WHERE execution_key=? AND case_key=? AND repeat=? AND iteration=? ORDER BY seq",
            place,
        )
    return observations


def case_ids_of(connection: sqlite3.Connection, run_key: int, limit: int = 10_000) -> list[str]:
    """Return the ids of the cases that a run has asked."""
    rows = connection.execute(
        "SELECT DISTINCT c.case_id FROM benchmark_executions e"
        " JOIN cases c ON c.dataset_key=e.dataset_key WHERE e.run_key=? LIMIT ?",
        (run_key, limit),
    )
    return [row[0] for row in rows.fetchall()]


def failures_by_case(
    connection: sqlite3.Connection, execution_key: int
) -> list[tuple[int, str, int]]:
    """Return case key, failure kind, and number of observations of an execution."""
    rows = connection.execute(
        "SELECT case_key, failure_kind, COUNT(*) FROM answers WHERE execution_key=?"
        " AND failure_kind IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2",
        (execution_key,),
    )
    return [(int(case), str(kind), int(count)) for case, kind, count in rows]


OUTPUT_COLUMNS = ("api_calls", "retries", "correctness", "completeness", "relevance")
"""Columns that `output_columns` returns for each answer."""


def output_columns(connection: sqlite3.Connection, execution_key: int) -> list[tuple[Any, ...]]:
    """Return `OUTPUT_COLUMNS` of each counted answer, in commit order.

    Grades are means over the scorers that give them, None where none does; the correctness of an
    execution whose scorers give none is the credit.
    """
    rows = connection.execute(
        "SELECT a.api_calls, a.attempt, AVG(json_extract(s.value, '$.correctness')),"
        " AVG(json_extract(s.value, '$.completeness')), AVG(json_extract(s.value, '$.relevance')),"
        " a.credit"
        " FROM answers a LEFT JOIN json_each(a.scores) s WHERE a.execution_key=?"
        " AND (a.failure_kind IS NULL OR a.failure_kind NOT IN ('grader', 'harness'))"
        " GROUP BY a.seq ORDER BY a.seq",
        (execution_key,),
    ).fetchall()
    graded = any(row[2] is not None for row in rows)
    return [(*row[:2], row[2] if graded else row[5], *row[3:5]) for row in map(tuple, rows)]


class MeanGrades(NamedTuple):
    """Means over the scores of an execution's answers, each with the number of scores behind it."""

    correctness: float | None
    completeness: float | None
    relevance: float | None
    correctness_n: int
    completeness_n: int
    relevance_n: int
    credit: float | None
    """The mean credit."""
    credit_n: int | None


def mean_grades(connection: sqlite3.Connection, execution_key: int) -> MeanGrades:
    """Return the mean grades of an execution."""
    row = connection.execute(
        "SELECT AVG(json_extract(s.value, '$.correctness')),"
        " AVG(json_extract(s.value, '$.completeness')), AVG(json_extract(s.value, '$.relevance')),"
        " COUNT(json_extract(s.value, '$.correctness')),"
        " COUNT(json_extract(s.value, '$.completeness')),"
        " COUNT(json_extract(s.value, '$.relevance')),"
        " AVG(CASE s.key WHEN 0 THEN a.credit END), SUM(s.key=0 AND a.credit IS NOT NULL)"
        " FROM answers a, json_each(a.scores) s WHERE a.execution_key=?",
        (execution_key,),
    ).fetchone()
    return MeanGrades(*row)


class Unpriced(NamedTuple):
    """Answers without a cost that have the same reason for it."""

    has_input_tokens: bool
    has_output_tokens: bool
    model: str | None
    """Model, if the tokens are known."""
    answers: int


def commonest_unpriced(connection: sqlite3.Connection, execution_key: int) -> Unpriced:
    """Return the largest group of an execution's answers without a failure and without a cost;
    there must be one.
    """
    row = connection.execute(
        "SELECT given, made, CASE WHEN given AND made THEN json_extract(answer, '$.model') END"
        " AS model, COUNT(*) AS n FROM (SELECT answer,"
        " input_tokens IS NOT NULL AS given, output_tokens IS NOT NULL AS made FROM answers"
        " WHERE execution_key=? AND failure_kind IS NULL AND cost_usd IS NULL)"
        " GROUP BY 1, 2, 3 ORDER BY n DESC LIMIT 1",
        (execution_key,),
    ).fetchone()
    return Unpriced(*row)


def spent_on_run(connection: sqlite3.Connection, run_key: int) -> tuple[float, int]:
    """Return (dollars, tokens) of a run's stored answers."""
    cost, tokens = connection.execute(
        "SELECT TOTAL(cost_usd), CAST(TOTAL(input_tokens) + TOTAL(output_tokens) AS INTEGER)"
        " FROM answers WHERE run_key=?",
        (run_key,),
    ).fetchone()
    return cost, tokens


def committed_observations(
    connection: sqlite3.Connection, run_key: int
) -> dict[int, set[tuple[int, int, int]]]:
    """Return (case key, repeat, iteration) of every stored observation, by execution key."""
    found: dict[int, set[tuple[int, int, int]]] = {}
    for key, *place in connection.execute(
        "SELECT execution_key, case_key, repeat, iteration FROM answers WHERE run_key=?", (run_key,)
    ):
        case, repeat, iteration = place
        found.setdefault(key, set()).add((case, repeat, iteration))
    return found


def answers_to_grade(
    connection: sqlite3.Connection, execution_key: int, after: int, limit: int
) -> list[Row]:
    """Return a page of an execution's answers that a scorer can grade, with the `body` of their
    case: those numbered above `after` that have an answer and failed at most in the grader.
    """
    return rows_of(
        connection,
        "SELECT a.*, c.body FROM answers a JOIN cases c ON c.key=a.case_key"
        " WHERE a.execution_key=? AND a.seq>? AND a.answer IS NOT NULL"
        " AND (a.failure_kind IS NULL OR a.failure_kind='grader') ORDER BY a.seq LIMIT ?",
        (execution_key, after, limit),
    )


def messages_of(
    connection: sqlite3.Connection, execution_key: int, case_key: int, repeat: int, iteration: int
) -> list[Row]:
    """Return the transcript of one answer: role, content, tool_calls (JSON or None),
    tool_call_id.
    """
    return rows_of(
        connection,
        "SELECT role, content, tool_calls, tool_call_id FROM messages WHERE execution_key=?"
        " AND case_key=? AND repeat=? AND iteration=? ORDER BY position",
        (execution_key, case_key, repeat, iteration),
    )


class MeasuredAnswer(NamedTuple):
    """The numbers of one counted answer."""

    execution_key: int
    case_key: int
    repeat: int
    iteration: int
    sent_ms: float
    answered: bool
    e2e_ms: float | None
    ttft_ms: float | None
    credit: float | None
    output_tokens: int | None
    cost_usd: float | None


def measured_answers(connection: sqlite3.Connection, keys: Iterable[int]) -> list[MeasuredAnswer]:
    """Return the answers of executions; failures of the grader and the harness do not count."""
    rows = connection.execute(
        "SELECT execution_key, case_key, repeat, iteration, sent_ms, failure_kind IS NULL,"
        " e2e_ms, ttft_ms, credit, output_tokens, cost_usd FROM answers"
        " WHERE execution_key IN (SELECT value FROM json_each(?))"
        " AND (failure_kind IS NULL OR failure_kind NOT IN ('grader', 'harness'))",
        (json.dumps([*keys]),),
    )
    return [*map(MeasuredAnswer._make, rows.fetchall())]


def model_named_by_server(connection: sqlite3.Connection, execution_key: int) -> str | None:
    """Return the model that one of an execution's answers names; None if none does."""
    row = connection.execute(
        "SELECT json_extract(answer, '$.model') FROM answers WHERE execution_key=?"
        " AND answer IS NOT NULL LIMIT 1",
        (execution_key,),
    ).fetchone()
    return None if row is None or not row[0] else str(row[0])
