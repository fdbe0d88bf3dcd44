"""Two versions by their runs: is the new one worse, better, or was nothing seen?

The run is the unit: samples of one run share its state, and testing them as if they were
independent cries wolf in a quarter to a third of comparisons of a version with itself. So each run
gives one value (the median of its latencies, its success rate, its cost), and Welch's test compares
the runs of one version with those of the other, on logs for ratios (Welch 1947; Kalibera & Jones
2013 for the unit).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from numpy.typing import ArrayLike

from agentbench_tui.analysis.distribution import student_cdf, student_quantile
from agentbench_tui.analysis.rank import mann_whitney
from agentbench_tui.analysis.sample import Floats
from agentbench_tui.analysis.scale import MARGINS, Scale

Verdict = Literal["regression", "improvement", "no change seen", "not enough data"]

RUNS_NEEDED = 5
"""Runs a version for a verdict. At 5, one real +10 % in five stays unseen; 15 find nearly all."""
ALPHA = 0.05
POWER = 0.8


@dataclass(frozen=True, slots=True)
class VersionTest:
    """A new version against an old one, in one metric of one benchmark."""

    verdict: Verdict
    change: float | None
    """new / old (of geometric means over runs), or new - old on the scale of points."""
    low: float | None
    """95 % interval of the change; None where nothing can be said about the error."""
    high: float | None
    p: float | None
    """Two-sided."""
    runs: tuple[int, int]
    """Runs of the old and of the new version."""
    gate: float
    """The smallest change that counts, half the margin: 0.025 is a factor of 1.025, or 2.5 points.

    Half, because a gate at the margin itself would miss half of the changes of just that size.
    """
    smallest: float | None
    """The worsening that would have been seen in 80 % of such comparisons; a size as `gate`."""
    reason: str = ""
    """Why there is no verdict."""


@dataclass(frozen=True, slots=True)
class MeanShift:
    """By how much the mean of `new` lies above that of `old`, on any scale."""

    shift: float
    error: float
    """Standard error of the shift; 0 where neither side varies."""
    df: float
    """Welch-Satterthwaite; infinite where neither side varies."""
    p: float
    """Two-sided."""

    @property
    def half_width(self) -> float:
        """Of the 95 % interval of the shift."""
        return self.error * _t(1 - ALPHA / 2, self.df)


def mean_shift(old: Floats, new: Floats) -> MeanShift:
    """Welch's test (1947) on two columns of 2 values or more each.

    Where neither column varies Welch's t does not exist; p is then that of the exact rank test,
    2 / C(n, n_new) for columns that differ, because identical runs are still only so many runs.
    """
    shift = float(new.mean() - old.mean())
    parts = [_squared_error(x) for x in (old, new)]
    total = sum(parts)
    if total == 0:
        test = mann_whitney(old, new)
        assert test is not None
        return MeanShift(0.0 if test.p == 1 else shift, 0.0, math.inf, test.p)
    weights = [part / total for part in parts]  # shares, since squares of tiny numbers vanish
    df = 1 / sum(w * w / (x.size - 1) for w, x in zip(weights, (old, new), strict=True))
    error = math.sqrt(total)
    return MeanShift(shift, error, df, 2 * student_cdf(-abs(shift) / error, df))


def compare_versions(
    old: ArrayLike, new: ArrayLike, scale: Scale, margin: float | None = None
) -> VersionTest:
    """Judge a new version by its runs: Welch, p < 0.05, and a change of half the margin or more.

    `old`, `new`: float64[runs], one value a run, in any order. `margin` is the smallest change that
    matters: 0.05 is a factor of 1.05 or 5 points; None takes the scale's own. One comparison among
    many needs `with_adjusted`. Below 5 runs a side the verdict is `not enough data`, with the
    figures that there are. ValueError on NaN, and on the ratio scale for values of 0 or less.
    """
    before, after = scale.positions(old), scale.positions(new)
    size = (MARGINS[scale.kind] if margin is None else margin) / 2
    gate = scale.length(size)
    runs = (before.size, after.size)
    reason = ""
    if min(runs) < RUNS_NEEDED:
        reason = f"needs {RUNS_NEEDED} runs of each version (have {runs[0]} and {runs[1]})"
    if min(runs) == 0:
        return VersionTest("not enough data", None, None, None, None, runs, size, None, reason)
    if min(runs) == 1:
        change = scale.change(float(after.mean() - before.mean()))
        return VersionTest("not enough data", change, None, None, None, runs, size, None, reason)
    test = mean_shift(before, after)
    half = test.half_width
    low, high = scale.interval(test.shift - half, test.shift + half)
    smallest = max(gate, half) + test.error * _t(POWER, test.df)
    verdict = "not enough data" if reason else _verdict(test.shift, test.p, gate)
    change = scale.change(test.shift)
    return VersionTest(verdict, change, low, high, test.p, runs, size, scale.size(smallest), reason)


def with_adjusted(test: VersionTest, p_adjusted: float, scale: Scale) -> VersionTest:
    """The same test decided by a p that allows for the others of its scan (Benjamini-Hochberg).

    `p` becomes the adjusted one; the interval stays that of a single comparison.
    """
    if test.verdict == "not enough data" or test.change is None:
        return test
    shift = float(scale.positions([test.change])[0])
    verdict = _verdict(shift, p_adjusted, scale.length(test.gate))
    return replace(test, verdict=verdict, p=p_adjusted)


def _verdict(shift: float, p: float, gate: float) -> Verdict:
    if p >= ALPHA or abs(shift) < gate or shift == 0:
        return "no change seen"
    return "regression" if shift > 0 else "improvement"


def _squared_error(x: Floats) -> float:
    """Of the mean; exactly 0 for equal values, whose mean rounds."""
    return 0.0 if x.min() == x.max() else float(x.var(ddof=1)) / x.size


def _t(p: float, df: float) -> float:
    return 0.0 if df == math.inf else student_quantile(p, df)
