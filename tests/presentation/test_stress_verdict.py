"""What the first sentence of a stress report says."""

from collections.abc import Mapping
from typing import Any

import pytest

from agentbench_tui.contracts.run import CaseCounts, ExecutionResult, ScoreValues
from agentbench_tui.contracts.stress import (
    ScenarioResult,
    StressAdvice,
    StressBreakingPoint,
    StressRecovery,
)
from agentbench_tui.presentation.stress.verdict import stress_verdict


def execution(agent: str, name: str, **found: Any) -> ExecutionResult:
    given: Mapping[str, Any] = {
        "name": name, "status": "complete", "reason": "", "resilience": 90.0, "interval": None,
        "resilience_watched": None, "resilience_words": "", "worst_second": None, "piece_s": None,
        "broke": False, "breaking_point": None, "breaking_points": (), "recovery_s": None,
        "recommendations": (), "time_scale": 1.0, "simulated": False, "normal": None,
        "limits": None, "recoveries": (), "trends": (), "scaling": None, "observations": {},
        "windows": (), "missing": {}, "execution_id": "e", "benchmark_id": name, "parameters": {},
    }  # fmt: skip
    none = ScoreValues(
        accuracy=None, speed=None, efficiency=None, cost=None, reliability=None, overall=None
    )
    return ExecutionResult(
        execution_id="e", suite_id="s", benchmark_id=name, agent_id=agent, agent_version="1",
        parameters={}, seed=1, simulated=False, status="complete", stop_reason=None,
        cases=CaseCounts(total=None, observed=1, answered=1, correct=0), metrics={}, scores=none,
        weights={}, percentile_rank=None, deviation_from_baseline=None, failures={}, judges=None,
        unmeasured={}, kind="stress", stress=ScenarioResult(**{**given, **found}),
    )  # fmt: skip


LASTING = (
    StressRecovery(
        after="high load", seconds=None, known=True, watched_s=9.0, words="not recovered"
    ),
)
ADVICE = (StressAdvice(rule="r", severity="critical", words="Bound what waits.", evidence={}),)
BACK = (
    StressRecovery(
        after="high load", seconds=0.0, known=True, watched_s=9.0, words="recovered at once"
    ),
)


def point(**found: Any) -> StressBreakingPoint:
    given: Mapping[str, Any] = {
        "on": "rate", "unit": "requests/s", "status": "found", "passes": 40.0, "fails": 50.0,
        "unclear": (), "confirmed": True, "broke": ("p95 of latency",), "reason": "",
        "hysteresis": None, "drift": None, "before": None, "measurements": 4, "lengths": 1,
        "stopped": "", "words": "",
    }  # fmt: skip
    return StressBreakingPoint(**{**given, **found})


PASSED = point(status="not reached", passes=200.0, fails=None, broke=())
BROKEN = point()
UNCLEAR = point(status="nothing clear", passes=None, fails=None, broke=())


@pytest.mark.parametrize(
    ("found", "words", "outcome"),
    [
        ({"breaking_points": (PASSED,), "recoveries": BACK},
         ("a: no breaking point up to 200 requests/s, the most tried;"
         " it recovered in the 1 scenario that measured recovery."), "good"),
        ({"broke": True, "breaking_points": (BROKEN,)}, "a: breaks at 50 requests/s.", "bad"),
        ({"broke": True, "status": "target lost"}, "a: was lost in high load.", "bad"),
        ({}, "a: did not break in 2 scenarios, none of which searches for a breaking point.",
         "good"),
        ({"breaking_points": (UNCLEAR,)},
         "a: no clear result of the search in high load.", "open"),
        ({"breaking_points": (PASSED,), "recoveries": LASTING},
         ("a: no breaking point up to 200 requests/s, the most tried;"
         " it did not recover after high load."), "open"),
        ({"broke": None, "status": "interrupted"},
         "No verdict on a: 1 of 2 scenarios could not be measured.", "open"),
    ],
)  # fmt: skip
def test_one_target(found: dict[str, Any], words: str, outcome: str) -> None:
    verdict = stress_verdict([execution("a", "low"), execution("a", "high_load", **found)])
    assert verdict.words == words
    assert verdict.outcome == outcome


def test_the_gravest_advice_is_a_reason() -> None:
    weak = execution("a", "high", recoveries=LASTING, recommendations=ADVICE, resilience=40.0)
    reasons = stress_verdict([execution("a", "low"), weak]).reasons
    assert list(reasons) == ["Bound what waits.", "The lowest resilience is 40 of 100, in high."]


def test_of_several_the_one_that_broke_least_comes_first_with_the_reasons() -> None:
    users = point(on="concurrency", unit="users", passes=6.0, fails=7.0)
    twelve = point(on="concurrency", unit="users", status="not reached", passes=12.0, fails=None)
    verdict = stress_verdict([
        execution("a", "high_load", broke=True, breaking_point=BROKEN, breaking_points=(BROKEN,)),
        execution("b", "high_load", breaking_point=PASSED, breaking_points=(PASSED,)),
        execution("a", "concurrent_requests", broke=True, breaking_points=(users,)),
        execution("b", "concurrent_requests", breaking_points=(twelve,)),
        execution("a", "sustained_load"),
        execution("b", "sustained_load"),
    ])  # fmt: skip
    assert verdict.words == (
        "b holds up best: no breaking point up to 200 requests/s and 12 users, the most tried;"
        " a breaks at 50 requests/s and 7 users."
    )
    assert verdict.outcome == "good"
    passes = "b did not break: passes up to 200 requests/s."
    assert list(verdict.reasons[:2]) == [
        "b: no breaking point up to 200 requests/s and 12 users, the most tried.",
        f"high load: a breaks between 40 and 50 requests/s (p95 of latency); {passes}",
    ]


