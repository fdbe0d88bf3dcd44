"""Executions of experiments."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator


class ExperimentRun(NamedTuple):
    """One variant of an experiment, in one run."""

    execution_id: str
    run_id: str
    experiment: str
    """Its benchmark."""
    variant: str
    status: str
    iterations: int
    started_at: str
    """UTC."""


def experiment_runs(
    connection: sqlite3.Connection, most_runs: int = 300, limit: int = 200
) -> list[ExperimentRun]:
    """Return the newest runs first, each in the order of its plan, searching the newest `most_runs`
    of the store.
    """
    rows = connection.execute(
        "SELECT e.id, r.id, e.benchmark_id, e.agent_id, e.status, e.observed, r.started_at"
        " FROM (SELECT key, id, plan, started_at FROM runs"
        "  ORDER BY started_at DESC, key DESC LIMIT ?) r"
        " JOIN benchmark_executions e ON e.run_key=r.key"
        " WHERE EXISTS (SELECT 1 FROM json_each(r.plan, '$.groups') g"
        "  WHERE json_extract(g.value, '$.benchmark.kind')='experiment'"
        "   AND json_extract(g.value, '$.benchmark.benchmark_id')=e.benchmark_id)"
        " ORDER BY r.started_at DESC, r.key DESC, e.ordinal LIMIT ?",
        (most_runs, limit),
    )
    return [*map(ExperimentRun._make, rows.fetchall())]


class IterationAnswer(NamedTuple):
    """Result of one iteration of an experiment."""

    repeat: int
    iteration: int
    failure_kind: str | None
    e2e_ms: float | None
    answer: str | None
    """JSON."""
    detail: str | None
    """Reason of its failure."""


class MeasuredExecution(NamedTuple):
    """An execution with related data; JSON unless noted otherwise."""

    key: int
    ordinal: int
    agent_id: str
    """As it is."""
    parameters: str
    status: str
    """As it is."""
    model_configuration: str
    benchmark_id: str
    """As it is."""
    suite: str
    tags: str | None
    notes: str | None
    vcs: str | None
    environment: str | None


class PlannedPoint(NamedTuple):
    """An execution of an experiment at one point."""

    key: int
    benchmark_id: str
    agent_id: str
    parameters: str
    """JSON."""


class FirstMetadata(NamedTuple):
    """Metadata of an execution's first iterations."""

    key: int
    benchmark_id: str
    agent_id: str
    metadata: str | None
    """JSON; None if no iteration had any."""


class ExecutionEnd(NamedTuple):
    """How the iterations of an execution ended."""

    observed: int
    failed: int | None
    """None without any iteration."""
    close: str | None
    """Error of its tear-down."""


def iterations_of(connection: sqlite3.Connection, execution_key: int) -> list[IterationAnswer]:
    """Return every iteration of an execution, by repeat."""
    rows = connection.execute(
        "SELECT a.repeat, a.iteration, a.failure_kind, a.e2e_ms, a.answer,"
        " (SELECT detail FROM failures f WHERE f.execution_key=a.execution_key"
        "  AND f.repeat=a.repeat AND f.iteration=a.iteration AND f.stage='answer' LIMIT 1)"
        " FROM answers a WHERE a.execution_key=? ORDER BY a.repeat, a.iteration",
        (execution_key,),
    )
    return [*map(IterationAnswer._make, rows.fetchall())]


def answered_iterations(
    connection: sqlite3.Connection, execution_key: int
) -> list[tuple[int, str]]:
    """Return (repeat, answer as JSON) of each iteration that gave an answer, by repeat."""
    rows = connection.execute(
        "SELECT repeat, answer FROM answers WHERE execution_key=? AND failure_kind IS NULL"
        " AND answer IS NOT NULL ORDER BY repeat, iteration",
        (execution_key,),
    )
    return [(row[0], row[1]) for row in rows.fetchall()]


def iteration_times(connection: sqlite3.Connection, execution_key: int) -> list[float]:
    """Return the time in ms of each of `answered_iterations`."""
    rows = connection.execute(
        "SELECT e2e_ms FROM answers WHERE execution_key=? AND failure_kind IS NULL"
        " AND answer IS NOT NULL ORDER BY repeat, iteration",
        (execution_key,),
    )
    return [row[0] for row in rows.fetchall()]


def answers_one_by_one(connection: sqlite3.Connection, execution_key: int) -> Iterator[str]:
    """Yield the answer as JSON of each iteration that gave one."""
    rows = connection.execute(
        "SELECT answer FROM answers WHERE execution_key=? AND failure_kind IS NULL"
        " AND answer IS NOT NULL",
        (execution_key,),
    )
    return (row[0] for row in rows)


def declared_directions(connection: sqlite3.Connection, execution_key: int) -> str | None:
    """Return the better directions that an execution declares, as JSON; None without any."""
    row = connection.execute(
        "SELECT json_extract(answer, '$.metadata.better') FROM answers WHERE execution_key=?"
        " AND json_extract(answer, '$.metadata.better') IS NOT NULL LIMIT 1",
        (execution_key,),
    ).fetchone()
    return None if row is None else str(row[0])


