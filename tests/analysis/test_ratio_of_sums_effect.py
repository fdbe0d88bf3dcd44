"""Two ratios of sums compared: by hand, against scipy's t, and laws that hold for any numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student
from scipy.stats import ttest_ind, ttest_rel

from agentbench_tui.analysis.differences.ratio_of_sums_effect import (
    NEGATIVE,
    NOTHING,
    ONE_CASE,
    Sums,
    paired_sums_effect,
    unpaired_sums_effect,
)


def sums(top: list[float], bottom: list[float]) -> Sums:
    return Sums(np.array(top, np.float64), np.array(bottom, np.float64))


def test_by_hand() -> None:
    """A is 6/6 without any case. B is 5/10; 5/5 without the first case, 4/9 without another.

    The six differences are 0 and five times -5/9, their mean is -25/54, and 5/6 of their squared
    deviations, 625/2916 + 5 × 25/2916, is the square of 25/54. The weights of the cases are 1/6 +
    5/10 and five times 1/6 + 1/10, which is 2.5 to 1.
    """
    a, b = sums([1] * 6, [1] * 6), sums([0, 1, 1, 1, 1, 1], [5, 1, 1, 1, 1, 1])
    found = paired_sums_effect(a, b, share=True)
    error, df = 25 / 54, (2.5**1.2 + 5) ** 2 / (2.5**2.4 + 5) - 1
    assert found.difference == pytest.approx(-0.5)
    assert found.p == pytest.approx(2 * student.sf(0.5 / error, df))
    assert found.high == pytest.approx(-0.5 + student.ppf(0.975, df) * error)
    assert found.low == -1  # a share cannot fall by more


def test_of_equal_bottoms_it_is_the_paired_t_test() -> None:
    draw = np.random.default_rng(3)
    x, y = draw.random((2, 20))
    found = paired_sums_effect(Sums(x, np.ones(20)), Sums(y, np.ones(20)), share=True)
    expected = ttest_rel(y, x)
    assert found.p == pytest.approx(float(expected.pvalue))
    ends = expected.confidence_interval()
    assert (found.low, found.high) == pytest.approx((float(ends.low), float(ends.high)))
    wider = found.at(0.99)
    ends = expected.confidence_interval(0.99)
    assert (wider.low, wider.high) == pytest.approx((float(ends.low), float(ends.high)))


def test_of_equal_bottoms_of_other_cases_it_is_welchs_t_test() -> None:
    draw = np.random.default_rng(4)
    x, y = draw.random(12), draw.random(30)
    found = unpaired_sums_effect(Sums(x, np.ones(12)), Sums(y, np.ones(30)), share=True)
    expected = ttest_ind(y, x, equal_var=False)
    assert found.p == pytest.approx(float(expected.pvalue))
    ends = expected.confidence_interval()
    assert (found.low, found.high) == pytest.approx((float(ends.low), float(ends.high)))


Amounts = st.lists(
    st.tuples(*[st.floats(0.1, 100) for _ in range(4)]), min_size=6, max_size=12
).map(lambda rows: np.array(rows).T)


@settings(deadline=None, max_examples=50)
@given(Amounts, st.booleans(), st.booleans())
def test_swapping_the_sides_inverts_the_effect(
    columns: np.ndarray, share: bool, paired: bool
) -> None:
    a, b = Sums(columns[0], columns[1]), Sums(columns[2], columns[3])
    effect = paired_sums_effect if paired else unpaired_sums_effect
    one, other = effect(a, b, share=share), effect(b, a, share=share)
    assert one.p == pytest.approx(other.p, abs=1e-9)
    assert one.difference == pytest.approx(-(other.difference or 0), abs=1e-9)
    assert one.low is not None
    assert other.high is not None
    if share:
        assert one.low == pytest.approx(-other.high, abs=1e-9)
    else:
        assert one.ratio == pytest.approx(1 / (other.ratio or 0))
        assert one.low * other.high == pytest.approx(1)


@settings(deadline=None, max_examples=50)
@given(Amounts)
def test_the_interval_excludes_no_difference_exactly_when_p_is_below_5_percent(
    columns: np.ndarray,
) -> None:
    found = paired_sums_effect(Sums(*columns[:2]), Sums(*columns[2:]), share=False)
    assert found.p is not None
    assert found.low is not None
    assert found.high is not None
    if abs(found.p - 0.05) > 1e-6:
        assert (found.low <= 1 <= found.high) == (found.p > 0.05)


def test_cases_of_which_nothing_counts_change_nothing() -> None:
    """F1 does not depend on how many right noes there are."""
    draw = np.random.default_rng(5)
    top, bottom = draw.integers(0, 3, (2, 20)), draw.integers(3, 5, (2, 20))
    sides = [Sums(top[k].astype(float), bottom[k].astype(float)) for k in range(2)]
    longer = [Sums(np.r_[x.top, np.zeros(9)], np.r_[x.bottom, np.zeros(9)]) for x in sides]
    assert paired_sums_effect(*sides, share=True) == paired_sums_effect(*longer, share=True)
    assert unpaired_sums_effect(*sides, share=True) == unpaired_sums_effect(*longer, share=True)


def test_copies_of_a_case_in_one_cluster_say_no_more_than_one() -> None:
    draw = np.random.default_rng(6)
    columns = draw.gamma(2, 1, (4, 15))
    once = paired_sums_effect(Sums(*columns[:2]), Sums(*columns[2:]), share=False)
    twice = np.repeat(columns, 4, axis=1)
    clusters = np.repeat(np.arange(15), 4)
    found = paired_sums_effect(Sums(*twice[:2]), Sums(*twice[2:]), clusters, share=False)
    assert (found.ratio, found.low, found.high, found.p) == pytest.approx(
        (once.ratio, once.low, once.high, once.p)
    )


def test_one_large_case_leaves_little_known() -> None:
    """With a case that weighs 10,000 times as much, t has one degree of freedom."""
    top, bottom = np.arange(1.0, 31), np.full(30, 2.0)
    bottom[0] = 20_000
    found = paired_sums_effect(Sums(top, bottom), Sums(top[::-1].copy(), bottom), share=False)
    assert found.p is not None
    assert found.p > 0.05


@pytest.mark.parametrize(
    ("a", "reason"),
    [
        (sums([1] * 8, [0] * 8), NOTHING),
        (sums([1] * 8, [1] * 7 + [-1]), NEGATIVE),
        (sums([1] * 8, [3] + [0] * 7), ONE_CASE),
    ],
)
def test_what_has_no_ratio_has_no_comparison(a: Sums, reason: str) -> None:
    b = sums([1] * 8, [1, 2] * 4)
    for effect in (paired_sums_effect, unpaired_sums_effect):
        found = effect(a, b, share=False)
        assert (found.reason, found.p, found.low, found.ratio) == (reason, None, None, None)


def test_below_six_cases_that_count_there_is_neither_interval_nor_p() -> None:
    a, b = (
        sums([1, 0, 1, 1, 0, 0, 0], [1] * 5 + [0, 0]),
        sums([0, 1, 1, 0, 0, 0, 0], [1] * 5 + [0, 0]),
    )
    found = paired_sums_effect(a, b, share=True)
    assert (found.p, found.low) == (None, None)
    assert "6 independent cases that count (have 5)" in found.reason
    assert found.difference == pytest.approx(-0.2)


def test_first_numbers_of_0_give_a_difference_and_say_why() -> None:
    a, b = sums([0] * 10, [2] * 10), sums([1, 2] * 5, [2] * 10)
    found = paired_sums_effect(a, b, share=False)
    assert found.ratio is None
    assert found.difference == pytest.approx(0.75)
    assert "no ratio" in found.reason
    assert found.low is not None
    assert 0 < found.low < 0.75


def test_shares_that_never_differ_leave_room_for_cases_that_would() -> None:
    """As the exact bound of no event in n: 1 - 0.05^(1/30)."""
    side = sums([2] * 30, [2] * 30)
    found = paired_sums_effect(side, side, share=True)
    assert (found.difference, found.p) == (0, 1)
    assert found.high == pytest.approx(1 - 0.05 ** (1 / 30))
    assert found.low == pytest.approx(-(1 - 0.05 ** (1 / 30)))


def test_ratios_that_always_differ_alike_have_the_p_of_their_signs() -> None:
    found = paired_sums_effect(sums([2] * 10, [1] * 10), sums([3] * 10, [1] * 10), share=False)
    assert (found.ratio, found.low, found.high) == pytest.approx((1.5, 1.5, 1.5))
    assert found.p == pytest.approx(2 / 2**10)


@pytest.mark.parametrize("unit", [1e-15, 1e15])
@pytest.mark.parametrize("with_negative", [False, True])
def test_the_unit_of_an_amount_does_not_matter(unit: float, with_negative: bool) -> None:
    """Such as dollars per byte, or nanoseconds per token."""
    draw = np.random.default_rng(7)
    columns = draw.gamma(2, 1, (4, 15))
    columns[0, 0] *= -1 if with_negative else 1
    one = paired_sums_effect(Sums(*columns[:2]), Sums(*columns[2:]), share=False)
    columns[::2] *= unit
    other = paired_sums_effect(Sums(*columns[:2]), Sums(*columns[2:]), share=False)
    assert one.p is not None
    assert other.p == pytest.approx(one.p)


def test_a_case_beside_which_no_other_is_seen_leaves_nothing_known() -> None:
    one, other = sums([1] * 8, [1e300] + [1] * 7), sums([1] * 8, [1] * 8)
    for effect in (paired_sums_effect, unpaired_sums_effect):
        assert effect(one, other, share=False).reason == ONE_CASE
