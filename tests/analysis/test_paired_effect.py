"""B against A: values from outside, laws, degenerate data, and coverage by simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.analysis.differences.paired_effect import (
    NO_RATIO,
    Effect,
    difference_effect,
    ratio_effect,
    unpaired_difference_effect,
    unpaired_ratio_effect,
)

A = [
    812.4, 795.1, 901.7, 778.3, 850.2, 833.9, 1204.6, 799.8, 841.5, 826.0, 870.3, 788.9, 915.2,
    806.7, 848.8,
]  # fmt: skip
B = [
    880.9, 861.3, 968.2, 842.7, 930.1, 899.5, 1310.4, 858.2, 905.6, 872.3, 955.0, 851.1, 998.8,
    869.4, 921.7,
]  # fmt: skip
CONTROL = [0.812, 0.794, 0.851, 0.777, 0.806, 0.839, 0.765, 0.823, 0.798, 0.845]
CANDIDATE = [0.861, 0.822, 0.874, 0.835, 0.829, 0.902, 0.787, 0.858, 0.901, 0.866]
CASES = [0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 3, 4, 4, 5, 5, 5, 5]
RIGHT = [1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 0, 1, 1]
RIGHT_B = [1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1]

positive = st.floats(0.01, 1e6)
twins = st.lists(st.tuples(positive, positive), min_size=1, max_size=20)


def test_shares_that_differ_by_rounding_alone_are_alike() -> None:
    a = np.array([0.475, 0.1 + 0.2, 1.0, 0.0, 0.25, 0.6])
    b = np.array([0.475, 0.3, 1.0, 0.0, 0.25, 0.6])
    found = difference_effect(a, b, share=True)
    assert (found.difference, found.p) == (pytest.approx(0.0, abs=1e-15), 1.0)
    assert found.high is not None
    assert found.high == pytest.approx(1 - 0.05 ** (1 / 6))  # any of six cases may yet differ


def columns(pairs: list[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    a, b = zip(*pairs, strict=True)
    return np.array(a), np.array(b)


def ends(effect: Effect) -> tuple[float, float]:
    assert effect.low is not None
    assert effect.high is not None
    return effect.low, effect.high


def quick(a: object, b: object, clusters: object = None) -> Effect:
    return ratio_effect(a, b, clusters, resamples=200)  # type: ignore[arg-type]


def flipped_p(d: np.ndarray, value: float) -> float:
    """Two-sided p of a mean of `value`, by trying every sign."""
    signs = np.array(list(product((-1, 1), repeat=d.size)))
    sums = np.abs(signs @ (d - value))
    return float((sums >= abs((d - value).sum()) - 1e-12).mean())


@pytest.mark.parametrize("n", [6, 7, 10])
def test_the_interval_of_pairs_holds_what_flipped_signs_do_not_reject(n: int) -> None:
    a, b = np.array(CONTROL[:n]), np.array(CANDIDATE[:n])
    d, effect = np.log(b) - np.log(a), ratio_effect(a, b)
    low, high = np.log(ends(effect))
    assert effect.p == pytest.approx(flipped_p(d, 0.0))
    for end, outwards in ((low, -1e-6), (high, 1e-6)):
        assert flipped_p(d, end - outwards) >= 0.05
        assert flipped_p(d, end + outwards) < 0.05
    assert effect.ratio == pytest.approx(stats.gmean(b) / stats.gmean(a), rel=1e-9)
    assert effect.difference == pytest.approx(b.mean() - a.mean())
    assert (effect.n, effect.reason) == (n, "")


def test_flipped_signs_agree_with_t_on_plain_data() -> None:
    effect = ratio_effect(A, B, seed=4)
    d = np.log(B) - np.log(A)
    half = stats.t.ppf(0.975, 14) * stats.sem(d)
    low, high = np.exp([d.mean() - half, d.mean() + half])
    assert ends(effect) == pytest.approx((low, high), abs=0.1 * (high - low))


def test_more_than_fifteen_pairs_draw_signs_by_the_seed() -> None:
    a, b = np.tile(A, 2), np.tile(B, 2) * np.linspace(0.9, 1.1, 30)
    effect = ratio_effect(a, b, seed=4)
    assert "seed 4" in effect.method
    assert effect == ratio_effect(a, b, seed=4)
    assert ends(effect) != ends(ratio_effect(a, b, seed=5))


def test_thousands_of_pairs_get_t() -> None:
    generator = np.random.default_rng(1)
    a, b = generator.lognormal(0, 0.3, (2, 2001))
    many, most = ratio_effect(a, b), ratio_effect(a[1:], b[1:])
    test = stats.ttest_1samp(np.log(b / a), 0)
    assert many.p == pytest.approx(test.pvalue)
    assert ends(many) == pytest.approx([math.exp(end) for end in test.confidence_interval()])
    low, high = ends(many)
    assert ends(most) == pytest.approx((low, high), abs=0.1 * (high - low))


@given(twins, st.sampled_from([None, 2, 3]), st.integers(0, 9))
@settings(max_examples=150)
def test_p_and_interval_never_contradict_each_other(
    pairs: list[tuple[float, float]], together: int | None, seed: int
) -> None:
    a, b = columns(pairs)
    clusters = None if together is None else np.arange(a.size) // together
    groups = unpaired_ratio_effect(a, b[seed:]), unpaired_difference_effect(a, b[seed:])
    for effect in (
        ratio_effect(a, b, clusters, seed=seed, resamples=200),
        difference_effect(a, b, clusters, seed=seed, resamples=200),
        difference_effect(a / a.max(), b / b.max(), clusters, seed=seed, share=True),
        *groups,
    ):
        none = 0.0 if effect.ratio is None else 1.0
        for level in (0.9, 0.95, 0.99):
            at = effect.at(level)
            if at.low is not None and at.high is not None and at.p is not None:
                excludes = not at.low <= none <= at.high
                assert excludes == (at.p < 1 - level - 1e-12)


def test_groups_get_welchs_interval() -> None:
    assert ends(unpaired_difference_effect(A, B)) == pytest.approx(
        (-11.9643073906999, 152.20430739069968), rel=1e-9
    )
    assert ends(unpaired_difference_effect(CONTROL, CANDIDATE)) == pytest.approx(
        (0.011821672, 0.073178328), abs=1e-9
    )


def test_ratio_of_groups_is_welch_on_logs() -> None:
    effect = unpaired_ratio_effect(A, B[:7])
    test = stats.ttest_ind(np.log(B[:7]), np.log(A), equal_var=False)
    low, high = test.confidence_interval()
    assert ends(effect) == pytest.approx((math.exp(low), math.exp(high)), rel=1e-9)
    assert effect.ratio == pytest.approx(stats.gmean(B[:7]) / stats.gmean(A), rel=1e-9)
    assert effect.n == 22
    assert effect.difference == pytest.approx(np.mean(B[:7]) - np.mean(A))


def test_pairs_of_one_cluster_go_together() -> None:
    """Signs of whole clusters, of unequal size, are flipped; their sums decide."""
    d = np.subtract(RIGHT_B, RIGHT).astype(float)
    sums, sizes = np.bincount(CASES, weights=d), np.bincount(CASES)
    signs = np.array(list(product((-1, 1), repeat=6)))

    def p(value: float) -> float:
        of = sums - value * sizes
        return float((np.abs(signs @ of) >= abs(of.sum()) - 1e-12).mean())

    effect = difference_effect(RIGHT, RIGHT_B, CASES)
    low, high = ends(effect)
    assert effect.p == pytest.approx(p(0.0))
    assert min(p(low + 1e-6), p(high - 1e-6)) >= 0.05
    assert max(p(low - 1e-6), p(high + 1e-6)) < 0.05
    assert effect.ratio is None
    assert effect.n == 20


@given(twins.filter(lambda pairs: len(pairs) > 5))
@settings(max_examples=30)
def test_repeated_pairs_of_a_cluster_add_no_certainty(pairs: list[tuple[float, float]]) -> None:
    a, b = columns(pairs)
    repeated = quick(np.repeat(a, 3), np.repeat(b, 3), np.repeat(np.arange(a.size), 3))
    assert ends(repeated) == pytest.approx(ends(quick(a, b)), rel=1e-6)


@given(twins)
@settings(max_examples=40)
def test_swapped_labels_give_the_reciprocal(pairs: list[tuple[float, float]]) -> None:
    a, b = columns(pairs)
    for effect in (quick, unpaired_ratio_effect):
        forth, back = effect(a, b), effect(b, a)
        assert forth.ratio == pytest.approx(1 / back.ratio, rel=1e-9)  # type: ignore[operator]
        assert forth.difference == pytest.approx(-back.difference)  # type: ignore[operator]
        if len(pairs) > 5:
            low, high = ends(back)
            mirrored = [1 / end if end else math.inf for end in (high, low)]
            assert ends(forth) == pytest.approx(mirrored, rel=1e-6)
    forth, back = difference_effect(a, b), difference_effect(b, a)
    if len(pairs) > 5:
        assert ends(forth) == pytest.approx([-end for end in ends(back)][::-1], rel=1e-9, abs=1e-6)


@given(twins.filter(lambda pairs: len(pairs) > 5), st.floats(1e-3, 1e3))
@settings(max_examples=40)
def test_a_change_of_unit_changes_no_ratio(pairs: list[tuple[float, float]], factor: float) -> None:
    a, b = columns(pairs)
    for effect in (quick, unpaired_ratio_effect):
        here, there = effect(a, b), effect(a * factor, b * factor)
        assert there.ratio == pytest.approx(here.ratio, rel=1e-9)
        assert ends(there) == pytest.approx(ends(here), rel=1e-6)


@given(twins)
@settings(max_examples=40)
def test_the_estimate_lies_in_its_interval(pairs: list[tuple[float, float]]) -> None:
    a, b = columns(pairs)
    for effect in (ratio_effect(a, b, resamples=2000), unpaired_ratio_effect(a, b)):
        if effect.low is not None and effect.ratio is not None:
            low, high = ends(effect)
            assert low * (1 - 1e-9) <= effect.ratio <= high * (1 + 1e-9)


@pytest.mark.parametrize("n", [6, 15, 30])
def test_constants_have_no_width(n: int) -> None:
    a, b = [0.1] * n, [0.3] * n
    for effect in (ratio_effect(a, b), unpaired_ratio_effect(a, b)):
        assert ends(effect) == pytest.approx((3.0, 3.0))
    for effect in (difference_effect(a, b), unpaired_difference_effect(a, b)):
        assert ends(effect) == pytest.approx((0.2, 0.2))
    same = ratio_effect(a, a)
    assert (same.ratio, same.difference, same.low, same.high) == (1.0, 0.0, 1.0, 1.0)


def test_zeros_have_a_difference_instead_of_a_ratio() -> None:
    for zeros in ([0.0, 2.0, 3.0], [-1.0, 2.0, 3.0]):
        for effect in (ratio_effect(zeros, [1.0, 2.0, 4.0]), unpaired_ratio_effect([9.0], zeros)):
            assert effect.ratio is None
            assert effect.reason.startswith(NO_RATIO)
    a, b = np.arange(8.0), np.arange(8.0) * 1.5 + 1
    assert ends(ratio_effect(a, b)) == ends(difference_effect(a, b))


def test_one_pair_has_an_estimate_without_an_interval() -> None:
    one = ratio_effect([2.0], [3.0])
    assert one.ratio == pytest.approx(1.5)
    assert (one.difference, one.low, one.high, one.method) == (1.0, None, None, "none")
    assert one.reason == "an interval needs 6 pairs (have 1)"
    assert "6 clusters" in ratio_effect([2.0, 2.0], [3.0, 3.1], [7, 7]).reason
    assert "each group" in unpaired_ratio_effect([2.0], [3.0, 3.1]).reason
    assert "have 1" in ratio_effect([0.0], [3.0]).reason


def test_no_data_has_no_estimate() -> None:
    for effect in (
        ratio_effect([], []),
        difference_effect([], []),
        unpaired_ratio_effect([], [1.0]),
        unpaired_difference_effect([], []),
    ):
        assert (effect.ratio, effect.difference, effect.low, effect.method) == (*[None] * 3, "none")
        assert effect.reason


def test_shares_without_a_single_difference_are_not_certain_to_be_equal() -> None:
    """Of 10 pairs none differed: at 95% the share that differs is below 25.9%."""
    bound = 1 - 0.05**0.1
    assert ends(difference_effect([1] * 10, [1] * 10, share=True)) == pytest.approx((-bound, bound))
    all_won = difference_effect([0] * 10, [1] * 10, share=True)
    assert ends(all_won) == pytest.approx((1 - 2 * bound, 1.0))
    few_clusters = difference_effect([1] * 12, [1] * 12, [1, 2, 3, 4, 5, 6] * 2, share=True)
    assert ends(few_clusters) == pytest.approx((-(1 - 0.05 ** (1 / 6)), 1 - 0.05 ** (1 / 6)))


def test_an_interval_of_shares_stays_within_one() -> None:
    effect = difference_effect([0] * 6, [1] * 5 + [0.9], share=True)
    assert ends(effect)[1] == 1.0
    with pytest.raises(ValueError, match="between 0 and 1"):
        difference_effect([0, 0], [1, 3], share=True)


@pytest.mark.parametrize("n", [8, 15, 40])
def test_ratios_of_pairs_cover(n: int) -> None:
    generator, hits = np.random.default_rng(20261128), 0
    for _ in range(500):
        a, b = generator.lognormal(0, 0.3, n), generator.lognormal(math.log(1.1), 0.3, n)
        low, high = ends(ratio_effect(a, b, resamples=1000))
        hits += low <= 1.1 <= high
    assert 0.925 <= hits / 500 <= 0.975


def test_ratios_of_groups_cover() -> None:
    generator, hits = np.random.default_rng(20261128), 0
    for _ in range(500):
        a, b = generator.lognormal(0, 0.3, 5), generator.lognormal(math.log(1.1), 0.1, 12)
        low, high = ends(unpaired_ratio_effect(a, b))
        hits += low <= 1.1 <= high
    assert 0.925 <= hits / 500 <= 0.975


@pytest.mark.parametrize(
    "call",
    [
        lambda: ratio_effect([1.0, 2.0], [1.0]),
        lambda: ratio_effect([1.0, math.nan], [1.0, 2.0]),
        lambda: ratio_effect([1.0, 2.0], [1.0, 2.0], [1]),
        lambda: ratio_effect([1.0, 2.0], [1.0, 2.0], level=1.0),
        lambda: unpaired_ratio_effect([1.0, 2.0], [1.0, math.inf]),
    ],
)
def test_wrong_input_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"needed|NaN|but"):
        call()
