"""Ratio of totals such as bills: B / A of arithmetic means, with one method for p and interval.

Of pairs (the same cases) the more cautious of two methods on each side. Flipped signs are exact
where A and B are as likely to be swapped, however skewed costs are; the studentized bootstrap
follows costs that are skewed on one side alone. Of groups the more cautious of Fieller's t and
Hall's transformed t, which takes the skewness out of it. All of them are tests of Σ(B - θ A) = 0
(Fieller 1954), so that swapping A and B gives the reciprocal.

Where both sides are compatible with log-normal amounts, the test of the two log-normal means is
added, see `lognormal_totals`.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.distribution import student_cdf, student_quantile
from agentbench_tui.analysis.intervals.confidence import (
    Cautious,
    Confidence,
    least_count,
    two_sided_ends,
    two_sided_p,
)
from agentbench_tui.analysis.intervals.interval import cluster_sums
from agentbench_tui.analysis.intervals.lognormal_totals import (
    MOST_RATIO,
    SKEWED_FROM,
    ByLogs,
    logs_of_groups,
    logs_of_pairs,
    satterthwaite,
)
from agentbench_tui.analysis.resampling.bootstrap import pairs
from agentbench_tui.analysis.resampling.resampling import blocks
from agentbench_tui.analysis.resampling.sign_flips import sign_flips
from agentbench_tui.analysis.sample import Floats, column, variance

_MOST_DRAWS, _FEWEST_DRAWS = 10_000, 4_000
_QUICK = 4_000_000
"""Values that are drawn in about 50 ms."""
_BOOTSTRAP_UP_TO = 1_000
"""More units than this need neither it nor logs: t is as good by then."""
_HALVINGS = 80
"""Number of bisections of the span that contains an end: to machine precision."""
_NO_ERROR = 1e-12
"""Standard errors below this share of the means are rounding."""
_SMALLEST_SKEW = 1e-6
"""Below it Hall's transformation changes nothing."""


class Totals(msgspec.Struct, frozen=True):
    """B's total over A's: the estimate, and its distribution."""

    ratio: float
    confidence: Confidence | None
    """None below two units, or two values in each group."""
    relative_error: float
    """Standard error of ln(ratio)."""
    units: int
    """Independent pairs or clusters; for groups, the size of the smaller one."""
    method: str

    @property
    def p(self) -> float | None:
        """Return the two-sided p of equal totals."""
        return None if self.confidence is None else two_sided_p(self.confidence, 1.0)

    def ends(self, level: float) -> tuple[float, float] | None:
        """Return the interval of the ratio, whose upper end may be infinite; None if all of it is
        open."""
        if self.confidence is None:
            return None
        low, high = two_sided_ends(self.confidence, level)
        return None if low <= 0 and math.isinf(high) else (max(0.0, low), high)


class _Means(msgspec.Struct, frozen=True):
    """Two means with their variances, and t of mean(B) - θ mean(A)."""

    a: float
    b: float
    of_a: float
    """Variance of the mean."""
    of_b: float
    covariance: float

    @property
    def ratio(self) -> float:
        return self.b / self.a

    def error_at(self, value: float) -> float:
        """Return the standard error of mean(B) - value × mean(A)."""
        squared = self.of_b - 2 * value * self.covariance + value**2 * self.of_a
        error = math.sqrt(max(0.0, squared))
        return error if error > _NO_ERROR * (self.b + value * self.a) else 0.0

    def t(self, value: float) -> float:
        """Return t for a ratio above 0; positive if the estimate lies above it.

        It never rises with the value, so that the accepted values form an interval: a t beyond the
        one at a ratio of 0, or of infinity, is cut to that one.
        """
        if value < self.ratio:
            return min(self._t(value), self._t(0.0))
        swapped = self._swapped()
        return -min(swapped._t(1 / value), swapped._t(0.0))

    def lower_end(self, t: float) -> float:
        """Return the ratio up to which the estimate whose t is this large is too small."""
        if self.error_at(self.ratio) == 0:
            return self.ratio
        if self._t(0.0) <= t:
            return 0.0
        low, high = 0.0, self.ratio
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._t(middle) > t else (low, middle)
        return high

    def upper_end(self, t: float) -> float:
        if self.error_at(self.ratio) == 0:
            return self.ratio
        swapped = self._swapped().lower_end(t)
        return math.inf if swapped == 0 else 1 / swapped

    def _t(self, value: float) -> float:
        difference, error = self.b - value * self.a, self.error_at(value)
        if error == 0:
            near = _NO_ERROR * (self.b + value * self.a)
            return 0.0 if abs(difference) <= near else math.copysign(math.inf, difference)
        return difference / error

    def _swapped(self) -> _Means:
        return _Means(self.b, self.a, self.of_b, self.of_a, self.covariance)


