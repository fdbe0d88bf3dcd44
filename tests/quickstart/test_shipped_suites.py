"""Every suite that ships can be read, and the data that lies beside it fits."""

from pathlib import Path

import pytest

from agentbench_tui.engine.cases.dataset import open_dataset
from agentbench_tui.engine.suite.loading import load_suite
from agentbench_tui.engine.suite.validation import validate_suite
from agentbench_tui.model.answer import Answer, Case, Score
from agentbench_tui.model.figures.metric import known_metrics
from agentbench_tui.scoring.registry import check_scorer, make_scorer
from agentbench_tui.stress.catalog import SCENARIOS
from agentbench_tui.stress.spec import StressSpec

SUITES = sorted((Path(__file__).parents[2] / "suites").glob("*.yaml"))


def test_the_suites_that_are_promised_ship() -> None:
    promised = {"quickstart", "comprehensive", "humaneval", "function-calling", "gsm8k"}
    assert promised | {"support", "tool-use", "serving", "streaming", "stress", "stress-smoke"} <= {
        path.stem for path in SUITES
    }


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.stem)
def test_a_suite_can_be_read_and_says_what_it_is(path: Path) -> None:
    suite = load_suite(path).suite
    assert suite.suite_id == path.stem
    assert suite.description
    assert suite.notes
    for benchmark in suite.benchmarks:
        assert bool(benchmark.scorers) is (benchmark.kind == "task")
        assert [check_scorer(spec, base_dir=path.parent) for spec in benchmark.scorers] == [
            [] for _ in benchmark.scorers
        ]
        assert set(benchmark.metrics_measured) <= set(known_metrics())
        assert {entry.metric for entry in benchmark.scoring_rubric.values()} <= set(known_metrics())


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.stem)
def test_the_data_beside_a_suite_has_cases_with_answers(path: Path) -> None:
    loaded = load_suite(path)
    for benchmark in loaded.suite.benchmarks:
        if benchmark.kind in {"load", "stress", "experiment"}:
            continue  # it makes up what it asks
        assert benchmark.dataset is not None
        source = benchmark.dataset.data_source
        if source is not None and not source.startswith("file:"):
            continue  # needs a package or a file that the user brings
        with open_dataset(benchmark, base_dir=loaded.folder, seed=1) as cases:
            assert len(cases) >= 8
            assert all(case.expected is not None for case in cases)


@pytest.mark.parametrize("name", ["serving", "streaming"])
def test_a_load_suite_scores_speed_and_reliability_alone(name: str) -> None:
    """Whatever has a weight has a metric behind it, so that every agent gets an overall score."""
    loaded = load_suite(next(path for path in SUITES if path.stem == name))
    weights = loaded.suite.weights.model_dump()
    assert {dimension for dimension, weight in weights.items() if weight} == {
        "speed",
        "reliability",
    }
    assert validate_suite(loaded, [], datasets=True) == []
    for benchmark in loaded.suite.benchmarks:
        assert benchmark.scoring_rubric.keys() == {"speed"}


@pytest.mark.parametrize("name", ["stress", "stress-smoke"])
def test_a_stress_suite_has_every_scenario_with_limits_that_can_be_set(name: str) -> None:
    loaded = load_suite(next(path for path in SUITES if path.stem == name))
    assert validate_suite(loaded, [], datasets=True) == []
    settings = loaded.settings(("p95_ms=250", 'allowed_hosts=["a.example"]', "time_scale=0.5"))
    blocks = [one.stress for one in loaded.resolve(settings).benchmarks]
    assert tuple(block["scenario"] for block in blocks) == SCENARIOS
    for block in blocks:
        spec = StressSpec.model_validate(block)
        assert (spec.limits.p95_ms, spec.allowed_hosts) == (250, ["a.example"])
        assert spec.time_scale == 0.5


@pytest.mark.parametrize(
    ("solution", "right"),
    [
        ("He has 3 + 4 = <<3+4=7>>7 eggs\nA: 7", True),
        ("He has 1,234 eggs\nA: 1,234", False),
        ("3 * 4 = <<3*4=12>>12\nA: 12", False),
        ("7 of them, so the price is $7.00", True),
    ],
)
def test_gsm8k_is_judged_by_the_last_number(solution: str, right: bool) -> None:
    path = next(path for path in SUITES if path.stem == "gsm8k")
    (spec,) = load_suite(path).suite.benchmarks[0].scorers
    case = Case("a", "How many?", "First 3, then 4: 3+4 = <<3+4=7>>7\nA: 7")
    score = make_scorer(spec).score(case, Answer(solution))
    assert isinstance(score, Score)
    assert score.correct is right
