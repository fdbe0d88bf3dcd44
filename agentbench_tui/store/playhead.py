"""Position of a replay in the time of its run: pure arithmetic on given clock readings."""

from __future__ import annotations

import math

SLOWEST, FASTEST = 0.25, 64.0
"""Multiples of real time; above the fastest there is only `math.inf`, as fast as possible."""


class Playhead:
    """A position in seconds since the run began that moves with a clock, at some speed."""

    def __init__(self, at_s: float, speed: float, now: float) -> None:
        """`now`: a reading of the clock, in seconds; so is every other `now`."""
        self._from_s = at_s
        self._since = now
        self._speed = speed
        self._playing = True

    @property
    def speed(self) -> float:
        """Return seconds of the run per second; infinite for as fast as possible."""
        return self._speed

    @property
    def is_playing(self) -> bool:
        """Return whether it is playing."""
        return self._playing

    def at(self, now: float) -> float:
        """Return the position; infinite while it plays as fast as possible."""
        if not self._playing:
            return self._from_s
        if math.isinf(self._speed):
            return math.inf
        return self._from_s + (now - self._since) * self._speed

    def seek(self, at_s: float, now: float) -> None:
        """Move to a position without changing whether it plays."""
        self._from_s, self._since = max(0.0, at_s), now

    def play(self, speed: float, now: float, *, reached_s: float) -> None:
        """Play at that speed, 0.25 to 64 or infinite, from the current rows."""
        self.seek(min(self.at(now), reached_s), now)
        self._speed = speed if math.isinf(speed) else min(FASTEST, max(SLOWEST, speed))
        self._playing = True

    def pause(self, now: float, *, reached_s: float) -> None:
        """Pause at the current rows."""
        self.seek(min(self.at(now), reached_s), now)
        self._playing = False


def next_speed(speed: float, *, faster: bool) -> float:
    """Return the next of 0.25, 0.5, 1, … 64, infinite."""
    if math.isinf(speed):
        return speed if faster else FASTEST
    if faster:
        return math.inf if speed >= FASTEST else speed * 2
    return max(SLOWEST, speed / 2)
