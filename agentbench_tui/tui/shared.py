"""Shared state of a session's pages: store, run, marked selectors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from agentbench_tui.tui.agent_series import AgentSeries

if TYPE_CHECKING:
    from pathlib import Path

    from agentbench_tui.verdicts.runs.run_alarms import Alarm

MOST_MARKED = 6
"""That a comparison can hold in sight."""


class Lead(NamedTuple):
    """Target of a link from one page to another."""

    execution: str
    """Its id."""
    case: str = ""
    """Id of the case; empty: the execution as a whole."""
    answer: int | None = None
    """Index among the answers to the case; None: the first."""


@dataclass(slots=True)
class Shared:
    """Shared state of one session; pages communicate only through it."""

    database: Path
    run_id: str | None = None
    """The run that was looked at last: what Live, Cases, Profile and Stress open with."""
    replay: bool = False
    """Whether Live replays that run from its beginning."""
    speed: float = 1.0
    """Replay speed as a multiple of real time; infinite: as fast as possible."""
    agent: str | None = None
    """The agent that was looked at last: what History opens with."""
    lead: Lead | None = None
    """What the next page of executions opens with, once."""
    episode: int = 0
    """Market episode of the run that the page Market opens with."""
    evidence: Alarm | None = None
    """The alarm whose evidence Live shows next, once."""
    suite: str | None = None
    """The suite that a new run begins with."""
    series: AgentSeries = field(default_factory=AgentSeries)
    """Color and marker of each agent."""
    marked: list[str] = field(default_factory=list)
    """Selectors (`agent`, `agent@version`, `run:ID`) to compare, the control first."""
    was_read: bool = False
    """Whether there was a store to read in this session."""
    fixed_run: bool = False
    """Whether the session was opened for one run, so that leaving the run leaves the session."""

    def toggle_mark(self, selector: str) -> bool | None:
        """Mark or unmark; return whether it is marked now, None if there are too many."""
        if selector in self.marked:
            self.marked.remove(selector)
            return False
        if len(self.marked) >= MOST_MARKED:
            return None
        self.marked.append(selector)
        return True
