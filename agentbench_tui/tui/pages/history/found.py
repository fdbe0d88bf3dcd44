"""What the page History reads of the store, and when it has to read it again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.errors import UsageError
from agentbench_tui.store.queries.history import newest_agent, stamp_of_history
from agentbench_tui.store.queries.runs import list_agents
from agentbench_tui.verdicts.regression.course import (
    Course,
    course_of,
)

if TYPE_CHECKING:
    import sqlite3


@dataclass(frozen=True, slots=True)
class Found:
    """What the page shows of the store."""

    agents: list[dict[str, Any]]
    agent: str
    """Whose course it is; empty where nobody was measured."""
    course: Course | None
    stamp: tuple[Any, ...]
    """See `stamp_of_history`."""
    problem: str = ""
    """Why there is no course of this agent."""


def look_up(connection: sqlite3.Connection, agent: str | None, before: Found | None) -> Found:
    """The course of an agent, by default of the one that was measured last; `before` itself while
    it still holds."""
    stamp = stamp_of_history(connection)
    name = agent or newest_agent(connection) or ""
    # A run that goes on commits all the time, and must not be slowed down by judgements.
    if before is not None and (before.agent, before.stamp) == (name, stamp):
        return before
    agents = list_agents(connection)
    if not name:
        return Found(agents, name, None, stamp)
    try:
        return Found(agents, name, course_of(connection, name), stamp)
    except UsageError as error:
        return Found(agents, name, None, stamp, f"{error}; a picks another agent")
