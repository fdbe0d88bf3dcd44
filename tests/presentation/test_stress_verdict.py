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


LASTING = (StressRecovery(after="high load", seconds=None, watched_s=1.2, words="not recovered"),)
ADVICE = (StressAdvice(rule="r", severity="critical", words="Bound what waits.", evidence={}),)


@pytest.mark.parametrize(
    ("found", "words", "outcome"),
    [
        ({}, "a did not break in 2 scenarios, and recovered from all.", "good"),
        ({"broke": True}, "a broke in 1 of 2 scenarios.", "bad"),
        ({"recoveries": LASTING},
         "a did not break in 2 scenarios, but did not recover after high.", "open"),
        ({"broke": None, "status": "interrupted"},
         "No verdict on a: 1 of 2 scenarios could not be measured.", "open"),
    ],
)  # fmt: skip
def test_one_target(found: dict[str, Any], words: str, outcome: str) -> None:
    verdict = stress_verdict([execution("a", "low"), execution("a", "high", **found)])
    assert verdict.words == words
    assert verdict.outcome == outcome


def test_the_gravest_advice_is_a_reason() -> None:
    weak = execution("a", "high", recoveries=LASTING, recommendations=ADVICE, resilience=40.0)
    reasons = stress_verdict([execution("a", "low"), weak]).reasons
    assert list(reasons) == ["Bound what waits.", "The lowest resilience is 40 of 100, in high."]


def point(**found: Any) -> StressBreakingPoint:
    given: Mapping[str, Any] = {
        "on": "rate", "unit": "requests/s", "status": "found", "passes": 40.0, "fails": 50.0,
        "unclear": (), "confirmed": True, "broke": ("p95 of latency",), "reason": "",
        "hysteresis": None, "drift": None, "before": None, "measurements": 4, "lengths": 1,
        "stopped": "", "words": "",
    }  # fmt: skip
    return StressBreakingPoint(**{**given, **found})


def test_of_several_the_one_that_broke_least_comes_first_with_the_reasons() -> None:
    weak = execution("a", "high", broke=True, breaking_point=point())
    strong = execution("b", "high", breaking_point=point(passes=200.0, fails=None, broke=()))
    verdict = stress_verdict([weak, strong])
    assert verdict.words == "b holds up best: it broke in none of 1 scenario, a in 1."
    assert verdict.outcome == "good"
    passes = "b did not break: passes up to 200 requests/s."
    assert list(verdict.reasons[:2]) == [
        "b did not break in 1 scenario, and recovered from all.",
        f"high: a breaks between 40 and 50 requests/s (p95 of latency); {passes}",
    ]


def test_of_several_with_as_many_breaks_none_wins() -> None:
    tied = stress_verdict([execution("a", "high"), execution("b", "high")])
    assert tied.words == "No single winner: a, b broke in none of 1 scenario each."
    assert tied.outcome == "open"


def test_the_first_is_not_cleared_by_a_scenario_that_was_not_measured() -> None:
    broken = execution("a", "high", broke=True)
    verdict = stress_verdict([broken, execution("b", "high", broke=None, status="interrupted")])
    assert verdict.outcome == "open"
    assert verdict.reasons[0] == "No verdict on b: 1 of 1 scenario could not be measured."


def test_a_recovery_that_was_watched_too_briefly_is_no_failure_to_recover() -> None:
    brief = StressRecovery(
        after="spike", seconds=None, watched_s=0.9, words="not known: only 0.9 s were watched"
    )
    verdict = stress_verdict([execution("a", "high", recoveries=(brief,))])
    assert verdict.words == (
        "a did not break in 1 scenario; some recoveries were watched too briefly."
    )
    assert verdict.outcome == "good"
