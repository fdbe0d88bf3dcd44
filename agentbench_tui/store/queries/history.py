"""Data of agents' histories: most recently measured agents, their pace, and their runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator


class ExecutionStamp(NamedTuple):
    """Changes when an execution is completed, scored again or deleted."""

    complete: int
    newest: int
    """Key of the newest complete execution; 0 without any."""
    overall: float
    """Sum of the overall scores."""


class RunFacts(NamedTuple):
    """Data of a run for histories."""

    key: int
    verdict: str | None
    """On the harness."""
    repeats: int


class ExecutionPace(NamedTuple):
    """Time and cost of a complete execution."""

    asking_s: float
    observed: int
    cost_usd: float | None


def newest_agents(connection: sqlite3.Connection, limit: int) -> list[str]:
    """Return the agents of the newest executions, newest first."""
    rows = connection.execute(
        "SELECT agent_id FROM benchmark_executions"
        " GROUP BY agent_id ORDER BY MAX(key) DESC LIMIT ?",
        (limit,),
    )
    return [str(row[0]) for row in rows.fetchall()]


def newest_agent(connection: sqlite3.Connection) -> str | None:
    """Return the agent of the newest complete execution; None in an empty store."""
    row = connection.execute(
        "SELECT agent_id FROM benchmark_executions WHERE status='complete'"
        " ORDER BY key DESC LIMIT 1"
    ).fetchone()
    return None if row is None else str(row[0])


def stamp_of_executions(connection: sqlite3.Connection) -> ExecutionStamp:
    """Return the stamp of all complete executions."""
    count, newest, total = connection.execute(
        "SELECT COUNT(*), COALESCE(MAX(key), 0), TOTAL(overall_score) FROM benchmark_executions"
        " WHERE status='complete'"
    ).fetchone()
    return ExecutionStamp(int(count), int(newest), float(total))


RESULTS_WRITTEN = "results_written"
"""Key in `meta` of the number of times that results of any execution were written."""


def stamp_of_history(connection: sqlite3.Connection) -> tuple[object, ...]:
    """Return values that change with anything that judgments depend on: executions that ended,
    were scored again or deleted, the verdicts of runs on their machine, baselines, accepted
    changes. They do not change with what a running execution commits.
    """
    row = connection.execute(
        "SELECT COUNT(*), MAX(key), TOTAL(status='complete'), TOTAL(status='interrupted'),"
        " TOTAL(overall_score), TOTAL(accuracy_score), TOTAL(correct), TOTAL(cost_usd),"
        " (SELECT value FROM meta WHERE key=?),"
        " (SELECT COUNT(*) || ' ' || COUNT(verdict) || ' ' || COUNT(ended_at) FROM runs),"
        " (SELECT COUNT(*) || COALESCE(MAX(created_at), '') FROM baselines),"
        " (SELECT COUNT(*) || COALESCE(MAX(created_at), '') FROM accepted_changes)"
        " FROM benchmark_executions",
        (RESULTS_WRITTEN,),
    ).fetchone()
    return tuple(row)


def facts_of_runs(connection: sqlite3.Connection, run_keys: Iterable[int]) -> dict[int, RunFacts]:
    """Return key of a run → its data."""
    rows = connection.execute(
        "SELECT r.key, r.verdict, r.repeats FROM json_each(?) wanted"
        " JOIN runs r ON r.key=wanted.value",
        (json.dumps([*run_keys]),),
    )
    return {row[0]: RunFacts(*row) for row in rows.fetchall()}


def tags_of_runs(connection: sqlite3.Connection, run_keys: Iterable[int]) -> dict[int, str]:
    """Return key of a run → its tags, JSON."""
    rows = connection.execute(
        "SELECT r.key, r.tags FROM json_each(?) wanted JOIN runs r ON r.key=wanted.value",
        (json.dumps([*run_keys]),),
    )
    return dict(map(tuple, rows.fetchall()))


def plans_of_runs(connection: sqlite3.Connection, run_keys: Iterable[int]) -> Iterator[str]:
    """Yield the plans of runs as JSON, one at a time, because they may be large."""
    rows = connection.execute(
        "SELECT r.plan FROM json_each(?) wanted JOIN runs r ON r.key=wanted.value",
        (json.dumps([*run_keys]),),
    )
    return (row[0] for row in rows)


def paces(
    connection: sqlite3.Connection,
    suite_id: str,
    benchmark_id: str,
    agent: str | None,
    limit: int,
) -> list[ExecutionPace]:
    """Return time and cost of the newest complete executions of a benchmark: of an agent, or of
    all.
    """
    rows = connection.execute(
        "SELECT asking_s, observed, cost_usd FROM benchmark_executions"
        " WHERE suite_id=? AND benchmark_id=? AND status='complete' AND observed>0"
        " AND asking_s IS NOT NULL AND (? OR agent_id=?)"
        " ORDER BY created_at DESC, key DESC LIMIT ?",
        (suite_id, benchmark_id, agent is None, agent, limit),
    )
    return [*map(ExecutionPace._make, rows.fetchall())]
