"""Spikes: how much is left in each, and how long it takes after each."""

from __future__ import annotations

import pytest
from faulty_server import KINDS, Behavior
from simulated_stand import SimulatedStand, simulated

from agentbench_tui.stress.report import ScenarioReport

SHORT = {"time_scale": 0.5, "duration_s": 4.0, "recovery_s": 10.0, "spikes": 2}


async def spikes(behavior: Behavior) -> ScenarioReport:
    return await simulated("spike_load", SimulatedStand(behavior), **SHORT)


async def test_each_spike_has_its_own_recovery() -> None:
    report = await spikes(KINDS["perfect"])
    assert [one.after for one in report.recoveries] == ["spike 1", "spike 2"]
    phases = [window.phase for window in report.windows if window.phase != "ladder"]
    assert phases == ["normal", "normal", "stress", "recovery", "stress", "recovery"]
    assert report.normal is not None
    for window in report.windows:
        if window.phase == "stress":
            assert window.asked_per_s == pytest.approx(10 * report.normal.rate_per_s, rel=0.02)
            assert window.length_s == pytest.approx(2)


async def test_a_server_that_comes_back_at_once_is_told_from_one_that_never_does() -> None:
    good, bad = await spikes(KINDS["perfect"]), await spikes(KINDS["never_recovers"])
    assert all(one.seconds is not None and one.seconds <= 1 for one in good.recoveries)
    assert all(one.seconds is None for one in bad.recoveries)
    assert "not recovered within" in bad.recoveries[0].words
    assert good.score is not None
    assert bad.score is not None
    assert good.score.value > 80 > 50 > bad.score.value


async def test_a_backlog_takes_as_long_as_it_is() -> None:
    """Clients that wait 5 s leave a queue of 5 s at capacity, which drains at half of it."""
    report = await spikes(KINDS["queues"])
    seconds = report.recoveries[0].seconds
    assert seconds is None or seconds > 1
