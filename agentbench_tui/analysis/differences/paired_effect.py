"""Difference of B from A: a ratio for positive metrics, a difference for the others.

A is the control, B the candidate. Means over tasks where both saw the same tasks; repeats of one
task are averaged before they come here (on logs for a ratio), otherwise they would count as tasks.
One method gives p and interval of each. Everything degenerate (no data, one value, constants,
zeros) gives an answer with a reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.differences.student import welch
from agentbench_tui.analysis.intervals.confidence import (
    ROUNDED,
    ByStudent,
    Confidence,
    two_sided_ends,
    two_sided_p,
)
from agentbench_tui.analysis.intervals.interval import cluster_sums, clustered_se, zero_event_upper
from agentbench_tui.analysis.resampling.bootstrap import pairs
from agentbench_tui.analysis.resampling.permutation import DRAWS
from agentbench_tui.analysis.resampling.resampling import BOOTSTRAP_UP_TO
from agentbench_tui.analysis.resampling.sign_flips import FEWEST_FLIPPED, sign_flips
from agentbench_tui.analysis.sample import Floats, column, grouped, mean, variance

NO_RATIO = "values of 0 or less have no ratio"
TOO_FEW = "an interval needs"
"""Prefix of the reason for a missing interval."""

Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Effect:
    """B against A, with a two-sided interval and the matching p.

    The interval at `1 - alpha` excludes no effect exactly when p is below alpha.
    """

    ratio: float | None
    """B / A as a ratio of geometric means; None if only a difference is given."""
    difference: float | None
    """mean(B) - mean(A), in the unit of the values; None without values."""
    low: float | None
    """Lower end of the interval of the ratio, or of the difference if there is no ratio."""
    high: float | None
    level: float
    method: str
    n: int
    """Number of pairs; for unpaired groups, of the values of both."""
    reason: str = ""
    """Why there is no ratio, or no interval."""
    p: float | None = None
    """p of no effect, two-sided; None without a test."""
    ends_at: Callable[[float], Ends | None] | None = field(default=None, repr=False, compare=False)
    """The ends at another level."""

    def at(self, level: float) -> Effect:
        """Return the same effect with the interval at another level."""
        ends = None if self.ends_at is None else self.ends_at(level)
        low, high = ends or (None, None)
        return replace(self, low=low, high=high, level=level)


def ratio_effect(
    a: ArrayLike,
    b: ArrayLike,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    seed: int = 0,
    *,
    resamples: int | None = None,
) -> Effect:
    """Return B / A over pairs (a[i], b[i]) of positive values: exp of the mean of d = ln(b / a).

    Signs of d are flipped, of whole clusters where clusters are given; above 2,000 pairs or
    clusters t on d, which is as good by then. An interval needs 6 of them. Zeros and negative
    values: `difference_effect`, and the reason. ValueError on columns of unequal length and on NaN.
    """
    control, candidate = pairs(a, b)
    if (control <= 0).any() or (candidate <= 0).any():
        without = difference_effect(control, candidate, clusters, level, seed, resamples=resamples)
        return _without_ratio(without)
    if control.size == 0:
        return _nothing(level, "no pairs")
    d = np.log(candidate) - np.log(control)
    ratio, difference = _exp(float(d.mean())), mean(candidate) - mean(control)
    found = _of_mean(d, clusters, seed, resamples)
    return _effect(ratio, difference, replace(found, on_logs=True), level, control.size)


def difference_effect(
    a: ArrayLike,
    b: ArrayLike,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    seed: int = 0,
    *,
    resamples: int | None = None,
    share: bool = False,
) -> Effect:
    """Return mean(b - a) over pairs, computed as in `ratio_effect`.

    For metrics that may be 0 or less and, with `share`, for scores in [0, 1]. The interval of a
    share stays within ±1, and where all pairs differ alike (both right everywhere, say) it is not
    of width 0: pairs that differ otherwise may still make up 1 - (1-level)^(1/n) of all. p allows
    for them as well.
    """
    control, candidate = pairs(a, b)
    if control.size == 0:
        return _nothing(level, "no pairs")
    d = candidate - control
    if share:
        if (np.abs(d) > 1).any():
            raise ValueError("a share lies between 0 and 1")
        d[np.abs(d) < ROUNDED] = 0.0  # means of equal answers differ in their last digit
    found = _of_mean(d, clusters, seed, resamples)
    if share:
        found = _of_share(found, d)
    return _effect(None, mean(d), found, level, control.size)


def unpaired_ratio_effect(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> Effect:
    """Return B / A of independent groups of positive values: Welch's t on logs.

    Values are runs, or one a task: samples of one run are not independent. Zeros and negative
    values: `unpaired_difference_effect`, and the reason.
    """
    control, candidate = column(a), column(b)
    if (control <= 0).any() or (candidate <= 0).any():
        return _without_ratio(unpaired_difference_effect(control, candidate, level))
    n = control.size + candidate.size
    if control.size == 0 or candidate.size == 0:
        return _nothing(level, "a group has no values", n)
    logs = np.log(control), np.log(candidate)
    ratio = _exp(float(logs[1].mean() - logs[0].mean()))
    difference = mean(candidate) - mean(control)
    found = replace(_between_means(*logs), on_logs=True)
    return _effect(ratio, difference, found, level, n)


def unpaired_difference_effect(a: ArrayLike, b: ArrayLike, level: float = 0.95) -> Effect:
    """Return mean(b) - mean(a) of independent groups: Welch's t."""
    control, candidate = column(a), column(b)
    n = control.size + candidate.size
    if control.size == 0 or candidate.size == 0:
        return _nothing(level, "a group has no values", n)
    difference = mean(candidate) - mean(control)
    return _effect(None, difference, _between_means(control, candidate), level, n)


