"""The distributions agree with scipy, and with what is known without it."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import special, stats

from agentbench_tui.analysis.distribution import (
    beta_cdf,
    beta_quantile,
    binomial_cdf,
    noncentral_square_cdf,
    noncentral_student_cdf,
    normal_cdf,
    normal_quantile,
    student_cdf,
    student_quantile,
)

CLOSE = 1e-9
tails = st.floats(-12, -0.302).map(lambda exponent: 10.0**exponent)
probabilities = st.one_of(tails, tails.map(lambda tail: 1 - tail))
shapes = st.floats(-0.6, 6).map(lambda exponent: 10.0**exponent)
degrees = st.floats(-0.3, 7).map(lambda exponent: 10.0**exponent)


@given(st.floats(-37, 37))
def test_normal_cdf_is_scipys(x: float) -> None:
    assert normal_cdf(x) == pytest.approx(special.ndtr(x), rel=CLOSE)


@given(st.floats(1e-300, 1, exclude_max=True))
def test_normal_quantile_is_scipys(p: float) -> None:
    assert normal_quantile(p) == pytest.approx(special.ndtri(p), rel=CLOSE, abs=1e-15)


@given(st.floats(-1e6, 1e6).filter(lambda t: abs(t) > 1e-3), degrees)
@example(-2.0, 1e7)
@example(-40.0, 3.0)
def test_student_cdf_is_scipys(t: float, df: float) -> None:
    assert student_cdf(t, df) == pytest.approx(stats.t.cdf(t, df), rel=CLOSE, abs=1e-200)


def test_student_cdf_near_zero_follows_the_cauchy_formula_where_scipy_rounds() -> None:
    assert student_cdf(-1e-8, 1) == pytest.approx(0.5 + math.atan(-1e-8) / math.pi, rel=1e-15)


@given(probabilities, degrees)
def test_student_quantile_is_scipys(p: float, df: float) -> None:
    assert student_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=CLOSE, abs=1e-12)


@given(probabilities, degrees)
def test_student_quantile_undoes_the_cdf(p: float, df: float) -> None:
    tail = min(p, 1 - p)
    assert student_cdf(-abs(student_quantile(p, df)), df) == pytest.approx(tail, rel=CLOSE)


def test_printed_tables_of_t_hold() -> None:
    table = {1: 12.706, 2: 4.303, 4: 2.776, 9: 2.262, 14: 2.145, 29: 2.045, 120: 1.980}
    assert {df: round(student_quantile(0.975, df), 3) for df in table} == table


@given(st.floats(1e-9, 1 - 1e-9), shapes, shapes)
def test_beta_cdf_is_scipys(x: float, a: float, b: float) -> None:
    assert beta_cdf(x, a, b) == pytest.approx(special.betainc(a, b, x), rel=CLOSE, abs=1e-200)


@given(tails, shapes, shapes)
@example(1e-6, 1e3, 1e6)
def test_beta_quantile_undoes_scipys_distribution(p: float, a: float, b: float) -> None:
    """scipy's own quantile is wrong by 2e-7 in probability for a = 1e3, b = 1e6: not the oracle."""
    x = beta_quantile(p, a, b)
    spread = special.betainc(a, b, x * (1 + 1e-10)) - special.betainc(a, b, x * (1 - 1e-10))
    assert special.betainc(a, b, x) == pytest.approx(p, rel=CLOSE, abs=spread)


def test_beta_quantile_gives_the_clopper_pearson_interval() -> None:
    """17 of 20 successes, from statsmodels."""
    assert beta_quantile(0.025, 17, 4) == pytest.approx(0.621073173454686, rel=CLOSE)
    assert beta_quantile(0.975, 18, 3) == pytest.approx(0.9679290628145363, rel=CLOSE)


@given(st.integers(0, 100_000), st.floats(0, 1), st.floats(0.001, 0.999))
def test_binomial_cdf_is_scipys(n: int, share: float, p: float) -> None:
    """Down to 1e-100; further out scipy loses digits."""
    k = int(n * share)
    assert binomial_cdf(k, n, p) == pytest.approx(stats.binom.cdf(k, n, p), rel=CLOSE, abs=1e-100)


