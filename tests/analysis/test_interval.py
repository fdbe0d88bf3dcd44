"""Intervals: values from outside, laws that hold for any data, and coverage by simulation."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.analysis.intervals.interval import (
    Interval,
    clustered_mean,
    clustered_se,
    quantile_interval,
    ratio_of_sums,
    t_log_interval,
    t_mean,
    wilson,
    zero_event_upper,
)

LATENCIES = [
    812.4, 795.1, 901.7, 778.3, 850.2, 833.9, 1204.6, 799.8, 841.5, 826.0, 870.3, 788.9, 915.2,
    806.7, 848.8,
]  # fmt: skip
SCORES = [1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0, 1, 1]
CASES = [0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 3, 4, 4, 5, 5, 5, 5]

amounts = st.lists(st.floats(0.01, 1e6), min_size=2, max_size=60)


def ends(interval: Interval | None) -> tuple[float, float]:
    assert interval is not None
    return interval.low, interval.high


def coverage(
    truth: float, draw: Callable[[np.random.Generator], Interval | None], times: int
) -> float:
    """Share of simulated intervals that hold the truth."""
    generator = np.random.default_rng(20261128)
    hits = 0
    for _ in range(times):
        low, high = ends(draw(generator))
        hits += low <= truth <= high
    return hits / times


def test_t_interval_of_the_mean_is_scipys() -> None:
    assert ends(t_mean(LATENCIES)) == pytest.approx((800.777384237401, 915.6759490959324), rel=1e-9)


@given(amounts, st.floats(0.5, 0.999))
def test_t_interval_agrees_with_scipy_at_any_level(x: list[float], level: float) -> None:
    error = stats.sem(x)
    if error > 1e-9 * max(x):
        expected = stats.t.interval(level, len(x) - 1, np.mean(x), error)
        assert ends(t_mean(x, level)) == pytest.approx(expected, rel=1e-9, abs=1e-9 * max(x))


def test_t_on_logs_is_the_t_interval_of_the_logs() -> None:
    logs = np.log(LATENCIES)
    expected = stats.t.interval(0.95, 14, logs.mean(), stats.sem(logs))
    assert ends(t_log_interval(LATENCIES)) == pytest.approx(np.exp(expected), rel=1e-9)


@given(amounts, st.floats(1e-3, 1e3))
def test_changing_the_unit_changes_nothing_else(x: list[float], factor: float) -> None:
    scaled = np.array(x) * factor
    for interval in (t_mean, t_log_interval):
        here, there = interval(x), interval(scaled)
        if here is not None:
            slack = 1e-9 * max(x) * factor
            assert ends(there) == pytest.approx(np.array(ends(here)) * factor, rel=1e-9, abs=slack)


@given(amounts.flatmap(lambda x: st.tuples(st.just(x), st.permutations(x))))
def test_order_does_not_matter(pair: tuple[list[float], list[float]]) -> None:
    x, shuffled = pair
    for interval in (t_mean, t_log_interval):
        assert ends(interval(shuffled)) == pytest.approx(ends(interval(x)), rel=1e-9, abs=1e-6)
    assert quantile_interval(x, 0.5) == quantile_interval(shuffled, 0.5)


@given(amounts, st.floats(0.5, 0.94))
def test_a_higher_level_never_gives_a_narrower_interval(x: list[float], level: float) -> None:
    for interval in (t_mean, t_log_interval):
        (low, high), (wide_low, wide_high) = ends(interval(x, level)), ends(interval(x, 0.95))
        assert wide_low <= low
        assert high <= wide_high


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (17, 20, 0.639581135259243, 0.9476312541037833),
        (20, 20, 0.8388748419471804, 1.0),
        (499, 500, 0.9887592932948532, 0.9996468636054407),
    ],
)
def test_wilson_is_statsmodels(successes: int, n: int, low: float, high: float) -> None:
    assert ends(wilson(successes, n)) == pytest.approx((low, high), rel=1e-9)


@given(st.integers(1, 2000), st.floats(0, 1), st.floats(0.5, 0.999))
def test_wilson_agrees_with_scipy_and_mirrors(n: int, share: float, level: float) -> None:
    successes = round(n * share)
    expected = stats.binomtest(successes, n).proportion_ci(level, method="wilson")
    low, high = ends(wilson(successes, n, level))
    assert (low, high) == pytest.approx((expected.low, expected.high), rel=1e-9, abs=1e-12)
    mirrored = ends(wilson(n - successes, n, level))
    assert mirrored == pytest.approx((1 - high, 1 - low), rel=1e-9, abs=1e-12)
    assert 0 <= low <= successes / n <= high <= 1


@given(st.integers(1, 100_000), st.floats(0.5, 0.999))
def test_no_event_in_n_trials_bounds_its_chance(n: int, level: float) -> None:
    bound = zero_event_upper(n, level)
    assert math.log1p(-bound) * n == pytest.approx(math.log1p(-level), rel=1e-9)


def test_median_interval_is_the_largest_symmetric_pair_that_covers() -> None:
    assert ends(quantile_interval(LATENCIES, 0.5)) == (799.8, 870.3)


@given(st.integers(1, 400), st.floats(0.02, 0.98), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_order_statistics_cover_at_least_the_level(n: int, q: float, level: float) -> None:
    interval = quantile_interval(np.arange(n), q, level)
    if interval is None:
        assert 1 - q**n - (1 - q) ** n < level + 1e-12
        return
    low, high = int(interval.low) + 1, int(interval.high) + 1
    exact = stats.binom.cdf(high - 1, n, q) - stats.binom.cdf(low - 1, n, q)
    assert exact >= level - 1e-12
    narrower = stats.binom.cdf(high - 2, n, q) - stats.binom.cdf(low, n, q)
    assert narrower < level


@pytest.mark.parametrize(("q", "first"), [(0.95, 59), (0.99, 299), (0.5, 6), (0.05, 59)])
def test_a_quantile_interval_exists_from_a_certain_n(q: float, first: int) -> None:
    assert quantile_interval(np.arange(first - 1), q) is None
    assert quantile_interval(np.arange(first), q) is not None


def test_clustered_error_is_statsmodels_with_the_correction_for_few_clusters() -> None:
    half = stats.t.ppf(0.975, 5) * 0.08162413858657254 * math.sqrt(6 / 5)
    assert ends(clustered_mean(SCORES, CASES)) == pytest.approx((0.65 - half, 0.65 + half))


def test_clustered_error_itself() -> None:
    """CR0 by statsmodels and by Miller's formula; CR1 is √(6/5) of it."""
    assert clustered_se(SCORES, CASES) == pytest.approx(0.08162413858657254, rel=1e-9)
    corrected = clustered_se(SCORES, CASES, "CR1")
    assert corrected == pytest.approx(0.08162413858657254 * math.sqrt(6 / 5), rel=1e-9)
    assert clustered_se([0.1] * 4, [1, 1, 2, 2]) == 0.0


