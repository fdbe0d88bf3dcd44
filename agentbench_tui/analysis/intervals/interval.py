"""Confidence intervals for several kinds of data; None if the data cannot support one.

Coverage measured for nominal 95% (log-normal with log-sd 0.3 / 1.0, 700 samples a cell):
t on logs 94-96 / 94-96 from n = 5; t on the mean 93-95 / 81 (n = 5) to 91 (n = 100); order
statistics for the median 96 from n = 15. Hence: t on logs for times.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.distribution import (
    binomial_cdf,
    normal_quantile,
    student_quantile,
)
from agentbench_tui.analysis.sample import Floats, column, grouped, upper_share

FEW_CLUSTERS = 40
"""Below this many clusters their standard error is corrected (Cameron & Miller 2015)."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval, ends included."""

    low: float
    high: float
    """Infinite where nothing bounds it: in `ratio_of_sums`, when the denominator may be 0.

    So is either end of a one-sided interval (`low` is then 0 for a ratio)."""
    level: float
    """Nominal coverage, such as 0.95."""
    method: str
    """How it was computed, in words for a reader."""


def t_mean(values: ArrayLike, level: float = 0.95) -> Interval | None:
    """Return Student's t interval of the mean: mean ± t(n-1) s/√n. None below 2 values.

    Equal values give an interval of width 0.
    """
    x = column(values)
    if x.size < 2:
        return None
    return _student(x, x.size - 1, _standard_error(x), level, "t on the mean")


def t_log_interval(values: ArrayLike, level: float = 0.95) -> Interval | None:
    """Return the interval of the geometric mean: exp of the t interval of the logs. None below 2
    values.

    For positive, skewed data such as times; follows a change of unit exactly. ValueError when a
    value is 0 or negative.
    """
    x = column(values)
    if (x <= 0).any():
        raise ValueError("t on logs needs positive values")
    logs = t_mean(np.log(x), level)
    if logs is None:
        return None
    with np.errstate(over="ignore"):  # two values that differ by tens of decades: no upper end
        low, high = np.exp([logs.low, logs.high])
    return Interval(float(low), float(high), level, "t on logs")


def wilson(successes: float, n: int, level: float = 0.95) -> Interval | None:
    """Return Wilson's score interval of a share (Brown, Cai & DasGupta 2001). None if n is 0.

    A sum of graded scores in [0, 1] may stand for `successes`: its variance is at most that of a
    yes/no share with the same mean, so the interval is then on the wide side.
    """
    if n < 0 or not 0 <= successes <= n:
        raise ValueError(f"wilson needs 0 <= successes <= n, got {successes} of {n}")
    if n == 0:
        return None
    low, high = wilson_ends(successes / n, n, normal_quantile(upper_share(level)))
    return Interval(low, high, level, "Wilson")


