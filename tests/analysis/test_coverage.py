"""What is shown with an interval holds the truth 93 to 97 times in 100, from 10 units on.

Each test simulates a known truth. The bar is 92.5%, 93% less two standard errors of 2,000 trials,
or of 600 trials 91.2%. Where values are coarse (all right, with few cases) no interval can be held
to an upper bound.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import signal

from agentbench_tui.analysis.boards.task_aggregate import (
    aggregate,
    bootstrap_aggregate,
    with_few_runs,
)
from agentbench_tui.analysis.intervals.effective_number import bounded_mean
from agentbench_tui.analysis.intervals.estimate import estimate, quantile_estimate
from agentbench_tui.analysis.intervals.skewed_amount import skewed_mean
from agentbench_tui.analysis.resampling.resampling import Resampling
from agentbench_tui.analysis.summary import pass_at_k

TRIALS = 600
LEAST = 0.93 - 2 * math.sqrt(0.93 * 0.07 / TRIALS)


@pytest.mark.parametrize("cases", [10, 30, 100])
@pytest.mark.parametrize(("share", "alike"), [(0.9, 0.1), (0.9, 0.6), (0.98, 0.0), (0.98, 0.6)])
def test_a_share_of_five_answers_a_case(cases: int, share: float, alike: float) -> None:
    """Beta-binomial answers whose intraclass correlation is `alike`."""
    draw, labels, hits = np.random.default_rng((8101, cases)), np.repeat(np.arange(cases), 5), 0
    for _ in range(TRIALS):
        a = 1 / alike - 1 if alike else math.inf
        p = np.full(cases, share) if math.isinf(a) else draw.beta(share * a, (1 - share) * a, cases)
        found = estimate((draw.random(5 * cases) < p[labels]).astype(float), "share", labels)
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= share <= found.high
    assert hits >= LEAST * TRIALS


@pytest.mark.parametrize("cases", [10, 30, 100])
def test_pass_at_3_of_five_answers_a_case(cases: int) -> None:
    draw, hits = np.random.default_rng((8102, cases)), 0
    each = np.array([pass_at_k(5, right, 3) for right in range(6)])
    chance = draw.beta(0.9, 0.6, 1_000_000)
    truth = float((1 - (1 - chance) ** 3).mean())
    for _ in range(TRIALS):
        right = draw.binomial(5, draw.beta(0.9, 0.6, cases))
        found = bounded_mean(each[right])
        assert found is not None
        hits += found.low <= truth <= found.high
    assert hits >= LEAST * TRIALS


@pytest.mark.parametrize("cases", [10, 30, 100])
@pytest.mark.parametrize("mean", [0.5, 0.8, 0.95])
def test_graded_scores_that_are_mostly_all_or_nothing(cases: int, mean: float) -> None:
    draw, hits = np.random.default_rng((8103, cases)), 0
    for _ in range(TRIALS):
        found = estimate(draw.beta(0.6 * mean, 0.6 * (1 - mean), cases), "share")
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= mean <= found.high
    assert hits >= LEAST * TRIALS


@pytest.mark.parametrize("cases", [5, 7, 10, 30, 100])
@pytest.mark.parametrize("kind", ["log-normal", "exponential", "normal"])
def test_the_mean_of_skewed_amounts(cases: int, kind: str) -> None:
    draw, hits = np.random.default_rng((8104, cases)), 0
    truth = {"log-normal": math.exp(0.5), "exponential": 1.0, "normal": 5.0}[kind]
    for _ in range(TRIALS):
        x = {
            "log-normal": lambda: draw.lognormal(0, 1, cases),
            "exponential": lambda: draw.exponential(1, cases),
            "normal": lambda: draw.normal(5, 1, cases),
        }[kind]()
        found = skewed_mean(x)
        assert found is not None
        hits += found.low <= truth <= found.high
    assert LEAST * TRIALS <= hits <= 0.99 * TRIALS


def test_costs_some_of_which_are_nothing() -> None:
    draw, hits = np.random.default_rng(8105), 0
    for _ in range(TRIALS):
        x = np.where(draw.random(30) < 0.1, 0.0, draw.lognormal(0, 1, 30))
        found = estimate(x, "amount")
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 0.9 * math.exp(0.5) <= found.high
    assert hits >= LEAST * TRIALS


@pytest.mark.parametrize("runs", [3, 5])
def test_the_interquartile_mean_of_few_runs(runs: int) -> None:
    draw, hits = np.random.default_rng((8106, runs)), 0
    levels = np.linspace(0.3, 0.9, 10)[:, np.newaxis]
    truth = aggregate(draw.normal(levels, 0.1, (10, 50_000)), "iqm")
    for _ in range(300):
        scores = draw.normal(levels, 0.1, (10, runs))
        found = bootstrap_aggregate(scores, "iqm", Resampling(resamples=500))
        assert found is not None
        interval = with_few_runs(found, scores)
        assert interval is not None
        hits += interval.low <= truth <= interval.high
    assert hits >= 0.90 * 300


def medians_of_one_repeat(correlation: float, answers: int) -> tuple[int, int]:
    """Of `TRIALS` intervals of a median of 1: how many are shown, and how many of these hold it."""
    draw, hits, shown = np.random.default_rng((8107, answers)), 0, 0
    for _ in range(TRIALS):
        noise = draw.normal(0, math.sqrt(1 - correlation**2), answers)
        noise[0] = draw.normal()
        times = np.exp(signal.lfilter([1], [1, -correlation], noise))
        found = quantile_estimate(times, 0.5)
        if found.low is not None and found.high is not None:
            shown += 1
            hits += found.low <= 1 <= found.high
    return shown, hits


@pytest.mark.parametrize(("correlation", "answers"), [(0.0, 30), (0.5, 60), (0.8, 100)])
def test_the_median_of_one_repeat_whose_answers_are_alike(correlation: float, answers: int) -> None:
    shown, hits = medians_of_one_repeat(correlation, answers)
    assert shown >= 0.9 * TRIALS
    assert hits >= LEAST * shown


@pytest.mark.parametrize("answers", [12, 16, 30])
def test_a_median_of_few_answers_that_are_alike_seldom_gets_an_interval_that_misses(
    answers: int,
) -> None:
    """At most 5% of repeats, plus two standard errors of the trials."""
    shown, hits = medians_of_one_repeat(0.8, answers)
    assert shown - hits <= (0.05 + 2 * math.sqrt(0.05 * 0.95 / TRIALS)) * TRIALS
