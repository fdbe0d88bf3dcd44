"""What the first sentence of a stress report says."""

from collections.abc import Mapping
from typing import Any

import pytest

from agentbench_tui.contracts.run import CaseCounts, ExecutionResult, ScoreValues
from agentbench_tui.contracts.stress import ScenarioResult, StressAdvice, StressRecovery
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


def test_of_several_the_one_that_broke_least_comes_first() -> None:
    verdict = stress_verdict([execution("a", "high", broke=True), execution("b", "high")])
    assert verdict.words == "b broke in the fewest scenarios: 0 of 1 scenario."
    assert verdict.outcome == "good"
    tied = stress_verdict([execution("a", "high"), execution("b", "high")])
    assert tied.words == "No single winner: a, b broke in as many scenarios, 0 each."
