"""Rank tests against scipy, and exact where scipy is not."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.analysis.differences.alternative import Alternative
from agentbench_tui.analysis.differences.rank import (
    BrunnerMunzelTest,
    RankTest,
    brunner_munzel,
    mann_whitney,
)

CONTROL = [
    812.4, 795.1, 901.7, 778.3, 850.2, 833.9, 1204.6, 799.8, 841.5, 826.0, 870.3, 788.9, 915.2,
    806.7, 848.8,
]  # fmt: skip
CANDIDATE = [
    880.9, 861.3, 968.2, 842.7, 930.1, 899.5, 1310.4, 858.2, 905.6, 872.3, 955.0, 851.1, 998.8,
    869.4, 921.7,
]  # fmt: skip

few_different = st.lists(st.integers(0, 4), min_size=1, max_size=5)


ALTERNATIVES: list[Alternative] = ["two-sided", "greater", "less"]
alternatives = st.sampled_from(ALTERNATIVES)


def run(x: object, y: object, *options: object) -> RankTest:
    result = mann_whitney(x, y, *options)  # type: ignore[arg-type]
    assert result is not None
    return result


def munzel(x: object, y: object, *options: object) -> BrunnerMunzelTest:
    result = brunner_munzel(x, y, *options)  # type: ignore[arg-type]
    assert result is not None
    return result


def test_two_versions_of_fifteen_runs_each() -> None:
    result = run(CANDIDATE, CONTROL)
    assert (result.u, result.exact) == (187.0, True)
    assert result.p == pytest.approx(0.0014081194696769263, rel=1e-9)
    assert run(CANDIDATE, CONTROL, "greater").p == pytest.approx(0.0007040597348384631, rel=1e-9)
    approximate = run(CANDIDATE, CONTROL, "two-sided", "asymptotic")
    assert not approximate.exact
    assert approximate.p == pytest.approx(0.0021450570245935504, rel=1e-9)


def test_unequal_spreads_of_fifteen_runs_each() -> None:
    result = munzel(CANDIDATE, CONTROL)
    assert result.statistic == pytest.approx(4.078203316966988, rel=1e-9)
    assert result.p == pytest.approx(0.0007050291255800607, rel=1e-9)


@given(st.sets(st.integers(0, 10_000), min_size=2, max_size=50), alternatives, st.data())
def test_exact_p_without_ties_is_scipys(
    values: set[int], alternative: Alternative, data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(sorted(values)))
    cut = data.draw(st.integers(1, len(shuffled) - 1))
    x, y = shuffled[:cut], shuffled[cut:]
    expected = stats.mannwhitneyu(x, y, alternative=alternative, method="exact")
    result = run(x, y, alternative)
    assert (result.u, result.p) == (expected.statistic, pytest.approx(expected.pvalue, rel=1e-9))


@given(few_different, few_different)
def test_exact_p_with_ties_counts_every_split(x: list[int], y: list[int]) -> None:
    ranks = stats.rankdata(x + y)
    seen = ranks[: len(x)].sum()
    sums = np.array([sum(split) for split in combinations(ranks, len(x))])
    below, above = (sums <= seen).mean(), (sums >= seen).mean()
    assert run(x, y).p == pytest.approx(min(1.0, 2 * min(below, above)))
    assert run(x, y, "less").p == pytest.approx(below)
    assert run(x, y, "greater").p == pytest.approx(above)


def test_exact_p_on_demand_beyond_fifty_values_is_scipys() -> None:
    generator = np.random.default_rng(3)
    x, y = generator.normal(0.4, 1, 70), generator.normal(0, 1, 30)
    expected = stats.mannwhitneyu(x, y, alternative="greater", method="exact")
    assert not run(x, y, "greater").exact
    assert run(x, y, "greater", "exact").p == pytest.approx(expected.pvalue, rel=1e-9)
    with pytest.raises(ValueError, match="at most 200 values, got 201; use asymptotic"):
        mann_whitney(np.arange(101), np.arange(100), method="exact")


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.sampled_from([5, 1000]), alternatives)
def test_approximate_p_with_ties_is_scipys(
    seed: int, size: int, spread: int, alternative: Alternative
) -> None:
    generator = np.random.default_rng(seed)
    x, y = generator.integers(0, spread, size), generator.integers(0, spread, 51)
    expected = stats.mannwhitneyu(x, y, alternative=alternative, method="asymptotic")
    result = run(x, y, alternative)
    assert not result.exact
    assert (result.u, result.p) == (expected.statistic, pytest.approx(expected.pvalue, rel=1e-9))


@given(st.lists(st.integers(1, 500), min_size=2, max_size=80), st.data())
def test_only_order_counts_and_sides_mirror(values: list[int], data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(values) - 1))
    x, y = np.array(values[:cut]), np.array(values[cut:])
    result, logs, swapped = run(x, y), run(np.log(x), np.log(y)), run(y, x)
    assert logs == result
    assert swapped.p == pytest.approx(result.p)
    assert swapped.u + result.u == x.size * y.size
    assert run(x, y, "less").p == pytest.approx(run(y, x, "greater").p)


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.integers(2, 40), alternatives)
def test_brunner_munzel_is_scipys_with_the_sides_named_the_other_way(
    seed: int, n: int, m: int, alternative: Alternative
) -> None:
    """scipy's statistic is positive when y is larger, while its `greater` means x."""
    generator = np.random.default_rng(seed)
    x, y = generator.normal(0, 1, n), generator.normal(0, 3, m)
    x[0], y[0], y[1] = 0.0, -0.5, 0.5  # so that the columns overlap
    expected = stats.brunnermunzel(x, y, alternative=alternative)
    result = munzel(x, y, alternative)
    assert result.statistic == pytest.approx(-expected.statistic, rel=1e-9, abs=1e-12)
    assert result.p == pytest.approx(expected.pvalue, rel=1e-9)


def test_brunner_munzel_needs_spread_and_two_values_a_side() -> None:
    assert brunner_munzel([1.0, 2.0], [3.0, 4.0, 5.0]) is None
    assert brunner_munzel([1.0, 1.0], [1.0, 1.0]) is None
    assert brunner_munzel([1.0], [0.0, 2.0]) is None
    assert brunner_munzel([], []) is None


def test_exact_p_of_tied_values_keeps_its_promise() -> None:
    """Of 1,000 tests without a difference, on 3 tied values, at most 5% fall below 0.05."""
    generator = np.random.default_rng(11)
    draws = generator.integers(0, 3, (1000, 24))
    false = sum(run(row[:12], row[12:]).p <= 0.05 for row in draws)
    assert 20 <= false <= 70


def test_without_a_difference_or_without_data() -> None:
    assert run([1.0] * 3, [1.0] * 4).p == 1.0
    assert run([1.0] * 30, [1.0] * 40).p == 1.0
    assert mann_whitney([], [1.0]) is None
    assert mann_whitney([1.0], []) is None
    with pytest.raises(ValueError, match="NaN"):
        mann_whitney([1.0, float("nan")], [1.0])


def test_a_misspelled_side_or_method_is_named() -> None:
    with pytest.raises(ValueError, match="not 'larger'"):
        mann_whitney([1.0], [2.0], "larger")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not 'normal'"):
        mann_whitney([1.0], [2.0], method="normal")  # type: ignore[arg-type]
