"""Directions and units that experiments and kinds declare for the numbers they return."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from agentbench_tui.experiments.declared import declared_of
from agentbench_tui.model.figures.metric import Metric, declare_metric, find_metric
from agentbench_tui.model.kinds import Kind, kind_named
from agentbench_tui.store.queries.metrics import defined_metrics, metric_names
from agentbench_tui.store.queries.suites import (
    executions_in_run,
    kind_of_execution,
    newest_executions,
)

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.model.figures.figure import Direction


def base_of(name: str) -> str:
    """Return the name of a benchmark's metric without the part of a distribution: `words` for
    `words.p95`.
    """
    return name.partition(".")[0]


def declare_benchmark_metrics(
    connection: sqlite3.Connection, execution_key: int | None = None
) -> tuple[str, ...]:
    """Register the metrics that the benchmark of an execution, or any stored benchmark, defines;
    return their names. If two benchmarks disagree on a name, the first one counts.
    """
    found = defined_metrics(connection, execution_key)
    for name, unit, direction in found:
        formula = "A metric that a benchmark defines: a scorer's, or its own."
        for each in dict.fromkeys((name, base_of(name))):
            declare_metric(Metric(each, unit, cast("Direction", direction), formula))
    return tuple(dict.fromkeys(one.name for one in found))


def declare_metrics_of(connection: sqlite3.Connection, agent: str) -> tuple[str, ...]:
    """Register the better directions that the agent's newest execution of each experiment
    declares; return their names. If two experiments disagree, the first one counts. The metrics
    that benchmarks define are registered, too.
    """
    declare_benchmark_metrics(connection)
    names: dict[str, None] = {}
    for key in newest_executions(connection, agent, _returns_numbers):
        for name, metric in _declared(connection, key).items():
            if declare_metric(metric):
                names[name] = None
    return tuple(names)


def declare_metrics_in(connection: sqlite3.Connection, run_key: int) -> None:
    """Register the metrics that the experiments, kinds and benchmarks of a run declare, so that
    gates can use them even if the experiment's code is not available.
    """
    declare_benchmark_metrics(connection)
    for key in executions_in_run(connection, run_key, _returns_numbers):
        for metric in _declared(connection, key).values():
            declare_metric(metric)


def undeclared_metrics(connection: sqlite3.Connection, agent: str) -> tuple[str, ...]:
    """Return metrics of the agent's newest experiments without a declared direction."""
    names: dict[str, None] = {}
    for key in newest_executions(connection, agent, _returns_numbers):
        found = metric_names(connection, key)
        names |= {name: None for name in found if find_metric(name) is None}
    return tuple(names)


def _declared(connection: sqlite3.Connection, execution_key: int) -> dict[str, Metric]:
    """Return the metrics that an execution's experiment and kind declare, by name."""
    kind = kind_of_execution(connection, execution_key)
    of_kind = None if kind is None else kind_named(kind).part("metrics")
    return {one.name: one for one in of_kind or ()} | declared_of(connection, execution_key)


def _returns_numbers(kind: Kind) -> bool:
    return kind.returns_numbers
