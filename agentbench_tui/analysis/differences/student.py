"""Student's t tests of differences between means, with their intervals.

Constant columns leave no error to compare with: where the means are equal, t is 0 and p is 1;
where they differ, t is infinite, p is 0 (1 on the wrong side) and the interval has no width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from agentbench_tui.analysis.differences.alternative import Alternative, p_value
from agentbench_tui.analysis.distribution import student_cdf, student_quantile
from agentbench_tui.analysis.intervals.interval import Interval
from agentbench_tui.analysis.sample import column, mean, variance


@dataclass(frozen=True, slots=True)
class TTest:
    """A t test of a mean against 0, or of mean(x) - mean(y)."""

    t: float
    df: float
    """Degrees of freedom, not necessarily whole."""
    p: float
    difference: float
    """In the unit of the columns."""
    interval: Interval
    """Interval of the difference; one-sided (the other end infinite) if the alternative is."""


def welch(
    x: ArrayLike, y: ArrayLike, alternative: Alternative = "two-sided", level: float = 0.95
) -> TTest | None:
    """Test mean(x) - mean(y) by Welch (1947), for columns that may have unequal variances.

    `greater` means x above y. None when a column has fewer than 2 values.
    """
    first, second = column(x), column(y)
    n, m = first.size, second.size
    if n < 2 or m < 2:
        return None
    of_first, of_second = variance(first) / n, variance(second) / m
    squared = of_first + of_second
    df = float(n + m - 2)
    if squared > 0:
        a, b = of_first / squared, of_second / squared
        df = 1 / (a * a / (n - 1) + b * b / (m - 1))
    difference = mean(first) - mean(second)
    return _test(difference, math.sqrt(squared), df, alternative, level, "Welch's t")


def student_t(
    x: ArrayLike, y: ArrayLike, alternative: Alternative = "two-sided", level: float = 0.95
) -> TTest | None:
    """Test mean(x) - mean(y) by Student (1908), with one pooled variance for both columns.

    Wrong where the columns vary unequally and differ in length: `welch` is the better default.
    `greater` means x above y. None when a column has fewer than 2 values.
    """
    first, second = column(x), column(y)
    n, m = first.size, second.size
    if n < 2 or m < 2:
        return None
    df = n + m - 2
    pooled = ((n - 1) * variance(first) + (m - 1) * variance(second)) / df
    error = math.sqrt(pooled * (1 / n + 1 / m))
    return _test(mean(first) - mean(second), error, df, alternative, level, "pooled t")


def paired_t(
    differences: ArrayLike, alternative: Alternative = "two-sided", level: float = 0.95
) -> TTest | None:
    """Test by Student (1908) that the mean of paired differences is 0; `greater` means above.

    None below 2 differences.
    """
    d = column(differences)
    if d.size < 2:
        return None
    error = math.sqrt(variance(d) / d.size)
    return _test(mean(d), error, d.size - 1, alternative, level, "paired t")


def _test(
    difference: float, error: float, df: float, alternative: Alternative, level: float, method: str
) -> TTest:
    if error == difference == 0:
        t, below, above = 0.0, 1.0, 1.0
    else:
        t = difference / error if error > 0 else math.copysign(math.inf, difference)
        below, above = student_cdf(t, df), student_cdf(-t, df)
    interval = _interval(difference, error, df, alternative, level, method)
    return TTest(t, df, p_value(below, above, alternative), difference, interval)


def _interval(
    difference: float, error: float, df: float, alternative: Alternative, level: float, method: str
) -> Interval:
    if not 0 < level < 1:
        raise ValueError(f"a level between 0 and 1 is needed, got {level}")
    upper = 0.5 + level / 2 if alternative == "two-sided" else level
    half = student_quantile(upper, df) * error
    low = -math.inf if alternative == "less" else difference - half
    high = math.inf if alternative == "greater" else difference + half
    return Interval(low, high, level, method)