def planned_points(connection: sqlite3.Connection, run_id: str) -> list[PlannedPoint]:
    """Return the executions of experiments in a run, in order."""
    rows = connection.execute(
        "SELECT e.key, e.benchmark_id, e.agent_id, e.parameters FROM benchmark_executions e"
        " JOIN runs r ON r.key=e.run_key JOIN benchmarks b ON b.suite_hash=e.suite_hash"
        " AND b.benchmark_id=e.benchmark_id WHERE r.id=? AND b.kind='experiment'"
        " ORDER BY e.ordinal",
        (run_id,),
    )
    return [*map(PlannedPoint._make, rows.fetchall())]


def measured_executions(connection: sqlite3.Connection, run_id: str) -> list[MeasuredExecution]:
    """Return the executions of a run, of any kind, in order."""
    rows = connection.execute(
        "SELECT e.key, e.ordinal, e.agent_id, e.parameters, e.status, e.model_configuration,"
        " e.benchmark_id, s.document, r.tags, r.notes, r.vcs, n.document"
        " FROM benchmark_executions e JOIN runs r ON r.key=e.run_key"
        " JOIN benchmark_suites s ON s.hash=e.suite_hash"
        " LEFT JOIN environments n ON n.hash=r.environment_hash"
        " WHERE r.id=? ORDER BY e.ordinal",
        (run_id,),
    )
    return [*map(MeasuredExecution._make, rows.fetchall())]


def settings_told(connection: sqlite3.Connection, run_id: str) -> list[FirstMetadata]:
    """Return the settings reported by a first iteration of each execution of a run, in order."""
    rows = connection.execute(
        "SELECT e.key, e.benchmark_id, e.agent_id, (SELECT json_extract(a.answer, '$.metadata')"
        "  FROM answers a WHERE a.execution_key=e.key AND a.iteration=0 AND a.answer IS NOT NULL"
        "  LIMIT 1) FROM benchmark_executions e JOIN runs r ON r.key=e.run_key WHERE r.id=?"
        " ORDER BY e.ordinal",
        (run_id,),
    )
    return [*map(FirstMetadata._make, rows.fetchall())]


def effective_settings(connection: sqlite3.Connection, keys: Iterable[int]) -> list[FirstMetadata]:
    """Return the effective settings from the first iteration of each repeat of these executions,
    in plan order and by repeat; one row without metadata for an execution without any.
    """
    rows = connection.execute(
        "SELECT e.key, e.benchmark_id, e.agent_id, json_extract(a.answer, '$.metadata')"
        " FROM json_each(?) j JOIN benchmark_executions e ON e.key=j.value"
        " LEFT JOIN answers a ON a.execution_key=e.key AND a.iteration=0"
        " AND json_extract(a.answer, '$.metadata.effective') IS NOT NULL"
        " ORDER BY e.ordinal, a.repeat",
        (json.dumps([*keys]),),
    )
    return [*map(FirstMetadata._make, rows.fetchall())]


def ended_executions(
    connection: sqlite3.Connection, run_key: int, suite_hash: str, benchmark_id: str
) -> dict[int, bool]:
    """Return whether each execution of a benchmark in a run has ended, by key."""
    rows = connection.execute(
        "SELECT key, status IN ('complete', 'incomplete') FROM benchmark_executions"
        " WHERE run_key=? AND suite_hash=? AND benchmark_id=?",
        (run_key, suite_hash, benchmark_id),
    )
    return {row[0]: bool(row[1]) for row in rows.fetchall()}


def end_of_execution(connection: sqlite3.Connection, execution_key: int) -> ExecutionEnd:
    """Return how the iterations of an execution ended."""
    row = connection.execute(
        "SELECT COUNT(*), SUM(failure_kind IS NOT NULL), (SELECT detail FROM failures"
        "  WHERE execution_key=?1 AND stage='close' ORDER BY seq LIMIT 1)"
        " FROM answers WHERE execution_key=?1",
        (execution_key,),
    ).fetchone()
    return ExecutionEnd(*row)


def first_failure(connection: sqlite3.Connection, run_id: str) -> str | None:
    """Return the text of the first failure of a run; None without any."""
    row = connection.execute(
        "SELECT f.detail FROM failures f JOIN runs r ON r.key=f.run_key WHERE r.id=?"
        " ORDER BY f.seq LIMIT 1",
        (run_id,),
    ).fetchone()
    return None if row is None else str(row[0])


def readings_of_run(connection: sqlite3.Connection, run_id: str) -> list[tuple[float, str]]:
    """Return (ms, answer as JSON) of each iteration of a run."""
    rows = connection.execute(
        "SELECT a.e2e_ms, a.answer FROM answers a JOIN runs r"
        " ON r.key=a.run_key WHERE r.id=? ORDER BY a.iteration",
        (run_id,),
    )
    return [(row[0], row[1]) for row in rows.fetchall()]
