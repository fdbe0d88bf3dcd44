"""From metrics to scores: laws that every mapping keeps."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentbench_tui.model.figures.dimension import DEFAULT_WEIGHTS
from agentbench_tui.model.suite import RubricEntry, Weights
from agentbench_tui.scoring.rubric import overall, relative_score, score_metric

POSITIVE = st.floats(1e-6, 1e6)
SCALES = st.sampled_from(["linear", "log"])


def entry(target: float, limit: float, scale: str = "linear") -> RubricEntry:
    return RubricEntry.model_validate(
        {"metric": "e2e_ms.p50", "target": target, "limit": limit, "scale": scale}
    )


@given(POSITIVE, POSITIVE, SCALES)
def test_target_is_one_and_limit_is_zero(target: float, limit: float, scale: str) -> None:
    assume(not math.isclose(target, limit, rel_tol=1e-6))
    rubric = entry(target, limit, scale)
    assert score_metric(target, rubric) == 1
    assert score_metric(limit, rubric) == 0


@given(POSITIVE, POSITIVE, POSITIVE, POSITIVE, SCALES)
def test_better_never_scores_lower(
    target: float, limit: float, left: float, right: float, scale: str
) -> None:
    assume(not math.isclose(target, limit, rel_tol=1e-6))
    rubric = entry(target, limit, scale)
    worse, better = sorted((left, right), reverse=target < limit)
    low, high = score_metric(worse, rubric), score_metric(better, rubric)
    assert low is not None
    assert high is not None
    assert 0 <= low <= high <= 1


def test_between_target_and_limit_by_hand() -> None:
    assert score_metric(750, entry(500, 1000)) == 0.5
    assert score_metric(0.7, entry(0.9, 0.5)) == pytest.approx(0.5)
    assert score_metric(100, entry(10, 1000, "log")) == pytest.approx(0.5)
    assert score_metric(0, entry(10, 1000, "log")) == 1
    assert score_metric(0, entry(1000, 10, "log")) == 0


def test_missing_numbers_have_no_score() -> None:
    assert score_metric(None, entry(1, 2)) is None
    assert score_metric(math.nan, entry(1, 2)) is None
    assert relative_score(None, 1, "lower") is None
    assert relative_score(1, None, "lower") is None
    assert relative_score(math.nan, 1, "lower") is None
    assert relative_score(-1, 1, "lower") is None
    assert relative_score(1, 1, "none") is None


@pytest.mark.parametrize(
    ("value", "direction", "score"),
    [
        (100, "lower", 0.5),
        (50, "lower", 1),
        (10, "lower", 1),
        (200, "lower", 0.25),
        (0, "lower", 1),
        (100, "higher", 0.5),
        (200, "higher", 1),
        (50, "higher", 0.25),
        (0, "higher", 0),
    ],
)
def test_relative_to_a_baseline_of_100(value: float, direction: str, score: float) -> None:
    assert relative_score(value, 100, direction) == score


def test_a_baseline_of_zero() -> None:
    assert relative_score(0, 0, "lower") == 0.5
    assert relative_score(1, 0, "lower") == 0
    assert relative_score(1, 0, "higher") == 1


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.floats(0, 1e6))
def test_relative_score_is_bounded_and_monotone(left: float, right: float, base: float) -> None:
    low, high = sorted((left, right))
    for direction, worse, better in (("lower", high, low), ("higher", low, high)):
        below, above = (
            relative_score(worse, base, direction),
            relative_score(better, base, direction),
        )
        assert below is not None
        assert above is not None
        assert 0 <= below <= above <= 1


FULL = {"accuracy": 0.9, "speed": 0.8, "efficiency": 0.7, "cost": 0.6, "reliability": 1.0}


def test_overall_by_hand() -> None:
    weights = Weights(**DEFAULT_WEIGHTS).model_dump()
    assert overall(FULL, weights) == pytest.approx(0.27 + 0.16 + 0.14 + 0.09 + 0.15)


@pytest.mark.parametrize("missing", list(FULL))
def test_overall_is_empty_when_a_dimension_that_counts_is(missing: str) -> None:
    weights = Weights(**DEFAULT_WEIGHTS).model_dump()
    assert overall({**FULL, missing: None}, weights) is None
    assert overall({**FULL, missing: None}, {**weights, missing: 0.0}) is not None
    assert overall({key: value for key, value in FULL.items() if key != missing}, weights) is None


@given(st.dictionaries(st.sampled_from(list(FULL)), st.floats(0, 1), min_size=1))
def test_overall_lies_between_the_scores(scores: dict[str, float]) -> None:
    value = overall(scores, dict.fromkeys(scores, 2.0))
    assert value is not None
    assert min(scores.values()) - 1e-9 <= value <= max(scores.values()) + 1e-9
