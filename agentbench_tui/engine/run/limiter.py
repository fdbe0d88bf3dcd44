"""Adaptive concurrency: back off when the server says 429, come back when it answers again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agentbench_tui.model.clock import monotonic

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_GROWTH_AFTER = 10
"""Answers in a row after which one more request may be in flight."""
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 60.0


class Limiter:
    """Limits in-flight requests: halves the limit on each rate limit, adds one per ten answers.

    Additive increase, multiplicative decrease (Chiu and Jain 1989). During a pause no request
    starts, and in-flight requests continue.
    """

    def __init__(
        self,
        places: int,
        most: int | None = None,
        *,
        clock: Callable[[], float] = monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """`places` is the maximum number of requests in flight at any time; `most` is a lower
        current limit, as by `resize`. Once `stopped` is set no request enters; `sleep` should
        then end early.
        """
        self._places = places
        self._stopped = stopped
        self._clock = clock
        self._sleep = sleep
        self.most = self.limit = places if most is None else min(most, places)
        self.in_flight = 0
        self._streak = 0
        self._pause_until = 0.0
        self._next_pause_s = _FIRST_PAUSE_S
        self._changed: asyncio.Event | None = None

    async def enter(self) -> bool:
        """Wait for a free place, and for the end of a pause; False when stopped before."""
        while not self._stopped():
            pause_s = self.pause_left_s
            if pause_s:
                await self._sleep(pause_s)
            elif self.in_flight < self.limit:
                self.in_flight += 1
                return True
            else:
                self._changed = self._changed or asyncio.Event()
                self._changed.clear()
                await self._changed.wait()
        return False

    def leave(self) -> None:
        """Give the place back."""
        self.in_flight -= 1
        self._notify()

    def answered(self) -> None:
        """A request went well."""
        if self.limit < self.most:
            self._streak += 1
            if self._streak >= _GROWTH_AFTER:
                self._streak = 0
                self.limit += 1
                self._notify()
        self._next_pause_s = _FIRST_PAUSE_S

    def rate_limited(self, retry_after_s: float | None) -> None:
        """Handle a request for less load: halve the limit, and pause for the given time or for
        growing times.
        """
        self._streak = 0
        now = self._clock()
        if now >= self._pause_until:
            # One wave of refusals is one signal, however many requests were in flight.
            self.limit = max(1, self.limit // 2)
            if retry_after_s is None:
                retry_after_s = self._next_pause_s
                self._next_pause_s = min(_LONGEST_PAUSE_S, self._next_pause_s * 2)
        self.pause(retry_after_s or 0.0)

    def pause(self, seconds: float) -> None:
        """Handle a request for a pause without less load: no request starts before it is over."""
        self._pause_until = max(self._pause_until, self._clock() + min(seconds, _LONGEST_PAUSE_S))

    @property
    def pause_left_s(self) -> float:
        """Return how long no request may start."""
        return max(0.0, self._pause_until - self._clock()) if self._pause_until else 0.0

    def resize(self, most: int) -> None:
        """Set a viewer's concurrency, at most the number of places."""
        self.most = self.limit = min(most, self._places)
        self._notify()

    def _notify(self) -> None:
        if self._changed is not None:
            self._changed.set()
