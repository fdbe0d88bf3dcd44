"""Time limits of an agent's turns: none, a deadline, or the pace of the world.

lock-step   a tick ends when the agent says so
deadline    a turn is lost when it has not ended within the response timeout
real-time   ticks come at the world's interval divided by `speed`, ready or not

Nothing here sleeps: a driver that has to wait asks `Turns.due` until when.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mode = Literal["lock-step", "deadline", "real-time"]


@dataclass(frozen=True, slots=True)
class Pace:
    """The mode, with the one number that it needs."""

    mode: Mode = "lock-step"
    response_timeout_s: float | None = None
    """Time limit of a whole turn, in deadline mode."""
    speed: float = 1.0
    """Speed of the world's clock relative to real time, in real-time mode."""

    def __post_init__(self) -> None:
        if self.mode == "deadline" and not (self.response_timeout_s or 0) > 0:
            raise ValueError("deadline mode needs a response timeout above 0 seconds")
        if not self.speed > 0:
            raise ValueError(f"speed is above 0, not {self.speed}")


LOCK_STEP = Pace()


class Turns:
    """End of the current turn. Times are seconds of a monotonic clock."""

    __slots__ = ("_interval_s", "_pace", "_started", "due")

    def __init__(self, pace: Pace, interval_ms: int) -> None:
        self._pace = pace
        self._interval_s = interval_ms / 1_000 / pace.speed
        self._started: float | None = None
        self.due: float | None = None
        """When the turn is lost; None before its hand-over and in lock-step mode."""

    def hand_over(self, tick: int, at: float) -> None:
        """Start the turn of that tick at `at`; a second observation does not extend it."""
        if self._pace.mode == "deadline" and self._pace.response_timeout_s is not None:
            if self.due is None:
                self.due = at + self._pace.response_timeout_s
        elif self._pace.mode == "real-time":
            if self._started is None:
                self._started = at - tick * self._interval_s
            self.due = self._started + (tick + 1) * self._interval_s

    def next(self, tick: int) -> None:
        """Start the turn of `tick`: real time continues, a deadline starts again."""
        if self._pace.mode == "real-time" and self._started is not None:
            self.due = self._started + (tick + 1) * self._interval_s
        else:
            self.due = None