def wilson_ends(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Return the shares p from which `share` of n lies `quantile` × √(p (1-p) / n) away; n
    above 0.
    """
    weight = quantile * quantile / n
    center = (share + weight / 2) / (1 + weight)
    half = math.sqrt(share * (1 - share) * weight + weight * weight / 4) / (1 + weight)
    low = 0.0 if share == 0 else min(max(0.0, center - half), share)
    high = 1.0 if share == 1 else max(min(1.0, center + half), share)
    return low, high


def zero_event_upper(n: int, level: float = 0.95) -> float:
    """Return the largest probability of an event that did not occur in n trials: 1 -
    (1-level)^(1/n).

    One-sided and exact (Clopper & Pearson 1934); about 3/n at 95%. It is 1 when n is 0.
    """
    if n < 0:
        raise ValueError(f"the number of trials must be 0 or more, got {n}")
    upper_share(level)
    return -math.expm1(math.log1p(-level) / n) if n else 1.0


def quantile_interval(
    values: ArrayLike, q: float, level: float = 0.95, worth: float | None = None
) -> Interval | None:
    """Return the interval of the q-quantile between two order statistics; None if n is too
    small.

    Distribution-free: x(l) … x(u) covers with P(l <= K < u), K ~ Binomial(n, q) (Hahn & Meeker
    1991), at least `level`, and more for data with ties. Each tail gets half of the error; where
    a tail cannot keep within half, it takes what it needs and the other gets the rest. For the
    median this is the largest symmetric pair that covers. `worth` is the number of independent
    values that say as much (see `serial_dependence`), where neighbors are alike.
    """
    if not 0 < q < 1:
        raise ValueError(f"a quantile between 0 and 1 is needed, got {q}")
    x = column(values)
    ranks = order_ranks(x.size, q, level, worth)
    if ranks is None:
        return None
    low, high = ranks
    ordered = np.sort(x)
    method = f"order statistics {low} and {high} of {x.size}"
    return Interval(float(ordered[low - 1]), float(ordered[high - 1]), level, method)


def clustered_mean(values: ArrayLike, clusters: ArrayLike, level: float = 0.95) -> Interval | None:
    """Return the interval of the mean of values in clusters (a case, a source).

    `clustered_se`: CR1 with t(G-1) below 40 clusters, CR0 with the normal from there on. None
    below 2 clusters.
    """
    x = column(values)
    if x.size == 0:
        return None
    _, count = grouped(x, clusters)
    if count < 2:
        return None
    if count >= FEW_CLUSTERS:
        error = clustered_se(x, clusters, "CR0")
        return _student(x, math.inf, error, level, "clustered (CR0), normal")
    error = clustered_se(x, clusters, "CR1")
    return _student(x, count - 1, error, level, "clustered (CR1), t")


def clustered_se(
    values: ArrayLike, clusters: ArrayLike, correction: Literal["CR0", "CR1"] = "CR0"
) -> float:
    """Return the standard error of the mean of values in clusters, in the values' unit.

    CR0: √(Σ_clusters (Σ_i (x_i - mean))²) / n (Miller 2024). CR1: times √(G/(G-1)), which few
    clusters need (Cameron & Miller 2015). ValueError below 2 clusters, which tell nothing.
    """
    if correction not in ("CR0", "CR1"):
        raise ValueError(f"correction needs CR0 or CR1, got {correction!r}")
    x = column(values)
    _, count = grouped(x, clusters)
    if count < 2:
        raise ValueError(f"a clustered standard error needs 2 clusters, got {count}")
    if _constant(x):
        return 0.0
    sums = cluster_sums(x - x.mean(), clusters)
    error = math.sqrt(float(sums @ sums)) / x.size
    return error if correction == "CR0" else error * math.sqrt(count / (count - 1))


def ratio_of_sums(
    numerator: ArrayLike,
    denominator: ArrayLike,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
) -> Interval | None:
    """Return the interval of Σ numerator / Σ denominator, such as cost per success, over
    independent pairs.

    Fieller's theorem (1954): the ratios θ for which Σ(numerator - θ denominator) = 0 is not
    rejected by a t test with n-1 degrees of freedom. With few successes this stays right where
    the delta method does not: when the denominator may be 0, `high` is infinite. Pairs of one
    cluster are added up first. Both columns must be >= 0. None below 2 pairs, when all
    denominators are 0, or when nothing is excluded.
    """
    top, bottom = column(numerator), column(denominator)
    if top.size != bottom.size:
        raise ValueError(f"{top.size} numerators but {bottom.size} denominators")
    if (top < 0).any() or (bottom < 0).any():
        raise ValueError("a ratio of sums needs values of 0 or more")
    if clusters is not None:
        top, bottom = cluster_sums(top, clusters), cluster_sums(bottom, clusters)
    n = top.size
    if n < 2 or not bottom.any():
        return None
    t = student_quantile(upper_share(level), n - 1)
    scale = t * t / n
    (v_top, covariance), (_, v_bottom) = np.cov(top, bottom) * scale
    mean_top, mean_bottom = float(top.mean()), float(bottom.mean())
    # the ratios θ with a θ² - 2 b θ + c <= 0
    a = mean_bottom**2 - float(v_bottom)
    b = mean_top * mean_bottom - float(covariance)
    c = mean_top**2 - float(v_top)
    method = "Fieller (t)"
    if a > 0:
        root = math.sqrt(max(0.0, b * b - a * c))
        return Interval(max(0.0, (b - root) / a), (b + root) / a, level, method)
    if c <= 0:
        return None
    # of the two branches, the one at or above 0; in the form that does not cancel as a nears 0
    return Interval(c / (b + math.sqrt(b * b - a * c)), math.inf, level, method)


def _constant(x: Floats) -> bool:
    return bool(x.min() == x.max())


def cluster_sums(x: Floats, clusters: ArrayLike) -> Floats:
    """Return the sum of each cluster."""
    numbers, count = grouped(x, clusters)
    return np.bincount(numbers, weights=x, minlength=count).astype(np.float64)


def _standard_error(x: Floats) -> float:
    """Return the standard error of the mean; exactly 0 for equal values, whose mean is rounded."""
    return 0.0 if _constant(x) else float(x.std(ddof=1)) / math.sqrt(x.size)


def _student(x: Floats, df: float, error: float, level: float, method: str) -> Interval:
    upper = upper_share(level)
    if error == 0 and _constant(x):
        return Interval(float(x[0]), float(x[0]), level, method)
    t = normal_quantile(upper) if df == math.inf else student_quantile(upper, df)
    mean = float(x.mean())
    return Interval(mean - t * error, mean + t * error, level, method)


def _outer_rank(n: int, q: float, tail: float) -> int:
    """Return the largest rank r with P(Binomial(n, q) < r) <= tail; 0 if there is none."""
    return bisect_right(range(n), tail, key=lambda k: binomial_cdf(k, n, q))


def order_ranks(
    n: int, q: float, level: float = 0.95, worth: float | None = None
) -> tuple[int, int] | None:
    """Return ranks (from 1) of the order statistics of `quantile_interval`; None if n is
    too small.

    Values that are `worth` fewer independent ones have ranks √(n ÷ worth) times as far from n q,
    and t of as many; none where so few independent values had none.
    """
    ranks = _independent_ranks(n, q, level)
    if ranks is None or worth is None or worth >= n:
        return ranks
    if _independent_ranks(math.floor(worth), q, level) is None:
        return None
    upper = upper_share(level)
    few = student_quantile(upper, worth - 1) / student_quantile(upper, n - 1)
    wider, at = few * math.sqrt(n / worth), n * q
    low, high = math.floor(at - (at - ranks[0]) * wider), math.ceil(at + (ranks[1] - at) * wider)
    return max(low, 1), min(high, n)


@lru_cache
def _independent_ranks(n: int, q: float, level: float) -> tuple[int, int] | None:
    error = 2 * (1 - upper_share(level))
    from_below, from_above = _outer_rank(n, q, error / 2), _outer_rank(n, 1 - q, error / 2)
    if from_below == 0:
        from_below = 1
        from_above = _outer_rank(n, 1 - q, error - binomial_cdf(0, n, q))
    elif from_above == 0:
        from_above = 1
        from_below = _outer_rank(n, q, error - binomial_cdf(0, n, 1 - q))
    if from_below == 0 or from_above == 0:
        return None
    return from_below, n + 1 - from_above
