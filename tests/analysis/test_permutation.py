"""Permutation tests: every case counted where there are few, and honest draws where not."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.analysis.differences.alternative import Alternative
from agentbench_tui.analysis.resampling.permutation import (
    PermutationTest,
    permutation_test,
    sign_flip_test,
)

ALTERNATIVES: list[Alternative] = ["two-sided", "greater", "less"]
alternatives = st.sampled_from(ALTERNATIVES)
LATENCY_A = [
    812.4, 795.1, 901.7, 778.3, 850.2, 833.9, 1204.6, 799.8, 841.5, 826.0, 870.3, 788.9, 915.2,
    806.7, 848.8,
]  # fmt: skip
LATENCY_B = [
    880.9, 861.3, 968.2, 842.7, 930.1, 899.5, 1310.4, 858.2, 905.6, 872.3, 955.0, 851.1, 998.8,
    869.4, 921.7,
]  # fmt: skip
SLOWER = np.subtract(LATENCY_B, LATENCY_A)
CONTROL = [0.812, 0.794, 0.851, 0.777, 0.806, 0.839, 0.765, 0.823, 0.798, 0.845]
CANDIDATE = [0.861, 0.822, 0.874, 0.835, 0.829, 0.902, 0.787, 0.858, 0.901, 0.866]
few = st.lists(st.integers(-3, 3), min_size=1, max_size=7)


def flip(differences: object, *options: object, **named: int) -> PermutationTest:
    result = sign_flip_test(differences, *options, **named)  # type: ignore[arg-type]
    assert result is not None
    return result


def split(x: object, y: object, *options: object, **named: int) -> PermutationTest:
    result = permutation_test(x, y, *options, **named)  # type: ignore[arg-type]
    assert result is not None
    return result


def test_flipping_the_signs_of_latencies() -> None:
    result = flip(SLOWER[:6])
    assert result.statistic == pytest.approx(68.51666666666667, rel=1e-9)
    assert (result.p, result.permutations, result.exact, result.seed) == (2 / 64, 64, True, None)
    everything = flip(SLOWER)
    assert (everything.p, everything.permutations) == (2 / 32768, 32768)


def test_ten_rewards_against_ten() -> None:
    assert flip(np.subtract(CANDIDATE, CONTROL)).p == 0.001953125
    result = split(CANDIDATE, CONTROL)
    assert (result.permutations, result.exact, result.seed) == (184_756, True, None)
    assert result.statistic == pytest.approx(0.0425)
    assert result.p == pytest.approx(0.010424559960, rel=1e-9)


@given(few, alternatives)
def test_all_signs_are_tried(d: list[int], alternative: Alternative) -> None:
    sums = np.array([np.dot(signs, d) for signs in product([1, -1], repeat=len(d))])
    expected = {
        "two-sided": (np.abs(sums) >= abs(sum(d))).mean(),
        "greater": (sums >= sum(d)).mean(),
        "less": (sums <= sum(d)).mean(),
    }
    # tenths do not add up exactly; sums that are equal must count as equal all the same
    assert flip(np.array(d) / 10, alternative).p == pytest.approx(expected[alternative])


@given(few, few, alternatives)
def test_all_splits_are_tried(x: list[int], y: list[int], alternative: Alternative) -> None:
    pooled = np.array(x + y)
    sums = np.array(
        [pooled[list(places)].sum() for places in combinations(range(len(pooled)), len(x))]
    )
    middle = len(x) * pooled.mean()
    away, seen = np.round(sums - middle, 9), round(sum(x) - middle, 9)
    expected = {
        "two-sided": (np.abs(away) >= abs(seen)).mean(),
        "greater": (away >= seen).mean(),
        "less": (away <= seen).mean(),
    }
    result = split(np.array(x) / 10, np.array(y) / 10, alternative)
    assert result.permutations == math.comb(len(pooled), len(x))
    assert result.p == pytest.approx(expected[alternative])


def test_one_value_against_very_many_is_still_counted_out() -> None:
    result = split([0.5], np.arange(20_000), "less")
    assert (result.exact, result.permutations) == (True, 20_001)
    assert result.p == pytest.approx(2 / 20_001)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_drawn_signs_agree_with_all_of_them(alternative: Alternative) -> None:
    """16 differences, one above the limit: all 65,536 signs counted here, 10,000 drawn there."""
    d = np.random.default_rng(2).normal(0.35, 1, 16)
    sums = np.array(list(product([1, -1], repeat=16))) @ d
    p = {
        "two-sided": (np.abs(sums) >= abs(d.sum()) - 1e-9).mean(),
        "greater": (sums >= d.sum() - 1e-9).mean(),
        "less": (sums <= d.sum() + 1e-9).mean(),
    }[alternative]
    result = flip(d, alternative, seed=4)
    assert (result.permutations, result.exact, result.seed) == (10_000, False, 4)
    assert result.p == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / 10_000))


@pytest.mark.parametrize(("n", "m"), [(12, 13), (40, 5), (3, 150), (60, 60)])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_drawn_splits_agree_with_the_rank_test_on_ranks(
    n: int, m: int, alternative: Alternative
) -> None:
    """The mean of ranks is Mann-Whitney's statistic, whose exact p scipy knows."""
    ranks = np.random.default_rng(n).permutation(n + m)
    expected = stats.mannwhitneyu(ranks[:n], ranks[n:], alternative=alternative, method="exact")
    p = expected.pvalue
    assert 0.005 < p < 0.995
    result = split(ranks[:n], ranks[n:], alternative, seed=8)
    assert (result.permutations, result.exact, result.seed) == (10_000, False, 8)
    assert result.p == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / 10_000))


