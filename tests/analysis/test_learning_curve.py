"""Summaries of learning curves: closed forms, scipy, and that more points change nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from agentbench_tui.analysis.learning_curve import Curve, Window, auc, last_n, mean_curve, slope

STEPS = [0, 10, 20, 40, 80, 100]
VALUES = [0.0, 1.0, 4.0, 2.0, 6.0, 8.0]

values_at = st.lists(st.floats(-100, 100), min_size=5, max_size=20)


def spread_steps(n: int, seed: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.cumsum(np.random.default_rng(seed).uniform(0.5, 5, n))


def test_areas_by_hand() -> None:
    """The last quarter is 75 … 100 with 5.5 at its start; the first 0 … 25 with 3.5 at its end."""
    last = (5.5 + 6) / 2 * 5 + (6 + 8) / 2 * 20
    assert auc(STEPS, VALUES, normalize=False) == pytest.approx(last)
    assert auc(STEPS, VALUES) == pytest.approx(last / 25)
    first = 5 + 25 + (4 + 3.5) / 2 * 5
    assert auc(STEPS, VALUES, window="first") == pytest.approx(first / 25)
    assert auc(STEPS, VALUES, step_min=15, step_max=45, normalize=False) == pytest.approx(
        (2.5 + 4) / 2 * 5 + 3 * 20 + (2 + 2.5) / 2 * 5
    )


def test_the_whole_curve_is_the_trapezoid_rule() -> None:
    whole = float(integrate.trapezoid(VALUES, STEPS))
    for window in ("first", "last"):
        found = auc(STEPS, VALUES, percent=1, window=window, normalize=False)
        assert found == pytest.approx(whole)
    assert auc(STEPS, VALUES, step_min=0, step_max=100) == pytest.approx(whole / 100)


@given(
    st.floats(-5, 5),
    st.floats(-5, 5),
    st.integers(8, 40),
    st.floats(0.3, 1),
    st.sampled_from(["first", "last"]),
)
def test_a_line_has_its_value_at_the_middle_of_the_window(
    start: float, rise: float, n: int, percent: float, window: Window
) -> None:
    x = np.linspace(100, 300, n)
    middle = 100 + 100 * percent if window == "first" else 300 - 100 * percent
    found = auc(x, start + rise * x, percent=percent, window=window)
    assert found == pytest.approx(start + rise * middle, abs=1e-9)
    assert slope(x, start + rise * x) == pytest.approx(rise, abs=1e-9)


@given(values_at, st.integers(0, 99), st.lists(st.floats(0, 1), max_size=8))
def test_logging_more_points_of_the_same_curve_changes_nothing(
    y: list[float], seed: int, places: list[float]
) -> None:
    """A window of points, instead of steps, would move."""
    x = spread_steps(len(y), seed)
    more = np.unique(np.concatenate([x, x[0] + np.array(places) * (x[-1] - x[0])]))
    dense = np.interp(more, x, y)
    for percent in (0.6, 1.0):
        assert auc(more, dense, percent=percent) == pytest.approx(
            auc(x, y, percent=percent), abs=1e-7
        )


@given(values_at, st.integers(0, 99), st.floats(0.1, 100), st.floats(-50, 50))
def test_summaries_follow_the_units_of_steps_and_values(
    y: list[float], seed: int, factor: float, shift: float
) -> None:
    x = spread_steps(len(y), seed)
    area, rise = auc(x, y, percent=0.7), slope(x, y)
    other = np.array(y) * factor + shift
    assert auc(x * 1000, other, percent=0.7) == pytest.approx(area * factor + shift, abs=1e-6)
    assert slope(x * 1000, other) == pytest.approx(rise * factor / 1000, abs=1e-6)
    assert last_n(other, 3) == pytest.approx(last_n(y, 3) * factor + shift, abs=1e-6)
    assert min(y) - 1e-9 <= area <= max(y) + 1e-9


@given(values_at, st.integers(0, 99), st.floats(0.2, 0.8))
def test_two_windows_that_meet_make_the_whole(y: list[float], seed: int, place: float) -> None:
    x = spread_steps(max(len(y), 12), seed)
    y = list(np.resize(y, x.size))
    cut = float(x[3] + place * (x[-4] - x[3]))
    parts = [
        auc(x, y, step_min=low, step_max=high, normalize=False)
        for low, high in ((float(x[0]), cut), (cut, float(x[-1])))
    ]
    assert sum(parts) == pytest.approx(auc(x, y, percent=1, normalize=False), abs=1e-7)


@given(values_at, st.integers(0, 99))
def test_the_slope_is_scipys(y: list[float], seed: int) -> None:
    x = spread_steps(len(y), seed)
    assert slope(x, y) == pytest.approx(stats.linregress(x, y).slope, abs=1e-9)


def test_steps_of_billions_keep_their_slope() -> None:
    x = np.linspace(0, 2e9, 50)
    assert slope(x, 3e-9 * x) == pytest.approx(3e-9, rel=1e-9)


def test_the_last_values() -> None:
    assert last_n(VALUES, 2) == 7
    assert last_n(VALUES) == pytest.approx(21 / 5)
    assert last_n(VALUES, 6) == pytest.approx(21 / 6)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: auc([1, 2, 3], [1, math.nan, 3]), "NaN"),
        (lambda: last_n([math.nan, 1, 2], 2), "NaN"),
        (lambda: slope([1, math.inf], [1, 2]), "infinity"),
        (lambda: auc([1, 2, 2], [1, 2, 3]), "2 follows 2"),
        (lambda: slope([1, 3, 2], [1, 2, 3]), "2 follows 3"),
        (lambda: auc([1, 2, 3], [1, 2]), "3 steps but 2 values"),
        (lambda: auc([0, 50, 100], [1, 2, 3]), "1 of 3 points lie in the window 75 to 100"),
        (lambda: auc(STEPS, VALUES, step_min=41, step_max=79), "0 of 6 points"),
        (lambda: auc([5], [1]), "2 points, got 1"),
        (lambda: auc(STEPS, VALUES, step_min=5), "both step_min and step_max"),
        (lambda: auc(STEPS, VALUES, step_min=50, step_max=120), "within the curve, 0 to 100"),
        (lambda: auc(STEPS, VALUES, step_min=50, step_max=50), "within the curve"),
        (lambda: auc(STEPS, VALUES, percent=0), "percent"),
        (lambda: auc(STEPS, VALUES, percent=25), "percent"),
        (lambda: auc(STEPS, VALUES, window="middle"), "first or last, not 'middle'"),  # type: ignore[arg-type]
        (lambda: last_n(VALUES, 7), "last 7 values needs 7, got 6"),
        (lambda: last_n(VALUES, 0), "n = 0"),
        (lambda: slope([], []), "2 points, got 0"),
        (lambda: mean_curve([]), "at least 1 curve"),
        (lambda: mean_curve([([], [])]), "without points"),
        (lambda: mean_curve([([0, 1], [0, 1]), ([2, 3], [0, 1])]), "no steps in common"),
        (lambda: mean_curve([([0, 1], [0, 1])], points=1), "2 points"),
    ],
)
def test_what_cannot_be_summarized_says_why(ask: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ask()  # type: ignore[operator]


def test_a_mean_curve_has_the_t_interval_of_its_curves_at_each_step() -> None:
    curves: list[Curve] = [
        (STEPS, VALUES),
        ([0, 100], [1.0, 9.0]),
        (np.arange(-50, 201), np.arange(-50, 201) / 20),
    ]
    found = mean_curve(curves, points=11)
    assert found.steps.tolist() == list(range(0, 101, 10))
    assert found.curves == 3
    assert found.low is not None
    assert found.high is not None
    for place, rows in ((2, [4.0, 2.6, 1.0]), (6, [4.0, 5.8, 3.0])):
        low, high = stats.t.interval(0.95, 2, np.mean(rows), stats.sem(rows))
        assert found.mean[place] == pytest.approx(np.mean(rows))
        assert (found.low[place], found.high[place]) == pytest.approx((low, high))


def test_a_mean_curve_covers_what_all_curves_cover() -> None:
    found = mean_curve([([0, 100], [0, 100]), ([10, 60], [10, 60]), ([5, 200], [5, 200])], 6)
    assert found.steps.tolist() == [10, 20, 30, 40, 50, 60]
    assert found.mean.tolist() == found.steps.tolist()
    assert found.low is not None
    assert found.low == pytest.approx(found.mean)


def test_a_single_curve_has_no_interval() -> None:
    found = mean_curve([(STEPS, VALUES)], points=3)
    assert found.mean.tolist() == [0, 3, 8]
    assert (found.low, found.high, found.curves) == (None, None, 1)
