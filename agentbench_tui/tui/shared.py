"""What the pages of one session know in common: which store, which run, what is marked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

MOST_MARKED = 6
"""That a comparison can hold in sight."""


class Lead(NamedTuple):
    """Where one page leads another."""

    execution: str
    """Its id."""
    case: str = ""
    """Its id; empty: the execution as a whole."""
    answer: int | None = None
    """Of those to the case; None: the first."""


@dataclass(slots=True)
class Shared:
    """Of one session; pages read and change it, and nothing else passes between them."""

    database: Path
    run_id: str | None = None
    """The run that was looked at last: what Live, Cases, Profile and Stress open with."""
    replay: bool = False
    """Whether Live shows that run from its beginning, though it has ended."""
    speed: float = 1.0
    """Of that, times real time; infinite: as fast as can be."""
    agent: str | None = None
    """The agent that was looked at last: what History opens with."""
    lead: Lead | None = None
    """What the next page that looks at executions opens with, once."""
    episode: int = 0
    """Of the run's episodes of market worlds: what Market opens with."""
    suite: str | None = None
    """The suite that a new run begins with."""
    marked: list[str] = field(default_factory=list)
    """Selectors (`agent`, `agent@version`, `run:ID`) to compare, the control first."""
    was_read: bool = False
    """Whether there was a store to read in this session."""
    fixed_run: bool = False
    """Whether the session was opened for one run, so that leaving it is leaving the session."""

    def toggle_mark(self, selector: str) -> bool | None:
        """Mark, or no longer; whether it is marked now, None when there are too many."""
        if selector in self.marked:
            self.marked.remove(selector)
            return False
        if len(self.marked) >= MOST_MARKED:
            return None
        self.marked.append(selector)
        return True
