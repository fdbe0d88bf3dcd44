"""Manual changes of a load during its window: of its rate, or its users."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.load.schedule.pace import LEAST_PACE, MOST_PACE, Change, Pace
from agentbench_tui.load.spec import MOST_USERS
from agentbench_tui.model.clock import perf_counter_ns

if TYPE_CHECKING:
    from agentbench_tui.load.sending.workers import LoadWorkers

AHEAD_NS = 20_000_000
"""Time between the request and the change, so that every worker has received it by then."""
NOT_BEGUN = "the window has not begun"
OVER = "the window is over"
STRESS = "the load of a stress scenario is its plan; start another one for another load"


class Steering:
    """Steering of one window; all workers change at the same time."""

    def __init__(self, users: int | None, *, fixed: str | None = None) -> None:
        """`users` of a closed loop, None for an open one. `fixed`: why nothing can be changed."""
        self.pace = Pace()
        self.users = users
        self.changes: list[Change] = []
        self._workers: LoadWorkers | None = None
        self._began_ns = 0
        self._refusal = fixed or NOT_BEGUN
        self._is_fixed = fixed is not None

    @property
    def can_change(self) -> bool:
        """Return whether anything of this load can be changed."""
        return not self._is_fixed

    def begin(self, workers: LoadWorkers, began_ns: int) -> None:
        """Start the window."""
        if not self._is_fixed:
            self._workers, self._began_ns = workers, began_ns

    def end(self) -> None:
        """End the window: no further changes."""
        self._workers = None
        self._refusal = self._refusal if self._is_fixed else OVER

    def set_pace(self, factor: float) -> str | None:
        """Set the rate as a multiple of the schedule's; return why that is impossible, or None."""
        if self._workers is None:
            return self._refusal
        if self.users is not None:
            return "users of a closed loop have no rate; change their number (concurrency)"
        if not LEAST_PACE <= factor <= MOST_PACE:
            return f"{factor:g} times the plan; {LEAST_PACE:g} to {MOST_PACE:g} times can be asked"
        at_ns = self._next_ns()
        self._workers.set_pace(factor, at_ns)
        at_s = (at_ns - self._began_ns) / 1e9
        self.pace.change(at_s, factor)
        self.changes.append(Change(at_s, "pace", factor))
        return None

    def set_users(self, users: int) -> str | None:
        """Set the number of users; return why that is impossible, or None."""
        if self._workers is None:
            return self._refusal
        if self.users is None:
            return "a load by the clock has no users; change its rate"
        if not self._workers.count <= users <= MOST_USERS:
            return f"{users:,} users; {self._workers.count:,} to {MOST_USERS:,} can ask here"
        at_ns = self._next_ns()
        self._workers.set_users(users, at_ns)
        self.users = users
        self.changes.append(Change((at_ns - self._began_ns) / 1e9, "users", users))
        return None

    def _next_ns(self) -> int:
        """Return when a change made now takes effect: not in the past, and after every earlier
        change.
        """
        now = max(perf_counter_ns(), self._began_ns) + AHEAD_NS
        before = self._began_ns + int(1e9 * self.changes[-1].at_s) if self.changes else 0
        return max(now, before + 1)
