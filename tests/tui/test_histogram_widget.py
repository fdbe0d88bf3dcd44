"""The histogram: counts where the values are, marks that never overlap, a scaled baseline."""

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from whole_rows import assert_whole

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.presentation.numbers import quantity
from agentbench_tui.tui.drawing.axis import Axis
from agentbench_tui.tui.drawing.glyphs import ASCII, UNICODE, Glyphs
from agentbench_tui.tui.drawing.histogram_data import axis_for, baseline_heights, heights_of
from agentbench_tui.tui.drawing.painting import text_of
from agentbench_tui.tui.theme import DARK, palette
from agentbench_tui.tui.widgets.histogram import HistogramData, Percentile, paint_histogram

_PALETTE = palette(DARK)
_numbers = st.floats(allow_nan=True, allow_infinity=True)
_buckets = st.lists(st.tuples(_numbers, _numbers, st.integers(-1, 10**6)), max_size=6)
_data = st.builds(
    HistogramData,
    _buckets,
    st.lists(
        st.builds(
            Percentile,
            st.sampled_from([0.5, 0.95, 0.99]),
            st.sampled_from(["p50", "p95", "p99"]),
            _numbers,
        ),
        max_size=4,
    ),
    _buckets,
    st.text(st.sampled_from("ab日\x1b\n"), max_size=8),
    st.sampled_from(["ms", ""]),
    st.booleans(),
    st.text(st.sampled_from("ab日\x1b\n"), max_size=8),
)


def _painted(data: HistogramData, width: int, height: int) -> list[str]:
    return text_of(paint_histogram(data, width, height, _PALETTE, UNICODE))


def _latencies(count: int, seed: int = 1) -> list[float]:
    chance = random.Random(seed)
    return [300 * math.exp(chance.gauss(0, 0.4)) for _ in range(count)]


@given(_data, st.integers(1, 90), st.integers(1, 24), st.sampled_from([ASCII, UNICODE]))
def test_any_data_make_a_whole_picture(
    data: HistogramData, width: int, height: int, glyphs: Glyphs
) -> None:
    rows = paint_histogram(data, width, height, _PALETTE, glyphs)
    assert_whole(rows, width, height)
    if glyphs is ASCII:
        assert all(text.isascii() for text in text_of(rows))


@given(
    st.lists(st.floats(0.001, 1e6), min_size=1, max_size=200),
    st.integers(1, 90),
    st.integers(1, 24),
    st.booleans(),
)
def test_a_histogram_of_ticks_makes_a_whole_picture(
    values: list[float], width: int, height: int, log: bool
) -> None:
    data = HistogramData.of(Histogram(values), baseline=Histogram(values[:9]), log=log)
    assert_whole(paint_histogram(data, width, height, _PALETTE, UNICODE), width, height)


def test_bars_stand_on_their_buckets_as_high_as_their_counts() -> None:
    data = HistogramData([(0, 10, 2), (10, 20, 4), (20, 30, 8), (30, 40, 2)], log=False, unit="ms")
    assert _painted(data, 4, 2) == ["  █ ", "▄██▄"]


@pytest.mark.parametrize("log", [True, False])
def test_all_values_on_the_axis_are_counted(log: bool) -> None:
    buckets = Histogram(_latencies(3000)).buckets()
    axis = axis_for(HistogramData(buckets, log=log))
    assert axis is not None
    assert sum(heights_of(buckets, axis, 90)) == pytest.approx(3000)


def test_heights_are_those_that_numpy_counts() -> None:
    """numpy.histogram over the same bars; buckets are 1% wide, so a few values lie elsewhere."""
    values = _latencies(5000)
    axis = Axis(50, 1500)
    ours = heights_of(Histogram(values).buckets(), axis, 40)
    theirs, _ = np.histogram(values, bins=40, range=(50, 1500))
    assert np.abs(np.asarray(ours) - theirs).sum() / 5000 < 0.05


def test_even_values_make_an_even_histogram() -> None:
    """On a logarithmic axis: no comb of columns with four buckets beside columns with five."""
    values = [100 * 10 ** (number / 20_000) for number in range(20_000)]
    heights = heights_of(Histogram(values).buckets(), Axis(100, 1000, True), 53)
    inner = heights[1:-1]
    assert max(inner) / min(inner) < 1.05


