"""Changes of other agents in the same runs, which distinguish a slower host from a slower agent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from agentbench_tui.store.queries.metrics import metrics_of_other_agents

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from agentbench_tui.verdicts.evidence.place import Place
    from agentbench_tui.verdicts.regression.finding import Finding
    from agentbench_tui.verdicts.regression.history import Point


@dataclass(frozen=True, slots=True)
class Others:
    """Changes of the agents that ran together with the judged one."""

    agents: int
    """Agents, each of one version, that ran on both sides."""
    factor: float | None
    """Geometric mean of their new ÷ old values; None without any."""


def change_of_others(
    connection: sqlite3.Connection, findings: Sequence[Finding], metric: str
) -> Others:
    """Return the change of a metric of unchanged agents between the runs of both sides."""
    logs: list[float] = []
    agents: set[str] = set()
    for one in findings:
        old = _values(connection, one.old, one.place, metric)
        new = _values(connection, one.new, one.place, metric)
        for agent in old.keys() & new.keys():
            logs.append(fmean(new[agent]) - fmean(old[agent]))
            agents.add(agent)
    return Others(len(agents), math.exp(fmean(logs)) if logs else None)


def _values(
    connection: sqlite3.Connection, points: Sequence[Point], place: Place, metric: str
) -> dict[str, list[float]]:
    """Return logs of the values at a place in these runs, by agent with version."""
    agent = points[0].one_of_all("agent_id")
    rows = metrics_of_other_agents(
        connection, agent, place, (point.run_key for point in points), metric
    )
    found: dict[str, list[float]] = {}
    for name, value in rows:
        found.setdefault(name, []).append(math.log(value))
    return found
