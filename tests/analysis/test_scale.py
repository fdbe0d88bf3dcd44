"""Scales: positions grow as a metric worsens, and differences of them are changes."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.analysis.scale import Better, Kind, Scale

betters = st.sampled_from(["lower", "higher"])
kinds = st.sampled_from(["ratio", "points"])


@given(betters, kinds, st.floats(0.01, 0.5), st.floats(0.51, 0.99))
def test_the_worse_value_has_the_higher_position(
    better: Better, kind: Kind, small: float, large: float
) -> None:
    low, high = Scale(better, kind).positions([small, large])
    assert (low < high) == (better == "lower")


@given(betters, st.floats(0.01, 100), st.floats(0.01, 100))
def test_a_shift_is_the_ratio_of_new_to_old(better: Better, old: float, new: float) -> None:
    scale = Scale(better)
    before, after = scale.positions([old, new])
    assert scale.change(after - before) == pytest.approx(new / old)
    assert scale.value(before) == pytest.approx(old)


@given(betters, st.floats(0, 1), st.floats(0, 1))
def test_on_points_a_shift_is_the_difference(better: Better, old: float, new: float) -> None:
    scale = Scale(better, "points")
    before, after = scale.positions([old, new])
    assert scale.change(after - before) == pytest.approx(new - old)


@given(betters, kinds, st.floats(-0.5, 0.5), st.floats(0, 0.5))
def test_intervals_keep_the_order_of_the_values(
    better: Better, kind: Kind, shift: float, half: float
) -> None:
    low, high = Scale(better, kind).interval(shift - half, shift + half)
    assert low <= high


@given(kinds, st.floats(0, 10))
def test_a_size_survives_the_way_to_a_length_and_back(kind: Kind, size: float) -> None:
    scale = Scale(kind=kind)
    assert scale.size(scale.length(size)) == pytest.approx(size)


def test_a_margin_is_a_factor_either_way_or_points() -> None:
    ratio, points = Scale("higher"), Scale("higher", "points")
    assert ratio.change(ratio.length(0.25)) == pytest.approx(1 / 1.25)
    assert points.change(points.length(0.25)) == pytest.approx(-0.25)
    assert ratio.margin(None) == ratio.length(0.05)
    assert points.margin(None) == pytest.approx(0.02)


def test_what_has_no_position_is_refused() -> None:
    for value in (0.0, -1.0):
        with pytest.raises(ValueError, match="no ratio"):
            Scale().positions([1.0, value])
    with pytest.raises(ValueError, match="NaN"):
        Scale(kind="points").positions([float("nan")])
    for size in (-0.1, float("nan")):
        with pytest.raises(ValueError, match="0 or more"):
            Scale().length(size)


@pytest.mark.parametrize("old", [0.94, 0.3, 0.58, 0.98, 0.07])
def test_a_change_of_just_the_margin_counts_in_spite_of_rounding(old: float) -> None:
    points, ratio = Scale(kind="points"), Scale()
    assert (old + 0.02) - old >= points.length(0.02)
    before, after = ratio.positions([old, old * 1.05])
    assert after - before >= ratio.length(0.05)


def test_a_change_beyond_what_a_number_can_hold_is_infinite() -> None:
    assert (Scale().change(710), Scale("higher").change(-710)) == (math.inf, math.inf)
    assert (Scale().change(-800), Scale().size(710)) == (0, math.inf)
    assert Scale().change(709) == math.exp(709)
