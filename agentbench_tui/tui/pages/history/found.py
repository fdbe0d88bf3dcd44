"""Data of the page History, and when they must be read again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import UsageError
from agentbench_tui.store.queries.history import newest_agent, stamp_of_history
from agentbench_tui.verdicts.regression.metric_series import (
    AgentSeries,
    series_of,
)
from agentbench_tui.verdicts.selection.listings import agents_document

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.contracts.listings import ListedAgent


@dataclass(frozen=True, slots=True)
class Found:
    """Data of the page, from the store."""

    agents: tuple[ListedAgent, ...]
    agent: str
    """Agent whose history it is; empty if none was measured."""
    course: AgentSeries | None
    stamp: tuple[object, ...]
    """See `stamp_of_history`."""
    problem: str = ""
    """Why there is no history of this agent."""


def look_up(connection: sqlite3.Connection, agent: str | None, before: Found | None) -> Found:
    """Return the history of an agent, by default of the last measured one; `before` itself while it
    is still valid.
    """
    stamp = stamp_of_history(connection)
    name = agent or newest_agent(connection) or ""
    # A run that goes on commits all the time, and must not be slowed down by judgments.
    if before is not None and (before.agent, before.stamp) == (name, stamp):
        return before
    agents = agents_document(connection).agents
    if not name:
        return Found(agents, name, None, stamp)
    try:
        return Found(agents, name, series_of(connection, name), stamp)
    except UsageError as error:
        return Found(agents, name, None, stamp, f"{error}; a picks another agent")
