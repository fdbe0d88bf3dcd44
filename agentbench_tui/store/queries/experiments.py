"""Executions of experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3


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
    """The newest runs first, each in the order of its plan; the newest `most_runs` of the store are
    looked through."""
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


def experiments_in_run(connection: sqlite3.Connection, run_key: int) -> list[int]:
    """The key of one execution of each experiment of a run."""
    rows = connection.execute(
        "SELECT e.key FROM benchmark_executions e JOIN benchmarks b ON b.suite_hash=e.suite_hash"
        " AND b.benchmark_id=e.benchmark_id WHERE e.run_key=? AND b.kind='experiment'"
        " GROUP BY e.suite_hash, e.benchmark_id",
        (run_key,),
    )
    return [row[0] for row in rows.fetchall()]


def newest_of_each_experiment(connection: sqlite3.Connection, agent: str) -> list[int]:
    """The key of an agent's newest complete execution of each experiment, in their order."""
    # From the few experiments to their executions: an agent may have thousands of others.
    rows = connection.execute(
        "SELECT MAX(e.key) FROM benchmarks b JOIN benchmark_suites s ON s.hash=b.suite_hash"
        " CROSS JOIN benchmark_executions e ON e.suite_id=s.suite_id"
        " AND e.benchmark_id=b.benchmark_id AND e.suite_hash=b.suite_hash"
        " WHERE e.agent_id=? AND e.status='complete'"
        " AND b.kind='experiment' GROUP BY e.benchmark_id ORDER BY 1",
        (agent,),
    )
    return [row[0] for row in rows.fetchall()]
