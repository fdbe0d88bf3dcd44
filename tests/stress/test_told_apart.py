"""Five targets, four with one fault each: told apart by their scores and by what is said of them.

Simulated, so that minutes of load take no time; benchmarks/stress_told_apart.py has the same of
real servers.
"""

from dataclasses import dataclass

import pytest
from faulty_server import KINDS
from simulated_stand import SimulatedStand, simulated
from virtual_clients import polite_as

from agentbench_tui.analysis.load.resilience import overall
from agentbench_tui.stress import leak
from agentbench_tui.stress.advice.advice import advise
from agentbench_tui.stress.faults.host_memory import HostMemory
from agentbench_tui.stress.report import Advice, ScenarioReport

LEFT = 20_000_000_000
"""Bytes of memory that the machine has left."""
SCENARIOS = ("high_load", "sustained_load", "rate_limiting")


@dataclass(frozen=True)
class Told:
    """All that is known of one target."""

    reports: dict[str, ScenarioReport]
    advice: list[Advice]
    overall: float

    @property
    def rules(self) -> set[str]:
        """Beyond what is only worth knowing."""
        return {advice.rule for advice in self.advice if advice.severity != "info"}

    def score(self, scenario: str) -> float:
        found = self.reports[scenario].score
        assert found is not None
        return found.value


async def told(kind: str, monkeypatch: pytest.MonkeyPatch) -> Told:
    """A new target of that kind in each scenario; clients give up after half a second."""
    monkeypatch.setattr(leak, "read_host_memory", lambda: HostMemory(LEFT, LEFT))
    reports = {}
    for scenario in SCENARIOS:
        stand = SimulatedStand(KINDS[kind], time_limit_s=0.5)
        polite_as(monkeypatch, stand, 1.0, lambda stand=stand: stand.refuses)
        reports[scenario] = await simulated(
            scenario, stand, duration_s=30 if scenario == "sustained_load" else 10, recovery_s=30
        )
    scores = {
        name: None if report.score is None else report.score.value
        for name, report in reports.items()
    }
    score = overall(scores).score
    assert score is not None
    return Told(reports, advise(reports.values()), score)


async def test_of_a_target_without_a_fault_nothing_is_advised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    perfect = await told("perfect", monkeypatch)
    assert perfect.rules == set()
    assert perfect.overall > 97
    # One that comes in the moment after the overload may still be refused.
    times = [report.recoveries[0].seconds for report in _watched(perfect)]
    assert all(seconds is not None and seconds <= 1 for seconds in times)


async def test_a_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    leaks = await told("leaks", monkeypatch)
    assert leaks.rules == {"memory-leak"}
    (advice,) = (one for one in leaks.advice if one.rule == "memory-leak")
    assert advice.evidence["kb_per_request"] == pytest.approx(16 * 1.024, rel=0.1)
    soak = leaks.reports["sustained_load"]
    assert soak.score is not None
    assert soak.score.watched is not None
    assert soak.score.watched > 97
    # 16 KiB of each request, until the machine has no more left; of a week.
    leaked_per_h = 3600 * 16_384 * float(soak.observations["soak_rate_per_s"])
    assert leaks.score("sustained_load") == pytest.approx(100 * LEFT / leaked_per_h / 168, rel=0.1)
    assert leaks.overall < 40


async def test_a_collapse_under_overload(monkeypatch: pytest.MonkeyPatch) -> None:
    collapses = await told("collapses", monkeypatch)
    assert "congestion-collapse" in collapses.rules
    assert "no-recovery" not in collapses.rules
    assert collapses.score("sustained_load") > 97
    assert collapses.score("high_load") < 75


async def test_no_recovery(monkeypatch: pytest.MonkeyPatch) -> None:
    never = await told("never_recovers", monkeypatch)
    assert "no-recovery" in never.rules
    assert not never.rules & {"congestion-collapse", "retry-after-not-kept", "memory-leak"}
    assert never.score("high_load") < 20
    assert all(report.recoveries[0].seconds is None for report in _watched(never))


async def test_a_retry_after_that_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    ignores = await told("ignores_retry_after", monkeypatch)
    assert "retry-after-not-kept" in ignores.rules
    assert not ignores.rules & {"congestion-collapse", "no-recovery", "memory-leak"}
    assert ignores.score("rate_limiting") < 20


def _watched(target: Told) -> list[ScenarioReport]:
    return [report for report in target.reports.values() if report.recoveries]
