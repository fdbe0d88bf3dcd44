"""Request for a check for regressions: agent, baseline, thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import UsageError
from agentbench_tui.store.queries.runs import executions_of, find_run
from agentbench_tui.verdicts.evidence.declared_metrics import (
    declare_metrics_of,
    undeclared_metrics,
)
from agentbench_tui.verdicts.regression.regression import RegressionAsked
from agentbench_tui.verdicts.selection.selector import parse_selector

if TYPE_CHECKING:
    import sqlite3


def regression_request(
    connection: sqlite3.Connection,
    agent: str | None,
    *,
    baseline: str | None = None,
    suite: str | None = None,
    benchmark: str | None = None,
    metrics: Sequence[str] = (),
    threshold: float | None = None,
    thresholds: Mapping[str, float] = MappingProxyType({}),
) -> RegressionAsked:
    """Return what to check of `AGENT[@VERSION]`, by default the agent of the newest run.

    Raises UsageError for what names no agent, several agents in the newest run, and a metric for
    which an experiment declares no better direction.
    """
    name, version = agent, None
    if name is None:
        name = _newest_agent(connection)
    else:
        selector = parse_selector(name)
        if selector.kind != "agent":
            raise UsageError(f"'{agent}': expected an agent, as AGENT or AGENT@VERSION")
        if selector.point:
            raise UsageError(f"'{agent}': every point of a sweep is judged; remove ?…")
        name, version = selector.name, selector.version
    declare_metrics_of(connection, name)
    _refuse_undeclared(connection, name, metrics)
    return RegressionAsked(
        agent=name,
        version=version,
        baseline=baseline,
        suite=suite,
        benchmark=benchmark,
        metrics=tuple(metrics),
        threshold=threshold,
        thresholds=dict(thresholds),
    )


def _refuse_undeclared(connection: sqlite3.Connection, agent: str, metrics: Sequence[str]) -> None:
    for name in set(metrics) & set(undeclared_metrics(connection, agent)):
        raise UsageError(
            f"--metric {name}: the experiment declares no better direction for it;"
            f' add `better = {{"{name}": "lower"}}` to its class'
        )


def _newest_agent(connection: sqlite3.Connection) -> str:
    run = find_run(connection, "latest")
    agents = sorted({row["agent_id"] for row in executions_of(connection, run["key"])})
    if len(agents) != 1:
        raise UsageError(
            f"the newest run has {len(agents)} agents; name one of them: {', '.join(agents)}"
        )
    return str(agents[0])
