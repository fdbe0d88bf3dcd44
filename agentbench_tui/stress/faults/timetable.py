"""Faults that are active at a time, and the connections and requests that they affect."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import TYPE_CHECKING

from agentbench_tui.model.clock import perf_counter_ns
from agentbench_tui.model.errors import UsageError
from agentbench_tui.stress.faults.script import MOST_FAULTS, FaultCount

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentbench_tui.load.schedule.agenda import Agenda
    from agentbench_tui.stress.faults.fault import Fault

_NS = 1_000_000_000


class RunningFault:
    """A fault, whether it is active, and how often it was applied."""

    __slots__ = (
        "_full_ns",
        "_random",
        "applied",
        "began_ns",
        "ended_ns",
        "fault",
        "free_ns",
        "kind",
        "on",
    )

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.kind = fault.kind
        self.on = False
        self.applied = 0
        self.began_ns: int | None = None
        self.ended_ns: int | None = None
        self.free_ns = {"to_target": 0, "to_client": 0}
        """For a bandwidth: when the line is free again, by direction."""
        self._full_ns = 0
        self._random = Random(fault.seed)  # noqa: S311  # not for secrets

    def hits(self) -> bool:
        """Return whether the next connection or request is affected."""
        share = self.fault.share
        return share >= 1 or self._random.random() < share

    def draw(self) -> float:
        """Return a uniform random number from 0 to 1."""
        return self._random.random()

    def is_above(self, rate: float, burst: int, now_ns: int) -> bool:
        """Return whether a request now exceeds a token bucket of that rate and size."""
        gap_ns = round(_NS / rate)
        full_ns = max(self._full_ns, now_ns)
        if full_ns - now_ns > (burst - 1) * gap_ns:
            return True
        self._full_ns = full_ns + gap_ns
        return False

    def count(self) -> FaultCount:
        """Return the count so far."""
        return FaultCount(self.fault.name, self.applied, self.began_ns, self.ended_ns)


class Timetable:
    """Turns faults on and off at their times, and reports each change."""

    def __init__(self, agenda: Agenda, changed: Callable[[], None]) -> None:
        self.on: list[RunningFault] = []
        """In the order of their numbers."""
        self._agenda = agenda
        self._changed = changed
        self._faults: list[RunningFault] = []
        self._waiting: list[RunningFault] = []

    def schedule(self, faults: Iterable[Fault]) -> None:
        """Number the faults; they wait for `start`. Raises UsageError if there are too many."""
        new = [RunningFault(fault) for fault in faults]
        if len(self._faults) + len(new) > MOST_FAULTS:
            raise UsageError(f"a proxy takes at most {MOST_FAULTS} faults")
        self._faults += new
        self._waiting += new

    def start(self, at_ns: int) -> None:
        """Start the waiting script; faults that are due are active when this returns."""
        waiting, self._waiting = self._waiting, []
        now_ns = perf_counter_ns()
        for running in waiting:
            begin_ns = at_ns + round(running.fault.start_s * _NS)
            end_s = running.fault.end_s
            if end_s is not None:
                end_ns = at_ns + round(end_s * _NS)
                if end_ns <= now_ns:
                    continue
                self._agenda.at(end_ns, partial(self._end_at, running))
            if begin_ns <= now_ns:
                self._begin(running)
            else:
                self._agenda.at(begin_ns, partial(self._begin, running))

    def clear(self, numbers: Iterable[int] | None) -> None:
        """End faults and discard pending ones. Unknown numbers are ignored."""
        if numbers is None:
            cleared = self._faults
        else:
            wanted = set(numbers)
            cleared = [fault for number, fault in enumerate(self._faults) if number in wanted]
        self._waiting = [fault for fault in self._waiting if fault not in cleared]
        self._end(cleared)

    def counts(self) -> tuple[FaultCount, ...]:
        """Return the counts of each fault, by number."""
        return tuple(running.count() for running in self._faults)

    def _begin(self, running: RunningFault, _due_ns: int = 0) -> None:
        if running.ended_ns is not None:  # cleared before it began
            return
        running.on = True
        running.began_ns = perf_counter_ns()
        self.on = [fault for fault in self._faults if fault.on]
        self._changed()

    def _end_at(self, running: RunningFault, _due_ns: int) -> None:
        self._end([running])

    def _end(self, ended: Iterable[RunningFault]) -> None:
        now_ns = perf_counter_ns()
        for running in ended:
            if running.ended_ns is None:
                running.on = False
                running.ended_ns = now_ns
        self.on = [fault for fault in self._faults if fault.on]
        self._changed()