def test_draws_that_do_not_fit_at_once_are_made_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentbench_tui.analysis.resampling.permutation._BITS_AT_ONCE", 30 * 700)
    ranks = np.random.default_rng(9).permutation(30)
    p = stats.mannwhitneyu(ranks[:15], ranks[15:], method="exact").pvalue
    result = split(ranks[:15], ranks[15:])
    assert result.permutations == 10_000
    assert result.p == pytest.approx(p, abs=5 * math.sqrt(p * (1 - p) / 10_000))


def test_a_drawn_p_is_never_zero_and_follows_its_seed() -> None:
    assert flip(np.ones(30), draws=99).p == 1 / 100
    assert split(np.arange(30) + 1e6, np.arange(30), draws=99).p == 1 / 100
    noise = np.random.default_rng(1).normal(0.3, 1, 40)
    assert flip(noise, seed=1) == flip(noise, seed=1)
    assert flip(noise, seed=1).p != flip(noise, seed=2).p


@pytest.mark.parametrize("size", [9, 40])
def test_swapping_sides_mirrors_and_units_do_not_matter(size: int) -> None:
    generator = np.random.default_rng(size)
    x, y = generator.lognormal(0.3, 1, size), generator.lognormal(0, 1, size + 3)
    result, swapped, scaled = split(x, y), split(y, x), split(x * 1024, y * 1024)
    assert (swapped.statistic, swapped.p) == (-result.statistic, result.p)
    assert scaled.p == result.p
    assert split(x, y, "less").p == split(y, x, "greater").p
    d = x - y[:size]
    assert flip(-d).p == flip(d).p
    assert flip(-d, "less").p == flip(d, "greater").p
    assert flip(d * 1024).p == flip(d).p


@pytest.mark.parametrize("n", [8, 25])
def test_p_is_uniform_without_a_difference(n: int) -> None:
    rows = np.random.default_rng(n).standard_normal((300, n))
    flips = [flip(row, draws=999, seed=number).p for number, row in enumerate(rows)]
    cut = n // 2
    splits = [
        split(row[:cut], row[cut:], draws=999, seed=number).p for number, row in enumerate(rows)
    ]
    assert stats.kstest(flips, "uniform").pvalue > 0.001
    assert stats.kstest(splits, "uniform").pvalue > 0.001


def test_without_a_difference_or_without_data() -> None:
    assert flip([0.0] * 40) == PermutationTest(0.0, 1.0, 1, exact=True, seed=None)
    assert flip([5.0]).p == 1.0
    assert split([0.1 * 3] * 40, [0.3] * 50).p == 1.0
    assert split([7.0] * 40, [7.0] * 50).p == 1.0
    assert split([1.0], [2.0]).p == 1.0
    assert sign_flip_test([]) is None
    assert permutation_test([], [1.0]) is None
    assert permutation_test([1.0], []) is None


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="NaN"):
        sign_flip_test([1.0, float("nan")])
    with pytest.raises(ValueError, match="at least one draw, got 0"):
        sign_flip_test([1.0], draws=0)
    with pytest.raises(ValueError, match="at least one draw, got -1"):
        permutation_test([1.0], [2.0], draws=-1)
    with pytest.raises(ValueError, match="not 'up'"):
        permutation_test([1.0], [2.0], "up")  # type: ignore[arg-type]