def test_few_values_make_few_bars() -> None:
    heights = heights_of(Histogram(_latencies(20)).buckets(), Axis(50, 1500, True), 90)
    assert len(list(itertools.groupby(heights))) <= 20


def test_percentiles_are_shown_with_their_values_once_there_are_values_enough() -> None:
    few = HistogramData.of(Histogram([100.0] * 40 + [200.0] * 18))
    assert [mark.name for mark in few.percentiles] == ["p50"]
    many = HistogramData.of(Histogram([100.0] * 298 + [200.0] * 2))
    assert [mark.name for mark in many.percentiles] == ["p50", "p95", "p99"]
    rows = "\n".join(_painted(many, 70, 16))
    for mark in many.percentiles:
        assert mark.value == pytest.approx(100, rel=0.005)
        assert f"{mark.name} {quantity(mark.value, 'ms')}" in rows


@given(st.lists(st.floats(1, 1000), min_size=4, max_size=4), st.integers(24, 100))
def test_labels_of_percentiles_never_touch(values: list[float], width: int) -> None:
    names = ["aaaa", "bbbb", "cccc", "dddd"]
    marks = [Percentile(0.5, name, value) for name, value in zip(names, values, strict=True)]
    data = HistogramData([(1, 1.01, 5), (990, 1000, 5)], marks)
    rows = _painted(data, width, 24)
    words = [word for row in rows for word in row.replace(UNICODE.dashed_vertical, " ").split()]
    assert all(words.count(name) == 1 for name in names)


def test_what_lies_far_out_on_a_linear_axis_is_told_in_words() -> None:
    data = HistogramData.of(Histogram([*_latencies(400), 90_000.0]), log=False)
    assert "1 beyond" in _painted(data, 80, 14)[0]
    assert "beyond" not in _painted(HistogramData.of(Histogram(_latencies(400))), 80, 14)[0]


def test_units_are_ascii_where_all_is() -> None:
    data = HistogramData.of(Histogram([0.001] * 400 + [0.5]), log=False)
    rows = text_of(paint_histogram(data, 80, 14, _PALETTE, ASCII))
    assert "1 beyond 1.5 us" in rows[0]


def test_zeros_have_no_place_on_a_logarithmic_axis_and_are_told() -> None:
    data = HistogramData.of(Histogram([0.0, 0.0, 5.0, 9.0]))
    assert "2 at 0" in _painted(data, 60, 12)[0]


def test_a_baseline_is_scaled_to_as_many_values() -> None:
    now, before = Histogram(_latencies(1000)), Histogram(_latencies(250, seed=2))
    data = HistogramData.of(now, baseline=before, baseline_name="v1.2")
    axis = axis_for(data)
    assert axis is not None
    assert sum(baseline_heights(data, axis, 60)) == pytest.approx(1000)
    rows = _painted(data, 80, 16)
    assert "v1.2, scaled from 250" in rows[0]
    assert any("┌" in row or "┐" in row for row in rows[1:-2])


def test_the_tail_has_the_colors_of_its_percentiles() -> None:
    data = HistogramData.of(Histogram([100.0] * 940 + [500.0] * 50 + [900.0] * 30))
    bottom = paint_histogram(data, 90, 16, _PALETTE, UNICODE)[-3]
    styles = {piece.style for piece in bottom}
    assert {_PALETTE.series[0].style, _PALETTE.warn, _PALETTE.bad} <= styles


def test_bars_and_outline_have_the_colors_of_whose_they_are() -> None:
    now, before = Histogram(_latencies(1000)), Histogram(_latencies(250, seed=2))
    data = HistogramData.of(now, baseline=before, series=(2, 1))
    rows = paint_histogram(data, 90, 16, _PALETTE, UNICODE)
    bars = {piece.style for row in rows for piece in row if UNICODE.full in piece.text}
    assert bars == {_PALETTE.series[2].style}
    edges = {piece.style for row in rows[1:-2] for piece in row if "┌" in piece.text}
    assert _PALETTE.series[1].style in edges


def test_nothing_in_it_says_why() -> None:
    rows = _painted(HistogramData(reason="no answer yet", title="TTFT"), 40, 9)
    assert rows[0].startswith("TTFT")
    assert any("no answer yet" in row for row in rows)
