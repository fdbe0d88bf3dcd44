"""Starts sessions by the clock (open loop), or when the previous one has ended (closed loop)."""

from __future__ import annotations

import heapq
import random
from itertools import takewhile
from typing import TYPE_CHECKING, Protocol

from agentbench_tui.instruments.timer import DeadlineTimer
from agentbench_tui.load.schedule.arrivals import (
    expected_count,
    expected_rate,
    offsets_ns,
    slice_of,
)
from agentbench_tui.load.schedule.pace import Pace
from agentbench_tui.load.sending.protocol import OpenLoop
from agentbench_tui.load.sending.sender import LATE_NS
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.model.clock import perf_counter_ns

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator

    from agentbench_tui.load.schedule.agenda import Agenda
    from agentbench_tui.load.sending.protocol import ClosedLoop, WorkerPlan
    from agentbench_tui.load.sending.sender import Sender

_NS = 1_000_000_000
_LATE_SHARE = 0.05
UNREACHABLE_PAUSE_NS = 100_000_000
"""Wait of a user after a request that could not connect, or for which no file was free:
repeating it immediately would only load the refusing port.
"""
_UNREACHABLE = frozenset({FailureKind.CONNECTION, FailureKind.HARNESS})
REFUSED_PAUSE_NS = 100_000_000
"""Minimum wait of a user after a 429 without Retry-After.

The wait grows to the time since any user of this schedule last got through, up to:
"""
LONGEST_REFUSED_PAUSE_NS = 5 * _NS
LONGEST_TOLD_NS = 60 * _NS
"""Maximum wait for a Retry-After."""

ARRIVALS_A_TURN = 512
"""Most that begin before the loop turns to answers and to the coordinator: far over its capacity
a sender would otherwise do nothing but begin, without end."""
LATEST_NS = 5 * _NS
"""Arrivals that have not started this long after the window are dropped."""


class Over(Protocol):
    """Callback at the end of a window."""

    def __call__(self, *, cut: bool) -> None:
        """Handle the end; `cut`: the window ended by its duration, so sessions end immediately;
        otherwise by its requests.
        """


class Schedule(Protocol):
    """Begins sessions on a sender from a start time on."""

    def start(self, start_ns: int) -> None:
        """Start the window at that time."""

    def stop(self) -> None:
        """Begin no further session."""

    @property
    def window_ns(self) -> int:
        """Return the duration from the start to the end, or until now while it runs."""


def make_schedule(
    plan: WorkerPlan,
    loop: asyncio.AbstractEventLoop,
    sender: Sender,
    agenda: Agenda,
    over: Over,
) -> Schedule:
    """Return the plan's schedule; `over` is called when its window ends without being stopped."""
    if isinstance(plan.schedule, OpenLoop):
        return OpenSchedule(plan, plan.schedule, loop, sender, over)
    return ClosedSchedule(plan, plan.schedule, loop, sender, agenda, over)


def late_after_ns(plan: WorkerPlan) -> int | None:
    """Return how late an arrival may be sent:

    1 ms, or 5% of the mean gap; None in a closed loop. The mean gap is the window's; without a set
    length, that of its beginning.
    """
    if not isinstance(plan.schedule, OpenLoop):
        return None
    arrivals, seconds = plan.schedule.arrivals, plan.duration_s
    rate = (
        expected_rate(arrivals, 0.0)
        if seconds is None
        else expected_count(arrivals, seconds) / seconds
    )
    return max(LATE_NS, int(_LATE_SHARE * _NS / rate)) if rate > 0 else LATE_NS


def _own_requests(plan: WorkerPlan) -> int | None:
    """Return this worker's share of the plan's requests; None if they are not limited."""
    if plan.requests is None:
        return None
    own, rest = divmod(plan.requests, plan.workers)
    return own + (plan.worker < rest)


