"""Computes the metrics of an experiment from its stored iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from agentbench_tui.analysis.intervals.estimate import estimate
from agentbench_tui.engine.task.aggregate import COSTS, Aggregate, MetricValue, aggregate
from agentbench_tui.experiments.units import unit_of
from agentbench_tui.experiments.values import numbers
from agentbench_tui.model.figures.metric import METRICS
from agentbench_tui.model.kinds import kind_named
from agentbench_tui.store.queries.experiments import answered_iterations, answers_one_by_one
from agentbench_tui.store.queries.suites import kind_of_execution

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping

    from agentbench_tui.engine.task.aggregate import Resources
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.suite import Benchmark

_NO_TOKENS = "an experiment spends no tokens that the harness could count"
NO_NUMBER = "no iteration gave a number"
_RESERVED = METRICS.keys() | {"duration_s"}


def aggregate_experiment(
    connection: sqlite3.Connection,
    execution_key: int,
    agent: AgentSpec,
    resources: Resources,
    benchmark: Benchmark,  # noqa: ARG001  # the contract's signature
) -> Aggregate:
    """Return times and failures as for a task, and the mean of each returned number.

    The interval of such a mean is clustered by repeat if there are several.
    """
    result = aggregate(connection, execution_key, agent, resources, is_scored=False)
    for name in (*COSTS, "tokens_used", "tokens_per_correct"):
        result.total(name, None, result.counted, _NO_TOKENS)
    repeats, columns = read_columns(connection, execution_key)
    for name, values in columns.items():
        known = ~np.isnan(values)
        found = estimate(values[known], "amount", runs=repeats[known])
        result.metrics[name] = MetricValue(
            name, found.value, unit_of(name), found.low, found.high, found.n, found.reason or None
        )
    for name in _without_number(connection, execution_key, columns.keys() | result.metrics.keys()):
        result.metrics[name] = MetricValue(name, None, unit_of(name), reason=NO_NUMBER)
    return result


def read_columns(
    connection: sqlite3.Connection, execution_key: int
) -> tuple[np.ndarray[Any, Any], dict[str, np.ndarray[Any, Any]]]:
    """Return the repeat of each answered iteration, and every returned number as a column in the
    same order, NaN if missing. A name of an agentbench metric becomes `reported.NAME`.
    """
    rows = answered_iterations(connection, execution_key)
    columns: dict[str, np.ndarray[Any, Any]] = {}
    for place, (_, text) in enumerate(rows):
        for name, value in named_numbers(_values(msgspec.json.decode(text))):
            if name not in columns:
                columns[name] = np.full(len(rows), np.nan)
            columns[name][place] = value
    return np.array([row[0] for row in rows], np.int64), columns


def repeat_means(connection: sqlite3.Connection, execution_key: int) -> dict[str, dict[int, float]]:
    """Return the mean by number name and repeat; empty for executions of other kinds."""
    kind = kind_of_execution(connection, execution_key)
    if kind is None or not kind_named(kind).returns_numbers:
        return {}
    repeats, columns = read_columns(connection, execution_key)
    means: dict[str, dict[int, float]] = {}
    for name, values in columns.items():
        known = ~np.isnan(values)
        means[name] = {
            int(repeat): float(values[known & (repeats == repeat)].mean())
            for repeat in np.unique(repeats[known])
        }
    return means


def _without_number(
    connection: sqlite3.Connection, execution_key: int, known: Iterable[str]
) -> Iterator[str]:
    """Return names whose values were never a number: not-a-number, infinity, None."""
    seen = set(known)
    for text in answers_one_by_one(connection, execution_key):
        data = msgspec.json.decode(text).get("data") or {}
        for name in (_as_ours_is_not(key) for key, value in data.items() if value is None):
            if name not in seen:
                seen.add(name)
                yield name


def named_numbers(values: Mapping[str, Any]) -> list[tuple[str, float]]:
    """Return every number of an iteration and its instruments by its path.

    A name of an agentbench metric, or of the measured time in a result file, becomes
    `reported.NAME`.
    """
    return [(_as_ours_is_not(name), value) for name, value in numbers(values)]


def _as_ours_is_not(name: str) -> str:
    return f"reported.{name}" if name.partition(".")[0] in _RESERVED else name


def _values(answer: Mapping[str, Any]) -> dict[str, Any]:
    instruments = (answer.get("metadata") or {}).get("instruments") or {}
    return {**instruments, **(answer.get("data") or {})}
