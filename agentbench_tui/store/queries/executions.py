"""Executions of a run: keys, status, and data for scores and ranks."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.store.queries.runs import Row, rows_of
from agentbench_tui.store.reruns import NOT_REPLACED

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable


class ScoredExecution(NamedTuple):
    """An execution with the scores that it is ranked by."""

    key: int
    overall: float | None
    accuracy: float | None
    suite_hash: str
    suite_id: str
    benchmark_id: str
    parameters: str
    """JSON."""
    simulated: bool


class LatestScore(NamedTuple):
    """Scores of one of an agent's latest executions at a point of a benchmark."""

    agent_id: str
    overall: float | None
    accuracy: float | None


def execution_keys(connection: sqlite3.Connection, run_key: int) -> dict[str, int]:
    """Return execution id → key."""
    rows = connection.execute(
        "SELECT id, key FROM benchmark_executions WHERE run_key=?", (run_key,)
    )
    return {row[0]: row[1] for row in rows.fetchall()}


def complete_executions(connection: sqlite3.Connection, run_key: int) -> set[int]:
    """Return the keys of finished executions: all cases asked, or stopped early."""
    rows = connection.execute(
        "SELECT key FROM benchmark_executions WHERE run_key=? AND status='complete'", (run_key,)
    )
    return {row[0] for row in rows.fetchall()}


def execution_statuses(connection: sqlite3.Connection, run_key: int) -> Counter[str]:
    """Return how many executions of a run have each status. Further attempts of a rerun count as
    complete once all of them were made.
    """
    rows = connection.execute(
        "SELECT CASE WHEN attempts_after IS NOT NULL AND status='incomplete'"
        "  AND error_details IS NULL AND planned>0 AND planned="
        "  (SELECT COUNT(*) FROM answers WHERE execution_key=e.key) THEN 'complete' ELSE status END"
        " FROM benchmark_executions e WHERE run_key=?",
        (run_key,),
    )
    return Counter(row[0] for row in rows.fetchall())


def planned_and_observed(connection: sqlite3.Connection, execution_key: int) -> tuple[int, int]:
    """Return the numbers of planned and stored observations of an execution."""
    planned, observed = connection.execute(
        "SELECT e.planned, (SELECT COUNT(*) FROM answers WHERE execution_key=e.key)"
        " + (SELECT CAST(TOTAL(rows) AS INTEGER) FROM sample_chunks WHERE execution_key=e.key)"
        " FROM benchmark_executions e WHERE e.key=?",
        (execution_key,),
    ).fetchone()
    return planned, observed


def agent_of_execution(connection: sqlite3.Connection, execution_key: int) -> AgentSpec:
    """Return the agent as configured for an execution."""
    (document,) = connection.execute(
        "SELECT model_configuration FROM benchmark_executions WHERE key=?", (execution_key,)
    ).fetchone()
    return msgspec.json.decode(document, type=AgentSpec)


def metrics_of_baseline(
    connection: sqlite3.Connection, execution_key: int, baseline: str
) -> dict[str, float]:
    """Return metrics of a suite's baseline agent on the same benchmark: in the same run with the
    same seed, else of its latest execution; empty without any.
    """
    rows = connection.execute(
        "SELECT m.name, m.value FROM metrics m WHERE m.value IS NOT NULL AND m.execution_key = ("
        " SELECT b.key FROM benchmark_executions b JOIN benchmark_executions e ON e.key=?"
        " WHERE b.agent_id=? AND b.suite_id=e.suite_id AND b.benchmark_id=e.benchmark_id"
        " AND b.parameters=e.parameters AND b.simulated=e.simulated"
        " AND (b.status='complete' OR b.run_key=e.run_key)"
        " AND EXISTS (SELECT 1 FROM metrics WHERE execution_key=b.key)"
        " ORDER BY b.run_key=e.run_key AND b.seed=e.seed DESC, b.created_at DESC, b.key DESC"
        " LIMIT 1)",
        (execution_key, baseline),
    )
    return dict(map(tuple, rows.fetchall()))


def scored_executions(connection: sqlite3.Connection, run_key: int) -> list[ScoredExecution]:
    """Return the executions of a run with their scores."""
    rows = connection.execute(
        "SELECT key, overall_score, accuracy_score, suite_hash, suite_id, benchmark_id, parameters,"
        " simulated FROM benchmark_executions WHERE run_key=?",
        (run_key,),
    )
    return [*map(ScoredExecution._make, rows.fetchall())]


