"""High load: the truth about a server that is known, and what is left of one that is overloaded."""

from __future__ import annotations

import pytest
from faulty_server import KINDS, Behavior
from simulated_stand import SimulatedStand, simulated

from agentbench_tui.stress.report import ScenarioReport

EIGHT_SLOTS = Behavior(slots=8, service_ms=50, queue=100_000)
SHORT = {"time_scale": 0.2, "duration_s": 50.0, "limits": {"error_share": 0.05}}


async def high_load(behavior: Behavior) -> ScenarioReport:
    return await simulated("high_load", SimulatedStand(behavior), **SHORT)


async def test_the_breaking_point_is_the_true_one() -> None:
    report = await high_load(EIGHT_SLOTS)
    (point,) = report.breaking_points
    assert point.middle == pytest.approx(160, rel=0.1)
    assert report.broke


async def test_ten_times_normal_is_held_and_the_recovery_watched() -> None:
    report = await high_load(EIGHT_SLOTS)
    stress, recovery = report.windows[-2:]
    assert (stress.phase, recovery.phase) == ("stress", "recovery")
    assert report.normal is not None
    assert stress.asked_per_s == pytest.approx(10 * report.normal.rate_per_s, rel=0.02)
    assert stress.length_s == pytest.approx(10)
    assert recovery.asked_per_s == pytest.approx(report.normal.rate_per_s, rel=0.05)
    assert recovery.length_s == pytest.approx(6)
    assert stress.repeat == recovery.repeat  # one window, on one clock
    assert report.observations["stress_rate_per_s"] == pytest.approx(stress.asked_per_s, rel=0.02)


async def test_cpu_is_told_of_whole_windows_alone() -> None:
    stand = SimulatedStand(EIGHT_SLOTS, cores=2.0)
    report = await simulated("high_load", stand, **{**SHORT, "duration_s": 5.0})
    known = {window.phase for window in report.windows if window.cpu_cores is not None}
    parts = {window.phase for window in report.windows if window.cpu_cores is None}
    assert known == {"ladder", "normal", "probe"}
    assert parts == {"stress", "recovery"}


async def test_a_server_that_sheds_keeps_its_service_and_one_that_collapses_does_not() -> None:
    perfect, collapsing = await high_load(KINDS["perfect"]), await high_load(KINDS["collapses"])
    assert perfect.score is not None
    assert collapsing.score is not None
    assert perfect.score.value > 80
    assert collapsing.score.value < 40
    assert perfect.recoveries[0].seconds is not None
    assert perfect.recoveries[0].seconds <= 1


async def test_never_more_than_is_allowed() -> None:
    stand = SimulatedStand(EIGHT_SLOTS)
    await simulated("high_load", stand, **{**SHORT, "most_rate": 100.0})
    asked = [course.highest_rate for course, _ in stand.held if course.highest_rate is not None]
    assert max(asked) == pytest.approx(100)
