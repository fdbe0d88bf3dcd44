"""Descriptive figures: values from outside, and laws."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.analysis.intervals.interval import Interval, quantile_interval
from agentbench_tui.analysis.summary import (
    Summary,
    drift,
    effective_sample_size,
    iqm,
    lag1_autocorrelation,
    needed,
    pass_at_k,
    pass_hat_k,
    precision_reached,
    quantile,
    relative_half_width,
    summarize,
    supported,
)

LATENCIES = [
    812.4, 795.1, 901.7, 778.3, 850.2, 833.9, 1204.6, 799.8, 841.5, 826.0, 870.3, 788.9, 915.2,
    806.7, 848.8,
]  # fmt: skip
SCORES_OF_TEN_RUNS = [
    0.6016, 0.7042, 0.7623, 0.6793, 0.7961, 0.848, 0.6793, 0.5164, 0.8095, 0.9032, 0.5818, 0.6743,
    0.9131, 0.6799, 0.8817, 0.5906, 0.5001, 0.7002, 0.7708, 0.6822, 0.8456, 0.5453, 0.8122, 0.7308,
    0.7856, 0.8059, 0.4151, 0.8186, 0.6572, 0.9203, 0.5782, 0.8819, 0.5305, 0.4177, 0.7987, 0.5259,
    0.4307, 0.9171, 0.6595, 0.7983, 0.7588, 0.7963, 0.69, 0.2705, 0.4636, 0.5624, 0.8994, 0.8686,
    0.4219, 0.6307, 0.9567, 0.7472, 0.7701, 0.7856, 0.7648, 0.6308, 0.3392, 0.8494, 0.8284, 0.5857,
]  # fmt: skip

columns = st.lists(st.floats(0.01, 1e6), min_size=1, max_size=60)


def summary(values: object) -> Summary:
    result = summarize(values)  # type: ignore[arg-type]
    assert result is not None
    return result


def test_figures_of_fifteen_latencies() -> None:
    """From scipy."""
    s = summary(LATENCIES)
    assert (s.n, s.min, s.max, s.median) == (15, 778.3, 1204.6, 833.9)
    assert s.mean == pytest.approx(858.2266666666667, rel=1e-9)
    assert s.sd == pytest.approx(103.7399734684663, rel=1e-9)
    assert s.cv == pytest.approx(0.1208771266353096, rel=1e-9)
    assert s.geometric_mean == pytest.approx(853.3121115362206, rel=1e-9)
    assert s.mad == pytest.approx(50.55673565104106, rel=1e-9)


@pytest.mark.parametrize(
    ("q", "value"),
    [(0, 778.3), (0.5, 833.9), (0.9, 909.8), (0.95, 1002.02), (0.99, 1164.084), (1, 1204.6)],
)
def test_quantiles_are_linear_type_7(q: float, value: float) -> None:
    assert quantile(LATENCIES, q) == pytest.approx(value, rel=1e-9)


def test_interquartile_means() -> None:
    """From scipy's trimmed mean and from rliable."""
    assert iqm(LATENCIES) == pytest.approx(832.1777777777777, rel=1e-9)
    assert iqm(SCORES_OF_TEN_RUNS) == pytest.approx(0.7175433333333333, rel=1e-9)
    assert iqm([3.0]) == 3.0


@given(columns, st.floats(1e-3, 1e3))
def test_figures_follow_the_unit(x: list[float], factor: float) -> None:
    before, after = summary(x), summary(np.array(x) * factor)
    slack = 1e-9 * max(x)
    for name in ("mean", "min", "max", "median", "geometric_mean", "mad"):
        expected = getattr(before, name) * factor
        assert getattr(after, name) == pytest.approx(expected, rel=1e-9, abs=slack * factor)
    if len(x) > 1:
        assert after.sd == pytest.approx(before.sd * factor, rel=1e-9, abs=slack * factor)
        assert after.cv == pytest.approx(before.cv, rel=1e-9, abs=1e-9)


@given(columns)
def test_figures_keep_their_order(x: list[float]) -> None:
    s = summary(x)
    assert s.min <= s.median <= s.max
    assert s.min <= s.mean <= s.max
    assert s.geometric_mean is not None
    assert s.geometric_mean <= s.mean * (1 + 1e-12)
    assert s.min <= iqm(x) * (1 + 1e-12)


