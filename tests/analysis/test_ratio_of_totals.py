"""Ratios of totals: by hand, against scipy, laws, and coverage by simulation with skewed costs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.analysis.intervals.ratio_of_totals import Totals, group_totals, paired_totals

amounts = st.integers(0, 100_000).map(lambda cents: cents / 100)
bills = st.lists(st.tuples(amounts, amounts), min_size=2, max_size=25)


def columns(pairs: list[tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    a, b = zip(*pairs, strict=True)
    return np.array(a), np.array(b)


def known(found: Totals | None) -> Totals:
    assert found is not None
    return found


def test_the_higher_bill_is_higher_whatever_the_typical_case_costs() -> None:
    """B is cheaper on nine cases of ten and pays $0.94 where A pays $0.60."""
    a = np.full(60, 0.01)
    b = np.where(np.arange(60) % 10 == 0, 0.112, 0.005)
    found = known(paired_totals(a, b))
    assert a.sum() == pytest.approx(0.60)
    assert b.sum() == pytest.approx(0.942)
    assert found.ratio == pytest.approx(1.57)
    assert stats.gmean(b) < stats.gmean(a)


def test_what_is_the_same_everywhere_has_no_width() -> None:
    a = np.linspace(1, 9, 20)
    found = known(paired_totals(a, 2 * a))
    assert found.ratio == pytest.approx(2)
    assert found.ends(0.95) == pytest.approx((2, 2))
    assert known(paired_totals(a, a)).p == 1


def test_groups_get_fiellers_interval() -> None:
    """By Welch's t of B - θ A at the ends, with the degrees of freedom at the estimate."""
    draw = np.random.default_rng(5)
    a, b = draw.lognormal(0, 0.4, 12), draw.lognormal(0.3, 0.3, 5)
    found = known(group_totals(a, b))
    ends = found.ends(0.95)
    assert ends is not None
    df = stats.ttest_ind(b, found.ratio * a, equal_var=False).df
    for end in ends:
        error = math.sqrt(stats.sem(b) ** 2 + (end * stats.sem(a)) ** 2)
        assert abs(b.mean() - end * a.mean()) / error == pytest.approx(stats.t.ppf(0.975, df))
    error = math.hypot(stats.sem(b), stats.sem(a))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(b.mean() - a.mean()) / error, df))


def test_thousands_of_pairs_get_fiellers_interval() -> None:
    draw = np.random.default_rng(6)
    a, b = draw.lognormal(0, 1, (2, 1001))
    found = known(paired_totals(a, b))
    assert found.p == pytest.approx(stats.ttest_1samp(b - a, 0).pvalue)
    for end in found.ends(0.95) or ():
        assert stats.ttest_1samp(b - end * a, 0).pvalue == pytest.approx(0.05)


def test_free_cases_take_part_and_free_agents_have_no_ratio() -> None:
    a, b = np.array([0.0, 1, 2, 0, 3, 1, 2]), np.array([1.0, 0, 2, 0, 5, 2, 2])
    assert known(paired_totals(a, b)).ratio == pytest.approx(12 / 9)
    assert paired_totals(a, np.zeros(7)) is None
    assert paired_totals(np.zeros(7), b) is None
    assert group_totals([], []) is None
    with pytest.raises(ValueError, match="0 or more"):
        paired_totals([-1.0, 2], [1.0, 1])


@given(bills, st.booleans(), st.integers(0, 99))
@settings(max_examples=150, deadline=None)
def test_p_and_interval_never_contradict_and_swapping_gives_the_reciprocal(
    pairs: list[tuple[float, float]], clustered: bool, seed: int
) -> None:
    a, b = columns(pairs)
    clusters = np.arange(a.size) // 2 if clustered else None
    for forth, back in (
        (
            paired_totals(a, b, clusters, seed=seed, draws=200),
            paired_totals(b, a, clusters, seed=seed, draws=200),
        ),
        (group_totals(a, b[1:]), group_totals(b[1:], a)),
    ):
        assert (forth is None) == (back is None)
        if forth is None or back is None:
            continue
        for level in (0.9, 0.95):
            ends, mirrored = forth.ends(level), back.ends(level)
            if ends is None or forth.p is None:
                continue
            # Means of equal numbers may differ in their last digit.
            holds_one = ends[0] * (1 - 1e-12) <= 1 <= ends[1] * (1 + 1e-12)
            assert holds_one == (forth.p >= 1 - level - 1e-12)
            assert ends[0] <= forth.ratio * (1 + 1e-9)
            assert forth.ratio <= ends[1] * (1 + 1e-9)
            assert mirrored is not None
            reciprocal = [1 / end if end else math.inf for end in mirrored[::-1]]
            assert ends == pytest.approx(reciprocal, rel=1e-6)


