"""Numbers of runs for a precision: reference answers, definitions by scipy, laws, coverage."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.analysis.runs.variance import half_width_curve, precision_n, runs_needed
from agentbench_tui.analysis.summary import precision_reached

LATENCIES = [
    812.4, 795.1, 901.7, 778.3, 850.2, 833.9, 1204.6, 799.8, 841.5, 826.0, 870.3, 788.9, 915.2,
    806.7, 848.8,
]  # fmt: skip

positive = st.lists(st.floats(0.1, 1e4), min_size=2, max_size=30).filter(
    lambda x: float(np.std(x)) > 1e-6 * max(x)
)


@pytest.mark.parametrize(
    ("cv", "half_width", "n"), [(0.10, 0.05, 18), (0.10, 0.02, 99), (0.30, 0.05, 141)]
)
def test_runs_for_a_half_width(cv: float, half_width: float, n: int) -> None:
    assert precision_n(cv, half_width) == n


@given(st.floats(0.001, 3), st.floats(0.01, 0.5), st.sampled_from([0.8, 0.95, 0.999]))
def test_it_is_the_smallest_number_whose_half_width_is_small_enough(
    cv: float, half_width: float, level: float
) -> None:
    n = precision_n(cv, half_width, level)

    def width(n: int) -> float:
        return float(stats.t.ppf(0.5 + level / 2, n - 1) * cv / np.sqrt(n))

    assert width(n) <= half_width * (1 + 1e-9)
    assert n == 2 or width(n - 1) > half_width * (1 - 1e-9)


@given(st.floats(0, 3), st.floats(0.01, 0.5), st.floats(1, 3))
def test_more_spread_or_more_precision_never_takes_fewer(
    cv: float, half_width: float, factor: float
) -> None:
    n = precision_n(cv, half_width)
    assert precision_n(cv * factor, half_width) >= n
    assert precision_n(cv, half_width / factor) >= n


@pytest.mark.parametrize("cv", [999.9, 1000.1])
def test_large_numbers_are_right_on_both_sides_of_where_the_series_takes_over(cv: float) -> None:
    n = precision_n(cv, 0.1)
    widths = stats.t.ppf(0.975, np.array([n - 1, n - 2])) * cv / np.sqrt([n, n - 1])
    assert widths[0] <= 0.1 < widths[1]


def test_values_decades_apart_are_planned_for_too() -> None:
    answer = runs_needed([1e-300, 1e300], 1e-6, logs=True)
    assert answer.high is not None
    assert answer.half_width is not None
    assert answer.high > 1e20
    assert answer.half_width > 1e300


def test_a_pilot_of_fifteen_with_a_cv_of_a_tenth() -> None:
    """Its band follows from the quantiles 5.63 and 26.12 of chi-square with 14 df in any table."""
    x = np.array(LATENCIES) - np.mean(LATENCIES)
    pilot = 1 + 0.1 * x / np.std(x, ddof=1)
    found = runs_needed(pilot, 0.05)
    ends = [precision_n(0.1 * (14 / quantile) ** 0.5, 0.05) for quantile in (26.119, 5.629)]
    assert (found.n, found.low, found.high, found.more) == (18, *ends, 3)
    assert ends == [11, 41]
    assert found.half_width == pytest.approx(2.1448 * 0.1 / 15**0.5, rel=1e-4)


def test_the_curve_at_the_pilots_length_is_the_pilots_interval() -> None:
    curve = half_width_curve(LATENCIES)
    assert [point.n for point in curve.points] == list(range(2, 16))
    low, high = 800.777384237401, 915.6759490959324
    here = curve.points[-1]
    assert here.half_width == pytest.approx((high - low) / (high + low), rel=1e-9)
    spread = curve.spread
    assert spread is not None
    assert spread.cv == pytest.approx(0.1208771266353096, rel=1e-9)
    factors = (14 / stats.chi2.ppf([0.975, 0.025], 14)) ** 0.5
    assert (spread.low, spread.high) == pytest.approx(spread.cv * factors, rel=1e-9)
    assert (here.cv_low, here.cv_high) == pytest.approx(spread.cv * factors, rel=1e-9)
    assert here.half_width_high / here.half_width == pytest.approx(factors[1], rel=1e-9)


def test_the_first_point_below_a_half_width_is_the_number_needed() -> None:
    curve, answer = half_width_curve(LATENCIES, up_to=120), runs_needed(LATENCIES, 0.03)
    firsts = [
        next(point.n for point in curve.points if getattr(point, name) <= 0.03)
        for name in ("half_width", "half_width_low")
    ]
    assert firsts == [answer.n, answer.low]
    assert answer.more == (answer.n or 0) - 15


def test_the_cv_over_all_orders_does_not_move_with_n() -> None:
    """The identity behind the level line of the curve; a running CV of one order does dip."""
    x = LATENCIES[:6]
    orders = np.array(list(permutations(x)))
    for n in range(2, 7):
        mean_variance = np.var(orders[:, :n], axis=1, ddof=1).mean()
        assert mean_variance == pytest.approx(np.var(x, ddof=1), rel=1e-9)


@given(positive, st.floats(1e-3, 1e3), st.floats(0.01, 0.5))
def test_nothing_depends_on_the_unit(x: list[float], factor: float, half_width: float) -> None:
    one, other = half_width_curve(x), half_width_curve(np.array(x) * factor)
    for first, second in zip(one.points, other.points, strict=True):
        assert first.half_width == pytest.approx(second.half_width, rel=1e-6)
    assert one.spread is not None
    assert other.spread is not None
    assert one.spread.cv == pytest.approx(other.spread.cv, rel=1e-6)


@given(positive, st.floats(0.01, 0.5))
def test_the_curve_falls_and_its_bands_enclose_it(x: list[float], half_width: float) -> None:
    curve = half_width_curve(x, up_to=12)
    assert curve.spread is not None
    widths = [point.half_width for point in curve.points]
    assert widths == sorted(widths, reverse=True)
    for point in curve.points:
        assert point.half_width_low < point.half_width < point.half_width_high
        assert point.cv_low < curve.spread.cv < point.cv_high
    answer = runs_needed(x, half_width)
    assert answer.n is not None
    assert answer.low is not None
    assert answer.high is not None
    assert answer.low <= answer.n <= answer.high
    assert (answer.more == 0) == (answer.half_width is not None and answer.half_width <= half_width)


def test_the_band_holds_the_number_that_the_truth_would_give() -> None:
    """Normal runs with a CV of 10%: 18 for 5%. 95% nominal; 4 standard errors of room."""
    generator = np.random.default_rng(20261128)
    answers = [runs_needed(generator.normal(10, 1, 12), 0.05) for _ in range(200)]
    hits = np.mean([(a.low or 99) <= 18 <= (a.high or 0) for a in answers])
    assert hits == pytest.approx(0.95, abs=0.062)


@given(positive, st.floats(0.01, 1))
def test_on_logs_it_agrees_with_the_rule_by_which_runs_stop(
    x: list[float], half_width: float
) -> None:
    answer = runs_needed(x, half_width, logs=True)
    assert answer.half_width is not None
    if answer.half_width != pytest.approx(half_width, rel=1e-9):
        assert (answer.more == 0) == precision_reached(x, half_width, looks=(len(x),))
    turned = runs_needed(1 / np.array(x), half_width, logs=True)
    assert turned.half_width == pytest.approx(answer.half_width, rel=1e-6)


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([], "needs 2 (have 0)"),
        ([3.0], "needs 2 (have 1)"),
        ([3.0, 3.0, 3.0], "all values are equal"),
        ([0.0, 0.0], "all values are equal"),
        ([-1.0, 1.0, 0.5, -0.6], "not clear of 0"),
    ],
)
def test_where_a_share_of_the_mean_means_nothing_there_is_a_reason_and_no_number(
    values: list[float], reason: str
) -> None:
    answer, curve = runs_needed(values, 0.05), half_width_curve(values, up_to=30)
    assert (answer.n, answer.low, answer.high, answer.half_width, answer.more) == (None,) * 5
    assert (curve.spread, curve.points) == (None, ())
    assert reason in answer.reason
    assert curve.reason == answer.reason


def test_slopes_of_both_signs_are_planned_for_when_their_mean_is_clear_of_0() -> None:
    slopes = [-0.1, 0.9, 1.1, 1.3, 0.8, 1.2]
    answer = runs_needed(slopes, 0.1)
    cv = np.std(slopes, ddof=1) / np.mean(slopes)
    assert answer.n == precision_n(float(cv), 0.1)
    assert runs_needed([-x for x in slopes], 0.1) == answer


def test_two_positive_values_are_enough_to_start_planning() -> None:
    answer = runs_needed([1.0, 3.0], 0.05)
    assert answer.n == precision_n(2**0.5 / 2, 0.05)
    assert answer.half_width is not None
    assert answer.half_width > 1


def test_questions_without_an_answer_are_refused() -> None:
    for bad in (
        lambda: precision_n(-0.1, 0.05),
        lambda: precision_n(0.1, 0.0),
        lambda: precision_n(0.1, 0.05, level=1.0),
        lambda: precision_n(1.0, 1e-16),
        lambda: half_width_curve([1, 2], up_to=1),
        lambda: half_width_curve([1.0, 2.0], level=1.5),
        lambda: runs_needed([1.0, float("nan")], 0.05),
        lambda: runs_needed([0.0, 1.0], 0.05, logs=True),
    ):
        with pytest.raises(ValueError, match=r"need|no number|starts at|NaN"):
            bad()
