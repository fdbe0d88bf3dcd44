"""Compares runs under the assumption that the unfinished ones had gone against the result.

Runs that crash are seldom a random choice. Were the rest compared alone, a candidate that diverges
one time in four could look better than a control that never does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from agentbench_tui.analysis.differences.student import paired_t, welch
from agentbench_tui.analysis.resampling.permutation import permutation_test, sign_flip_test

if TYPE_CHECKING:
    from agentbench_tui.analysis.differences.alternative import Alternative
    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.verdicts.training.run_summary import Run


class HowTested(Protocol):
    """Settings of the test."""

    @property
    def alpha(self) -> float: ...

    @property
    def side(self) -> Alternative: ...

    @property
    def seed(self) -> int: ...


@dataclass(frozen=True, slots=True)
class WorstCase:
    """The comparison of all runs; unfinished ones have a value that others had."""

    control: float | None
    """What stands for each control that did not finish; None where all did."""
    candidate: float | None
    effect: float
    low: float | None
    high: float | None
    """By t."""
    p: float | None
    """Of the permutation test."""
    reach: float | None
    """How far from no difference the interval by t goes that decides on equivalence, with the
    extremes either way round."""


def worst_case(
    control: Sequence[Run], candidate: Sequence[Run], *, paired: bool, how: HowTested
) -> WorstCase | None:
    """Compare all runs, with the extreme value of any run for each unfinished one.

    Whichever extreme draws the difference towards 0 and beyond. None where all finished, or none.
    """
    seen = [run.value for run in (*control, *candidate) if run.value is not None]
    if not seen or len(seen) == len(control) + len(candidate):
        return None
    means = [
        np.mean([run.value for run in runs if run.value is not None] or seen)
        for runs in (control, candidate)
    ]
    ends = min(seen), max(seen)
    of_candidate, of_control = ends if means[1] >= means[0] else ends[::-1]
    a, b = _filled(control, of_control), _filled(candidate, of_candidate)
    other_way = _filled(control, of_candidate), _filled(candidate, of_control)
    if paired:
        test = sign_flip_test(b - a, how.side, seed=how.seed)
        t = paired_t(b - a, how.side, 1 - how.alpha)
    else:
        test = permutation_test(b, a, how.side, seed=how.seed)
        t = welch(b, a, how.side, 1 - how.alpha)
    return WorstCase(
        None if all(run.is_finished for run in control) else of_control,
        None if all(run.is_finished for run in candidate) else of_candidate,
        float(b.mean() - a.mean()),
        None if t is None else t.interval.low,
        None if t is None else t.interval.high,
        None if test is None else test.p,
        _reach([(a, b), other_way], 1 - 2 * how.alpha, paired=paired),
    )


def _filled(runs: Sequence[Run], value: float) -> Floats:
    return np.array([value if run.value is None else run.value for run in runs], np.float64)


def _reach(ways: Sequence[tuple[Floats, Floats]], level: float, *, paired: bool) -> float | None:
    tests = [paired_t(b - a, level=level) if paired else welch(b, a, level=level) for a, b in ways]
    found = [abs(end) for t in tests if t for end in (t.interval.low, t.interval.high)]
    return max(found) if all(tests) else None