@given(columns, st.floats(0, 1), st.floats(0, 1))
def test_quantiles_rise_with_q_and_ignore_order(x: list[float], first: float, other: float) -> None:
    low, high = sorted((first, other))
    assert quantile(x, low) <= quantile(x, high) * (1 + 1e-12)
    assert quantile(sorted(x), low) == quantile(x, low)


def test_figures_that_do_not_exist_are_none() -> None:
    one, negative, same = summary([4.0]), summary([-1.0, 1.0]), summary([0.1] * 3)
    assert (one.sd, one.cv, one.mad) == (None, None, 0.0)
    assert (negative.geometric_mean, negative.cv) == (None, None)
    assert (same.mean, same.sd, same.cv) == (0.1, 0.0, 0.0)
    assert summarize([]) is None


def test_percentiles_need_enough_values() -> None:
    assert [needed(q) for q in (0.5, 0.9, 0.95, 0.99, 0.999)] == [5, 29, 59, 299, 2995]
    assert [needed(q) for q in (0.1, 0.05, 0.01, 0.001)] == [29, 59, 299, 2995]


@given(st.floats(0.001, 0.999), st.floats(0.5, 0.99))
def test_the_number_needed_is_the_first_that_bounds_the_quantile(q: float, level: float) -> None:
    n, extreme = needed(q, level), max(q, 1 - q)
    assert 1 - extreme**n >= level - 1e-12
    assert 1 - extreme ** (n - 1) < level + 1e-12
    assert supported(q, n, level)
    assert not supported(q, n - 1, level)


@given(st.sampled_from([0.01, 0.05, 0.1, 0.25, 0.75, 0.9, 0.95, 0.99]), st.integers(1, 320))
def test_away_from_the_median_a_percentile_exists_when_its_interval_does(q: float, n: int) -> None:
    assert supported(q, n) == (quantile_interval(np.arange(n), q) is not None)


def test_pass_at_k_and_pass_hat_k_of_ten_answers() -> None:
    passes = (0, 3, 5, 9, 10)
    at = {k: [pass_at_k(10, c, k) for c in passes] for k in (1, 3, 8)}
    hat = {k: [pass_hat_k(10, c, k) for c in passes] for k in (1, 3, 8)}
    assert at[1] == hat[1] == pytest.approx([0.0, 0.3, 0.5, 0.9, 1.0])
    assert at[3] == pytest.approx([0.0, 0.7083333333333333, 0.9166666666666666, 1.0, 1.0])
    assert hat[3] == pytest.approx([0.0, 0.008333333333333333, 0.08333333333333333, 0.7, 1.0])
    assert at[8] == [0.0, 1.0, 1.0, 1.0, 1.0]
    assert hat[8] == pytest.approx([0.0, 0.0, 0.0, 0.2, 1.0])