def test_binomial_cdf_far_out_is_the_exact_fraction() -> None:
    n, k, p = 1683, 26, Fraction(11, 32)
    exact = sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k + 1))
    assert float(exact) < 1e-250
    assert binomial_cdf(k, n, float(p)) == pytest.approx(float(exact), rel=1e-12)


@given(st.integers(0, 40), st.floats(0, 1))
def test_binomial_cdf_is_the_sum_of_its_terms(n: int, p: float) -> None:
    total = 0.0
    for k in range(n + 1):
        total += math.comb(n, k) * p**k * (1 - p) ** (n - k)
        assert binomial_cdf(k, n, p) == pytest.approx(total, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(
    "call",
    [
        lambda: normal_quantile(0.0),
        lambda: normal_quantile(math.nan),
        lambda: student_quantile(1.0, 5),
        lambda: student_quantile(0.5, 0),
        lambda: student_cdf(math.nan, 5),
        lambda: student_cdf(1.0, -1),
        lambda: beta_cdf(math.nan, 1, 1),
        lambda: beta_quantile(-0.1, 1, 1),
        lambda: beta_quantile(0.5, 0, 1),
        lambda: binomial_cdf(1, -1, 0.5),
        lambda: binomial_cdf(1, 2, 1.5),
    ],
)
def test_arguments_outside_the_domain_are_refused(call: Callable[[], float]) -> None:
    with pytest.raises(ValueError, match=r"needed|needs|must be"):
        call()


def test_the_ends_of_the_domain_have_their_limits() -> None:
    assert (beta_cdf(-1.0, 2, 3), beta_cdf(2.0, 2, 3)) == (0.0, 1.0)
    assert (beta_quantile(0.0, 2, 3), beta_quantile(1.0, 2, 3)) == (0.0, 1.0)
    assert (student_cdf(-math.inf, 3), student_cdf(math.inf, 3)) == (0.0, 1.0)
    assert student_quantile(0.5, 7) == 0.0
    assert [binomial_cdf(k, 3, 0.4) for k in (-1, 3, 9)] == [0.0, 1.0, 1.0]
    assert [binomial_cdf(1, 2, p) for p in (0.0, 1.0)] == [1.0, 0.0]


@given(
    st.floats(0.3, 1e5),
    st.floats(-40, 40),
    st.floats(1e-3, 60),
)
def test_noncentral_t_agrees_with_scipy(df: float, noncentrality: float, t: float) -> None:
    if abs(noncentrality) < 1e-9:
        noncentrality = 0.0  # of smaller ones SciPy's ncf says 1.0, as of 1.4e-76 with df = 1
    expected = stats.nct.cdf(t, df, noncentrality)
    both = stats.ncf.cdf(t * t, 1, df, noncentrality**2)
    if np.isfinite(expected):
        found = noncentral_student_cdf(t, df, noncentrality)
        assert found == pytest.approx(expected, abs=1e-9)
    if np.isfinite(both):
        found = noncentral_square_cdf(t * t, df, noncentrality)
        assert found == pytest.approx(both, abs=1e-9)


def test_noncentral_t_without_an_effect_is_student_and_far_from_it_nothing() -> None:
    assert noncentral_square_cdf(4.0, 7.0, 0.0) == pytest.approx(2 * stats.t.cdf(2.0, 7) - 1)
    assert noncentral_student_cdf(2.0, 7.0, 0.0) == pytest.approx(stats.t.cdf(2.0, 7))
    assert noncentral_square_cdf(4.0, 1e6, 1e6) == 0.0
    assert noncentral_square_cdf(0.0, 5.0, 1.0) == 0.0
    # The definition: the normal distribution over that of the sample's sd.
    sd = np.sqrt(stats.chi2.ppf((np.arange(200_000) + 0.5) / 200_000, 5) / 5)
    by_sd = stats.norm.cdf(2.5 * sd - 1.7)
    assert noncentral_student_cdf(2.5, 5.0, 1.7) == pytest.approx(by_sd.mean(), 1e-5)
