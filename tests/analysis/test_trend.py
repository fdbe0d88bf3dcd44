"""Slopes of soaks: against dense generalized least squares, known truth, and what is no trend."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import signal, stats

from agentbench_tui.analysis.runs.trend import Trend, trend_line

Floats = NDArray[np.float64]


def correlated(draw: np.random.Generator, n: int, correlation: float) -> Floats:
    gain = math.sqrt(1 - correlation**2)
    return np.asarray(signal.lfilter([gain], [1, -correlation], draw.normal(0, 1, n + 200)))[200:]


def told(seconds: Floats, values: Floats) -> Trend:
    found = trend_line(seconds, values)
    assert found is not None
    return found


def test_a_straight_line_is_found_exactly() -> None:
    seconds = np.arange(0, 300.0, 2.5)
    found = told(seconds, 7 + 0.25 * seconds)
    assert found.slope == pytest.approx(0.25)
    assert (found.interval.low, found.interval.high) == pytest.approx((0.25, 0.25))
    assert (found.start, found.end, found.span_s) == pytest.approx((7, 81.375, 297.5))
    assert (found.direction, found.samples) == ("rises", 120)


def test_what_never_changes_has_no_trend() -> None:
    found = told(np.arange(100.0), np.full(100, 5.0))
    assert (found.slope, found.interval.low, found.interval.high) == (0, 0, 0)
    assert (found.start, found.end, found.direction) == (5, 5, "no trend seen")


def test_the_estimate_is_that_of_dense_generalized_least_squares() -> None:
    """One sample a stretch, unevenly spaced, one missing: errors correlate by φ^(distance)."""
    draw = np.random.default_rng(4)
    seconds = np.delete(np.arange(30.0) + draw.uniform(0.1, 0.9, 30), 12)
    seconds[0], seconds[-1] = 0, 30
    values = correlated(draw, 29, 0.7) + 0.1 * seconds
    found = told(seconds, values)
    assert 0 < found.correlation < 1
    distances = np.abs(seconds[:, None] - seconds) / (30 / 30)
    inverse = np.linalg.inv(found.correlation**distances)
    design = np.stack([np.ones(29), seconds], axis=1)
    covariance = np.linalg.inv(design.T @ inverse @ design)
    line = covariance @ design.T @ inverse @ values
    left = values - design @ line
    error = math.sqrt(left @ inverse @ left / 27 * covariance[1, 1])
    freedom = 27 * (1 - found.correlation) / (1 + found.correlation)
    half = stats.t.ppf(0.975, max(freedom, 3)) * error
    assert found.slope == pytest.approx(line[1])
    assert found.start == pytest.approx(line[0])
    assert found.interval.low == pytest.approx(line[1] - half)
    assert found.interval.high == pytest.approx(line[1] + half)


def test_the_interval_holds_the_truth_where_samples_hang_together() -> None:
    """Ordinary least squares holds it in about 4 of 10."""
    draw = np.random.default_rng(5)
    seconds, hits, ordinary = np.arange(300.0), 0, 0
    for _ in range(100):
        values = correlated(draw, 300, 0.9) + 0.01 * seconds
        found = told(seconds, values)
        hits += found.interval.low <= 0.01 <= found.interval.high
        fit = stats.linregress(seconds, values)
        ordinary += abs(fit.slope - 0.01) <= 1.97 * fit.stderr
    assert hits >= 88
    assert ordinary <= 65


def test_wandering_is_seldom_called_a_trend() -> None:
    draw = np.random.default_rng(6)
    seconds = np.arange(300.0)
    trends = [told(seconds, np.cumsum(draw.normal(0, 1, 300))) for _ in range(80)]
    assert sum(one.direction != "no trend seen" for one in trends) <= 20


def test_a_leak_under_garbage_collection_is_found_and_told() -> None:
    """1.2 MB a minute under teeth of 20 MB, sampled every second for 20 minutes."""
    draw = np.random.default_rng(7)
    seconds = np.arange(1200.0)
    teeth = 20e6 * ((seconds / 35) % 1) + draw.normal(0, 1e5, 1200)
    found = told(seconds, 300e6 + teeth + 1.2e6 / 60 * seconds)
    assert found.interval.low < 1.2e6 / 60 < found.interval.high
    assert found.direction == "rises"
    words = found.words("memory", "MB", scale=1e-6)
    assert words.startswith("memory rises by 1.2")
    assert words.endswith("]")
    teeth_only = told(seconds, 300e6 + teeth)
    assert teeth_only.direction == "no trend seen"
    assert teeth_only.words("memory", "MB", scale=1e-6).startswith("memory: no trend seen (-")


def test_what_fills_up_once_is_no_leak() -> None:
    draw = np.random.default_rng(8)
    seconds = np.arange(600.0)
    found = told(seconds, 100 * (1 - np.exp(-seconds / 60)) + draw.normal(0, 1, 600))
    assert found.direction == "no trend seen"
    assert found.late is not None
    assert found.late.low <= 0.01
    assert found.late.high < 0.1


def test_what_begins_late_is_told_of_the_second_half() -> None:
    draw = np.random.default_rng(9)
    seconds = np.arange(600.0)
    found = told(seconds, np.maximum(0, seconds - 300) + draw.normal(0, 1, 600))
    assert found.late is not None
    assert found.late.low == pytest.approx(1, abs=0.05)
    assert "its second half rises by" in found.words("memory", "MB") or found.direction == "rises"


def test_what_falls_is_told_in_the_unit_asked_for() -> None:
    seconds = np.arange(600.0)
    down = told(seconds, 100 - 0.1 * seconds + np.random.default_rng(10).normal(0, 1, 600))
    assert down.words("free disk", "GB", per="h").startswith("free disk falls by 3")


def test_a_few_wild_samples_do_not_matter() -> None:
    draw = np.random.default_rng(11)
    seconds = np.arange(600.0)
    quiet = 0.02 * seconds + draw.normal(0, 1, 600)
    wild = quiet.copy()
    wild[draw.integers(0, 600, 20)] += 1e6
    assert told(seconds, wild).slope == pytest.approx(told(seconds, quiet).slope, rel=0.1)
    assert told(seconds, quiet).slope == pytest.approx(
        stats.theilslopes(quiet, seconds).slope, rel=0.1
    )


def test_rare_errors_are_seen_by_their_means() -> None:
    """From none to 6 of 100 requests a second: most seconds have few, the median of many is 0."""
    draw = np.random.default_rng(12)
    seconds = np.arange(600.0)
    share = draw.binomial(20, 0.06 * seconds / 600) / 20
    found = trend_line(seconds, share, by="mean")
    assert found is not None
    assert found.interval.low < 0.06 / 600 < found.interval.high
    assert found.direction == "rises"
    blind = trend_line(seconds, np.where(draw.random(600) < 0.1, share, 0.0))
    assert blind is not None
    assert blind.direction == "no trend seen"


def test_long_gaps_leave_the_slope_without_an_interval_when_little_was_seen() -> None:
    seconds = np.concatenate([np.arange(30.0), 1000 + np.arange(30.0)])
    found = told(seconds, 0.01 * seconds + np.random.default_rng(13).normal(0, 1, 60))
    assert found.slope == pytest.approx(0.01, abs=0.002)
    assert (found.interval.low, found.interval.high) == (-math.inf, math.inf)


def test_two_samples_all_but_at_one_time_do_not_decide_alone() -> None:
    seconds = np.arange(31.0)  # stretches of a second, each with a sample
    values = correlated(np.random.default_rng(14), 31, 0.8)
    plain = told(np.delete(seconds, 9), np.delete(values, 9))
    seconds[9] = 10 - 1e-9  # another stretch than that of the next sample
    pair = told(seconds, values)
    assert pair.correlation > 0.3
    widths = [one.interval.high - one.interval.low for one in (plain, pair)]
    assert widths[1] < 3 * widths[0]


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(20, 200),
    st.floats(0, 0.95),
    st.floats(-5, 5),
    st.floats(1e-3, 1e3),
    st.floats(1e-3, 1e3),
    st.floats(-1e3, 1e3),
)
def test_laws(
    seed: int, n: int, correlation: float, slope: float, unit: float, clock: float, moved: float
) -> None:
    """Units and origins do what they must; a mirrored run has the mirrored slope."""
    draw = np.random.default_rng(seed)
    seconds = np.cumsum(draw.uniform(0.5, 1.5, n))
    values = correlated(draw, n, correlation) + slope * seconds / n
    found = told(seconds, values)
    scale = abs(found.interval.high - found.interval.low) + abs(found.slope)
    assert found.interval.low <= found.slope <= found.interval.high
    other = told(seconds * clock + moved, values * unit + moved)
    assert other.slope == pytest.approx(found.slope * unit / clock, abs=1e-4 * scale * unit / clock)
    assert other.interval.low * clock / unit == pytest.approx(found.interval.low, abs=1e-3 * scale)
    mirrored = told(seconds, -values)
    assert mirrored.slope == pytest.approx(-found.slope, abs=1e-6 * scale)
    assert mirrored.interval.low == pytest.approx(-found.interval.high, abs=1e-6 * scale)


def test_too_few_samples_and_too_few_times() -> None:
    assert trend_line(np.arange(19.0), np.arange(19.0)) is None
    twice = told(np.repeat([0.0, 1.0], 20), np.repeat([3.0, 5.0], 20))
    assert (twice.slope, twice.direction) == (2, "no trend seen")  # two stretches: no error known
    assert (twice.interval.low, twice.interval.high) == (-math.inf, math.inf)


@pytest.mark.parametrize(
    ("seconds", "values", "message"),
    [
        (np.arange(30.0), np.arange(29.0), "30 times but 29 values"),
        (np.arange(30.0)[::-1], np.arange(30.0), "must not fall"),
        (np.zeros(30), np.arange(30.0), "some length"),
        (np.arange(30.0), np.full(30, math.nan), "NaN"),
    ],
)
def test_what_is_no_series_is_refused(seconds: Floats, values: Floats, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        trend_line(seconds, values)
    with pytest.raises(ValueError, match="level between 0 and 1"):
        trend_line(np.arange(30.0), np.arange(30.0), 1)
