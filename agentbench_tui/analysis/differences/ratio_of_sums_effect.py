"""Difference between two ratios of sums, such as precision, F1 or seconds per step.

Each side's ratio is Σ top ÷ Σ bottom over its cases. A case with a large bottom weighs more, so the
mean of the cases' own ratios would be another number. The standard error is the jackknife's
(Tukey 1958; Quenouille 1956): each case, or cluster, is left out once. Few large cases decide a
ratio of which the others know little, so its t has the degrees of freedom of a variance that they
make up (Satterthwaite 1946): with v = weight^1.2 they are (Σv)² / Σv² - 1, and n - 1 of equal ones.
Measured (2,000 samples each of 10, 30 and 100 cases with bottoms of log-sd 1 and 1.5, also where
the ratio of a case depends on its size): the interval held no difference of equal agents in 94-98%;
with n - 1 degrees of freedom it did in 90-94%, by the delta method and a normal quantile in 69-93%.
With the power 1 instead of 1.2 (Kish 1965), equal agents differed in 3.5-5.4%; with 1.2 in 2.3-4.9%
(20,000 samples).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from agentbench_tui.analysis.differences.paired_effect import NO_RATIO, TOO_FEW, Effect, Ends
from agentbench_tui.analysis.intervals.confidence import ByStudent, two_sided_ends, two_sided_p
from agentbench_tui.analysis.intervals.interval import cluster_sums, zero_event_upper
from agentbench_tui.analysis.intervals.lognormal_totals import satterthwaite
from agentbench_tui.analysis.resampling.sign_flips import FEWEST_FLIPPED
from agentbench_tui.analysis.sample import Floats, column

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_ROUNDED = 1e-12
"""Share of the ratios, or number of a logarithm, below which a difference is rounding."""
_POWER = 1.2
"""Of the weight, by which the variance of a unit grows: 1 if its items differ independently, 2 if
they are all alike."""
ONE_CASE = "one case holds all that is counted of a side: nothing tells how its ratio varies"
NEGATIVE = "the second numbers of a pair must be 0 or more"
NOTHING = "the second numbers of a side are all 0"


class Sums(msgspec.Struct, frozen=True, eq=False):
    """What a ratio of sums adds up, one value of each for each unit."""

    top: Floats
    bottom: Floats

    @property
    def ratio(self) -> float:
        """Return Σ top ÷ Σ bottom; NaN if the bottoms are all 0."""
        whole = float(self.bottom.sum())
        return float(self.top.sum()) / whole if whole else math.nan


def paired_sums_effect(
    a: Sums, b: Sums, clusters: ArrayLike | None = None, level: float = 0.95, *, share: bool
) -> Effect:
    """Return B's ratio of sums over A's, or with `share` their difference, on the same units.

    Units of one cluster are added up first. Where a side counts nothing above 0, or something below
    0, there is no ratio of ratios, and the difference is given with the reason. Units of which
    neither side counts anything change nothing.
    """
    parts = [a.top, a.bottom, b.top, b.bottom]
    if clusters is not None and len(a.top):
        parts = [cluster_sums(one, clusters) for one in parts]
    counted = np.any([one != 0 for one in parts], axis=0)
    a_top, a_bottom, b_top, b_bottom = (one[counted] for one in parts)
    a, b = Sums(a_top, a_bottom), Sums(b_top, b_bottom)
    if reason := _why_none(a, b):
        return _without(level, int(counted.sum()), reason)
    scale = _Scale.of(a, b, share=share)
    without_each = scale.of_ratios(_left_out(b)) - scale.of_ratios(_left_out(a))
    weights = a_bottom / a_bottom.sum() + b_bottom / b_bottom.sum()
    df = max(1.0, _effective_number(weights) - 1)
    error = _jackknife_error(without_each, scale.rounding)
    return _effect(a, b, scale, error, df, len(a_top), level)


def unpaired_sums_effect(a: Sums, b: Sums, level: float = 0.95, *, share: bool) -> Effect:
    """Return the same for units that are not shared; each is independent. Satterthwaite's degrees
    of freedom (1946).
    """
    a, b = (_counted(one) for one in (a, b))
    smaller = min(len(a.top), len(b.top))
    if reason := _why_none(a, b):
        return _without(level, smaller, reason)
    scale = _Scale.of(a, b, share=share)
    errors = [_jackknife_error(scale.of_ratios(_left_out(one)), scale.rounding) for one in (a, b)]
    numbers = [max(2.0, _effective_number(one.bottom / one.bottom.sum())) for one in (a, b)]
    error = math.hypot(*errors)
    variances = (errors[0] ** 2, errors[1] ** 2)
    df = satterthwaite(variances, (numbers[0], numbers[1])) if error else 1.0
    return _effect(a, b, scale, error, df, smaller, level)


class _Scale(msgspec.Struct, frozen=True):
    """Whether ratios are compared by their logarithms, or as they are."""

    on_logs: bool
    is_share: bool
    rounding: float
    reason: str = ""
    """Why there is no ratio of ratios."""

    @classmethod
    def of(cls, a: Sums, b: Sums, *, share: bool) -> _Scale:
        largest = max(float(np.abs(one.top).sum() / one.bottom.sum()) for one in (a, b))
        if share:
            return cls(on_logs=False, is_share=True, rounding=_ROUNDED * largest)
        positive = all(bool((one.top >= 0).all() and (_left_out(one) > 0).all()) for one in (a, b))
        if positive:
            return cls(on_logs=True, is_share=False, rounding=_ROUNDED)
        return cls(on_logs=False, is_share=False, rounding=_ROUNDED * largest, reason=NO_RATIO)

    def of_ratios(self, ratios: Floats) -> Floats:
        return np.log(ratios) if self.on_logs else ratios


def _counted(one: Sums) -> Sums:
    top, bottom = column(one.top), column(one.bottom)
    counted = (top != 0) | (bottom != 0)
    return Sums(top[counted], bottom[counted])


def _left_out(one: Sums) -> Floats:
    """Return the ratio without each unit."""
    return np.asarray((one.top.sum() - one.top) / (one.bottom.sum() - one.bottom))


def _why_none(a: Sums, b: Sums) -> str:
    """Return why there is no comparison; empty if there is one."""
    for one in (a, b):
        if (one.bottom < 0).any():
            return NEGATIVE
        if not one.bottom.any():
            return NOTHING
        if (one.bottom.sum() - one.bottom <= 0).any():
            return ONE_CASE
    return ""


def _jackknife_error(without_each: Floats, rounding: float) -> float:
    """Return the standard error of an estimate from what it is without each unit; 0 up to what the
    rounding of each may give.
    """
    n = without_each.size
    d = without_each - without_each.mean()
    error = math.sqrt((n - 1) / n * float(d @ d))
    return error if error > rounding * n else 0.0


def _effective_number(weights: Floats) -> float:
    """Return the number of equal units whose summed variance would be known as well as that of
    these (Satterthwaite 1946), if the variance of a unit grows by a power of its weight.
    """
    variances = weights**_POWER
    return float(variances.sum() ** 2 / (variances @ variances))


def _effect(
    a: Sums, b: Sums, scale: _Scale, error: float, df: float, units: int, level: float
) -> Effect:
    at = math.log(b.ratio) - math.log(a.ratio) if scale.on_logs else b.ratio - a.ratio
    if abs(at) <= scale.rounding:
        at = 0.0
    found = ByStudent(at, error, df)

    def ends(at_level: float) -> Ends | None:
        if units < FEWEST_FLIPPED:
            return None
        if error == 0:
            return _ends_of_constants(at, units, at_level, scale)
        low, high = two_sided_ends(found, at_level)
        if scale.is_share:
            return max(low, -1.0), min(high, 1.0)
        return (_exp(low), _exp(high)) if scale.on_logs else (low, high)

    p: float | None = two_sided_p(found, 0.0) if error else _p_of_constants(at, units, scale)
    reason = scale.reason
    if units < FEWEST_FLIPPED:
        p = None
        reason = f"{TOO_FEW} {FEWEST_FLIPPED} independent cases that count (have {units})"
    low, high = ends(level) or (None, None)
    ratio = _exp(at) if scale.on_logs else None
    how = "jackknife t of ratios of sums" if p is not None else "none"
    return Effect(ratio, b.ratio - a.ratio, low, high, level, how, units, reason, p, ends)


def _ends_of_constants(at: float, units: int, level: float, scale: _Scale) -> Ends:
    """Return the ends if leaving out any unit changes nothing: of a share, units that differ
    otherwise may still make up 1 - (1 - level)^(1/n) of all.
    """
    if scale.is_share and abs(at) <= 1:
        others = zero_event_upper(units, level)
        return at - others * (1 + at), at + others * (1 - at)
    return (_exp(at), _exp(at)) if scale.on_logs else (at, at)


def _p_of_constants(at: float, units: int, scale: _Scale) -> float:
    """Return p if all units differ alike: that all signs agree, and of a share that others, which
    the exact bound leaves, undo the difference.
    """
    if at == 0:
        return 1.0
    by_signs = 2.0 ** (1 - units)
    return max(by_signs, (1 / (1 + abs(at))) ** units) if scale.is_share else by_signs


def _without(level: float, n: int, reason: str) -> Effect:
    return Effect(None, None, None, None, level, "none", n, reason)


def _exp(log: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.exp(log))