class _ByStudent(msgspec.Struct, frozen=True):
    """Fieller's theorem: t has Student's distribution."""

    means: _Means
    df: float

    def rejects_up_to(self, value: float) -> float:
        return student_cdf(-self.means.t(value), self.df)

    def rejects_from(self, value: float) -> float:
        return student_cdf(self.means.t(value), self.df)

    def ends(self, tail: float) -> tuple[float, float]:
        t = student_quantile(1 - tail, self.df)
        return self.means.lower_end(t), self.means.upper_end(t)


class _ByHall(msgspec.Struct, frozen=True):
    """t after Hall's transformation (1992), for two samples as in Zhou & Dinh (2005).

    Its distribution is nearer to Student's for skewed amounts. The transformation is increasing in
    t, so that p and interval agree.
    """

    means: _Means
    df: float
    skewness: float
    """Of the estimate of mean(B) - ratio × mean(A)."""

    def rejects_up_to(self, value: float) -> float:
        return student_cdf(-self._transformed(self.means.t(value)), self.df)

    def rejects_from(self, value: float) -> float:
        return student_cdf(self._transformed(self.means.t(value)), self.df)

    def ends(self, tail: float) -> tuple[float, float]:
        t = student_quantile(1 - tail, self.df)
        low, high = self._inverse(t), -self._inverse(-t)
        return self.means.lower_end(max(0.0, low)), self.means.upper_end(max(0.0, high))

    def _transformed(self, t: float) -> float:
        if math.isinf(t):
            return t
        skew = self.skewness
        return t + skew * t**2 / 3 + skew**2 * t**3 / 27 + skew / 6

    def _inverse(self, at: float) -> float:
        skew = self.skewness
        return 3 * (math.cbrt(1 + skew * (at - skew / 6)) - 1) / skew


class _ByBootstrap(msgspec.Struct, frozen=True, eq=False):
    """Uses the distribution of t in resamples, in which the truth is the estimate.

    No value is rejected on the side of the estimate itself.
    """

    means: _Means
    drawn: Floats
    """t of each resample, ascending."""

    def rejects_up_to(self, value: float) -> float:
        t = self.means.t(value)
        if t <= 0:
            return 1.0
        return (self.drawn.size - np.searchsorted(self.drawn, t, "left") + 1) / self._of

    def rejects_from(self, value: float) -> float:
        t = self.means.t(value)
        return 1.0 if t >= 0 else float(np.searchsorted(self.drawn, t, "right") + 1) / self._of

    @property
    def _of(self) -> int:
        return self.drawn.size + 1

    def ends(self, tail: float) -> tuple[float, float]:
        place = least_count(tail, self._of) - 2
        if place < 0:
            return 0.0, math.inf
        up, down = self.drawn[-1 - place], -self.drawn[place]
        return self.means.lower_end(max(0.0, up)), self.means.upper_end(max(0.0, down))


