"""Maps window time to schedule time after manual changes of speed.

At pace 1, a second of the window is a second of the schedule; at pace 2, the requests of two
seconds of the schedule are due in one.
"""

from __future__ import annotations

from typing import Literal

import msgspec

LEAST_PACE, MOST_PACE = 1 / 16, 16.0


class Change(msgspec.Struct, frozen=True):
    """A manual change during a window."""

    at_s: float
    """Seconds since the window began."""
    what: Literal["pace", "users"]
    to: float


class Pace:
    """Pace of one window, with all its changes so far."""

    def __init__(self) -> None:
        self._pieces: list[tuple[float, float, float]] = [(0.0, 0.0, 1.0)]
        """(in the window, in the schedule, pace from there on), both in seconds."""

    @property
    def factor(self) -> float:
        """Return the current factor."""
        return self._pieces[-1][2]

    def change(self, at_s: float, factor: float) -> None:
        """Change the pace at `at_s` of the window, which must be later than every earlier
        change.
        """
        self._pieces.append((at_s, self.schedule_s(at_s), factor))

    def schedule_s(self, window_s: float) -> float:
        """Return the schedule's time at that time of the window."""
        for began_s, reached_s, factor in reversed(self._pieces):
            if window_s >= began_s:
                return reached_s + (window_s - began_s) * factor
        return window_s

    def window_s(self, schedule_s: float) -> float:
        """Return the time of the window at that time of the schedule."""
        for began_s, reached_s, factor in reversed(self._pieces):
            if schedule_s >= reached_s:
                return began_s + (schedule_s - reached_s) / factor
        return schedule_s
