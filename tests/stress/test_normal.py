"""Normal load, measured on servers whose capacity is known."""

from __future__ import annotations

from typing import Any, cast

import pytest
from faulty_server import Behavior
from simulated_stand import Kept, SimulatedStand

from agentbench_tui.model.answer import AgentFailure
from agentbench_tui.stress.report import ScenarioReport
from agentbench_tui.stress.reporter import Reporter
from agentbench_tui.stress.spec import StressSpec
from agentbench_tui.stress.stand.normal import Normal, measure_normal
from agentbench_tui.stress.stand.stand import Stand

EIGHT_SLOTS = Behavior(slots=8, service_ms=50, queue=100_000)
"""160 requests a second."""


async def normal_of(stand: SimulatedStand, **given: Any) -> tuple[Normal, ScenarioReport]:
    kept = Kept("high_load")
    spec = StressSpec.model_validate({"scenario": "high_load", **given})
    found = await measure_normal(cast(Stand, stand), spec, cast(Reporter, kept))
    return found, kept.report


async def test_half_of_what_it_can_do_is_normal() -> None:
    found, report = await normal_of(SimulatedStand(EIGHT_SLOTS, noise=0.01))
    assert found.capacity == pytest.approx(160, rel=0.05)
    assert found.rate == pytest.approx(80, rel=0.05)
    assert found.concurrency == 4
    assert found.p95_ms == pytest.approx(51, rel=0.1)
    assert report.normal is not None
    assert report.normal.measured
    assert "8 users" in report.normal.words


async def test_the_ladder_ends_when_more_users_only_wait() -> None:
    _, report = await normal_of(SimulatedStand(EIGHT_SLOTS, noise=0.01))
    users = [window.users for window in report.windows if window.phase == "ladder"]
    assert users == [1, 2, 4, 8, 16]
    assert [window.phase for window in report.windows][-1] == "normal"


async def test_limits_follow_from_normal_unless_given() -> None:
    found, report = await normal_of(SimulatedStand(EIGHT_SLOTS, noise=0.01))
    assert found.limit_p95_ms == pytest.approx(3 * found.p95_ms)
    assert report.limits is not None
    assert report.limits.derived
    found, report = await normal_of(
        SimulatedStand(EIGHT_SLOTS), limits={"p95_ms": 400.0, "error_share": 0.05}
    )
    assert (found.limit_p95_ms, found.limits.error_share) == (400.0, 0.05)
    assert report.limits is not None
    assert not report.limits.derived


async def test_what_the_suite_says_is_normal_is_not_measured() -> None:
    found, report = await normal_of(SimulatedStand(EIGHT_SLOTS), normal_rate=20.0)
    assert found.rate == 20
    assert report.normal is not None
    assert not report.normal.measured
    assert report.windows[-1].asked_per_s == pytest.approx(20)
    found, report = await normal_of(SimulatedStand(EIGHT_SLOTS), normal_concurrency=2)
    assert report.windows[-1].users == 2
    assert found.rate == pytest.approx(40, rel=0.05)


async def test_users_that_the_suite_says_are_normal_ask_for_no_more_than_is_allowed() -> None:
    """Four of them would ask for 80 a second. What comes later is held against the same rate."""
    stand = SimulatedStand(EIGHT_SLOTS, noise=0.01)
    found, report = await normal_of(stand, normal_concurrency=4, most_rate=30.0)
    assert found.rate == 30
    assert found.baseline.asked_per_s == pytest.approx(30)
    assert [one.phase for one in report.windows].count("normal") == 1
    found, _ = await normal_of(stand, normal_concurrency=4, most_rate=100.0)
    assert found.rate == pytest.approx(80, rel=0.05)
    assert found.baseline.users == 4


async def test_normal_leaves_room_for_its_multiple() -> None:
    """Ten times the users of normal load may be asked for."""
    many = Behavior(slots=64, service_ms=50, queue=100_000)
    found, _ = await normal_of(SimulatedStand(many, noise=0.01), most_concurrency=100)
    assert found.concurrency <= 10
    assert found.capacity == pytest.approx(64 / 0.05, rel=0.05)


async def test_nothing_answered_says_what_came_instead() -> None:
    broken = Behavior(most_tokens=1)
    with pytest.raises(AgentFailure, match=r"none of 10 requests at ease was answered \(server\)"):
        await normal_of(SimulatedStand(broken))


class RateLimited(SimulatedStand):
    """100 requests a second, and a burst of as many; what is let in takes 5 ms."""

    _tokens, _filled_s = 100.0, 0.0

    def _arrives(self, one: Any, limit_s: float) -> None:
        self._tokens = min(100.0, self._tokens + 100 * (self._now - self._filled_s))
        self._filled_s = self._now
        if self._tokens < 1:
            self._ends(one, "rate_limited")
            return
        self._tokens -= 1
        super()._arrives(one, limit_s)


async def test_the_burst_of_a_rate_limit_is_not_taken_for_normal() -> None:
    """What it lets in for good is 100 a second, and half of that is normal."""
    stand = RateLimited(Behavior(slots=64, service_ms=5), noise=0.01, refusal_s=0.1)
    found, report = await normal_of(stand)

    assert found.rate == pytest.approx(50, rel=0.15)
    assert found.capacity == pytest.approx(100, rel=0.15)
    assert found.baseline.error_share == 0
    assert report.normal is not None
    assert "in short bursts more had been" in report.normal.words
    assert [one.phase for one in report.windows].count("normal") == 1


async def test_errors_at_any_load_do_not_make_normal_smaller() -> None:
    class Flaky(SimulatedStand):
        _count = 0

        def _arrives(self, one: Any, limit_s: float) -> None:
            self._count += 1
            if self._count % 4:
                super()._arrives(one, limit_s)
            else:
                self._ends(one, "server")

    found, report = await normal_of(Flaky(EIGHT_SLOTS, noise=0.01, refusal_s=0.05))
    assert found.baseline.error_share == pytest.approx(0.25, abs=0.02)
    asked = [one.asked_per_s for one in report.windows if one.asked_per_s is not None]
    assert found.rate == max(asked) == pytest.approx(asked[-1])