def latest_scores(
    connection: sqlite3.Connection, suite_id: str, benchmark_id: str
) -> dict[tuple[str, bool], list[LatestScore]]:
    """Return scores of the latest executions by (parameters as JSON, simulated), of all points of a
    benchmark at once, because a sweep has thousands.
    """
    found: dict[tuple[str, bool], list[LatestScore]] = {}
    for parameters, simulated, *scores in connection.execute(
        "SELECT parameters, simulated, agent_id, overall_score, accuracy_score"
        " FROM latest_executions WHERE suite_id=? AND benchmark_id=?",
        (suite_id, benchmark_id),
    ):
        found.setdefault((parameters, simulated), []).append(LatestScore(*scores))
    return found


def suite_documents(connection: sqlite3.Connection, run_key: int) -> dict[str, str]:
    """Return the document as JSON of each suite of a run, by hash."""
    rows = connection.execute(
        "SELECT hash, document FROM benchmark_suites WHERE hash IN"
        " (SELECT suite_hash FROM benchmark_executions WHERE run_key=?)",
        (run_key,),
    )
    return dict(map(tuple, rows.fetchall()))


def running_runs(connection: sqlite3.Connection) -> list[tuple[int, str]]:
    """Return (key, id) of the runs with status running, whether or not their process lives."""
    rows = connection.execute("SELECT key, id FROM runs WHERE status='running'")
    return [(row[0], row[1]) for row in rows.fetchall()]


def load_verdicts(connection: sqlite3.Connection, run_key: int) -> set[str]:
    """Return the distinct verdicts on a run's load executions."""
    rows = connection.execute("SELECT verdict FROM load_summaries WHERE run_key=?", (run_key,))
    return {row[0] for row in rows.fetchall()}


def has_other_than_load(connection: sqlite3.Connection, run_key: int) -> bool:
    """Return whether a run has executions without a load summary."""
    (others,) = connection.execute(
        "SELECT COUNT(*) FROM benchmark_executions e WHERE run_key=? AND NOT EXISTS"
        " (SELECT 1 FROM load_summaries WHERE execution_key=e.key)",
        (run_key,),
    ).fetchone()
    return bool(others)


def find_execution(connection: sqlite3.Connection, execution_id: str) -> int | None:
    """Return the key of an execution of that full id; None if there is none."""
    row = connection.execute(
        "SELECT key FROM benchmark_executions WHERE id=?", (execution_id,)
    ).fetchone()
    return None if row is None else int(row[0])


def verdicts_on_harness(connection: sqlite3.Connection, keys: Iterable[int]) -> set[str | None]:
    """Return the different verdicts on the harness behind executions: a load's own, else that of
    its run.
    """
    rows = connection.execute(
        "SELECT DISTINCT COALESCE(l.verdict, r.verdict) FROM benchmark_executions e"
        " JOIN runs r ON r.key=e.run_key LEFT JOIN load_summaries l ON l.execution_key=e.key"
        " WHERE e.key IN (SELECT value FROM json_each(?))",
        (json.dumps([*keys]),),
    )
    return {row[0] for row in rows.fetchall()}


def executions_before(connection: sqlite3.Connection, execution: Row, limit: int) -> list[Row]:
    """Return complete executions of other runs before one (a row of `benchmark_executions`) by the
    same agent at the same place, newest first: `key`, `agent_version`, `run_id`, `tags` of the run
    (JSON).
    """
    return rows_of(
        connection,
        "SELECT e.key, e.agent_version, r.id AS run_id, r.tags FROM benchmark_executions e"  # noqa: S608  # ours
        " JOIN runs r ON r.key=e.run_key WHERE e.agent_id=? AND e.suite_id=? AND e.benchmark_id=?"
        " AND e.parameters=? AND e.simulated=? AND e.status='complete' AND e.run_key<>?"
        f" AND e.created_at<? AND {NOT_REPLACED} ORDER BY e.created_at DESC, e.key DESC LIMIT ?",
        (
            execution["agent_id"],
            execution["suite_id"],
            execution["benchmark_id"],
            execution["parameters"],
            execution["simulated"],
            execution["run_key"],
            execution["created_at"],
            limit,
        ),
    )


def execution_at(connection: sqlite3.Connection, execution_key: int) -> Row:
    """Return the row of an execution, `parameters` as JSON."""
    return rows_of(connection, "SELECT * FROM benchmark_executions WHERE key=?", (execution_key,))[
        0
    ]
