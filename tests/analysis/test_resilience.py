"""Resilience: shares and means by hand, intervals that cover, recovery, and what was not run."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import signal, stats

from agentbench_tui.analysis.load.resilience import (
    overall,
    quality,
    recovery,
    resilience_score,
    share_of_week,
)


def test_quality_by_hand() -> None:
    served = [100, 50, 0, 160, 160, 120, 0]
    asked = [100, 100, 100, 1600, 320, 110, 0]
    # capacity 160: what exceeds it is not asked of the target; more than was asked counts as all
    shares = quality(served, asked, 160)
    assert shares[:6].tolist() == [1, 0.5, 0, 1, 1, 1]
    assert math.isnan(shares[6])


def test_score_is_the_mean_share_of_windows_in_which_something_was_asked() -> None:
    found = resilience_score([100, 50, 0, 100, 0], [100, 100, 100, 100, 0], 200)
    assert found is not None
    assert (found.score, found.worst, found.windows, found.idle) == (62.5, 0, 4, 1)
    assert found.interval is None  # 4 windows are no 3 blocks
    assert resilience_score([0, 0], [0, 0], 100) is None
    assert resilience_score([], [], 100) is None


def test_a_perfect_and_a_dead_target() -> None:
    asked = np.full(60, 50.0)
    for served, score in ((asked, 100.0), (0 * asked, 0.0)):
        found = resilience_score(served, asked, 160)
        assert found is not None
        assert found.interval is not None
        assert (found.score, found.interval.low, found.interval.high) == (score, score, score)


def test_the_triangle() -> None:
    """Down to nothing at once and back along a line over 40 of 60 s: a third is lost."""
    shares = np.concatenate([np.linspace(0, 1, 41)[:40] + 1 / 80, np.ones(20)])
    found = resilience_score(100 * shares, np.full(60, 100.0), 100)
    assert found is not None
    assert found.score == pytest.approx(100 * (1 - 40 / 2 / 60))


def test_the_interval_is_as_wide_as_arithmetic_has_it() -> None:
    """t on the mean of windows that are worth fewer, r1 corrected for few and half a step up."""
    draw = np.random.default_rng(1)
    shares = np.repeat(draw.uniform(0.3, 0.9, 20), 2) + draw.uniform(-0.05, 0.05, 40)
    d = shares - shares.mean()
    r1 = float(d[:-1] @ d[1:] / (d @ d))
    r = (40 * r1 + 1) / 36 + 0.5 / math.sqrt(40)
    worth = 40 * (1 - r) / (1 + r)
    found = resilience_score(shares, np.ones(40), 1)
    assert found is not None
    assert found.interval is not None
    half = stats.t.ppf(0.975, worth - 1) * 100 * shares.std(ddof=1) / math.sqrt(worth)
    assert found.interval.low == pytest.approx(found.score - half)
    assert found.interval.high == pytest.approx(found.score + half)
    assert found.interval.method == f"t, 40 windows worth {worth:.0f} independent ones"


def test_windows_that_hang_together_widen_the_interval() -> None:
    together = np.tile(np.repeat([1.0, 0.2], 3), 10).tolist()
    apart = [1.0, 0.2] * 30
    wide, narrow = (resilience_score(x, np.ones(60), 1) for x in (together, apart))
    assert wide is not None
    assert narrow is not None
    assert wide.interval is not None
    assert narrow.interval is not None
    assert wide.interval.high - wide.interval.low > 1.5 * (
        narrow.interval.high - narrow.interval.low
    )


def test_windows_that_say_too_little_have_no_interval_but_a_reason() -> None:
    for shares, reason in (
        ([1.0, 0.5] * 7, "needs 15 windows (has 14)"),
        (
            np.repeat([1.0, 0.2], 30),
            "no interval: neighboring windows are alike, 60 are worth 2 independent ones",
        ),
    ):
        found = resilience_score(shares, np.ones(len(shares)), 1)
        assert found is not None
        assert (found.interval, found.reason) == (None, reason)


@pytest.mark.parametrize(("correlation", "windows"), [(0.0, 30), (0.5, 60), (0.8, 180)])
def test_the_interval_holds_the_mean_as_often_as_it_says(correlation: float, windows: int) -> None:
    """AR(1) windows around 0.6; of 400 trials 95% ± 3 standard errors."""
    draw, hits, shown = np.random.default_rng(71), 0, 0
    for _ in range(400):
        noise = draw.normal(0, 0.05 * math.sqrt(1 - correlation**2), windows)
        noise[0] = draw.normal(0, 0.05)
        found = resilience_score(
            0.6 + signal.lfilter([1], [1, -correlation], noise), np.ones(windows), 1
        )
        assert found is not None
        if found.interval is not None:
            shown += 1
            hits += found.interval.low <= 60 <= found.interval.high
    assert shown >= 380
    assert hits >= 0.917 * shown


def test_recovered_when_five_windows_in_a_row_are_as_good_as_before() -> None:
    before = [100, 98, 102, 101, 99, 100, 97, 103]
    spread = np.std(before, ddof=1) * math.sqrt(1 + 1 / 8)
    limit = 100 - stats.t.ppf(0.975, 7) * spread
    after = [0, 20, 99, 99, 99, 99, 50, limit + 0.01, 100, 101, 99, 100, 30]
    found = recovery(before, after)
    assert found.limit == pytest.approx(limit)
    assert (found.after_s, found.known, found.watched_s) == (7, True, 13)
    assert found.words == "recovered after 7 s"
    after[7] = limit - 0.01
    assert recovery(before, after).after_s is None


def test_recovery_at_once_never_and_not_known() -> None:
    before = [1.0, 1.1, 0.9, 1.0, 1.05]
    assert recovery(before, [1.0] * 8).words == "recovered at once"
    assert recovery(before, [0.0] * 30).words == "not recovered within 30 s"
    never = recovery(before, [0.0] * 8, window_s=0.5)
    assert (never.after_s, never.known, never.watched_s) == (None, True, 4)
    short = recovery(before, [1.0] * 4)
    assert (short.after_s, short.known) == (None, False)
    assert short.words == "not known: only 4 s were watched"


def test_better_than_before_is_recovered_in_either_direction() -> None:
    before = [10.0, 11, 9, 10, 10]
    assert recovery(before, [50.0] * 5).after_s == 0
    assert recovery(before, [50.0] * 5, higher_is_better=False).after_s is None
    assert recovery(before, [1.0] * 5, higher_is_better=False).after_s == 0


def test_a_baseline_without_spread_needs_a_resolution() -> None:
    after = [0.0, *[99.0] * 10]
    assert recovery([100.0] * 10, after).after_s is None
    assert recovery([100.0] * 10, after, resolution=1).after_s == 1


def test_a_target_that_never_changed_is_soon_called_recovered() -> None:
    """Windows of the baseline's own kind: five in a row are seldom long in coming."""
    draw = np.random.default_rng(3)
    times = []
    for _ in range(200):
        found = recovery(draw.poisson(100, 30), draw.poisson(100, 30))
        assert found.after_s is not None
        times.append(found.after_s)
    assert np.mean(np.array(times) == 0) > 0.8  # 0.975^5 = 0.88