def test_many_clusters_need_no_correction() -> None:
    values, clusters = np.tile([1.0, 1.0, 0.0, 0.5], 20), np.repeat(np.arange(40), 2)
    sums = (values - values.mean()).reshape(40, 2).sum(axis=1)
    half = stats.norm.ppf(0.975) * math.sqrt((sums**2).sum()) / 80
    mean = values.mean()
    assert ends(clustered_mean(values, clusters)) == pytest.approx((mean - half, mean + half))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=39))
def test_clusters_of_one_are_no_clusters(x: list[float]) -> None:
    plain, clustered = t_mean(x), clustered_mean(x, range(len(x)))
    assert ends(clustered) == pytest.approx(ends(plain), rel=1e-9, abs=1e-12)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20), st.integers(2, 6))
def test_repeating_every_answer_adds_no_certainty(x: list[float], times: int) -> None:
    repeated = clustered_mean(np.repeat(x, times), np.repeat(np.arange(len(x)), times))
    assert ends(repeated) == pytest.approx(ends(t_mean(x)), rel=1e-9, abs=1e-9)


ratios = st.lists(st.tuples(st.floats(0.01, 10), st.integers(0, 1)), min_size=2, max_size=40)


@given(ratios)
def test_the_ends_of_a_ratio_are_where_its_t_test_turns(pairs: list[tuple[float, int]]) -> None:
    cost, success = np.array(pairs).T
    interval = ratio_of_sums(cost, success)
    if interval is None:
        return
    for end in ends(interval):
        difference = cost - success * (end if end < math.inf else 0)
        if 0 < end < math.inf and difference.std() > 1e-6 * np.abs(difference).max():
            assert stats.ttest_1samp(difference, 0).pvalue == pytest.approx(0.05, rel=1e-5)
    assert interval.low <= cost.sum() / success.sum() <= interval.high


def test_cost_per_success_has_no_upper_end_when_there_may_be_no_success() -> None:
    interval = ratio_of_sums([1.0, 1.1, 0.9, 1.0, 1.2], [0, 0, 1, 0, 0])
    assert interval is not None
    assert interval.high == math.inf
    assert 0 < interval.low < 5.2
    assert ratio_of_sums([1.0, 1.1, 0.9], [0, 0, 0]) is None


