"""What scores depend on, read from a stored suite, is what the whole suite says."""

from typing import Any

import pytest

from agentbench_tui.model.figures.dimension import DIMENSIONS
from agentbench_tui.model.scored_suite import read_scored_suite
from agentbench_tui.model.suite import Suite

PLAIN: dict[str, Any] = {
    "suite_id": "s",
    "benchmarks": [{"benchmark_id": "one", "dataset": {"cases": [{"input": "1"}]}}],
}
RUBRIC: dict[str, Any] = {
    "speed": {"metric": "e2e_ms.p50", "target": 10, "limit": 100, "scale": "log"},
    "accuracy": {"metric": "accuracy", "target": 1, "limit": 0.5},
}


@pytest.mark.parametrize(
    "more",
    [{}, {"weights": {"accuracy": 1, "speed": 0}, "baseline": "first"}],
    ids=["defaults", "given"],
)
def test_weights_baseline_and_rubrics_are_those_of_the_suite(more: dict[str, Any]) -> None:
    benchmarks = [PLAIN["benchmarks"][0] | {"scoring_rubric": RUBRIC}]
    suite = Suite.model_validate(PLAIN | {"benchmarks": benchmarks} | more)
    scored = read_scored_suite(suite.model_dump_json())
    assert scored.weights == suite.weights.model_dump()
    assert list(scored.weights) == list(DIMENSIONS)
    assert scored.baseline == suite.baseline
    (benchmark,) = scored.benchmarks
    assert benchmark.benchmark_id == "one"
    for name, entry in suite.benchmarks[0].scoring_rubric.items():
        read = benchmark.scoring_rubric[name]
        assert (read.metric, read.target, read.limit, read.scale) == (
            entry.metric,
            entry.target,
            entry.limit,
            entry.scale,
        )


def test_what_is_no_suite_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="benchmarks"):
        read_scored_suite("{}")
