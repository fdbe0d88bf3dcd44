"""The scenario concurrent_requests: where it breaks and how it scales, by laws that are known."""

import asyncio
import math

import numpy as np
import pytest
from faulty_server import KINDS, Behavior
from hypothesis import given
from hypothesis import strategies as st
from simulated_stand import SimulatedStand, simulated

from agentbench_tui.stress.scenarios.concurrent_requests import no_less_than_fewer_users
from agentbench_tui.stress.search.scaling import closed_rate, scaling_facts, user_levels
from agentbench_tui.stress.stand.measured import Measured

SCALES = Behavior(rate=20.0, contention=0.04, coherency=0.0009)
"""N* = √(0.96 / 0.0009) = 32.66; X(N*) = 204.9 requests/s."""


@given(st.integers(1, 100_000))
def test_levels_are_whole_different_and_rise_to_the_most(most: int) -> None:
    levels = user_levels(most)
    assert levels[0] == 1
    assert levels[-1] == most
    assert levels == sorted(set(levels))
    assert len(levels) == min(most, 8)


def closed(users: int, latencies_ms: list[float], length_s: float = 1.0) -> Measured:
    """Each user asks again when it is answered; all answers take their turn in a list."""
    due, took = [], []
    ready = [0.0] * users
    for latency in latencies_ms:
        user = ready.index(min(ready))
        due.append(ready[user])
        took.append(latency)
        ready[user] += latency / 1e3
    due_s, e2e_ms = np.array(due), np.array(took)
    return Measured(
        phase="scaling",
        repeat=0,
        asked_per_s=None,
        users=users,
        length_s=length_s,
        due_s=due_s,
        ok=np.ones(len(due), dtype=np.bool_),
        e2e_ms=e2e_ms,
        end_s=due_s + e2e_ms / 1e3,
    )


def test_answers_a_second_follow_from_users_and_latency() -> None:
    # 4 users, each answer 50 ms: 80 a second, though 76 are counted in the 0.95 s beside the edges.
    assert closed_rate(closed(4, [50.0] * 80)) == pytest.approx(80.0)


def test_no_rate_of_few_answers_or_where_something_failed() -> None:
    assert closed_rate(closed(4, [50.0] * 8)) is None
    whole = closed(4, [50.0] * 80)
    ok = whole.ok.copy()
    ok[7] = False
    assert closed_rate(Measured(**{**vars(whole), "ok": ok})) is None
    assert closed_rate(Measured(**{**vars(whole), "users": None})) is None


def test_the_law_is_not_claimed_where_it_does_not_hold() -> None:
    """Four places and no more: a straight line, then flat. The best fit has a peak that is not."""
    flat = [(n, min(50.0 * n, 200.0)) for n in (1, 2, 4, 7, 14, 27, 52, 100) for _ in range(3)]
    facts = scaling_facts(flat)
    assert (facts.n_star, facts.peak_per_s, facts.sigma_interval) == (None, None, None)
    assert "not by the scalability law" in facts.words
    assert "at most 200 requests/s were answered, with 4 users" in facts.words


def test_the_law_needs_six_numbers_of_users() -> None:
    with pytest.raises(ValueError, match="5 different numbers of users"):
        scaling_facts([(float(n), 10.0 * n) for n in range(1, 6)] * 3)


async def test_the_law_of_a_target_is_found_and_its_peak_told() -> None:
    stand = SimulatedStand(SCALES, noise=0.1, wire_s=1e-6, seed=2)
    report = await simulated("concurrent_requests", stand, duration_s=120, most_concurrency=64)
    facts = report.scaling
    assert facts is not None
    assert facts.sigma_interval is not None
    assert facts.kappa_interval is not None
    assert facts.n_star_interval is not None
    assert facts.sigma_interval[0] <= 0.04 <= facts.sigma_interval[1]
    assert facts.kappa_interval[0] <= 0.0009 <= facts.kappa_interval[1]
    assert facts.n_star_interval[0] <= math.sqrt(0.96 / 0.0009) <= facts.n_star_interval[1]
    assert len({users for users, _ in facts.points}) == 8
    assert len(facts.points) == 40
    assert [advice.rule for advice in report.advice] == ["coherency-limit", "contention-limit"]


async def test_the_order_of_levels_is_shuffled_and_the_same_each_time() -> None:
    async def order() -> list[int | None]:
        stand = SimulatedStand(SCALES)
        await simulated("concurrent_requests", stand, duration_s=5, most_concurrency=64)
        return [course.users for course, phase in stand.held if phase == "scaling"]

    first, second = await asyncio.gather(order(), order())
    assert first == second
    assert first != sorted(first, key=lambda users: users or 0)
    assert sorted(first, key=lambda users: users or 0) == sorted(user_levels(64) * 5)


async def test_it_breaks_where_the_last_place_is_taken() -> None:
    """Four slots and four that wait: the ninth user is refused."""
    report = await simulated("concurrent_requests", SimulatedStand(KINDS["perfect"]), duration_s=10)
    (point,) = report.breaking_points
    assert (point.status, point.passes, point.fails) == ("found", 8, 9)
    assert "errors" in point.broke
    assert report.score is not None
    assert report.score.value > 99
    assert report.recoveries[0].seconds == 0
    assert report.advice == []


async def test_a_target_without_an_end_to_its_queue_breaks_by_latency() -> None:
    report = await simulated(
        "concurrent_requests", SimulatedStand(KINDS["queues"], cores=0.1), duration_s=10
    )
    (point,) = report.breaking_points
    assert point.broke[0] == "p95 of latency"
    # The limit is 3 × 22.7 ms at normal load: 12 or 13 users wait that long for 4 slots of 20 ms.
    assert point.passes is not None
    assert 12 <= point.passes <= 14
    rules = {advice.rule for advice in report.advice}
    assert "queueing-while-idle" in rules


async def test_more_users_that_get_less_break_it() -> None:
    """Also where latency is within its limit and nothing fails."""
    falls = SimulatedStand(Behavior(rate=20.0, coherency=0.01))
    report = await simulated(
        "concurrent_requests",
        falls,
        duration_s=10,
        most_concurrency=64,
        limits={"p95_ms": 60_000},
    )
    (point,) = report.breaking_points
    # X(N) = 20N/(1 + N(N-1)/100) is highest at N = 10, with 105.3; 90% of it are left at 16.
    assert point.broke == ("throughput",)
    assert point.fails is not None
    assert 14 <= point.fails <= 32


def test_fewer_users_are_not_held_against_more() -> None:
    check = no_less_than_fewer_users()
    (many,) = check([closed(8, [50.0] * 160)])
    (few,) = check([closed(2, [50.0] * 40)])
    assert many.kept
    assert few.kept
    (worse,) = check([closed(16, [200.0] * 80)])
    assert worse.broken