def test_groups_of_skewed_amounts_get_the_wider_end_of_hall() -> None:
    """One flat price: the mean of B by Hall (1992), g(t) = ((1 + λt/3)³ - 1) / λ + λ/6 with λ =
    skewness / √n, and Fieller's t below."""
    b = np.exp(0.5 * stats.norm.ppf((np.arange(15) + 0.5) / 15))
    found = known(group_totals(np.full(20, 2.0), b))
    skew, t = stats.skew(b, bias=False) / math.sqrt(15), stats.t.ppf(0.975, 14)
    of_t = 3 * (np.cbrt(1 + skew * (-t - skew / 6)) - 1) / skew
    ends = found.ends(0.95)
    assert ends is not None
    assert ends[1] == pytest.approx((b.mean() - of_t * stats.sem(b)) / 2)
    assert ends[0] == pytest.approx((b.mean() - t * stats.sem(b)) / 2)
    assert "Hall" in found.method


def test_groups_that_may_be_log_normal_get_the_wider_end_of_zhou_gao_and_hui() -> None:
    """One flat price: Z = (ln ratio - ln θ) / √(s²/n + s⁴/(2(n - 1))), all of it from B."""
    b = np.exp(np.linspace(-2, 2, 15))
    found = known(group_totals(np.full(20, 2.0), b))
    spread = np.log(b).var(ddof=1)
    error = math.sqrt(spread / 15 + spread**2 / 28)
    high = math.exp(spread / 2 - math.log(2) + stats.t.ppf(0.975, 14) * error)
    ends = found.ends(0.95)
    assert ends is not None
    assert ends[1] == pytest.approx(high)
    assert ends[1] > b.mean() / 2 + stats.t.ppf(0.975, 14) * stats.sem(b) / 2
    assert "log-normal" in found.method


def test_pairs_that_may_be_log_normal_get_the_wider_end_of_their_logs() -> None:
    """Var of (s_b² - s_a²) / 2 of normal pairs: (s_a⁴ + s_b⁴ - 2 cov²) / (2 (n - 1)).

    A is B to the power of ½, so that s_a² = s² / 4 and cov = s² / 2.
    """
    b = np.exp(stats.norm.ppf((np.arange(15) + 0.5) / 15))
    found = known(paired_totals(np.sqrt(b), b))
    s2 = np.log(b).var(ddof=1)
    error = math.sqrt(s2 / 4 / 15 + s2**2 * (1 / 16 + 1 - 2 / 4) / 28)
    ends = found.ends(0.95)
    assert ends is not None
    assert ends[1] == pytest.approx(math.exp(3 / 8 * s2 + stats.t.ppf(0.975, 14) * error))


def test_free_cases_and_logs_that_lean_to_the_left_are_not_taken_for_log_normal() -> None:
    b = np.exp(stats.norm.ppf((np.arange(15) + 0.5) / 15))
    flat = np.ones(15)
    for other in (np.where(np.arange(15) == 3, 0.0, b), 1 / b**2 + 1e-9, b[:5]):
        leaning = np.exp(-other) if other.size == 15 and other.min() > 0 else other
        found = known(paired_totals(flat[: leaning.size], leaning))
        assert "log-normal" not in found.method


def simulated(shape: str, n: int, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Costs of cases with log-sd about 1, A and B with the same expected total."""
    if shape == "hard cases cost both more":
        hard = draw.normal(0, 1, n)
        a, b = np.exp(hard + draw.normal(0, 0.5, (2, n)))
    elif shape == "independent":
        a, b = np.exp(draw.normal(0, 1, (2, n)))
    elif shape == "hard cases cost B much more":
        hard = draw.normal(0, 0.5, n)
        a, b = np.exp(hard - 0.125), np.exp(2 * hard + draw.normal(0, 0.6, n) - 0.68)
    else:  # one agent has a flat price
        a, b = np.ones(n), np.exp(draw.normal(-0.5, 1, n))
    return a, b


@pytest.mark.parametrize(
    ("shape", "n", "least"),
    [
        ("hard cases cost both more", 15, 0.93),
        ("independent", 15, 0.93),
        ("independent", 100, 0.93),
        ("one has a flat price", 15, 0.93),
        ("one has a flat price", 100, 0.93),
        # Log-sd 1.2 against 0.5, alike: 91% where pairs are few.
        ("hard cases cost B much more", 15, 0.91),
    ],
)
@pytest.mark.parametrize("paired", [True, False])
def test_skewed_bills_are_covered(shape: str, n: int, least: float, paired: bool) -> None:
    """95% of intervals hold the truth; two standard errors of 400 trials are 2.2 points."""
    draw, held, trials = np.random.default_rng(20261129), 0, 400
    for _ in range(trials):
        a, b = simulated(shape, n, draw)
        found = paired_totals(a, b, draws=500) if paired else group_totals(a, draw.permutation(b))
        ends = known(found).ends(0.95)
        held += ends is None or ends[0] <= 1 <= ends[1]
    assert held / trials >= least - 0.022
