"""Compares two versions by their runs: whether the new one is worse, better, or neither is
shown.

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

from agentbench_tui.analysis.differences.rank import mann_whitney
from agentbench_tui.analysis.differences.student import TTest, welch
from agentbench_tui.analysis.distribution import student_quantile
from agentbench_tui.analysis.sample import Floats
from agentbench_tui.analysis.scale import MARGINS, Scale

Verdict = Literal["regression", "improvement", "no change seen", "not enough data"]

RUNS_NEEDED = 5
"""Runs a version for a verdict. At 5, one real +10% in five stays unseen; 15 find nearly all."""
ALPHA = 0.05
CHANGE_P = 0.01
"""Below it a worsening is a regression, between it and `ALPHA` a suspect: of an agent that did not
change both together are seen in 2.5% of the checks, and a regression in 0.5%."""
POWER = 0.8


@dataclass(frozen=True, slots=True)
class VersionTest:
    """A new version against an old one, in one metric of one benchmark."""

    verdict: Verdict
    change: float | None
    """new / old (of geometric means over runs), or new - old on the scale of points."""
    low: float | None
    """Lower end of the 95% interval of the change; None if the error is unknown."""
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
    """The worsening that would have been seen in 80% of such comparisons; a size as `gate`. None
    where no run differs from another: how much runs vary is then not known."""
    reason: str = ""
    """Why there is no verdict."""
    error: float | None = None
    """Standard error of the shift between both positions, with `freedom` degrees of freedom."""
    freedom: float | None = None


def level_test(old: Floats, new: Floats) -> TTest:
    """Return Welch's test of mean(new) - mean(old), on columns of at least 2 values each, on any
    scale.

    Where neither column varies Welch's t has nothing to divide by. p is then that of the exact rank
    test, because runs that repeat exactly are still only so many runs.
    """
    test = welch(new, old)
    assert test is not None
    if not math.isinf(test.t):
        return test
    ranks = mann_whitney(new, old)
    assert ranks is not None
    return replace(test, p=ranks.p)


def compare_versions(
    old: ArrayLike, new: ArrayLike, scale: Scale, margin: float | None = None
) -> VersionTest:
    """Judge a new version by its runs: Welch's p < 0.05, and a change of at least half the
    margin.

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
    if min(runs) < 2:
        change = scale.change(float(after.mean() - before.mean())) if min(runs) else None
        return VersionTest("not enough data", change, None, None, None, runs, size, None, reason)
    test = level_test(before, after)
    low, high = scale.interval(test.interval.low, test.interval.high)
    half = (test.interval.high - test.interval.low) / 2
    error = half / student_quantile(1 - ALPHA / 2, test.df)
    verdict = "not enough data" if reason else _verdict(test.difference, test.p, gate)
    found = VersionTest(
        verdict, scale.change(test.difference), low, high, test.p, runs, size, None, reason,
        error, test.df,
    )  # fmt: skip
    return replace(found, smallest=_smallest(found, scale, tests=1))


def with_adjusted(test: VersionTest, p_adjusted: float, scale: Scale, tests: int) -> VersionTest:
    """Return the same test decided by a p adjusted for the others of its scan (Benjamini-
    Hochberg).

    `p` becomes the adjusted one, and `smallest` what would have been seen as the only change among
    so many `tests`, where p has to be below 5% / `tests`; with others beside it a smaller one is.
    The interval stays that of a single comparison.
    """
    if test.verdict == "not enough data" or test.change is None:
        return test
    shift = float(scale.positions([test.change])[0])
    verdict = _verdict(shift, p_adjusted, scale.length(test.gate))
    return replace(test, verdict=verdict, p=p_adjusted, smallest=_smallest(test, scale, tests))


def _smallest(test: VersionTest, scale: Scale, tests: int) -> float | None:
    if not test.error or test.freedom is None:
        return None
    called = test.error * student_quantile(1 - ALPHA / tests / 2, test.freedom)
    more = test.error * student_quantile(POWER, test.freedom)
    return scale.size(max(scale.length(test.gate), called) + more)


def _verdict(shift: float, p: float, gate: float) -> Verdict:
    if p >= ALPHA or abs(shift) < gate or shift == 0:
        return "no change seen"
    return "regression" if shift > 0 else "improvement"
