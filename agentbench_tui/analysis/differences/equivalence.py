"""Tests of equivalence: whether two things are the same for practical purposes.

A margin m is the smallest change that matters. "No significant difference" shows nothing by
itself; two are called equivalent when the data exclude any change of m or more. The two one-sided
tests (TOST; Schuirmann 1987) do so at level alpha exactly when the 1 - 2 alpha interval lies
within the margins. Differences are B - A and ratios B / A: A is the control. The margins of a ratio
are 1/(1+m) and 1+m, and half of it is 1+m/2, so that B / A and A / B are judged alike.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import cache

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.differences.student import paired_t, welch
from agentbench_tui.analysis.distribution import (
    normal_cdf,
    normal_quantile,
    student_cdf,
    student_quantile,
)
from agentbench_tui.analysis.power import sample_size_paired, sample_size_two_sample
from agentbench_tui.analysis.sample import Floats, column
from agentbench_tui.model.text.plain_number import plain

_NODES = 64
"""Nodes of the quadrature over the sd; agrees with 512 to 1e-12."""
_SD_REACH = 12.0
"""Standard deviations of the sd on both sides that the quadrature goes over."""


class Equivalence(msgspec.Struct, frozen=True):
    """Two one-sided tests of B - A, or of B / A."""

    estimate: float
    low: float
    high: float
    """The 1 - 2 alpha interval of the estimate."""
    lower_margin: float
    upper_margin: float
    p_lower: float
    """One-sided, against a truth at or below the lower margin."""
    p_upper: float
    """One-sided, against a truth at or above the upper margin."""
    p: float
    """The larger of the two; equivalent if it is below alpha."""
    equivalent: bool
    """Whether the interval lies within the margins: the same result as by p."""


def tost(
    estimate: float, error: float, df: float, margin: float, *, alpha: float = 0.05
) -> Equivalence:
    """Test whether an estimate of a difference, with its standard error, excludes ±margin and
    beyond.

    By t with `df` degrees of freedom, by the normal distribution where `df` is infinite. Without
    error (constants) the estimate itself decides. ValueError on NaN.
    """
    check_margin(margin)
    if not 0 < alpha < 0.5:
        raise ValueError(f"an alpha between 0 and 0.5 is needed, got {alpha}")
    if not (math.isfinite(estimate) and 0 <= error < math.inf):
        raise ValueError(f"an estimate with an error of 0 or more is needed, got {estimate, error}")
    p_lower = _upper_tail(estimate + margin, error, df)
    p_upper = _upper_tail(margin - estimate, error, df)
    half = _quantile(1 - alpha, df) * error
    low, high = estimate - half, estimate + half
    within = -margin < low and high < margin
    p = max(p_lower, p_upper)
    return Equivalence(estimate, low, high, -margin, margin, p_lower, p_upper, p, within)


def tost_difference(
    a: ArrayLike, b: ArrayLike, margin: float, *, paired: bool = False, alpha: float = 0.05
) -> Equivalence | None:
    """Test whether mean(B) - mean(A) lies within ±margin, by Welch's t or by pairs (a[i], b[i]).

    None below 2 values a side, or 2 pairs.
    """
    return _tost_columns(column(a), column(b), margin, paired, alpha)


def tost_ratio(
    a: ArrayLike, b: ArrayLike, margin: float, *, paired: bool = False, alpha: float = 0.05
) -> Equivalence | None:
    """Test whether B / A, of geometric means, lies within 1/(1+margin) … 1+margin: `tost`
    on logs.

    ValueError on values of 0 or less. None below 2 values a side, or 2 pairs.
    """
    first, second = column(a), column(b)
    if (first <= 0).any() or (second <= 0).any():
        raise ValueError("a ratio needs positive values")
    check_margin(margin)
    logs = _tost_columns(np.log(first), np.log(second), math.log1p(margin), paired, alpha)
    if logs is None:
        return None
    with np.errstate(over="ignore"):  # two values that differ by tens of decades: no upper end
        estimate, low, high = np.exp([logs.estimate, logs.low, logs.high])
    return Equivalence(
        float(estimate),
        float(low),
        float(high),
        1 / (1 + margin),
        1 + margin,
        logs.p_lower,
        logs.p_upper,
        logs.p,
        logs.equivalent,
    )


def power_equivalence(
    margin: float, n: float, *, effect: float = 0.0, paired: bool = False, alpha: float = 0.05
) -> float:
    """Return the probability that `tost` shows equivalence when the truth is `effect`, both
    in sds.

    n values a side with one pooled sd, or n pairs. Exact for normal data, as Owen's Q: the chance
    given the sample's sd, integrated over its distribution.
    """
    check_margin(margin)
    df = n - 1 if paired else 2 * n - 2
    if not df > 0:
        raise ValueError(f"equivalence needs at least 2 values, got {plain(n)}")
    root = math.sqrt(n if paired else n / 2)  # 1 / standard error
    t = _quantile(1 - alpha, df)
    reach = _SD_REACH / math.sqrt(2 * df)
    start, end = max(0.0, 1 - reach), min(1 + reach, margin * root / t)
    if end <= start:
        return 0.0
    nodes, weights = _quadrature()
    half = (end - start) / 2
    s = start + half * (nodes + 1)  # sample sd / true sd
    log_density = (
        math.log(2) + df / 2 * math.log(df / 2) - math.lgamma(df / 2) + (df - 1) * np.log(s)
    ) - df / 2 * s**2
    upper, lower = (margin - effect) * root - t * s, -(margin + effect) * root + t * s
    inside = [normal_cdf(high) - normal_cdf(low) for high, low in zip(upper, lower, strict=True)]
    return float(half * (weights * np.exp(log_density)) @ inside)


def values_needed(
    sd: float, margin: float, *, paired: bool = False, power: float = 0.8, alpha: float = 0.05
) -> int:
    """Return the values per group, or pairs, with which a comparison is unlikely to be
    inconclusive.

    Enough for both answers, each with `power`: that a true change of the margin is found, and that
    none at all is shown to be equivalent. `sd` is that of the values (pooled), or of the pairs'
    differences, in the margin's unit; for a ratio give the sd of logs and log(1 + margin). Never
    fewer than the permutation tests need to fall below alpha (6 pairs, or 4 a side, for 5%).
    A truth in between, around half the margin, may take any number.
    """
    check_margin(margin)
    if not 0 <= sd < math.inf:
        raise ValueError(f"an sd of 0 or more is needed, got {sd}")
    least = _fewest_for_permutation(paired, alpha)
    if sd == 0:
        return least
    size = margin / sd
    sized = sample_size_paired if paired else sample_size_two_sample
    detects = sized(size, power, alpha=alpha).n

    def shows(n: int) -> bool:
        return power_equivalence(size, n, paired=paired, alpha=alpha) >= power

    enough = max(2, detects)
    while not shows(enough):
        enough *= 2
    return max(least, detects, bisect_left(range(enough), True, lo=2, key=shows))


def _tost_columns(
    a: Floats, b: Floats, margin: float, paired: bool, alpha: float
) -> Equivalence | None:
    level = 1 - 2 * alpha
    if paired:
        if a.size != b.size:
            raise ValueError(f"pairs need equal lengths, got {a.size} and {b.size} values")
        test = paired_t(b - a, level=level)
    else:
        test = welch(b, a, level=level)
    if test is None:
        return None
    half = (test.interval.high - test.interval.low) / 2
    return tost(test.difference, half / _quantile(1 - alpha, test.df), test.df, margin, alpha=alpha)


def _upper_tail(distance: float, error: float, df: float) -> float:
    """Return the one-sided p of an estimate that lies `distance` beyond the tested value."""
    if error == 0:
        return 0.0 if distance > 0 else 1.0
    t = distance / error
    return normal_cdf(-t) if df == math.inf else student_cdf(-t, df)


def _quantile(p: float, df: float) -> float:
    return normal_quantile(p) if df == math.inf else student_quantile(p, df)


def _fewest_for_permutation(paired: bool, alpha: float) -> int:
    """Return the first n at which the most extreme of all assignments has a two-sided p below
    alpha.
    """
    n = 2
    while 2 / (2**n if paired else math.comb(2 * n, n)) >= alpha:
        n += 1
    return n


@cache
def _quadrature() -> tuple[Floats, Floats]:
    """Return nodes and weights of Gauss-Legendre quadrature on -1 … 1."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes, weights


def check_margin(margin: float) -> None:
    if not 0 < margin < math.inf:
        raise ValueError(f"a positive margin is needed, got {margin}")