@given(st.integers(1, 9), st.data())
def test_pass_figures_are_shares_of_all_draws(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    draws = list(combinations([1] * c + [0] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(any(d) for d in draws) / len(draws))
    assert pass_hat_k(n, c, k) == pytest.approx(sum(all(d) for d in draws) / len(draws))


def test_autocorrelation_by_hand() -> None:
    """Deviations -2 … 2: (2 + 0 + 0 + 2) / 10."""
    assert lag1_autocorrelation([1, 2, 3, 4, 5]) == pytest.approx(0.4)
    assert effective_sample_size([1, 2, 3, 4, 5]) == pytest.approx(5 * 0.6 / 1.4)


def test_an_autoregressive_series_is_worth_as_much_as_its_theory_says() -> None:
    generator, series = np.random.default_rng(4), [0.0]
    for shock in generator.normal(size=20_000):
        series.append(0.7 * series[-1] + shock)
    assert lag1_autocorrelation(series) == pytest.approx(0.7, abs=0.02)
    assert effective_sample_size(series) == pytest.approx(20_000 * 0.3 / 1.7, rel=0.08)


def test_effective_size_stays_between_one_and_n() -> None:
    assert effective_sample_size([0, 1] * 10) == 20.0
    assert effective_sample_size(np.arange(1000.0)) >= 1.0
    assert effective_sample_size([2.0] * 7) == 7.0
    assert effective_sample_size([]) == 0.0
    assert lag1_autocorrelation([1.0, 2.0]) is None
    assert lag1_autocorrelation([1.0] * 9) is None


def test_warming_up_is_seen_as_drift() -> None:
    result = drift([90, 80, 71, 62, 55, 50, 51, 49, 50, 52, 48, 50.5, 49.5, 47, 53])
    assert result is not None
    assert (result.first, result.last) == (71.0, 49.5)
    assert result.p == pytest.approx(2 / math.comb(10, 5))


def test_a_steady_series_is_flagged_as_rarely_as_promised() -> None:
    generator = np.random.default_rng(11)
    flags = sum(drift(generator.lognormal(size=30)).p < 0.01 for _ in range(500))  # type: ignore[union-attr]
    assert flags <= 12
    assert drift(np.arange(14)) is None


def test_relative_half_width_of_an_interval() -> None:
    assert relative_half_width(Interval(90.0, 110.0, 0.95, ""), -100.0) == pytest.approx(0.1)
    assert relative_half_width(Interval(-1.0, 1.0, 0.95, ""), 0.0) == math.inf
    assert relative_half_width(Interval(0.0, 0.0, 0.95, ""), 0.0) == 0.0


def test_precision_is_judged_at_the_agreed_looks_only() -> None:
    steady = [100.0, 101.0, 99.0, 100.5, 99.5]
    assert not precision_reached(steady[:4], 0.05)
    assert precision_reached(steady, 0.05)
    wild = [100.0, 200.0, 50.0, 100.0, 150.0]
    assert not precision_reached([*wild, *[100.0] * 4], 0.6)
    assert precision_reached([*wild, *[100.0] * 5], 0.6)


def test_precision_of_shares_is_told_in_their_own_unit() -> None:
    low = [0.10, 0.12, 0.11, 0.09, 0.10]  # half width 0.01416, which is 14% of 0.104
    assert not precision_reached(low, 0.1)
    assert precision_reached(low, 0.0142, relative=False)
    assert not precision_reached(low, 0.0141, relative=False)
    assert precision_reached([0.0] * 5, 0.01, relative=False)


def test_precision_looks_go_on_every_ten_after_the_last() -> None:
    lengths = [n for n in range(6, 70) if precision_reached(_late(n), 0.4)]
    assert lengths == list(range(40, 70))


def _late(n: int) -> list[float]:
    """Too wild for 40% at the 30 looks, precise enough at 40."""
    return [1.0, 9.0] * 15 + [3.0] * (n - 30) if n > 30 else [1.0, 9.0] * (n // 2)


@given(columns, st.floats(0.01, 2))
def test_precision_once_reached_stays_reached(x: list[float], half_width: float) -> None:
    seen = [precision_reached(x[:n], half_width) for n in range(len(x) + 1)]
    assert seen == sorted(seen)


def test_precision_follows_scipys_interval_of_the_logs() -> None:
    x = LATENCIES[:10]
    low, high = np.exp(stats.t.interval(0.95, 9, np.mean(np.log(x)), stats.sem(np.log(x))))
    width = (high - low) / 2 / stats.gmean(x)
    assert precision_reached(x, width * 1.001, looks=(10,))
    assert not precision_reached(x, width * 0.999, looks=(10,))


def test_precision_of_values_that_are_not_all_positive_uses_the_mean() -> None:
    x = [0.0, 10.0, 10.0, 11.0, 9.0]
    width = stats.t.ppf(0.975, 4) * stats.sem(x) / 8
    assert precision_reached(x, width * 1.001)
    assert not precision_reached(x, width * 0.999)


@pytest.mark.parametrize(
    "call",
    [
        lambda: summarize([math.nan]),
        lambda: quantile([], 0.5),
        lambda: quantile([1.0], 1.1),
        lambda: needed(1.0),
        lambda: needed(0.5, 1.0),
        lambda: iqm([]),
        lambda: pass_at_k(3, 4, 1),
        lambda: pass_at_k(3, 1, 0),
        lambda: pass_hat_k(3, 1, 4),
        lambda: precision_reached([1.0], 0.0),
        lambda: lag1_autocorrelation([1.0, math.inf, 2.0]),
    ],
)
def test_wrong_input_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"needs|needed|must lie|NaN"):
        call()