def test_overall_is_the_geometric_mean_and_names_the_worst_and_the_missing() -> None:
    found = overall({"spike_load": 80.0, "high_load": 20.0, "large_inputs": None})
    assert found.score == pytest.approx(40)
    assert (found.worst, found.missing) == ("high_load", ("large_inputs",))
    assert overall({"a": 100.0, "b": 0.0}).score == 0
    assert (overall({"a": None}).score, overall({}).worst) == (None, None)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(max_size=3), st.floats(0, 100), min_size=1, max_size=6))
def test_laws_of_the_overall_score(scores: dict[str, float]) -> None:
    found = overall(scores)
    assert found.score is not None
    assert found.worst is not None
    assert scores[found.worst] == min(scores.values())
    assert min(scores.values()) <= found.score <= max(scores.values())
    if min(scores.values()) > 1e-300:
        assert found.score == pytest.approx(stats.gmean(list(scores.values())))
    with_missing = overall({**scores, "not run": None})
    assert with_missing.score == found.score


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), min_size=1, max_size=40),
    st.floats(1, 500),
    st.floats(0.01, 100),
)
def test_laws_of_the_score(windows: list[tuple[int, int]], capacity: float, factor: float) -> None:
    served, asked = np.array(windows, dtype=float).T
    found = resilience_score(served, asked, capacity)
    if found is None:
        assert not asked.any()
        return
    assert 0 <= 100 * found.worst <= found.score + 1e-9
    assert found.score <= 100
    scaled = resilience_score(served * factor, asked * factor, capacity * factor)
    assert scaled is not None
    assert scaled.score == pytest.approx(found.score)
    better = resilience_score(served + 1, asked, capacity)
    assert better is not None
    assert better.score >= found.score - 1e-9
    if found.interval is not None:
        assert 0 <= found.interval.low <= found.interval.high <= 100


@pytest.mark.parametrize(
    ("served", "asked", "capacity", "message"),
    [
        ([1, 2], [1], 1, "2 windows of successes but 1"),
        ([-1], [1], 1, "0 or more"),
        ([1], [-1], 1, "0 or more"),
        ([1], [1], 0, "above 0"),
        ([math.nan], [1], 1, "NaN"),
    ],
)
def test_what_is_no_load_is_refused(
    served: list[float], asked: list[float], capacity: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        resilience_score(served, asked, capacity)


def test_what_is_no_baseline_or_no_score_is_refused() -> None:
    with pytest.raises(ValueError, match="needs 5 windows, got 4"):
        recovery([1, 2, 3, 4], [1])
    with pytest.raises(ValueError, match="window_s > 0"):
        recovery([1, 2, 3, 4, 5], [1], window_s=0)
    with pytest.raises(ValueError, match="got 101"):
        overall({"spike": 101.0})


def test_what_fills_up_within_a_week_serves_so_long() -> None:
    assert share_of_week(84.0, 1.0) == 0.5  # 84 of 168 hours
    assert share_of_week(0.0, 1.0) == 0.0
    assert share_of_week(336.0, 1.0) == 1.0
    assert share_of_week(1.0, 0.0) == share_of_week(1.0, -3.0) == 1.0
    with pytest.raises(ValueError, match="room of 0 or more"):
        share_of_week(-1.0, 1.0)
