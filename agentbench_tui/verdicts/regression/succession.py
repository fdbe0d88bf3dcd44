"""Orders versions: which one the newest is compared with, and its newest run alone.

It is compared with the last version that was not itself a regression, or was accepted; otherwise a
regression would pass with the next version. The newest run is also judged alone, since older runs
of its version could hide a change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from agentbench_tui.analysis.distribution import student_quantile
from agentbench_tui.analysis.runs.history_gate import INSTANT_P
from agentbench_tui.verdicts.regression.baseline import Sides, first_of_row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from agentbench_tui.analysis.scale import Scale
    from agentbench_tui.verdicts.regression.history import Point

Doubt = Literal["", "worse", "as before"]
"""What the newest run alone says if all runs of its version together say something else."""
FEWEST = 4
"""Minimum number of other runs of a version for a prediction interval of its newest one."""


@dataclass(frozen=True, slots=True)
class Succession:
    """The compared runs, and those between them."""

    sides: Sides
    passed_over: tuple[Point, ...] = ()
    """Runs of later versions than the old side's that were worse than it."""


def succession(
    series: Sequence[Point], is_worse: Callable[[Sequence[Point], Sequence[Point]], bool]
) -> Succession:
    """Return the newest version against the last earlier one that was no regression.

    `series` are comparable runs, the oldest first; of one version the newest run is held against
    all others. `is_worse` says whether the second of two groups of runs is worse than the first.
    """
    rows = _rows(series)
    if len(rows) == 1:
        return Succession(Sides(tuple(series[:-1]), (series[-1],), None))
    old, passed_over = rows[0], []
    for row in rows[1:-1]:
        if is_worse(old, row):
            passed_over += row
        else:
            old, passed_over = row, []
    return Succession(Sides(tuple(old), tuple(rows[-1]), None), tuple(passed_over))


def _rows(series: Sequence[Point]) -> list[list[Point]]:
    """Return consecutive runs of one version."""
    rows: list[list[Point]] = []
    last = len(series)
    while last:
        first = first_of_row(series, last - 1)
        rows.insert(0, [*series[first:last]])
        last = first
    return rows


def doubt_of(old: ArrayLike, new: ArrayLike, scale: Scale, margin: float) -> Doubt:
    """Return whether the newest run differs from the other runs of its version and the old side.

    `old`, `new`: a value for each run, above 0 on the ratio scale, the newest last. It is `worse`
    if it lies outside the prediction interval of its version's earlier runs (t = (x - mean) / (s
    √(1 + 1/n)), one-sided p below 0.5%), and by the margin; `as before` if these are worse than the
    old side by half the margin, and it is closer to the old side. Empty below 4 others.
    """
    before, own = scale.positions(old), scale.positions(new)
    others, newest = own[:-1], float(own[-1])
    if others.size < FEWEST or not before.size:
        return ""
    level, start = float(np.mean(others)), float(np.mean(before))
    error = float(np.std(others, ddof=1)) * math.sqrt(1 + 1 / others.size)
    far = max(scale.margin(margin), student_quantile(1 - INSTANT_P, others.size - 1) * error)
    if newest - level >= far:
        return "worse"
    is_moved = level - start >= scale.margin(margin) / 2
    return "as before" if is_moved and newest < (start + level) / 2 else ""
