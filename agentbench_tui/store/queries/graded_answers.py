"""Credit of a run's answers by independent unit: the case, or its cluster."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class UnitCredit:
    """Credit of one execution on one case, or on one cluster of cases."""

    execution_key: int
    unit: int | str
    """Key of the case, or name of its cluster."""
    answers: int
    credit: float
    """Sum over the answers; a failed one has none."""


def newest_answer(connection: sqlite3.Connection, run_key: int) -> int:
    """Return the number of the newest committed answer of the run; 0 before the first."""
    (newest,) = connection.execute(
        "SELECT COALESCE(MAX(seq), 0) FROM answers WHERE run_key=?", (run_key,)
    ).fetchone()
    return int(newest)


def nth_answer(
    connection: sqlite3.Connection, run_key: int, executions: Iterable[int], nth: int
) -> int:
    """Return the number of the `nth` committed answer of these executions, from 1; that of the
    newest if there are fewer, 0 for the 0th.
    """
    if nth < 1:
        return 0
    found = connection.execute(
        "SELECT seq FROM answers WHERE run_key=? AND execution_key IN"
        " (SELECT value FROM json_each(?)) ORDER BY seq LIMIT 1 OFFSET ?",
        (run_key, json.dumps(sorted(executions)), nth - 1),
    ).fetchone()
    return newest_answer(connection, run_key) if found is None else int(found[0])


def unit_credits(
    connection: sqlite3.Connection, run_key: int, after: int, until: int
) -> list[UnitCredit]:
    """Return the credits of the answers numbered above `after` and up to `until`.

    Failures of the grader's and the harness's do not count, as in the metrics of an execution.
    """
    rows = connection.execute(
        "SELECT a.execution_key, a.case_key, CASE WHEN instr(c.body, '\"cluster\"')"
        " THEN json_extract(c.body, '$.cluster') END, a.n, a.credit FROM (SELECT execution_key,"
        " case_key, COUNT(*) AS n,"
        " TOTAL(CASE WHEN failure_kind IS NULL THEN COALESCE(credit, 0) END) AS credit"
        " FROM answers WHERE run_key=? AND seq>? AND seq<=?"
        " AND (failure_kind IS NULL OR failure_kind NOT IN ('grader', 'harness'))"
        " GROUP BY execution_key, case_key) a JOIN cases c ON c.key=a.case_key",
        (run_key, after, until),
    )
    return [
        UnitCredit(execution, case if cluster is None else str(cluster), n, credit)
        for execution, case, cluster, n, credit in rows
    ]


def has_grading_failures(connection: sqlite3.Connection, run_key: int) -> bool:
    """Return whether a scorer or a metric failed on an answer of the run."""
    found = connection.execute(
        "SELECT 1 FROM failures WHERE run_key=? AND stage='score' LIMIT 1", (run_key,)
    ).fetchone()
    return found is not None
