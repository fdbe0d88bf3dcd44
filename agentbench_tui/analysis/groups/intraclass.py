"""Similarity of values within groups: intraclass correlation, its interval, and a test against
none.

The estimator is that of one-way analysis of variance with groups of unlike size (Donner 1986). The
test asks how often shuffled group labels give groups at least as unlike each other.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.distribution import beta_cdf, beta_quantile
from agentbench_tui.analysis.resampling.permutation import DRAWS
from agentbench_tui.analysis.sample import Floats, Integers, column, grouped, upper_share

_FEWEST = 4
"""Values; the fourth cumulant of fewer is not defined."""
_ROUNDING = 1e-12
"""A share of the squares that rounding may leave."""
_ENOUGH = 20
"""Number of shuffles that exceed the observed value after which p is precise enough to stop."""
_AT_ONCE = 200_000
"""Values that are shuffled in one step; memory is bounded by it."""


class Intraclass(msgspec.Struct, frozen=True):
    """The intraclass correlation of values in groups, and its effect."""

    n: int
    """Values."""
    groups: int
    icc: float
    """(MSB - MSW) / (MSB + (m - 1) MSW): the correlation of two values of one group. May be below
    0, where values of one group are less alike than others."""
    low: float
    high: float
    """95% interval from the F distribution; exact for normal values in groups of one size."""
    p: float
    """p of the hypothesis that groups have no effect."""
    mean_size: float
    """Σ size² / Σ size: the size of the group that a value is in, on average (Kish 1965)."""

    @property
    def design_effect(self) -> float:
        """Return the factor on the variance of the mean, relative to independent values; 1
        or more.
        """
        return max(1.0, 1 + (self.mean_size - 1) * self.icc)

    @property
    def effective_n(self) -> float:
        """Return the effective number of independent values for the mean."""
        return self.n / self.design_effect


def intraclass(values: ArrayLike, groups: ArrayLike, level: float = 0.95) -> Intraclass | None:
    """Return the correlation of values in one group; `groups` are labels, one for each value.

    p compares the squares between groups with those of shuffled labels, by a beta distribution of
    the same mean and variance as all shuffles have (Pitman 1937, Box & Andersen 1955). It is good
    to about 1% and never below what any shuffle could reach. Smaller ones, and those of values of
    which a few are far from the others, may be much too small: see `shuffled_p`.
    Takes time linear in the number of values. None for fewer than 2 groups or 4 values, where each
    value has its own group, and for equal values.
    """
    x = column(values)
    numbers, count = grouped(x, groups)
    if count < 2 or count >= x.size or x.size < _FEWEST:
        return None
    d = x - x.mean()
    total = float(d @ d)
    if total <= _ROUNDING * float(x @ x):
        return None
    sizes = np.bincount(numbers, minlength=count).astype(np.float64)
    between = min(_between(d, numbers, sizes), total)
    n, mean_size = x.size, float(sizes @ sizes) / x.size
    typical = (n - mean_size) / (count - 1)
    icc = _correlation(between / (count - 1), (total - between) / (n - count), typical)
    low, high = _ends(between, total, count, n, typical, level)
    mean, variance = _moments(d, total, sizes)
    p = max(_upper(between / total, mean, variance), _least(sizes))
    return Intraclass(n, count, icc, low, high, p, mean_size)


def shuffled_p(
    values: ArrayLike, groups: ArrayLike, *, seed: int = 0, draws: int = DRAWS
) -> float | None:
    """Return p of meaningless groups, by shuffling their labels `draws` times; None as
    `intraclass`.

    (count + 1) / (draws + 1) (Phipson & Smyth 2010); ends early, after 20 shuffles that do as well
    as what was seen (Besag & Clifford 1991).
    """
    x = column(values)
    numbers, count = grouped(x, groups)
    if intraclass(x, numbers) is None:
        return None
    d = x - x.mean()
    sizes = np.bincount(numbers, minlength=count).astype(np.float64)
    seen = _between(d, numbers, sizes) * (1 - _ROUNDING)
    generator = np.random.default_rng(seed)
    step, done, reached = max(1, _AT_ONCE // x.size), 0, 0
    while done < draws and reached < _ENOUGH:
        rows = min(step, draws - done)
        shuffled = generator.permuted(np.broadcast_to(d, (rows, x.size)), axis=1)
        places = numbers + count * np.arange(rows)[:, None]
        sums = np.bincount(places.ravel(), shuffled.ravel(), rows * count).reshape(rows, count)
        reached += int(((sums * sums) @ (1 / sizes) >= seen).sum())
        done += rows
    return (reached + 1) / (done + 1)


def combined_p(first: float, second: float) -> float:
    """Return the joint p of two independent tests (Fisher 1932): q (1 - ln q) with q = first ×
    second.
    """
    product = first * second
    return 0.0 if product <= 0 else min(1.0, product * (1 - math.log(product)))


def _between(d: Floats, numbers: Integers, sizes: Floats) -> float:
    """Return the between-group sum of squares of values whose overall mean is 0."""
    sums = np.bincount(numbers, d, len(sizes))
    return float(sums * sums @ (1 / sizes))


def _correlation(between: float, within: float, size: float) -> float:
    """Return the correlation from both mean squares; `size` is the equivalent equal group size."""
    return (between - within) / (between + (size - 1) * within)


def _ends(
    between: float, total: float, groups: int, n: int, size: float, level: float
) -> tuple[float, float]:
    """Return the ends of the correlation's interval: F over its quantiles (Searle 1971)."""
    within = total - between
    if within <= _ROUNDING * total:
        return 1.0, 1.0
    f = between / (groups - 1) / (within / (n - groups))
    tail = 1 - upper_share(level)
    ends = []
    for share in (1 - tail, tail):
        part = beta_quantile(share, (groups - 1) / 2, (n - groups) / 2)
        quantile = part / (1 - part) * (n - groups) / (groups - 1)
        ends.append(_correlation(f, quantile, size))
    return ends[0], ends[1]


