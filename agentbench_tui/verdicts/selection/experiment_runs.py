"""What experiments are in the store, variant by variant."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3

_MOST_RUNS, _MOST = 300, 200
"""Newest runs that are looked through, and executions that are told."""


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


def experiment_runs(connection: sqlite3.Connection) -> list[ExperimentRun]:
    """The newest runs first, each in the order of its plan."""
    rows = connection.execute(
        "SELECT e.id, r.id, e.benchmark_id, e.agent_id, e.status, e.observed, r.started_at"
        " FROM (SELECT key, id, plan, started_at FROM runs"
        "  ORDER BY started_at DESC, key DESC LIMIT ?) r"
        " JOIN benchmark_executions e ON e.run_key=r.key"
        " WHERE EXISTS (SELECT 1 FROM json_each(r.plan, '$.groups') g"
        "  WHERE json_extract(g.value, '$.benchmark.kind')='experiment'"
        "   AND json_extract(g.value, '$.benchmark.benchmark_id')=e.benchmark_id)"
        " ORDER BY r.started_at DESC, r.key DESC, e.ordinal LIMIT ?",
        (_MOST_RUNS, _MOST),
    )
    return [ExperimentRun(*row) for row in rows.fetchall()]
