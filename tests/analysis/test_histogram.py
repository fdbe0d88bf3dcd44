"""The live histogram keeps its error bound, adds up, and survives storage."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentbench_tui.analysis.histogram import RELATIVE_ERROR, Histogram

values = st.one_of(
    st.just(0.0),
    st.integers(1, 10**15),
    st.floats(0, 1e300),
    st.floats(0.1, 100),
)
columns = st.lists(values, max_size=60)


@given(columns.filter(len), st.floats(0, 1))
@example([5e-324, 1.7e308], 1.0)
@example([1.01**k for k in range(-50, 50)], 0.5)
def test_a_percentile_is_within_half_a_percent(x: list[float], q: float) -> None:
    exact = sorted(x)[max(1, math.ceil(q * len(x))) - 1]
    found = Histogram(x).percentile(q)
    assert found == pytest.approx(exact, rel=RELATIVE_ERROR + 1e-9, abs=5e-324)
    assert RELATIVE_ERROR < 0.005


@given(columns, columns)
def test_merging_is_recording_the_union(x: list[float], y: list[float]) -> None:
    merged = Histogram(x)
    merged.merge(Histogram(y))
    assert merged == Histogram(y + x)
    assert len(merged) == len(x) + len(y)


def test_different_counts_are_not_equal() -> None:
    assert Histogram([1.0]) != Histogram([2.0])
    assert Histogram([1.0]) != Histogram([1.0, 0.0])
    assert Histogram([1.0]) != [1.0]


@given(columns)
def test_bytes_give_the_same_histogram_back(x: list[float]) -> None:
    histogram = Histogram(x)
    assert Histogram.from_bytes(histogram.to_bytes()) == histogram


def test_bytes_are_compact() -> None:
    dense = Histogram(1.01**k for k in range(2000))
    assert len(dense.to_bytes()) <= 2 * 2000 + 16


@given(columns.filter(len), st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_percentiles_rise_and_keep_the_order_asked(x: list[float], shares: list[float]) -> None:
    histogram = Histogram(x)
    together = histogram.percentiles(shares)
    assert together == [histogram.percentile(q) for q in shares]
    rising = histogram.percentiles(sorted(shares))
    assert rising == sorted(rising, key=lambda value: value or 0.0)


@given(columns)
def test_buckets_hold_what_was_recorded(x: list[float]) -> None:
    rows = Histogram(x).buckets()
    assert sum(count for _, _, count in rows) == len(x)
    assert rows == sorted(rows)
    for low, high, count in rows:
        held = sum(low * (1 - 1e-9) <= value <= high * (1 + 1e-9) for value in x)
        assert held >= count > 0


def test_an_empty_histogram_has_no_percentile() -> None:
    empty = Histogram()
    assert (empty.percentile(0.5), len(empty), empty.buckets()) == (None, 0, [])
    assert Histogram.from_bytes(empty.to_bytes()) == empty


@pytest.mark.parametrize("value", [-1.0, -0.001, math.nan, math.inf, -math.inf])
def test_values_that_are_no_amount_are_refused_and_leave_no_trace(value: float) -> None:
    histogram = Histogram([2.0])
    with pytest.raises(ValueError, match="finite values"):
        histogram.record(value)
    assert histogram == Histogram([2.0])


@pytest.mark.parametrize("q", [-0.1, 1.1, 95, math.nan])
def test_shares_outside_0_to_1_are_refused(q: float) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        Histogram([1.0]).percentile(q)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00",
        Histogram([1.0]).to_bytes()[:-1],
        Histogram([1.0]).to_bytes() + b"\x01",
        b"\x92\x63\x00",  # format 99
        b"\x91\x01",  # no count of zeros
        b"\x93\x01\x00\x05",  # a bucket without its count
        b"\x94\x01\x00\x05\xff",  # a count of -1
        b"\x94\x01\x00\xce\x7f\xff\xff\xff\x01",  # a bucket no float has
    ],
)
def test_foreign_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a histogram"):
        Histogram.from_bytes(data)