class OpenSchedule:
    """Arrivals at absolute times; each wake-up sends everything that is due."""

    def __init__(
        self,
        plan: WorkerPlan,
        schedule: OpenLoop,
        loop: asyncio.AbstractEventLoop,
        sender: Sender,
        over: Over,
    ) -> None:
        duration_ns = None if plan.duration_s is None else int(plan.duration_s * _NS)
        whole = offsets_ns(schedule.arrivals, plan.seed, count=plan.requests)
        self._own_offsets = slice_of(whole, plan.worker, plan.workers)
        """In the schedule's own time, which equals the window's until the pace changes."""
        self._pace = Pace()
        self._duration_ns = duration_ns
        self._offsets = self._until_end(self._own_offsets)
        self._index = plan.worker
        self._step = plan.workers
        self._own = _own_requests(plan)
        self._sender = sender
        self._over = over
        self._timer = DeadlineTimer(loop, self._fire)
        self._start_ns = 0
        self._next = next(self._offsets, None)
        self._last = 0
        self._begun = 0
        self._ended_ns: int | None = None

    def start(self, start_ns: int) -> None:
        """See `Schedule`."""
        self._start_ns = start_ns
        self._arm()

    def set_pace(self, factor: float, at_ns: int) -> None:
        """Make later arrivals due `factor` times as fast as in the schedule, not before an earlier
        change. A schedule without remaining arrivals is unchanged.
        """
        if self._next is None or self._ended_ns is not None:
            return
        at = at_ns - self._start_ns
        if self._next > at:
            own = self._pace.schedule_s(self._next / _NS)
            self._pace.change(at / _NS, factor)
            self._next = int(self._pace.window_s(own) * _NS)
        else:
            self._pace.change(at / _NS, factor)
        self._offsets = self._until_end(
            int(self._pace.window_s(own_ns / _NS) * _NS) for own_ns in self._own_offsets
        )
        if self._duration_ns is not None and self._next >= self._duration_ns:
            self._next = None
        self._arm()

    def _until_end(self, offsets: Iterator[int]) -> Iterator[int]:
        """Yield the arrivals before the window's end."""
        duration_ns = self._duration_ns
        return offsets if duration_ns is None else takewhile(duration_ns.__gt__, offsets)

    def _arm(self) -> None:
        if self._next is not None:
            self._timer.arm(self._start_ns + self._next)
        elif self._begun == self._own:
            self._duration_ns = None
            self._end()
        elif self._duration_ns is not None:
            # The window lasts to its end, also after its last arrival.
            self._timer.arm(self._start_ns + self._duration_ns)
        else:
            self._end()

    def _fire(self) -> None:
        if self._next is None or self._is_too_late():
            self._end()
            return
        sender, start = self._sender, self._start_ns
        most = self._begun + ARRIVALS_A_TURN
        while (
            self._next is not None
            and self._begun < most
            and start + self._next <= perf_counter_ns()
        ):
            sender.begin(self._index, start + self._next)
            self._index += self._step
            self._last = self._next
            self._begun += 1
            self._next = next(self._offsets, None)
        self._arm()

    def _is_too_late(self) -> bool:
        duration_ns = self._duration_ns
        if duration_ns is None:
            return False
        return perf_counter_ns() > self._start_ns + duration_ns + LATEST_NS

    def _end(self) -> None:
        self._close()
        self._over(cut=self._duration_ns is not None)

    def stop(self) -> None:
        """See `Schedule`."""
        if self._ended_ns is None:
            self._next = None
            self._duration_ns = max(perf_counter_ns() - self._start_ns, 0)
            self._close()

    def _close(self) -> None:
        self._ended_ns = perf_counter_ns()
        self._timer.close()

    @property
    def window_ns(self) -> int:
        """See `Schedule`. If it ended by its count, it lasts until one mean gap, of all workers
        together, after the last arrival.
        """
        if self._duration_ns is not None:
            return self._duration_ns
        place = self._index - self._step  # of the last one, in the whole schedule
        return self._last * (place + 1) // place if place > 0 else max(self._last, 0)


