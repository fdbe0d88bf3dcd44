"""Every selector in the store that can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agentbench_tui.store.queries.runs import find_run
from agentbench_tui.store.queries.selection import (
    executions_where,
    selectable_agents,
    selectable_runs,
    selectable_tags,
    selectable_versions,
)
from agentbench_tui.verdicts.selection.selector import parse_selector

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from agentbench_tui.store.queries.selection import Selectable

MOST = 200
"""Number of the newest of each kind."""

_KINDS = (
    ("agent", selectable_agents),
    ("version", selectable_versions),
    ("run", selectable_runs),
    ("tag", selectable_tags),
)


class Offer(NamedTuple):
    """An agent, a version, a run or a tag that can be compared."""

    selector: str
    """See `verdicts.selection.selector`."""
    kind: str
    agent_id: str
    runs: int
    last: str
    """When its last execution was made, UTC."""
    simulated: bool


def selectable(connection: sqlite3.Connection, most: int = MOST) -> list[Offer]:
    """Return agents, versions (of agents that have several), runs and tags, newest of each
    first. Of runs and tags the newest `most` runs are looked at.
    """
    found: list[Offer] = []
    for kind, query in _KINDS:
        found += (
            Offer(_selector(kind, row), kind, row.agent_id, row.runs, row.last, bool(row.simulated))
            for row in query(connection, most)
        )
    return found


def _selector(kind: str, row: Selectable) -> str:
    agent = row.agent_id
    if kind == "agent":
        return agent
    versioned = f"{agent}@{row.version}"
    if kind == "version":
        return versioned
    return f"{kind}:{row.name}/{agent if row.versions == 1 else versioned}"


def spelled_out(connection: sqlite3.Connection, selectors: Iterable[str]) -> list[str]:
    """Replace a run or tag with several agents by one selector for each of them.

    Raises UsageError for an invalid selector, or an unknown run.
    """
    found: dict[str, None] = {}
    for text in selectors:
        found.update(dict.fromkeys(_each_agent(connection, text)))
    return [*found]


def _each_agent(connection: sqlite3.Connection, text: str) -> list[str]:
    selector = parse_selector(text)
    if selector.kind not in {"run", "tag"} or selector.agent is not None or selector.point:
        return [text]
    run = find_run(connection, selector.name) if selector.kind == "run" else None
    rows = executions_where(
        connection,
        run_key=None if run is None else run["key"],
        tag=None if run is not None else selector.name,
    )
    agents = sorted({row["agent_id"] for row in rows})
    return [f"{text}/{agent}" for agent in agents] if len(agents) > 1 else [text]
