"""Budget of one execution, for any scenario."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from agentbench_tui.model.clock import perf_counter

if TYPE_CHECKING:
    from agentbench_tui.load.results.window import Window
    from agentbench_tui.stress.spec import StressSpec
    from agentbench_tui.stress.stand.window_plan import WindowPlan


SHORTEST_S = 0.001
"""Length of a window when time has just run out."""


class Stopped(Exception):
    """Ends a scenario early, on request or because a budget is used up.

    The measurements are stored.
    """


class Budget:
    """Requests, bytes and time of one execution."""

    def __init__(self, spec: StressSpec) -> None:
        self._spec = spec
        self._requests = 0
        self._bytes = 0
        self._ends_s: float | None = None

    def check(self) -> None:
        """Check the budget before a window; the first check starts the clock. Raises Stopped."""
        spec = self._spec
        if spec.max_s is not None and self._ends_s is None:
            self._ends_s = perf_counter() + spec.max_s
        if self._requests >= spec.max_requests:
            raise Stopped(f"{spec.max_requests:,} requests (`max_requests`) are used up")
        if spec.max_bytes is not None and self._bytes >= spec.max_bytes:
            raise Stopped(f"{spec.max_bytes:,} bytes (`max_bytes`) are used up")
        if self.left_s <= 0:
            raise Stopped(self.out_of_time)

    @property
    def out_of_time(self) -> str:
        """Return why the scenario ends when no time is left."""
        return f"{self._spec.max_s:g} s (`max_s`) are used up"

    @property
    def left_s(self) -> float:
        """Return the seconds left; infinite without a limit."""
        return math.inf if self._ends_s is None else self._ends_s - perf_counter()

    def within(self, course: WindowPlan) -> WindowPlan:
        """Return the course, limited to the requests and time that are left.

        For bytes, it allows as many requests as would fit at the size of earlier ones.
        """
        requests = self._spec.max_requests - self._requests
        if self._spec.max_bytes is not None and self._bytes:
            each = self._bytes / self._requests
            requests = min(requests, math.ceil((self._spec.max_bytes - self._bytes) / each))
        if course.requests is not None:
            requests = min(requests, course.requests)
        length_s = max(min(course.length_s, self.left_s), SHORTEST_S)
        return replace(course, requests=requests, length_s=length_s)

    def spend(self, window: Window) -> None:
        """Count the use of a window; the bytes of agents with their own transport are unknown."""
        for worker in window.workers:
            self._requests += worker.sent
            self._bytes += (worker.sent_bytes or 0) + (worker.received_bytes or 0)
