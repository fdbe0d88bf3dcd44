"""The timer: what it includes, and when it loops."""

from __future__ import annotations

import time

import pytest

from agentbench_tui.experiments.measuring import timing
from agentbench_tui.experiments.measuring.timing import Timed, calibrated_loops, timed, timed_async
from agentbench_tui.instruments import clock as clock_of_calls


class Clock:
    """A clock that only moves when it is told to, and 10 ns with each reading."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        self.now += 10
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for module in (timing, clock_of_calls):
        monkeypatch.setattr(module, "now_ns", clock)
    clock_of_calls.timer_facts.cache_clear()
    yield clock
    clock_of_calls.timer_facts.cache_clear()


def test_nothing_but_the_call_and_one_reading_is_in_the_time(clock: Clock) -> None:
    def work(amount: int) -> str:
        clock.now += amount
        return "done"

    assert timed(work, 500) == Timed(510.0, 1, "done")
    assert timed(work, 500, 10) == Timed((5000 + 10) / 10, 10, "done")


async def test_async_calls_are_timed_alike(clock: Clock) -> None:
    async def work(amount: int) -> int:
        clock.now += amount
        return amount

    assert await timed_async(work, 500) == Timed(510.0, 1, 500)
    assert await timed_async(work, 500, 4) == Timed((2000 + 10) / 4, 4, 500)


def test_the_timer_tells_what_it_costs(clock: Clock) -> None:
    facts = clock_of_calls.timer_facts()
    assert (facts.cost_ns, facts.resolution_ns, timing.least_ns()) == (10.0, 10, 10_000.0)


@pytest.mark.parametrize(("call_ns", "loops"), [(10_000, 1), (9_000, 2), (100, 128), (0, 1 << 20)])
def test_short_calls_are_looped_until_the_timer_is_a_thousandth(
    clock: Clock, call_ns: int, loops: int
) -> None:
    # 2 × 9 000 ≥ 10 000; 64 × 100 is not, 128 × 100 is.
    assert calibrated_loops(lambda n: Timed(call_ns, n, None)) == loops


def test_the_real_timer_is_below_a_microsecond() -> None:
    clock_of_calls.timer_facts.cache_clear()
    facts = clock_of_calls.timer_facts()
    assert 0 < facts.cost_ns < 100_000
    assert facts.resolution_ns >= time.get_clock_info("perf_counter").resolution * 1e9
