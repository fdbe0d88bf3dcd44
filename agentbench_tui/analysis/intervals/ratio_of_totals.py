"""Ratio of totals such as bills: B / A of arithmetic means, with one method for p and interval.

Of pairs (the same cases) the more cautious of two methods on each side. Flipped signs are exact
where A and B are as likely to be swapped, however skewed costs are; the studentized bootstrap
follows costs that are skewed on one side alone. Of groups Fieller's t. All three are tests of
Σ(B - θ A) = 0 (Fieller 1954), so that swapping A and B gives the reciprocal.

Where both sides are compatible with log-normal amounts, the test of the two log-normal means is
added (Zhou, Gao & Hui 1997): few cases seldom hold the rare dear ones, which the logs nevertheless
foretell.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.distribution import student_cdf, student_quantile
from agentbench_tui.analysis.intervals.confidence import (
    ByStudent,
    Cautious,
    Confidence,
    least_count,
    two_sided_ends,
    two_sided_p,
)
from agentbench_tui.analysis.intervals.interval import cluster_sums
from agentbench_tui.analysis.intervals.skewed_amount import SKEWED_FROM, leans_left
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
_LEAST, _MOST = 1e-50, 1e50
"""Totals beyond these have no ratio: its square times a variance may be no float."""
_LOG_MOST = math.log(_MOST)
_NO_ERROR = 1e-12
"""Standard errors below this share of the means are rounding."""


@dataclass(frozen=True, slots=True)
class Totals:
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


@dataclass(frozen=True, slots=True)
class _Means:
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


@dataclass(frozen=True, slots=True)
class _ByStudent:
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


@dataclass(frozen=True, slots=True, eq=False)
class _ByBootstrap:
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


@dataclass(frozen=True, slots=True)
class _ByLogs:
    """The log of the ratio, by Student's t."""

    log_ratio: ByStudent

    def rejects_up_to(self, value: float) -> float:
        return self.log_ratio.rejects_up_to(_log(value))

    def rejects_from(self, value: float) -> float:
        return self.log_ratio.rejects_from(_log(value))

    def ends(self, tail: float) -> tuple[float, float]:
        low, high = self.log_ratio.ends(tail)
        return math.exp(max(low, -_LOG_MOST)), math.exp(min(high, _LOG_MOST))


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
        _logs_of_pairs(control, candidate),
    )
    return Totals(ratio, found, error, units, method)


def group_totals(a: ArrayLike, b: ArrayLike) -> Totals | None:
    """Return mean(B) / mean(A) of independent groups of 0 or more, by Fieller's t.

    Degrees of freedom by Satterthwaite (1946). Above 1,000 values in each group t alone. None
    without values or where a total is 0 or beyond 10 to the power of ±50.
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
    df = _satterthwaite((ratio**2 * of_a, of_b), (control.size, candidate.size))
    found, method = _with_logs(
        _ByStudent(means, df), "Fieller's t of means", _logs_of_groups(control, candidate)
    )
    return Totals(ratio, found, means.error_at(ratio) / means.b, smaller, method)


def _have_ratio(control: Floats, candidate: Floats) -> bool:
    """Return whether both totals are amounts: 0, and values close to 0, have no ratio."""
    return all(_LEAST <= float(x.sum()) <= _MOST for x in (control, candidate))


def _with_logs(found: Confidence, method: str, logs: _ByLogs | None) -> tuple[Confidence, str]:
    if logs is None:
        return found, method
    return Cautious(found, logs), f"{method}, and t of log-normal means"


def _logs_of_pairs(a: Floats, b: Floats) -> _ByLogs | None:
    """Return exp(mean(b) - mean(a) + (s_b² - s_a²) / 2) of the logs of two log-normal amounts."""
    if not (_lognormal(a) and _lognormal(b)):
        return None
    n, logs = a.size, np.log(np.stack((a, b)))
    (of_a, both), (_, of_b) = np.cov(logs)
    estimate = float((logs[1] - logs[0]).mean() + (of_b - of_a) / 2)
    differences = float(of_a + of_b - 2 * both) / n
    spreads = float(of_a**2 + of_b**2 - 2 * both**2) / (2 * (n - 1))
    return _by_logs(estimate, differences + spreads, n - 1)


def _logs_of_groups(a: Floats, b: Floats) -> _ByLogs | None:
    """Return the ratio of independent log-normal groups, with Satterthwaite degrees of freedom."""
    if min(a.size, b.size) > _BOOTSTRAP_UP_TO or not (_lognormal(a) and _lognormal(b)):
        return None
    spreads = [variance(np.log(side)) for side in (a, b)]
    means = [float(np.log(side).mean()) for side in (a, b)]
    errors = [s / x.size + s**2 / (2 * (x.size - 1)) for s, x in zip(spreads, (a, b), strict=True)]
    estimate = means[1] - means[0] + (spreads[1] - spreads[0]) / 2
    return _by_logs(estimate, sum(errors), _satterthwaite(errors, (a.size, b.size)))


def _lognormal(x: Floats) -> bool:
    """Return whether amounts may be log-normal: enough values, none of them 0, no skewness to
    the left.
    """
    if x.size < SKEWED_FROM or float(x.min()) <= 0:
        return False
    return not leans_left(np.log(x), np.ones(x.size))


def _by_logs(estimate: float, squared_error: float, df: float) -> _ByLogs | None:
    error = math.sqrt(max(0.0, squared_error))
    return _ByLogs(ByStudent(estimate, error, df)) if error > _NO_ERROR else None


def _satterthwaite(parts: Sequence[float], sizes: tuple[int, int]) -> float:
    """Return the degrees of freedom of a sum of two squared errors (1946)."""
    total = sum(parts)
    if total == 0:
        return float(sum(sizes) - 2)
    return 1 / sum((part / total) ** 2 / (n - 1) for part, n in zip(parts, sizes, strict=True))


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


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
