"""Effect sizes by hand, by reference figures, and by what must hold for every pair of columns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from agentbench_tui.analysis.differences.effect_size import (
    cliffs_delta,
    cohens_d,
    dz,
    geometric_ratio,
    hedges_g,
    pearson,
    probability_of_superiority,
)
from agentbench_tui.analysis.differences.rank import mann_whitney

LATENCY_A = [
    812.4, 795.1, 901.7, 778.3, 850.2, 833.9, 1204.6, 799.8, 841.5, 826.0, 870.3, 788.9, 915.2,
    806.7, 848.8,
]  # fmt: skip
LATENCY_B = [
    880.9, 861.3, 968.2, 842.7, 930.1, 899.5, 1310.4, 858.2, 905.6, 872.3, 955.0, 851.1, 998.8,
    869.4, 921.7,
]  # fmt: skip
CONTROL = [0.812, 0.794, 0.851, 0.777, 0.806, 0.839, 0.765, 0.823, 0.798, 0.845]
CANDIDATE = [0.861, 0.822, 0.874, 0.835, 0.829, 0.902, 0.787, 0.858, 0.901, 0.866]
few_values = st.lists(st.integers(0, 6), min_size=1, max_size=12)
seeds = st.integers(0, 2**32 - 1)


def close(value: float) -> object:
    return pytest.approx(value, rel=1e-9)


def test_latencies_of_two_versions() -> None:
    assert cohens_d(LATENCY_B, LATENCY_A) == close(0.639271364710227)
    assert hedges_g(LATENCY_B, LATENCY_A) == close(0.6219937602585993)
    assert hedges_g(LATENCY_B, LATENCY_A, exact=True) == close(0.6219676409622826)
    assert cliffs_delta(LATENCY_B, LATENCY_A) == close(0.6622222222222223)
    assert probability_of_superiority(LATENCY_B, LATENCY_A) == close(0.8311111111111111)
    assert pearson(LATENCY_A, LATENCY_B) == close(0.9975115197643046)


def test_rewards_of_two_versions() -> None:
    assert cohens_d(CANDIDATE, CONTROL) == close(1.306113217334)
    assert hedges_g(CANDIDATE, CONTROL) == close(1.250925334912)
    assert cliffs_delta(CANDIDATE, CONTROL) == close(0.64)
    assert dz(np.subtract(CANDIDATE, CONTROL)) == close(1.609866450375)
    assert pearson(CONTROL, CANDIDATE) == close(0.687611617224)


def test_by_hand() -> None:
    assert cohens_d([2.0, 4.0], [1.0, 3.0]) == close(1 / 2**0.5)
    assert hedges_g([2.0, 4.0], [1.0, 3.0]) == close((1 - 3 / 7) / 2**0.5)
    assert dz([1.0, 3.0]) == close(2 / 2**0.5)
    assert geometric_ratio([1.0, 100.0], [2.0, 2.0]) == close(5.0)
    assert cliffs_delta([1.0, 2.0, 3.0], [2.0, 2.0]) == 0.0
    assert cliffs_delta([3.0, 4.0], [1.0, 2.0]) == 1.0
    assert probability_of_superiority([1.0], [1.0, 0.0]) == 0.75
    assert pearson([1.0, 2.0, 3.0], [5.0, 3.0, 1.0]) == -1.0


@pytest.mark.parametrize(("n", "m"), [(2, 2), (3, 9), (50, 80), (2000, 3000)])
def test_exact_correction_is_the_ratio_of_gammas(n: int, m: int) -> None:
    generator = np.random.default_rng(n)
    x, y = generator.normal(1, 1, n), generator.normal(0, 1, m)
    d, g, exact = cohens_d(x, y), hedges_g(x, y), hedges_g(x, y, exact=True)
    assert d is not None
    assert g is not None
    assert exact is not None
    df = n + m - 2
    ratio = special.poch((df - 1) / 2, 0.5)  # Γ(df/2) / Γ((df-1)/2)
    assert exact / d == close(ratio / (df / 2) ** 0.5)
    assert g / exact == pytest.approx(1.0, abs=0.02 if n == 2 else 0.001)


def test_hedges_g_is_unbiased_where_cohens_d_is_not() -> None:
    """5 against 5 with a true size of 1: d is 11% too large on average."""
    generator = np.random.default_rng(4)
    pairs = zip(generator.normal(1, 1, (4000, 5)), generator.normal(0, 1, (4000, 5)), strict=True)
    sizes = np.array([(cohens_d(x, y), hedges_g(x, y, exact=True)) for x, y in pairs], dtype=float)
    d, g = sizes.mean(axis=0)
    error = 4 * sizes[:, 1].std() / 4000**0.5
    assert g == pytest.approx(1.0, abs=error)
    assert d > 1.0 + error


@given(few_values, few_values)
def test_cliffs_delta_counts_pairs(x: list[int], y: list[int]) -> None:
    expected = np.sign(np.subtract.outer(x, y)).mean()
    assert cliffs_delta(x, y) == pytest.approx(expected, abs=1e-15)
    test = mann_whitney(x, y)
    assert test is not None
    assert probability_of_superiority(x, y) == close(test.u / (len(x) * len(y)))


def test_cliffs_delta_of_columns_whose_pairs_would_not_fit_in_memory() -> None:
    x, y = np.arange(200_000.0), np.arange(200_000.0) + 0.5
    assert cliffs_delta(x, y) == close(-1 / 200_000)


@given(seeds, st.integers(2, 30), st.integers(2, 30))
def test_swapping_sides_mirrors_and_units_do_not_matter(seed: int, n: int, m: int) -> None:
    generator = np.random.default_rng(seed)
    x, y = generator.lognormal(0.3, 1, n), generator.lognormal(0, 1, m)
    for size in (cohens_d, hedges_g, cliffs_delta):
        value, swapped, scaled = size(x, y), size(y, x), size(x * 1000, y * 1000)
        assert value is not None
        assert swapped == pytest.approx(-value, rel=1e-9)
        assert scaled == pytest.approx(value, rel=1e-9)
    ratio, swapped = geometric_ratio(x, y), geometric_ratio(y, x)
    assert ratio is not None
    assert swapped == close(1 / ratio)
    assert geometric_ratio(x * 1000, y * 1000) == close(ratio)
    assert ratio == close(stats.gmean(x) / stats.gmean(y))
    chance, other = probability_of_superiority(x, y), probability_of_superiority(y, x)
    assert chance is not None
    assert other == close(1 - chance) or chance in (0.0, 1.0)


@given(seeds, st.integers(3, 30))
def test_correlation_is_scipys(seed: int, n: int) -> None:
    generator = np.random.default_rng(seed)
    x = generator.normal(5, 1, n)
    y = generator.normal(0, 1, n) + x
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic, rel=1e-9, abs=1e-12)
    assert pearson(x, 1000 - x) == -1.0 or pearson(x, 1000 - x) == pytest.approx(-1.0)


def test_where_a_size_does_not_exist() -> None:
    constant = [0.1 * 3] * 7
    assert cohens_d(constant, constant) == 0.0
    assert hedges_g(constant, constant) == 0.0
    assert cohens_d([1.0, 1.0], [2.0, 2.0]) is None
    assert hedges_g([1.0, 1.0], [2.0, 2.0]) is None
    assert cohens_d([1.0], [2.0]) is None
    assert cohens_d([1.0, 2.0, 3.0], []) is None
    assert hedges_g([1.0], [2.0, 3.0], exact=True) is None
    assert hedges_g([1.0], [2.0, 3.0]) is not None
    assert dz([0.0, 0.0]) == 0.0
    assert dz([0.1] * 7) is None
    assert dz([1.0]) is None
    assert cliffs_delta([], [1.0]) is None
    assert cliffs_delta(constant, constant) == 0.0
    assert probability_of_superiority([1.0], []) is None
    assert geometric_ratio([], [1.0]) is None
    assert pearson([1.0], [2.0]) is None
    assert pearson(constant, range(7)) is None
    assert geometric_ratio([1e300], [1e-300]) == np.inf


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        geometric_ratio([1.0, 0.0], [1.0])
    with pytest.raises(ValueError, match="got 2 values and 1"):
        pearson([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="NaN"):
        cohens_d([1.0, float("nan")], [1.0, 2.0])