def test_a_search_that_ended_before_its_highest_level_does_not_claim_the_most_tried() -> None:
    early = point(status="wide", passes=80.0, fails=None, broke=(), unclear=(90.0,))
    words = stress_verdict([execution("a", "high_load", breaking_points=(early,))]).words
    assert words == "a: no breaking point up to 80 requests/s."


def test_recovery_that_was_not_measured_is_not_counted() -> None:
    measured = execution("a", "spike_load", recoveries=BACK, breaking_points=(PASSED,))
    also = execution("a", "high_load", recoveries=BACK)
    words = stress_verdict([measured, also, execution("a", "sustained_load")]).words
    assert words.endswith("it recovered in all 2 scenarios that measured recovery.")


def test_shortened_durations_are_the_first_reason() -> None:
    short = execution("a", "high_load", breaking_points=(PASSED,), time_scale=0.02)
    assert stress_verdict([short]).reasons[0] == (
        "This is a first look: every duration is multiplied by 0.02 (time scale). For figures to"
        " decide on, run the suite stress at full length."
    )
    full = execution("a", "high_load", breaking_points=(PASSED,))
    assert not any("first look" in one for one in stress_verdict([full]).reasons)


def test_of_several_with_as_many_breaks_none_wins() -> None:
    alike = [execution(agent, "high_load", breaking_points=(PASSED,)) for agent in "ab"]
    tied = stress_verdict(alike)
    assert tied.words == (
        "No single winner: a and b hold up alike"
        " (no breaking point up to 200 requests/s, the most tried)."
    )
    assert tied.outcome == "open"
    later = point(passes=400.0, fails=500.0)
    unlike = stress_verdict([
        execution("a", "high_load", broke=True, breaking_points=(BROKEN,)),
        execution("b", "high_load", broke=True, breaking_points=(later,)),
    ])  # fmt: skip
    assert unlike.words == (
        "No single winner: a breaks at 50 requests/s; b breaks at 500 requests/s."
    )


def test_the_first_is_not_cleared_by_a_scenario_that_was_not_measured() -> None:
    broken = execution("a", "high", broke=True)
    verdict = stress_verdict([broken, execution("b", "high", broke=None, status="interrupted")])
    assert verdict.outcome == "open"
    assert verdict.reasons[0] == "No verdict on b: 1 of 1 scenario could not be measured."


NAMES = ("high_load", "concurrent_requests", "large_inputs")


def results(agent: str, *broke: bool | None) -> list[ExecutionResult]:
    """One execution a scenario; those with None failed before they measured anything."""
    lost = {"status": "failed", "reason": "the target could not be reached"}
    return [
        execution(agent, name, broke=one, **(lost if one is None else {}))
        for name, one in zip(NAMES, broke, strict=False)
    ]


@pytest.mark.parametrize("b", [(True, False, False), (False, False, False), (True, True, True)])
def test_an_agent_that_was_never_measured_never_leads(b: tuple[bool, ...]) -> None:
    verdict = stress_verdict([*results("a", None, None, None), *results("b", *b)])
    assert verdict.words == (
        "No verdict on which target holds up best: a was not measured in 3 of 3 scenarios."
    )
    assert verdict.outcome == "open"
    assert list(verdict.reasons[:1]) == ["No verdict on a: 3 of 3 scenarios could not be measured."]
    assert "high load of a was not measured: the target could not be reached." in verdict.reasons


@pytest.mark.parametrize(
    ("a", "b", "begins"),
    [
        # a broke in 1 to 2, b in 0: a cannot lead.
        ((True, None, False), (False, False, False), "b holds up best: "),
        # a broke in 0 to 1, b in 3: a leads whatever the missing result.
        ((False, None, False), (True, True, True), "a holds up best: "),
        # a broke in 0 to 1, b in 1: they may be tied.
        ((False, None, False), (True, False, False), "No verdict on which target holds up best: a"),
        # a has no result of two scenarios that b has.
        ((False,), (True, False, False), "No verdict on which target holds up best: a"),
        ((None, None, True), (None, True, True), "No verdict on which target holds up best: a"),
    ],
)
def test_a_missing_result_counts_as_either(
    a: tuple[bool | None, ...], b: tuple[bool | None, ...], begins: str
) -> None:
    assert stress_verdict([*results("a", *a), *results("b", *b)]).words.startswith(begins)


def test_a_tie_of_two_is_told_though_a_third_that_broke_more_was_not_measured() -> None:
    found = [
        *results("a", False, False, False),
        *results("b", False, False, False),
        *results("c", True, None, None),
    ]
    assert stress_verdict(found).words.startswith("No single winner: a and b hold up alike")


def test_a_recovery_that_was_watched_too_briefly_is_no_failure_to_recover() -> None:
    brief = StressRecovery(
        # The words are for readers: the field decides.
        after="spike",
        seconds=None,
        known=False,
        watched_s=0.9,
        words="watched for 0.9 s only",
    )
    verdict = stress_verdict(
        [execution("a", "high", recoveries=(brief,), breaking_points=(PASSED,))]
    )
    assert verdict.words == (
        "a: no breaking point up to 200 requests/s, the most tried;"
        " some recoveries were watched too briefly."
    )
    assert verdict.outcome == "good"