class ClosedSchedule:
    """Users that each send, wait for the answer, think, and send again."""

    def __init__(
        self,
        plan: WorkerPlan,
        schedule: ClosedLoop,
        loop: asyncio.AbstractEventLoop,
        sender: Sender,
        agenda: Agenda,
        over: Over,
    ) -> None:
        self._plan = schedule
        self._thinks = schedule.think_time_ms > 0
        self._sender = sender
        self._agenda = agenda
        self._over = over
        self._timer = DeadlineTimer(loop, self._end)
        self._random = random.Random(plan.seed * 1_000_003 + plan.worker)  # noqa: S311
        self._duration_ns = None if plan.duration_s is None else int(plan.duration_s * _NS)
        self._left = _own_requests(plan)
        self._index = plan.worker
        self._step = plan.workers
        self._start_ns = 0
        self._ready: list[int] = []
        """When users that wait or think will be ready; a heap."""
        self._window_ns: int | None = None
        self._users = schedule.users
        self._retiring = 0
        """Users that stop when their request has ended."""
        self._refused_from_ns: int | None = None
        """Start of the time in which all users are refused; None while any gets through."""

    def start(self, start_ns: int) -> None:
        """See `Schedule`."""
        self._start_ns = start_ns
        self._sender.session_ended = self._session_ended
        users = self._plan.users
        for user in range(users):
            self._begin_at(start_ns + int(self._plan.ramp_s * _NS * user / users))
        if self._duration_ns is not None:
            self._timer.arm(start_ns + self._duration_ns)

    def _begin_at(self, due_ns: int) -> None:
        heapq.heappush(self._ready, due_ns)
        self._agenda.at(due_ns, self._begin_due)

    def _begin_due(self, due_ns: int) -> None:
        if self._window_ns is None:
            heapq.heappop(self._ready)
            self._begin(due_ns)

    def _begin(self, due_ns: int) -> None:
        if self._left is not None:
            if not self._left:
                self._finish(due_ns, cut=False)
                return
            self._left -= 1
        index = self._index
        self._index += self._step
        self._sender.begin(index, due_ns)

    def _session_ended(self, failure: AgentFailure | None) -> None:
        if self._window_ns is not None:
            return
        if self._retiring:
            self._retiring -= 1
            return
        ready_ns = perf_counter_ns()
        pause_ns = 0
        if failure is None:
            self._refused_from_ns = None
        else:
            pause_ns = self._pause_ns(failure, ready_ns)
        if pause_ns:
            ready_ns += pause_ns
        elif self._thinks:
            ready_ns += self._think_ns()
        elif self._left is None:  # as `_begin`
            index = self._index
            self._index += self._step
            self._sender.begin(index, ready_ns)
            return
        else:
            self._begin(ready_ns)
            return
        if self._left == 0:  # nobody has to think for what is not sent
            self._finish(min([ready_ns, *self._ready[:1]]), cut=False)
        else:
            self._begin_at(ready_ns)

    def set_users(self, users: int, at_ns: int) -> None:
        """Set the number of users, at least one: additional ones start immediately, surplus ones
        stop when their request has ended.
        """
        if self._window_ns is not None:
            return
        more = users - self._users
        self._users = users
        stay = min(max(more, 0), self._retiring)
        self._retiring += max(-more, 0) - stay
        for _ in range(max(more, 0) - stay):
            self._begin_at(at_ns)

    def _pause_ns(self, failure: AgentFailure, now_ns: int) -> int:
        """Return how long a user waits after a failure; 0 if no pause is needed."""
        if failure.kind in _UNREACHABLE:
            return UNREACHABLE_PAUSE_NS
        if failure.retry_after_s:
            return min(int(failure.retry_after_s * _NS), LONGEST_TOLD_NS)
        if failure.kind is not FailureKind.RATE_LIMITED:
            return 0
        if self._refused_from_ns is None:
            self._refused_from_ns = now_ns
        return min(max(now_ns - self._refused_from_ns, REFUSED_PAUSE_NS), LONGEST_REFUSED_PAUSE_NS)

    def _think_ns(self) -> int:
        mean = self._plan.think_time_ms * 1e6
        if self._plan.think_time == "exponential":
            return int(self._random.expovariate(1 / mean))
        return int(mean)

    def _end(self) -> None:
        assert self._duration_ns is not None, "the timer is armed for it alone"
        self._finish(self._start_ns + self._duration_ns, cut=True)

    def _finish(self, end_ns: int, *, cut: bool) -> None:
        self._close(end_ns)
        self._over(cut=cut)

    def stop(self) -> None:
        """See `Schedule`."""
        if self._window_ns is None:
            self._close(perf_counter_ns())

    def _close(self, end_ns: int) -> None:
        length_ns = max(end_ns - self._start_ns, 0)
        self._window_ns = min(length_ns, self._duration_ns or length_ns)
        self._timer.close()

    @property
    def window_ns(self) -> int:
        """See `Schedule`. If it ended by its count, it lasts until one more request would have
        begun.
        """
        if self._window_ns is None:
            return perf_counter_ns() - self._start_ns
        return self._window_ns