def paired_totals(
    a: ArrayLike,
    b: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    seed: int = 0,
    draws: int | None = None,
) -> Totals | None:
    """Return Σ B / Σ A over pairs (a[i], b[i]) of 0 or more; pairs of one cluster stay together.

    Above 1,000 units Fieller's t alone, which is as good by then. None without pairs or where a
    total is 0 or beyond 10 to the power of ±50. ValueError on negative values.
    """
    control, candidate = pairs(a, b)
    _check(control, candidate)
    if clusters is not None and control.size:
        control, candidate = cluster_sums(control, clusters), cluster_sums(candidate, clusters)
    units = control.size
    if not _have_ratio(control, candidate):
        return None
    ratio = float(candidate.sum() / control.sum())
    if units == 1:
        return Totals(ratio, None, math.nan, 1, "")
    covariances = np.cov(control, candidate) / units
    means = _Means(
        float(control.mean()),
        float(candidate.mean()),
        float(covariances[0, 0]),
        float(covariances[1, 1]),
        float(covariances[0, 1]),
    )
    error = means.error_at(ratio) / means.b
    if units > _BOOTSTRAP_UP_TO:
        by_t = _ByStudent(means, units - 1)
        return Totals(ratio, by_t, error, units, "Fieller's t of totals")
    count = draws or min(_MOST_DRAWS, max(_FEWEST_DRAWS, _QUICK // units))
    flips = sign_flips(candidate, control, null=1.0, seed=seed, draws=count)
    assert flips is not None
    by_bootstrap = _ByBootstrap(means, _drawn_t(control, candidate, ratio, seed, count))
    how = "exact" if flips.exact else f"{count:,} draws, seed {seed}"
    found, method = _with_logs(
        Cautious(flips, by_bootstrap),
        f"sign flips ({how}) and studentized bootstrap of totals",
        logs_of_pairs(control, candidate),
    )
    return Totals(ratio, found, error, units, method)


def group_totals(a: ArrayLike, b: ArrayLike) -> Totals | None:
    """Return mean(B) / mean(A) of independent groups of 0 or more.

    By Fieller's t with Satterthwaite's degrees of freedom (1946) and, from 6 values in each group
    on, Hall's transformed t. None without values or where a total is 0 or beyond 10 to the power of
    ±50.
    """
    control, candidate = column(a), column(b)
    _check(control, candidate)
    if not _have_ratio(control, candidate):
        return None
    smaller = min(control.size, candidate.size)
    ratio = float(candidate.mean() / control.mean())
    if smaller < 2:
        return Totals(ratio, None, math.nan, smaller, "")
    of_a, of_b = variance(control) / control.size, variance(candidate) / candidate.size
    means = _Means(float(control.mean()), float(candidate.mean()), of_a, of_b, 0.0)
    df = satterthwaite((ratio**2 * of_a, of_b), (control.size, candidate.size))
    found: Confidence = _ByStudent(means, df)
    method = "Fieller's t of means"
    skewness = _skewness(control, candidate, means)
    if abs(skewness) >= _SMALLEST_SKEW:
        found, method = Cautious(found, _ByHall(means, df, skewness)), f"{method}, Hall's t"
    logs = logs_of_groups(control, candidate) if smaller <= _BOOTSTRAP_UP_TO else None
    found, method = _with_logs(found, method, logs)
    return Totals(ratio, found, means.error_at(ratio) / means.b, smaller, method)


def _skewness(a: Floats, b: Floats, means: _Means) -> float:
    """Return the skewness of mean(B) - ratio × mean(A); 0 for fewer than 6 values in a group."""
    error = means.error_at(means.ratio)
    if min(a.size, b.size) < SKEWED_FROM or error == 0:
        return 0.0
    of_a, of_b = (_third_cumulant(x / error) / x.size**2 for x in (means.ratio * a, b))
    return of_b - of_a


def _third_cumulant(x: Floats) -> float:
    """Return the unbiased estimate (Fisher's k statistic)."""
    n, d = x.size, x - x.mean()
    return float((d**3).sum()) * n / ((n - 1) * (n - 2))


def _have_ratio(control: Floats, candidate: Floats) -> bool:
    """Return whether both totals are amounts: 0, and values close to 0, have no ratio."""
    return all(1 / MOST_RATIO <= float(x.sum()) <= MOST_RATIO for x in (control, candidate))


def _with_logs(found: Confidence, method: str, logs: ByLogs | None) -> tuple[Confidence, str]:
    if logs is None:
        return found, method
    return Cautious(found, logs), f"{method}, and t of log-normal means"


def _check(control: Floats, candidate: Floats) -> None:
    if (control < 0).any() or (candidate < 0).any():
        raise ValueError("totals need values of 0 or more")


def _drawn_t(a: Floats, b: Floats, ratio: float, seed: int, draws: int) -> Floats:
    """Return t of the mean of b - ratio × a in resamples of the pairs, ascending."""
    d = b - ratio * a
    largest = float(np.abs(d).max())
    if largest <= _NO_ERROR * float(b.max()):
        return np.zeros(draws)
    d, n = d / largest, d.size
    generator, found = np.random.default_rng(seed), np.empty(draws)
    for block in blocks(draws, n):
        drawn = d[generator.integers(0, n, (block.stop - block.start, n))]
        mean, sd = drawn.mean(axis=1), drawn.std(axis=1, ddof=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            found[block] = np.where(mean == 0, 0.0, mean / (sd / math.sqrt(n)))
    return np.sort(found)
