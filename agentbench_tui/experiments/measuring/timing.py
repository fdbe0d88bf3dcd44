"""The timer: only the call runs between its two readings.

A call shorter than a thousand readings of the timer runs in a loop, so that the timer's own share
stays below one in a thousand. The length of the loop is found by doubling, before anything is
measured.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import repeat
from typing import Any, TypeVar

from agentbench_tui.instruments.clock import now_ns, timer_facts

A = TypeVar("A")
Call = Callable[[A], Any]

TIMES_THE_COST = 1000
"""Timed code takes at least this multiple of the timer's own cost."""
MOST_LOOPS = 1 << 20


@dataclass(frozen=True, slots=True)
class Timed:
    """One measured iteration."""

    ns: float
    """Time of one call; the mean over the loop."""
    loops: int
    value: Any
    """Result of the last call."""


def timed(call: Call[A], argument: A, loops: int = 1) -> Timed:
    """Run this many calls in a row, timed as one."""
    if loops == 1:
        began = now_ns()
        value = call(argument)
        ended = now_ns()
        return Timed(ended - began, 1, value)
    rounds = repeat(None, loops - 1)
    began = now_ns()
    for _ in rounds:
        call(argument)
    value = call(argument)
    ended = now_ns()
    return Timed((ended - began) / loops, loops, value)


async def timed_async(call: Callable[[A], Awaitable[Any]], argument: A, loops: int = 1) -> Timed:
    """Run this many awaited calls in a row on the running loop, timed as one."""
    rounds = repeat(None, loops - 1)
    began = now_ns()
    for _ in rounds:
        await call(argument)
    value = await call(argument)
    ended = now_ns()
    return Timed((ended - began) / loops, loops, value)


def least_ns() -> float:
    """Return the time below which calls are measured in a loop."""
    facts = timer_facts()
    return TIMES_THE_COST * max(facts.cost_ns, float(facts.resolution_ns))


def calibrated_loops(one: Callable[[int], Timed]) -> int:
    """Return the number of calls per measurement; `one(loops)` makes one.

    1 if a single call takes long enough; otherwise doubles until the whole takes `least_ns`.
    """
    least, loops = least_ns(), 1
    while loops < MOST_LOOPS:
        taken = one(loops).ns * loops
        if taken >= least:
            break
        loops *= 2
    return loops


async def calibrated_loops_async(one: Callable[[int], Awaitable[Timed]]) -> int:
    """Do the same for awaited measurements."""
    least, loops = least_ns(), 1
    while loops < MOST_LOOPS:
        measured = await one(loops)
        if measured.ns * loops >= least:
            break
        loops *= 2
    return loops
