"""Recent offered, sent and answered rates of a load, for live views.

Counts are known only at the reports of workers, a quarter of a second apart. A rate is therefore
computed between two reports, starting at one where the count had grown and excluding its value
there, so that both bursty and even requests get their true rate. A rate is given only if there are
enough requests for an error within 1/`FEWEST`.
"""

from __future__ import annotations

import math
from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from agentbench_tui.load.schedule.arrivals import expected_count
from agentbench_tui.load.schedule.pace import Pace

if TYPE_CHECKING:
    from agentbench_tui.load.schedule.arrivals import Schedule

RECENT_S = 5.0
"""A rate is taken over so long, so that it follows what happens and does not flicker."""
LEAST_S = 2.0
"""Minimum time span of a rate."""
LONGEST_S = 60.0
"""Older data are discarded."""
FEWEST = 20
"""Requests, or answers, that a rate is based on; with slower ones, the time span is longer."""
STEP_S = 0.1
"""Minimum time between two stored reports: several workers report more often than necessary."""


class Moment(NamedTuple):
    """Totals at a time since the start of the window."""

    at_s: float
    """Seconds since it began, by the senders' own clocks."""
    sent: int = 0
    answered: int = 0
    tokens: int = 0


class RecentRates:
    """Recent rates of one window; constant after its end."""

    def __init__(self, arrivals: Schedule | None, pace: Pace | None = None) -> None:
        """`arrivals`: those of an open loop; None for a closed one.

        `pace`: speed of the schedule, if it can be changed.
        """
        self._arrivals = arrivals
        self._pace = pace or Pace()
        self._moments: deque[Moment] = deque()
        self.ends_s = math.inf
        """Later requests do not belong to the window."""

    def end(self) -> None:
        """Mark the end of the window."""
        self.ends_s = -math.inf

    def take(self, moment: Moment) -> None:
        """Add a moment that is later than all before."""
        moments = self._moments
        if moment.at_s > self.ends_s or (moments and moment.at_s < moments[-1].at_s + STEP_S):
            return
        moments.append(moment)
        while moment.at_s - moments[0].at_s > LONGEST_S:
            moments.popleft()

    def asked_per_s(self) -> float | None:
        """Return the offered rate over the seconds that `sent_per_s` covers, or since the window
        began while that is unknown. None for a closed loop.
        """
        span = self._span("sent", "sent")
        if self._arrivals is None or not self._moments:
            return None
        began_s = 0.0 if span is None else span[0].at_s
        until_s = self._moments[-1].at_s if span is None else span[1].at_s
        if until_s <= began_s:
            return None
        until, began = (
            expected_count(self._arrivals, self._pace.schedule_s(at_s))
            for at_s in (until_s, began_s)
        )
        return (until - began) / (until_s - began_s)

    def sent_per_s(self) -> float | None:
        """Return the recent rate of sent requests; None if unknown."""
        return self._per_s("sent", "sent")

    def tokens_per_s(self) -> float | None:
        """Return the recent rate of output tokens; None if unknown."""
        return self._per_s("tokens", "answered")

    def _per_s(self, name: str, of: str) -> float | None:
        span = self._span(name, of)
        if span is None:
            return None
        first, last = span
        grown: int = getattr(last, name) - getattr(first, name)
        return grown / (last.at_s - first.at_s)

    def _span(self, name: str, of: str) -> tuple[Moment, Moment] | None:
        """Return the times between which the rate of `name` is computed; `of` counts what it is
        based on. None with too few data, or if nothing arrived for longer than the span.
        """
        grown = [
            later
            for earlier, later in pairwise(self._moments)
            if getattr(later, name) > getattr(earlier, name)
        ]
        if not grown:
            return None
        last = grown[-1]
        for first in reversed(grown):
            seconds = last.at_s - first.at_s
            enough = getattr(last, of) - getattr(first, of) >= FEWEST
            if seconds >= RECENT_S and enough:
                break
        silent_s = self._moments[-1].at_s - last.at_s
        told = enough and seconds >= max(LEAST_S, silent_s)
        return (first, last) if told else None