@given(ratios)
def test_a_ratio_over_clusters_adds_them_up_first(pairs: list[tuple[float, int]]) -> None:
    cost, success = np.array(pairs).T
    split = ratio_of_sums(
        np.concatenate([cost / 4, cost * 0.75]),
        np.concatenate([success, 0 * success]),
        np.tile(np.arange(len(cost)), 2),
    )
    whole = ratio_of_sums(cost, success)
    assert (split is None) == (whole is None)
    if split is not None:
        assert ends(split) == pytest.approx(ends(whole), rel=1e-6)


def test_t_on_logs_covers_skewed_data_where_t_on_the_mean_does_not() -> None:
    def draw(generator: np.random.Generator) -> Interval | None:
        return t_log_interval(generator.lognormal(0, 1, 5))

    assert 0.935 <= coverage(1.0, draw, 2000) <= 0.965


def test_order_statistics_cover_a_percentile() -> None:
    def draw(generator: np.random.Generator) -> Interval | None:
        return quantile_interval(generator.lognormal(0, 1, 100), 0.95)

    assert 0.945 <= coverage(math.exp(1.6448536269514722), draw, 1000) <= 0.99


def test_clusters_cover_where_pooling_would_not() -> None:
    def scores(generator: np.random.Generator) -> np.ndarray:
        chances = generator.beta(2, 1, 20)
        return generator.binomial(1, np.repeat(chances, 10)).astype(float)

    def clustered(generator: np.random.Generator) -> Interval | None:
        return clustered_mean(scores(generator), np.repeat(np.arange(20), 10))

    def pooled(generator: np.random.Generator) -> Interval | None:
        return wilson(int(scores(generator).sum()), 200)

    assert 0.925 <= coverage(2 / 3, clustered, 1000) <= 0.965
    assert coverage(2 / 3, pooled, 1000) < 0.8


def test_fieller_covers_a_cost_per_success() -> None:
    def draw(generator: np.random.Generator) -> Interval | None:
        return ratio_of_sums(generator.lognormal(0, 0.3, 20), generator.binomial(1, 0.6, 20))

    assert 0.93 <= coverage(math.exp(0.045) / 0.6, draw, 1000) <= 0.975


def test_too_little_data_gives_no_interval() -> None:
    assert t_mean([]) is None
    assert t_mean([1.0]) is None
    assert t_log_interval([1.0]) is None
    assert wilson(0, 0) is None
    assert zero_event_upper(0) == 1.0
    assert quantile_interval([], 0.5) is None
    assert clustered_mean([], []) is None
    assert clustered_mean([0.0, 1.0], [3, 3]) is None
    assert ratio_of_sums([], []) is None
    assert ratio_of_sums([1.0], [1.0]) is None


def test_values_decades_apart_have_no_upper_end_rather_than_an_overflow() -> None:
    assert ends(t_log_interval([1.0, 1e-195])) == (0.0, math.inf)


def test_equal_values_give_an_interval_of_no_width() -> None:
    same = [0.1] * 15
    for interval in (
        t_mean(same),
        clustered_mean(same, [1, 2, 3] * 5),
        quantile_interval(same, 0.5),
    ):
        assert ends(interval) == (0.1, 0.1)
    assert ends(t_log_interval(same)) == pytest.approx((0.1, 0.1))
    assert ends(ratio_of_sums([2.0] * 5, [1.0] * 5)) == pytest.approx((2.0, 2.0))


@pytest.mark.parametrize(
    "call",
    [
        lambda: t_mean([1.0, math.nan]),
        lambda: t_mean([1.0, math.inf]),
        lambda: t_mean([[1.0, 2.0]]),
        lambda: t_mean([1.0, 2.0], level=1.0),
        lambda: t_log_interval([1.0, 0.0]),
        lambda: wilson(3, 2),
        lambda: wilson(0, -1),
        lambda: wilson(math.nan, 2),
        lambda: zero_event_upper(-1),
        lambda: quantile_interval([1.0], 1.0),
        lambda: clustered_mean([1.0, 2.0], [1]),
        lambda: clustered_se([1.0, 2.0], [1, 1]),
        lambda: clustered_se([1.0, 2.0], [1, 2], "CR2"),  # type: ignore[arg-type]
        lambda: ratio_of_sums([1.0, 2.0], [1.0]),
        lambda: ratio_of_sums([1.0, 2.0], [1.0, -1.0]),
    ],
)
def test_wrong_input_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"needs|needed|must be|NaN|but"):
        call()
