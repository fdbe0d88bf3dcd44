"""Stored metrics of executions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable


class MetricInterval(NamedTuple):
    """The ends of a metric's interval."""

    low: float
    high: float | None


class MetricElsewhere(NamedTuple):
    """A metric of another agent's execution at the same place."""

    agent: str
    """With its version: `agent@version`."""
    value: float


class DefinedMetric(NamedTuple):
    """A metric that a benchmark defines."""

    name: str
    unit: str
    direction: str
    """`higher`, `lower` or `none`."""


def defined_metrics(
    connection: sqlite3.Connection, execution_key: int | None = None
) -> list[DefinedMetric]:
    """Return the metrics that the benchmark of an execution defines, by name; without an execution
    those of all benchmarks.
    """
    rows = connection.execute(
        "SELECT DISTINCT name, unit, direction FROM metrics WHERE direction IS NOT NULL"
        " AND (?1 IS NULL OR execution_key=?1) ORDER BY name, unit, direction",
        (execution_key,),
    )
    return [DefinedMetric(*row) for row in map(tuple, rows.fetchall())]


def metric_values(
    connection: sqlite3.Connection, keys: Collection[int], names: Iterable[str]
) -> dict[int, dict[str, float]]:
    """Return the known values of these metrics, by execution key and name."""
    rows = connection.execute(
        "SELECT m.execution_key, m.name, m.value FROM json_each(?) wanted"
        " CROSS JOIN metrics m ON m.execution_key=wanted.value WHERE m.value IS NOT NULL"
        " AND m.name IN (SELECT value FROM json_each(?))",
        (json.dumps(sorted(keys)), json.dumps([*names])),
    )
    found: dict[int, dict[str, float]] = {}
    for key, name, value in rows.fetchall():
        found.setdefault(key, {})[name] = value
    return found


def names_of_execution(
    connection: sqlite3.Connection, execution_key: int, names: Collection[str]
) -> set[str]:
    """Return which of these metrics of an execution have a value."""
    rows = connection.execute(
        "SELECT name FROM metrics WHERE execution_key=? AND value IS NOT NULL"  # noqa: S608  # marks
        f" AND name IN ({', '.join('?' * len(names))})",
        (execution_key, *names),
    )
    return {row[0] for row in rows.fetchall()}


def metric_intervals(
    connection: sqlite3.Connection, keys: Iterable[int], names: Iterable[str]
) -> dict[tuple[int, str], MetricInterval]:
    """Return the intervals of these metrics by (execution key, name), without missing ones."""
    rows = connection.execute(
        "SELECT execution_key, name, low, high FROM metrics WHERE low IS NOT NULL"
        " AND execution_key IN (SELECT value FROM json_each(?))"
        " AND name IN (SELECT value FROM json_each(?))",
        (json.dumps([*keys]), json.dumps([*names])),
    )
    return {(key, name): MetricInterval(low, high) for key, name, low, high in rows.fetchall()}


def names_with_values(connection: sqlite3.Connection, keys: Iterable[int]) -> set[str]:
    """Return the names of the metrics that have a value in any of the executions."""
    rows = connection.execute(
        "SELECT DISTINCT name FROM metrics WHERE value IS NOT NULL"
        " AND execution_key IN (SELECT value FROM json_each(?))",
        (json.dumps([*keys]),),
    )
    return {row[0] for row in rows.fetchall()}


def metric_names(connection: sqlite3.Connection, execution_key: int) -> list[str]:
    """Return the names of an execution's metrics, including those without a value."""
    rows = connection.execute("SELECT name FROM metrics WHERE execution_key=?", (execution_key,))
    return [row[0] for row in rows.fetchall()]


def has_metric(connection: sqlite3.Connection, name: str) -> bool:
    """Return whether any execution has a metric of that name."""
    found = connection.execute("SELECT 1 FROM metrics WHERE name=? LIMIT 1", (name,)).fetchone()
    return found is not None


def run_has_metric(
    connection: sqlite3.Connection, run_id: str, benchmark_id: str, name: str
) -> bool:
    """Return whether an execution of a benchmark in a run has a metric of that name."""
    found = connection.execute(
        "SELECT 1 FROM metrics m JOIN benchmark_executions e ON e.key=m.execution_key"
        " JOIN runs r ON r.key=e.run_key WHERE r.id=? AND e.benchmark_id=? AND m.name=?",
        (run_id, benchmark_id, name),
    ).fetchone()
    return found is not None


def metrics_of_other_agents(
    connection: sqlite3.Connection,
    agent: str,
    place: tuple[str, str, str],
    run_keys: Iterable[int],
    name: str,
) -> list[MetricElsewhere]:
    """Return positive values of a metric from complete executions of other agents in these runs.

    `place` is (suite id, benchmark id, parameters as JSON).
    """
    rows = connection.execute(
        "SELECT e.agent_id || '@' || e.agent_version, m.value FROM benchmark_executions e"
        " JOIN metrics m ON m.execution_key=e.key WHERE m.name=? AND m.value>0"
        " AND e.status='complete' AND e.agent_id!=? AND e.suite_id=? AND e.benchmark_id=?"
        " AND e.parameters=? AND e.run_key IN (SELECT value FROM json_each(?))",
        (name, agent, *place, json.dumps([*run_keys])),
    )
    return [*map(MetricElsewhere._make, rows.fetchall())]


def latest_scores(connection: sqlite3.Connection, limit: int) -> list[dict[str, Any]]:
    """Return scores and cost of the latest executions, one for each version of an agent on each
    benchmark without parameters, the newest first.
    """
    cursor = connection.execute(
        "SELECT agent_id, agent_version, simulated, suite_id, benchmark_id, accuracy_score,"
        " speed_score, efficiency_score, cost_score, reliability_score, overall_score, cost_usd,"
        " MAX(created_at) AS created_at FROM benchmark_executions"
        " WHERE status='complete' AND parameters='{}'"
        " GROUP BY agent_id, agent_version, simulated, suite_id, benchmark_id"
        " ORDER BY MAX(created_at) DESC LIMIT ?",
        (limit,),
    )
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, tuple(row), strict=True)) for row in cursor.fetchall()]
