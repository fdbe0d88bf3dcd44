"""The scenario rate_limiting: a server's own limit, and an agent told by its upstream to wait."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from faulty_server import KINDS, Behavior
from simulated_stand import SimulatedStand, simulated
from virtual_clients import polite_as

from agentbench_tui.stress.faults.fault import TooManyRequests
from agentbench_tui.stress.report import ScenarioReport
from agentbench_tui.stress.scenarios import rate_limiting
from agentbench_tui.stress.stand.measured import Measured
from agentbench_tui.stress.stand.window_plan import WindowPlan


async def limited(
    monkeypatch: pytest.MonkeyPatch,
    behavior: Behavior,
    told_s: float | None = 1.0,
    quiet: bool = False,
    **given: Any,
) -> ScenarioReport:
    """`quiet`: whether clients are refused also once the overload is over."""
    stand = SimulatedStand(behavior)

    def refuses() -> bool:
        phase = stand.held[-1][1]
        return phase == "overload" or (phase == "recovery" and quiet)

    polite_as(monkeypatch, stand, told_s, refuses)
    return await simulated("rate_limiting", stand, **({"duration_s": 20} | given))


async def test_a_server_that_refuses_as_it_should(monkeypatch: pytest.MonkeyPatch) -> None:
    report = await limited(monkeypatch, KINDS["perfect"])
    seen = report.observations
    # Normal is 100 a second, the capacity 200: 400 is the first step beyond it.
    assert seen["limit_met_per_s"] == pytest.approx(400, rel=0.06)
    assert (seen["limit_met_by"], seen["refuses_with_429"]) == ("429", True)
    assert seen["overload_per_s"] == pytest.approx(600, rel=0.06)
    assert seen["goodput_share_of_capacity"] == pytest.approx(1.0, abs=0.05)
    assert seen["quiet_waited"] == seen["quiet_served_after_wait"] == rate_limiting.CLIENTS
    assert report.score is not None
    assert report.score.value > 99
    assert report.advice == []


async def test_a_server_that_refuses_who_has_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    report = await limited(monkeypatch, KINDS["perfect"], quiet=True)
    (advice,) = report.advice
    assert advice.rule == "retry-after-not-kept"
    assert report.observations["quiet_served_after_wait"] == 0


async def test_a_server_that_does_not_say_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    report = await limited(monkeypatch, KINDS["says_no_retry_after"], told_s=None)
    assert [advice.rule for advice in report.advice] == ["refusals-without-retry-after"]
    assert "retry_after_kept" in report.missing


async def test_a_server_that_resets_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    report = await limited(monkeypatch, KINDS["resets"])
    assert report.observations["refuses_with_429"] is False
    assert report.observations["limit_met_by"] == "errors or lateness"
    assert "resets-instead-of-refusals" in {advice.rule for advice in report.advice}


async def test_without_a_limit_up_to_the_most_that_may_be_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = await limited(monkeypatch, KINDS["perfect"], most_rate=150)
    assert "limit_met_per_s" not in report.observations
    assert "kept up with 150 requests/s, the most that may be asked" in report.missing["rate_limit"]
    assert max(window.asked_per_s or 0 for window in report.windows) <= 150


async def test_what_keeps_up_for_a_step_and_not_for_long_has_met_a_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """160 a second: 2 s of 200 leave 80 in a queue of 300, and 20 s fill it."""
    full = Behavior(slots=8, service_ms=50, queue=300)
    report = await limited(monkeypatch, full, most_rate=200)
    assert report.observations["limit_met_per_s"] == pytest.approx(200)
    assert report.observations["limit_met_by"] == "429"
    assert "rate_limit" not in report.missing


async def test_it_watches_at_least_as_long_as_clients_are_told_to_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = await limited(monkeypatch, KINDS["perfect"], told_s=25.0, recovery_s=5)
    assert report.windows[-1].phase == "recovery"
    assert report.windows[-1].length_s == pytest.approx(26.0)


async def test_not_applicable_without_a_server_or_an_upstream() -> None:
    report = await simulated("rate_limiting", SimulatedStand(KINDS["perfect"]))
    assert report.status == "not applicable"
    assert report.reason
    assert report.score is None


class Upstream(SimulatedStand):
    """An agent whose calls each send so many requests to an upstream behind a proxy."""

    def __init__(self, *, each: int = 1, tries: int = 1, sees: bool = True) -> None:
        """`tries`: requests that a call sends while it is told to wait."""
        super().__init__(KINDS["perfect"])
        self._each, self._tries, self._sees = each, tries, sees
        self.seen = 0
        self.proxy = cast(Any, SimpleNamespace(counts=self._counts))

    async def _counts(self) -> Any:
        return SimpleNamespace(requests=self.seen)

    async def hold(self, course: WindowPlan, *, phase: str) -> Measured:
        measured = await super().hold(course, phase=phase)
        if not self._sees:
            return measured
        self.seen += self._each * len(measured)
        applied = 0
        for fault in course.faults:
            assert isinstance(fault.kind, TooManyRequests)
            end_s = fault.end_s or np.inf
            blocked = (measured.due_s >= fault.start_s) & (measured.due_s < end_s)
            applied += self._each * self._tries * int(np.count_nonzero(blocked))
        return replace(measured, applied={"too_many_requests": applied} if applied else {})


async def upstream(stand: Upstream, **given: Any) -> ScenarioReport:
    facts = {"upstream": "http://127.0.0.1:1", "upstream_env": "BASE_URL", "retry_after_s": 2}
    return await simulated("rate_limiting", stand, **({"duration_s": 30} | facts | given))


@pytest.mark.parametrize("each", [1, 3])
async def test_an_agent_that_waits_as_told(each: int) -> None:
    report = await upstream(Upstream(each=each))
    seen = report.observations
    assert (seen["blocks"], seen["retry_after_s"], seen["heeds_retry_after"]) == (5, 2.0, True)
    assert seen["upstream_per_call"] == each
    assert report.advice == []


@pytest.mark.parametrize("each", [1, 3])
async def test_an_agent_that_asks_again_at_once(each: int) -> None:
    report = await upstream(Upstream(each=each, tries=3))
    assert report.observations["heeds_retry_after"] is False
    assert [advice.rule for advice in report.advice] == ["refusals-not-honoured"]


async def test_the_retry_after_that_is_said_lasts_as_long_as_the_block() -> None:
    stand = Upstream()
    await upstream(stand)
    (course,) = (course for course, phase in stand.held if phase == "429")
    for fault in course.faults:
        assert isinstance(fault.kind, TooManyRequests)
        assert fault.end_s is not None
        assert fault.kind.retry_after_s == fault.end_s - fault.start_s
    starts = [fault.start_s for fault in course.faults]
    ends = [fault.end_s or 0.0 for fault in course.faults]
    assert starts[0] > 0
    assert all(start >= end + 4 for start, end in zip(starts[1:], ends[:-1], strict=True))
    assert course.length_s >= ends[-1] + 2


async def test_an_agent_that_never_asks_the_upstream() -> None:
    report = await upstream(Upstream(sees=False))
    assert report.status == "not applicable"
    assert "nothing of what the agent did came by http://127.0.0.1:1" in report.reason
    assert "BASE_URL" in report.reason
