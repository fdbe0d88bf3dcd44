"""The clock for calls and cases: its smallest step, and the time of a reading."""

from __future__ import annotations

import time
from functools import cache
from itertools import pairwise, repeat
from statistics import median

import msgspec

from agentbench_tui.model.clock import perf_counter_ns

now_ns = perf_counter_ns
_READINGS = 1001


class TimerFacts(msgspec.Struct, frozen=True):
    """Properties of this machine's timer."""

    cost_ns: float
    """Time of one reading, which every measured time includes."""
    resolution_ns: int
    """Smallest observed step between two different readings: the clock's resolution or the time
    of a reading, whichever is larger.
    """


@cache
def timer_facts() -> TimerFacts:
    """Measured once in a process, in well under a millisecond."""
    readings = [now_ns() for _ in repeat(None, _READINGS)]
    steps = [after - before for before, after in pairwise(readings)]
    claimed = round(time.get_clock_info("perf_counter").resolution * 1e9)
    resolution = min((step for step in steps if step), default=claimed)
    return TimerFacts(float(median(steps)), resolution)