@dataclass(frozen=True, slots=True)
class _Found:
    """A test of no effect, before the interval is read from it."""

    confidence: Confidence | None
    method: str
    units: int
    reason: str = ""
    """Reason for a missing interval."""
    on_logs: bool = False
    share: bool = False
    alike: float | None = None
    """For shares, the common difference if all pairs differ alike."""

    @property
    def p(self) -> float | None:
        if self.confidence is None:
            return None
        p = two_sided_p(self.confidence, 0.0)
        if self.alike is None:
            return p
        # The share of others that the exact bound leaves could undo the difference.
        return max(p, (1 / (1 + abs(self.alike))) ** self.units)

    def ends(self, level: float) -> Ends | None:
        if self.confidence is None:
            return None
        low, high = two_sided_ends(self.confidence, level)
        if not (np.isfinite(low) and np.isfinite(high)):
            return None
        if self.alike is not None:
            others = zero_event_upper(self.units, level)
            return self.alike - others * (1 + self.alike), self.alike + others * (1 - self.alike)
        if self.share:
            return max(low, -1.0), min(high, 1.0)
        return (_exp(low), _exp(high)) if self.on_logs else (low, high)


def _nothing(level: float, reason: str, n: int = 0) -> Effect:
    return Effect(None, None, None, None, level, "none", n, reason)


def _without_ratio(effect: Effect) -> Effect:
    return replace(effect, reason="; ".join(filter(None, (NO_RATIO, effect.reason))))


def _effect(ratio: float | None, difference: float, found: _Found, level: float, n: int) -> Effect:
    ends = found.ends(level)
    if ends is None:
        return Effect(
            ratio, difference, None, None, level, "none", n, found.reason, found.p, found.ends
        )
    low, high = ends
    return Effect(ratio, difference, low, high, level, found.method, n, "", found.p, found.ends)


def _exp(log: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.exp(log))


def _of_mean(d: Floats, clusters: ArrayLike | None, seed: int, resamples: int | None) -> _Found:
    """Return the effect for the mean over all values, with clusters kept together."""
    units = d.size if clusters is None else grouped(d, clusters)[1]
    if units > BOOTSTRAP_UP_TO:
        labels = np.arange(d.size) if clusters is None else clusters
        error = clustered_se(d, labels, "CR1")
        return _Found(ByStudent(mean(d), error, units - 1), f"t of {_what(clusters)}", units)
    tops, sizes = (
        (d, None) if clusters is None else (cluster_sums(d, clusters), _sizes(d, clusters))
    )
    flips = sign_flips(tops, sizes, seed=seed, draws=resamples or DRAWS)
    assert flips is not None
    how = "exact" if flips.exact else f"{resamples or DRAWS:,} draws, seed {seed}"
    return _Found(flips, f"sign flips of {_what(clusters)} ({how})", units, _too_few(d, units))


def _what(clusters: ArrayLike | None) -> str:
    return "pairs" if clusters is None else "clusters of pairs"


def _sizes(d: Floats, clusters: ArrayLike) -> Floats:
    return cluster_sums(np.ones(d.size), clusters)


def _too_few(d: Floats, units: int) -> str:
    if units < d.size:
        return f"{TOO_FEW} {FEWEST_FLIPPED} clusters (have {units})"
    return f"{TOO_FEW} {FEWEST_FLIPPED} pairs (have {units})"


def _of_share(found: _Found, d: Floats) -> _Found:
    alike = float(d[0]) if d.min() == d.max() else None
    return replace(found, share=True, alike=alike)


def _between_means(a: Floats, b: Floats) -> _Found:
    """Return the effect for mean(b) - mean(a)."""
    test = welch(b, a)
    smaller = min(a.size, b.size)
    if test is None:
        return _Found(None, "", smaller, f"{TOO_FEW} 2 values in each group (have {smaller})")
    error = math.sqrt(variance(a) / a.size + variance(b) / b.size)
    return _Found(ByStudent(test.difference, error, test.df), "Welch's t", smaller)
