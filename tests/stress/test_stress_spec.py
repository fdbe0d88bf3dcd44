"""The block of a suite: defaults of each scenario, what time is scaled, what is wrong with it."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from agentbench_tui.engine.suite.loading import suite_of_data
from agentbench_tui.engine.suite.validation import validate_suite
from agentbench_tui.stress.catalog import DEFAULTS, SCENARIOS
from agentbench_tui.stress.spec import StressSpec


def spec_of(**given: Any) -> StressSpec:
    return StressSpec.model_validate({"scenario": "high_load", **given})


def test_high_load_is_that_of_the_specification() -> None:
    spec = spec_of()
    assert (spec.length_s, spec.most_rate, spec.most_concurrency, spec.multiple) == (
        300, 1000, 100, 10,
    )  # fmt: skip
    assert spec.limits.error_share == 0.01
    assert spec.limits.completed_share == 0.95


def test_every_scenario_has_defaults() -> None:
    assert set(DEFAULTS) == set(SCENARIOS)
    assert len(SCENARIOS) == 8
    for name in SCENARIOS:
        assert StressSpec(scenario=name).length_s > 0  # type: ignore[arg-type]  # a Scenario


def test_durations_are_scaled_and_limits_are_not() -> None:
    spec = spec_of(time_scale=0.1, duration_s=60, limits={"p95_ms": 500})
    assert spec.length_s == pytest.approx(6)
    assert spec.watched_s == pytest.approx(3)
    assert spec.scaled(10) == pytest.approx(1)
    assert spec.limits.p95_ms == 500


def test_recovery_is_watched_for_half_a_minute_and_no_longer_than_the_stress() -> None:
    assert spec_of().watched_s == 30
    assert spec_of(duration_s=10).watched_s == 10
    assert spec_of(duration_s=10, recovery_s=20).watched_s == 20


@pytest.mark.parametrize(
    "wrong",
    [
        {"scenario": "high-load"},
        {"time_scale": 0},
        {"multiple": 0.5},
        {"limits": {"error_share": 1.0}},
        {"limits": {"p95_ms": 0}},
        {"most_rate": 0},
        {"retry_after_s": 0},
        {"faults": []},
        {"unknown": 1},
        {"max_requests": 0},
    ],
)
def test_wrong_values_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        spec_of(**wrong)


def problems(tmp_path: Any, stress: dict[str, Any], **more: Any) -> str:
    benchmark = {"benchmark_id": "one", "kind": "stress", "stress": stress, **more}
    loaded = suite_of_data({"suite_id": "s", "benchmarks": [benchmark]}, tmp_path)
    return "\n".join(map(str, validate_suite(loaded, agents=[])))


def test_a_suite_is_told_what_is_wrong_and_where(tmp_path: Any) -> None:
    assert problems(tmp_path, {"scenario": "high_load"}) == ""
    assert 'no scenario "hihg_load" (did you mean "high_load"?)' in problems(
        tmp_path, {"scenario": "hihg_load"}
    )
    assert "benchmarks.0.stress.scenario" in problems(tmp_path, {"scenario": "hihg_load"})
    assert "needs `stress`" in problems(tmp_path, {})
    assert "benchmarks.0.stress.time_scal" in problems(
        tmp_path, {"scenario": "high_load", "time_scal": 1}
    )
    assert "more than `most_rate`, 10" in problems(
        tmp_path, {"scenario": "high_load", "normal_rate": 20, "most_rate": 10}
    )
    assert "more than `most_concurrency`, 2" in problems(
        tmp_path, {"scenario": "high_load", "normal_concurrency": 3, "most_concurrency": 2}
    )
    assert "give that too" in problems(tmp_path, {"scenario": "high_load", "upstream_env": "URL"})
    assert "names no program" in problems(tmp_path, {"scenario": "high_load", "serve": " "})
    assert "benchmarks.0.stress.upstream: " in problems(
        tmp_path, {"scenario": "rate_limiting", "upstream": "not a url"}
    )
    assert "benchmarks.0.stress.workload.0.data_source" in problems(
        tmp_path, {"scenario": "high_load", "workload": [{"data_source": "file:none.jsonl"}]}
    )
    assert "`load` belongs to benchmarks of kind load" in problems(
        tmp_path, {"scenario": "high_load"}, load={"rate": 1}
    )
    assert 'no fault "kil" (did you mean "kill"?)' in problems(
        tmp_path, {"scenario": "failure_recovery", "faults": ["kil"]}
    )
