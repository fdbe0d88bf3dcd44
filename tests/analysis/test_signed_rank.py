"""Wilcoxon's signed-rank test against scipy, and exact where scipy is not."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.analysis.differences.alternative import Alternative
from agentbench_tui.analysis.differences.signed_rank import SignedRankTest, wilcoxon

ALTERNATIVES: list[Alternative] = ["two-sided", "greater", "less"]
alternatives = st.sampled_from(ALTERNATIVES)
DATA_A = [0.049, 0.028, 0.023, 0.058, 0.023, 0.063, 0.022, 0.035, 0.103, 0.021]
"""Ten gains in reward, candidate less control."""


def run(differences: object, alternative: Alternative = "two-sided") -> SignedRankTest:
    result = wilcoxon(differences, alternative)  # type: ignore[arg-type]
    assert result is not None
    return result


def test_ten_gains_are_as_unlikely_as_ten_heads_or_tails() -> None:
    result = run(DATA_A)
    assert result == SignedRankTest(w=55.0, n=10, zeros=0, p=2 / 2**10, exact=True)
    assert run(DATA_A, "greater").p == 1 / 2**10
    assert run(DATA_A, "less").p == 1.0


@given(st.sets(st.integers(1, 10_000), min_size=1, max_size=50), alternatives, st.data())
def test_exact_p_without_ties_is_scipys(
    sizes: set[int], alternative: Alternative, data: st.DataObject
) -> None:
    signs = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(sizes), max_size=len(sizes)))
    d = np.array(signs) * np.array(data.draw(st.permutations(sorted(sizes))))
    expected = stats.wilcoxon(d, alternative=alternative, method="exact")
    result = run(d, alternative)
    assert result.exact
    assert result.p == pytest.approx(expected.pvalue, rel=1e-9)


@given(st.lists(st.integers(-3, 3).filter(bool), min_size=1, max_size=9), st.integers(0, 3))
def test_exact_p_with_ties_counts_every_choice_of_signs(d: list[int], zeros: int) -> None:
    ranks = stats.rankdata(np.abs(d))
    seen = ranks[np.array(d) > 0].sum()
    sums = np.array([ranks @ np.array(plus) for plus in product([0, 1], repeat=len(d))])
    below, above = (sums <= seen).mean(), (sums >= seen).mean()
    result = run([0] * zeros + d)
    assert (result.w, result.n, result.zeros) == (seen, len(d), zeros)
    assert result.p == pytest.approx(min(1.0, 2 * min(below, above)))
    assert run(d, "less").p == pytest.approx(below)
    assert run(d, "greater").p == pytest.approx(above)


@given(st.integers(0, 2**32 - 1), st.integers(60, 90), st.sampled_from([4, 1000]), alternatives)
def test_approximate_p_with_ties_and_zeros_is_scipys(
    seed: int, size: int, spread: int, alternative: Alternative
) -> None:
    d = np.random.default_rng(seed).integers(-spread, spread, size)
    assume(np.count_nonzero(d) > 50)
    expected = stats.wilcoxon(d, correction=True, alternative=alternative, method="asymptotic")
    result = run(d, alternative)
    assert not result.exact
    assert result.zeros == np.count_nonzero(d == 0)
    middle = result.n * (result.n + 1) / 4
    if abs(result.w - middle) >= 0.5:  # nearer, scipy's correction passes the middle
        assert result.p == pytest.approx(expected.pvalue, rel=1e-9)


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=80))
def test_swapping_sides_mirrors_and_units_do_not_matter(d: list[int]) -> None:
    values = np.array(d)
    result, swapped, scaled = run(values), run(-values), run(values * 1e-3)
    assert scaled == result
    assert swapped.p == pytest.approx(result.p)
    assert swapped.w + result.w == result.n * (result.n + 1) / 2
    assert run(values, "less").p == pytest.approx(run(-values, "greater").p)


def test_differences_equal_but_for_rounding_are_tied_or_zero() -> None:
    x, y = np.array([0.3, 0.4, 1.1, 0.3]), np.array([0.2, 0.3, 1.2, 0.1 + 0.2])
    assert len(set(np.abs(x - y))) == 4  # a tenth three times and a zero, as a float has them
    result = run(x - y)
    assert (result.w, result.n, result.zeros) == (4.0, 3, 1)


def test_without_a_difference_p_falls_below_a_limit_as_often_as_the_limit_says() -> None:
    rows = np.random.default_rng(5).standard_normal((1500, 20))
    p = np.array([run(row).p for row in rows])
    for limit in (0.01, 0.05, 0.2, 0.5):
        error = 4 * (limit * (1 - limit) / p.size) ** 0.5
        assert (p <= limit).mean() == pytest.approx(limit, abs=error + 0.01)


def test_without_a_difference_or_without_data() -> None:
    assert run([0.0, 0.0]) == SignedRankTest(w=0.0, n=0, zeros=2, p=1.0, exact=True)
    assert run([3.0]).p == 1.0
    assert run([2.0] * 60).p < 1e-9
    assert wilcoxon([]) is None
    with pytest.raises(ValueError, match="NaN"):
        wilcoxon([1.0, float("nan")])
    with pytest.raises(ValueError, match="not 'both'"):
        wilcoxon([0.0], "both")  # type: ignore[arg-type]
