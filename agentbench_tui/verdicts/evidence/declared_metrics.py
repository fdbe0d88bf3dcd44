"""Directions and units that experiments declare for the numbers they return."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.experiments.declared import declared_of
from agentbench_tui.model.figures.metric import declare_metric, find_metric
from agentbench_tui.store.queries.experiments import experiments_in_run, newest_of_each_experiment
from agentbench_tui.store.queries.metrics import metric_names

if TYPE_CHECKING:
    import sqlite3


def declare_metrics_of(connection: sqlite3.Connection, agent: str) -> tuple[str, ...]:
    """Register the better directions that the agent's newest execution of each experiment
    declares; return their names. If two experiments disagree, the first one counts.
    """
    names: dict[str, None] = {}
    for key in newest_of_each_experiment(connection, agent):
        for name, metric in declared_of(connection, key).items():
            if declare_metric(metric):
                names[name] = None
    return tuple(names)


def declare_metrics_in(connection: sqlite3.Connection, run_key: int) -> None:
    """Register the metrics that the experiments of a run declare, so that gates can use them
    even if the experiment's code is not available.
    """
    for key in experiments_in_run(connection, run_key):
        for metric in declared_of(connection, key).values():
            declare_metric(metric)


def undeclared_metrics(connection: sqlite3.Connection, agent: str) -> tuple[str, ...]:
    """Return metrics of the agent's newest experiments without a declared direction."""
    names: dict[str, None] = {}
    for key in newest_of_each_experiment(connection, agent):
        found = metric_names(connection, key)
        names |= {name: None for name in found if find_metric(name) is None}
    return tuple(names)
