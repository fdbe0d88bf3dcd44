"""The limiter backs off when a server refuses, waits as long as it says, and comes back."""

import asyncio

import pytest

from agentbench_tui.engine.run.limiter import Limiter


class Clock:
    """Time that passes only where somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def limiter(clock: Clock, places: int, most: int | None = None) -> Limiter:
    return Limiter(places, most, clock=clock, sleep=clock.sleep)


async def test_no_more_than_the_limit_are_inside(clock: Clock) -> None:
    limit = limiter(clock, 2)
    await limit.enter()
    await limit.enter()
    third = asyncio.create_task(limit.enter())
    for _ in range(5):
        await asyncio.sleep(0)
    assert not third.done()
    limit.leave()
    await third
    assert limit.in_flight == 2


async def test_a_refusal_halves_and_waits_as_long_as_the_server_says(clock: Clock) -> None:
    limit = limiter(clock, 8)
    limit.rate_limited(7.0)
    assert limit.limit == 4
    await limit.enter()
    assert clock.slept == [7.0]


async def test_refusals_of_one_wave_halve_once_and_the_longest_wait_counts(clock: Clock) -> None:
    limit = limiter(clock, 8)
    for seconds in (2.0, 5.0, 3.0):
        limit.rate_limited(seconds)
    assert limit.limit == 4
    await limit.enter()
    assert clock.slept == [5.0]


async def test_without_a_word_of_the_server_waits_double_until_an_answer(clock: Clock) -> None:
    limit = limiter(clock, 1)
    for _ in range(3):
        limit.rate_limited(None)
        await limit.enter()
        limit.leave()
    limit.answered()
    limit.rate_limited(None)
    await limit.enter()
    assert clock.slept == [0.5, 1.0, 2.0, 0.5]


async def test_a_server_cannot_make_us_wait_for_more_than_a_minute(clock: Clock) -> None:
    limit = limiter(clock, 1)
    limit.rate_limited(86_400.0)
    await limit.enter()
    assert clock.slept == [60.0]


async def test_a_server_that_is_away_gets_its_time_and_keeps_its_places(clock: Clock) -> None:
    limit = limiter(clock, 8)
    limit.pause(7.0)
    limit.pause(3.0)
    assert (limit.limit, limit.pause_left_s) == (8, 7.0)
    await limit.enter()
    assert clock.slept == [7.0]
    assert limit.pause_left_s == 0
    limit.pause(86_400.0)
    assert limit.pause_left_s == 60


def test_ten_answers_in_a_row_bring_one_place_back(clock: Clock) -> None:
    limit = limiter(clock, 4)
    limit.rate_limited(0.0)
    for _ in range(9):
        limit.answered()
    assert limit.limit == 2
    limit.answered()
    assert limit.limit == 3
    for _ in range(40):
        limit.answered()
    assert limit.limit == 4


async def test_a_wish_lets_waiting_ones_in_but_never_beyond_the_places(clock: Clock) -> None:
    limit = limiter(clock, 3, most=1)
    await limit.enter()
    waiting = asyncio.create_task(limit.enter())
    await asyncio.sleep(0)
    limit.resize(100)
    await waiting
    assert limit.limit == 3
