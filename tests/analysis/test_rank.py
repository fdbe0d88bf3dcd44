"""The Mann-Whitney test against scipy, and exact where scipy is not."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.analysis.rank import RankTest, mann_whitney

CONTROL = [
    812.4, 795.1, 901.7, 778.3, 850.2, 833.9, 1204.6, 799.8, 841.5, 826.0, 870.3, 788.9, 915.2,
    806.7, 848.8,
]  # fmt: skip
CANDIDATE = [
    880.9, 861.3, 968.2, 842.7, 930.1, 899.5, 1310.4, 858.2, 905.6, 872.3, 955.0, 851.1, 998.8,
    869.4, 921.7,
]  # fmt: skip

few_different = st.lists(st.integers(0, 4), min_size=1, max_size=5)


def run(x: object, y: object) -> RankTest:
    result = mann_whitney(x, y)  # type: ignore[arg-type]
    assert result is not None
    return result


def test_two_versions_of_fifteen_runs_each() -> None:
    result = run(CANDIDATE, CONTROL)
    assert (result.u, result.exact) == (187.0, True)
    assert result.p == pytest.approx(0.0014081194696769263, rel=1e-9)


@given(st.sets(st.integers(0, 10_000), min_size=2, max_size=50), st.data())
def test_exact_p_without_ties_is_scipys(values: set[int], data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(sorted(values)))
    cut = data.draw(st.integers(1, len(shuffled) - 1))
    expected = stats.mannwhitneyu(shuffled[:cut], shuffled[cut:], method="exact")
    result = run(shuffled[:cut], shuffled[cut:])
    assert (result.u, result.p) == (expected.statistic, pytest.approx(expected.pvalue, rel=1e-9))


@given(few_different, few_different)
def test_exact_p_with_ties_counts_every_split(x: list[int], y: list[int]) -> None:
    ranks = stats.rankdata(x + y)
    seen = ranks[: len(x)].sum()
    sums = np.array([sum(split) for split in combinations(ranks, len(x))])
    tail = min((sums <= seen).mean(), (sums >= seen).mean())
    assert run(x, y).p == pytest.approx(min(1.0, 2 * tail))


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.sampled_from([5, 1000]))
def test_approximate_p_with_ties_is_scipys(seed: int, size: int, spread: int) -> None:
    generator = np.random.default_rng(seed)
    x, y = generator.integers(0, spread, size), generator.integers(0, spread, 51)
    expected = stats.mannwhitneyu(x, y, method="asymptotic")
    result = run(x, y)
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


def test_without_a_difference_or_without_data() -> None:
    assert run([1.0] * 3, [1.0] * 4).p == 1.0
    assert run([1.0] * 30, [1.0] * 40).p == 1.0
    assert mann_whitney([], [1.0]) is None
    assert mann_whitney([1.0], []) is None
    with pytest.raises(ValueError, match="NaN"):
        mann_whitney([1.0, float("nan")], [1.0])