def _moments(d: Floats, total: float, sizes: Floats) -> tuple[float, float]:
    """Return mean and variance over all shuffles of the share of squares between groups.

    The variance of a quadratic form d' A d is κ4 Σ a² + 2 κ2² tr A² for independent values; k
    statistics in place of the cumulants give that of shuffled ones (Box & Andersen 1955).
    """
    n, groups = d.size, sizes.size
    k2 = total / (n - 1)
    fourth = float((d * d) @ (d * d))
    k4 = n * (n + 1) * fourth - 3 * (n - 1) * total**2
    k4 /= (n - 1) * (n - 2) * (n - 3)
    squared = (k2 * k2 - k4 / n) * (n - 1) / (n + 1)
    diagonal = float((1 / sizes).sum()) - 2 * groups / n + 1 / n - (groups - 1) ** 2 / n
    variance = k4 * diagonal + 2 * squared * (groups - 1) * (n - groups) / (n - 1)
    return (groups - 1) / (n - 1), max(0.0, variance / total**2)


def _least(sizes: Floats) -> float:
    """Return the smallest p that shuffling can give: the share of orders that make the same
    groups.
    """
    alike = np.unique(sizes, return_counts=True)[1]
    orders = sum(math.lgamma(size + 1) for size in (*sizes.tolist(), *alike.tolist()))
    return math.exp(min(0.0, orders - math.lgamma(float(sizes.sum()) + 1)))


def _upper(share: float, mean: float, variance: float) -> float:
    """Return P of a share at least as large, from a beta distribution with these moments; 1 if
    every shuffle gives the same share, such as for a single differing value in groups of one size.
    """
    most = mean * (1 - mean)
    if variance <= _ROUNDING * most or variance >= most:
        return 1.0
    size = most / variance - 1
    return 1 - beta_cdf(min(share, 1.0), mean * size, (1 - mean) * size)
