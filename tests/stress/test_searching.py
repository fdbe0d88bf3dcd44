"""Breaking points of servers whose true ones are known; what a search keeps when it is cut off."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
from faulty_server import Behavior
from simulated_stand import Kept, SimulatedStand

from agentbench_tui.analysis.load.level_verdict import Limits
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.stress.budget import Stopped
from agentbench_tui.stress.report import ScenarioReport
from agentbench_tui.stress.reporter import Reporter
from agentbench_tui.stress.search.axis import Axis
from agentbench_tui.stress.search.breaking_point import BreakingPoint
from agentbench_tui.stress.search.searching import probe
from agentbench_tui.stress.stand.measured import Measured
from agentbench_tui.stress.stand.stand import Stand
from agentbench_tui.stress.stand.window_plan import WindowPlan

EIGHT_SLOTS = Behavior(slots=8, service_ms=50, queue=100_000)
TRUTH = 160.0
LIMITS = Limits(error_share=0.05, latency=((0.95, 150.0),))


async def search(
    stand: SimulatedStand, axis: Axis, **more: Any
) -> tuple[BreakingPoint, ScenarioReport]:
    kept = Kept("high_load")
    given: dict[str, Any] = {
        "course_of": lambda level, length_s: WindowPlan(length_s, rate=level),
        "length_of": lambda _: 3.0,
        "warm_up_s": 0.2,
    } | more
    reporter = cast(Reporter, kept)
    found = await probe(cast(Stand, stand), axis, LIMITS, reporter, **given)
    return found, kept.report


def rates(start: float = 40.0, most: float = 800.0) -> Axis:
    return Axis(on="rate", start=start, most=most, unit="requests/s")


@pytest.mark.parametrize("seed", range(5))
async def test_the_rate_at_which_a_queue_grows_is_found(seed: int) -> None:
    found, report = await search(SimulatedStand(EIGHT_SLOTS, seed=seed), rates())
    assert found.status == "found"
    assert found.middle == pytest.approx(TRUTH, rel=0.1)
    assert found.stable
    assert report.breaking_points == [found]
    assert all(window.verdict and window.reason for window in report.windows)


async def test_shedding_breaks_by_errors() -> None:
    shedding = Behavior(slots=8, service_ms=50, queue=4)
    found, _ = await search(SimulatedStand(shedding), rates())
    assert "errors" in found.broke
    # 5% of errors are allowed.
    assert found.middle == pytest.approx(TRUTH / 0.95, rel=0.1)


async def test_a_target_that_does_not_come_back_ends_the_search() -> None:
    """What was known before is told; nothing is asked of what it has become."""
    hurt = Behavior(slots=8, service_ms=50, queue=8, hurt=20.0)
    stand = SimulatedStand(hurt)
    found, report = await search(stand, rates())
    assert found.stopped == "left alone it did not come back to its unloaded pace"
    assert found.status == "wide"
    assert found.passes is not None
    assert found.fails is not None
    assert found.passes <= TRUTH < found.fails
    assert [one.verdict for one in report.windows].count("fail") == 1


class Sender(SimulatedStand):
    """Cannot send more than so much a second."""

    most_per_s = 100.0

    async def hold(self, course: WindowPlan, *, phase: str) -> Measured:
        assert course.rate is not None
        if course.rate <= self.most_per_s:
            return await super().hold(course, phase=phase)
        less = await super().hold(replace(course, rate=self.most_per_s), phase=phase)
        asked = replace(less, asked_per_s=course.rate)
        return replace(asked, sender_limit="the sender used 97% of a core")


async def test_what_the_sender_could_not_send_is_never_blamed_on_the_target() -> None:
    found, report = await search(Sender(EIGHT_SLOTS), rates())
    assert found.fails is None
    assert found.status != "found"
    assert found.passes is not None
    assert found.passes <= Sender.most_per_s
    beyond = [one for one in report.windows if (one.asked_per_s or 0) > Sender.most_per_s]
    assert beyond
    assert all(one.verdict == "unclear" for one in beyond)
    assert "the sender was the limit: the sender used 97%" in beyond[0].reason


class CutOff(SimulatedStand):
    """Ends in the search's fourth window."""

    why: Exception = Stopped("enough")

    async def hold(self, course: WindowPlan, *, phase: str) -> Measured:
        if len(self.held) == 3:
            raise self.why
        return await super().hold(course, phase=phase)


async def test_a_search_that_is_stopped_keeps_what_it_knows() -> None:
    kept = Kept("high_load")
    with pytest.raises(Stopped):
        await probe(
            cast(Stand, CutOff(EIGHT_SLOTS)),
            rates(10.0),
            LIMITS,
            cast(Reporter, kept),
            course_of=lambda level, length_s: WindowPlan(length_s, rate=level),
            length_of=lambda _: 10.0,
        )
    (point,) = kept.report.breaking_points
    assert (point.passes, point.fails, point.stopped) == (40, None, "enough")
    assert len(kept.report.windows) == 3


async def test_a_level_that_loses_the_target_has_failed() -> None:
    stand = CutOff(EIGHT_SLOTS)
    stand.why = AgentFailure(FailureKind.CONNECTION, "gone")
    kept = Kept("high_load")
    with pytest.raises(AgentFailure, match="gone"):
        await probe(
            cast(Stand, stand),
            rates(10.0),
            LIMITS,
            cast(Reporter, kept),
            course_of=lambda level, length_s: WindowPlan(length_s, rate=level),
            length_of=lambda _: 10.0,
        )
    (point,) = kept.report.breaking_points
    assert (point.passes, point.fails, point.broke) == (40, 80, ("target lost",))
    assert point.stopped == "the target was lost"
    assert kept.report.broke
