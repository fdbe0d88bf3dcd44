"""Groups against the rest and from each other, by enumerations and laws of permutation tests."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from agentbench_tui.analysis.differences.multiplicity import holm
from agentbench_tui.analysis.differences.student import welch
from agentbench_tui.analysis.groups.group_differences import (
    cochran_q,
    common_mean,
    group_differences,
)


def members(*sizes: int) -> NDArray[np.bool_]:
    """Groups of these sizes, one after another."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return np.asarray(labels == np.arange(len(sizes))[:, np.newaxis])


def chance(x: list[float], size: int) -> float:
    """Of all ways to choose so many values, the share whose sum is as far from its mean."""
    center = size * float(np.mean(x))
    sums = np.array([sum(chosen) for chosen in combinations(x, size)])
    return float((np.abs(sums - center) >= abs(sum(x[:size]) - center) - 1e-9).mean())


def test_p_of_a_share_is_the_share_of_labels_that_are_as_extreme() -> None:
    x = [1.0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0]
    found = group_differences(x, members(4, 8), share=True)
    assert found.p[0] == pytest.approx(chance(x, 4), abs=0.01)
    assert found.p[1] == found.p[0]  # what is not in one group is in the other
    assert found.p_adjusted == found.p


def test_other_values_are_tested_by_welch_and_adjusted_by_holm() -> None:
    x = np.array([1.0, 2.5, 3.1, 9.2, 8.0, 7.7, 9.9, 2.0, 2.2])
    inside = members(3, 4, 2)
    found = group_differences(x, inside, share=False)
    tests = [welch(x[row], x[~row]) for row in inside]
    p = [one.p for one in tests if one is not None]
    assert found.p == tuple(p)
    assert found.p_adjusted == tuple(holm(p))


def test_sums_over_unequal_numbers_of_cases_have_the_larger_p_of_both_tests() -> None:
    # Ten clusters of 10 cases, 60 single ones: the sums of the clusters vary more.
    draw = np.random.default_rng(1)
    x, inside = np.r_[draw.normal(2, 3, 10), draw.normal(0, 0.4, 60)], members(10, 60)
    sizes = np.repeat([10, 1], [10, 60])
    permuted, by_t = (group_differences(x, inside, share=share) for share in (True, False))
    found = group_differences(x, inside, share=True, sizes=sizes)
    assert None not in (*permuted.p, *by_t.p)
    assert by_t.p[0] > 2 * permuted.p[0]  # type: ignore[operator]
    assert found.p == by_t.p
    assert found.p_adjusted == by_t.p_adjusted
    alike = group_differences(x, inside, share=True, sizes=np.full(70, 3))
    assert alike == permuted


def test_a_group_of_large_clusters_is_rarely_marked_where_all_have_one_mean() -> None:
    # By permuted labels alone it is marked in 27% of such tables.
    draw, marked = np.random.default_rng(7), 0
    sizes, inside = np.repeat([10, 1], [10, 100]), members(10, 100)
    for _ in range(200):
        right = [draw.binomial(size, draw.beta(1.4, 0.6)) - 0.7 * size for size in sizes]
        found = group_differences(right, inside, share=True, sizes=sizes, draws=399)
        marked += found.p_adjusted[0] is not None and found.p_adjusted[0] < 0.05
    assert marked <= 0.1 * 200


def test_nothing_is_tested_where_nothing_varies_or_a_group_has_no_rest() -> None:
    assert group_differences([1.0] * 6, members(3, 3), share=True).p == (None, None)
    assert common_mean([0.5] * 6, members(3, 3)) is None
    everything = np.ones((1, 4), np.bool_)
    assert group_differences([1.0, 0, 1, 0], everything, share=True).p == (None,)
    assert common_mean([1.0, 0, 1, 0], everything) is None


def test_a_group_apart_is_found_and_the_others_are_not() -> None:
    x = np.r_[np.zeros(20), np.tile([1.0, 1, 1, 0], 30)]
    found = group_differences(x, members(20, *[20] * 6), share=True)
    assert found.p_adjusted[0] is not None
    assert found.p_adjusted[0] < 0.001
    assert all(p is not None and p > 0.05 for p in found.p_adjusted[1:])


def test_a_common_mean_has_the_larger_p_of_permuted_labels_and_flipped_signs() -> None:
    # 2 of the 20 splits, and 2 of the 64 sets of signs, are as extreme
    p = common_mean([1.0, 1, 1, 0, 0, 0], members(3, 3))
    assert p == pytest.approx(0.1, abs=0.01)


def test_differences_that_scatter_unequally_have_a_common_mean() -> None:
    draw = np.random.default_rng(5)
    inside, false = members(10, 200), 0
    for seed in range(200):
        x = np.r_[draw.choice([-1.0, 1.0], 10), np.zeros(200)]
        x[10:20] = [1, -1, 1, -1, 1, -1, 1, -1, 1, -1]
        p = common_mean(x, inside, seed=seed, draws=1000)
        false += p is not None and p < 0.05
    assert false <= 20  # 10 of 200 are due


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=4, max_size=30),
    st.integers(0, 2**30),
)
def test_an_adjusted_p_is_never_smaller_and_keeps_the_order(x: list[float], seed: int) -> None:
    inside = np.random.default_rng(seed).random((4, len(x))) < 0.4
    found = group_differences(x, inside, share=True, seed=seed, draws=500)
    known = [
        (adjusted, p)
        for p, adjusted in zip(found.p, found.p_adjusted, strict=True)
        if p is not None and adjusted is not None
    ]
    assert all(0 < p <= adjusted <= 1 for adjusted, p in known)


def test_cochran_q_of_many_degrees_is_that_of_the_literature() -> None:
    # chi-squared with 2 degrees of freedom is exponential: P(Q > q) = exp(-q / 2)
    p = cochran_q([0.0, 1.0, 2.0], [0.5, 0.5, 0.5], 1e9)
    assert p == pytest.approx(np.exp(-4.0 / 2), rel=1e-6)
    assert cochran_q([1.0, 1.0], [0.1, 0.4], 20) == pytest.approx(1.0)
    # two effects: F is the square of t, here of 20 degrees of freedom at its 97.5% point
    assert cochran_q([0.0, 2.0860], [0.5, 0.5], 20) == pytest.approx(0.05, abs=1e-4)


def test_columns_and_groups_must_fit() -> None:
    with pytest.raises(ValueError, match="3 values but groups of shape"):
        group_differences([1.0, 0, 1], members(2, 2), share=True)
