"""Changes of level in a history of runs: E-divisive, confirmed by Welch's t.

Candidates maximize the energy statistic of Matteson & James (2014); which of them are changes is
decided by Welch's test between neighboring levels, as Fleming et al. (2023) do, instead of by
random permutations: the same history always gives the same answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agentbench_tui.analysis.differences.student import TTest
from agentbench_tui.analysis.runs.level import tamed
from agentbench_tui.analysis.runs.version_gate import level_test
from agentbench_tui.analysis.sample import Floats, column
from agentbench_tui.analysis.scale import Scale

SEGMENT = 5
"""Runs that make a level, at least, before the first change and after the last."""
PASSING, PASSING_PART = 10, 10
"""Runs that make a level between two changes, at least: a tenth of the history, but no fewer than
SEGMENT, and at most 10. In long histories shorter stretches are excursions of the machine."""
NEAR = 100
"""Runs on each side of a change that decide about it. Over a longer stretch a level wanders."""
CANDIDATE_P = 5e-2
"""A split this unlikely is looked at more closely; the last word has CHANGE_P."""
CHANGE_P = 1e-4
SPREADS = 2.5
"""Minimum size of a change, in standard deviations of a run.

Histories wander: between long stretches of runs a t test finds any small wave significant. The gate
may still report smaller changes; `locate` then finds their start. PASSING, NEAR, CANDIDATE_P and
SPREADS were chosen on real histories, see docs/regressions.md.
"""
LOCATED = 3.676
"""Fall of the log-likelihood within which the true place lies with 95%.

The peak of a two-sided Brownian motion with drift stays below x with (1 - exp(-x))² (Siegmund
1988), and that is how far the likelihood at the best place exceeds that at the true one.
"""
TIED = 1e-9
"""Relative difference of figures that are equal but for rounding: which is the larger then depends
on the unit of the values. The earlier place counts."""
_ROWS_AT_ONCE = 128


@dataclass(frozen=True, slots=True)
class Change:
    """A change of level; runs are counted from 0."""

    run: int
    """The likeliest first run of the new level."""
    first: int
    """With 95% confidence the first run of the new level lies between `first` and `last`, both
    included.
    """
    last: int
    before: float
    """The level before, in the metric's unit: geometric mean, or mean on the scale of points."""
    after: float
    change: float
    """after / before, or after - before on the scale of points."""
    low: float
    """95% interval of the change."""
    high: float
    p: float
    """Welch, two-sided."""
    worse: bool


def changes(values: ArrayLike, scale: Scale, margin: float | None = None) -> list[Change]:
    """Return every change of level in a history, float64[n], oldest first; one value per run.

    A change is kept when Welch's p between the levels on both sides is below 1e-4, and their means
    differ by the margin and by 2.5 standard deviations of a run; of each level the 100 runs next to
    the change count, and outliers are drawn in first (`level.tamed`). Deterministic; time O(n²) for
    each level found, memory O(n). ValueError as `Scale.positions`.
    """
    x = scale.positions(values)
    kept = _confirmed(x, _candidates(x), scale.margin(margin))
    bounds = [0, *kept, x.size]
    return [
        _change(x, start, cut, stop, scale)
        for start, cut, stop in zip(bounds[:-2], bounds[1:-1], bounds[2:], strict=True)
    ]


def e_divisive(values: ArrayLike) -> list[int]:
    """Return the index of the first value of each new level in a series, float64[n], ascending.

    Splits where Q̂ (see `energy`) is largest, then each part again (Matteson & James 2014); a split
    stays when Welch's p between the levels on both sides is below 1e-4 and their means differ by
    2.5 standard deviations or more. As `changes` on the values as they are, without a margin.
    ValueError on NaN and infinity.
    """
    x = column(values)
    return _confirmed(x, _candidates(x), 0.0)


def locate(values: ArrayLike, scale: Scale) -> Change | None:
    """Return the likeliest position of a change in a history that is known to have one.

    For the runs of one level at whose end the gate raised an alarm. No test is made. The 5 runs at
    either end are not searched. None below 10 runs, and when all are equal.
    """
    x = scale.positions(values)
    if x.size < 2 * SEGMENT or x.min() == x.max():
        return None
    return _change(x, 0, _best_split(x), x.size, scale)


def energy(positions: Floats) -> Floats:
    """Return Q̂ of every split of a column, float64[n+1]: [t] splits the first t from the
    others.

    Q̂ = nm/(n+m) (2/(nm) Σ|a-b| - mean |a-a'| over pairs - mean |b-b'| over pairs), eq. 5 and 7 of
    Matteson & James 2014 with α = 1. -inf where a side has fewer than 2 values.
    """
    size = positions.size
    to_earlier = _distances_to_earlier(positions)
    to_later = _distances_to_all(positions) - to_earlier
    left = np.concatenate(([0.0], np.cumsum(to_earlier)))
    right = np.concatenate((np.cumsum(to_later[::-1])[::-1], [0.0]))
    q = np.full(size + 1, -np.inf)
    n = np.arange(2, size - 1, dtype=np.float64)
    m = size - n
    within = left[2 : size - 1] / (n * (n - 1) / 2) + right[2 : size - 1] / (m * (m - 1) / 2)
    between = 2 * (left[-1] - left[2 : size - 1] - right[2 : size - 1]) / (n * m)
    q[2 : size - 1] = n * m / size * (between - within)
    return q


def _distances_to_earlier(x: Floats) -> Floats:
    """Return for each value the sum of its distances to those before it, in O(n log² n): within
    blocks one by one, then between neighboring blocks of growing size.
    """
    x = x - np.median(x)  # sums of what lies far from 0 would lose digits
    sums = np.empty(x.size)
    for start in range(0, x.size, _ROWS_AT_ONCE):
        rows = x[start : start + _ROWS_AT_ONCE, None]
        sums[start : start + _ROWS_AT_ONCE] = np.tril(np.abs(rows - rows.T), -1).sum(axis=1)
    rank = np.argsort(np.argsort(x, kind="stable"))
    width = _ROWS_AT_ONCE
    while width < x.size:
        _add_distances_to_left(sums, x, rank, width)
        width *= 2
    return sums


def _add_distances_to_left(sums: Floats, x: Floats, rank: NDArray[np.intp], width: int) -> None:
    """Add to `sums` of every second block of `width` the distances to the block before."""
    block = np.arange(x.size) // width
    left, right = np.flatnonzero(block % 2 == 0), np.flatnonzero(block % 2 == 1)
    pair = block // 2
    keys = pair * x.size + rank  # in order of the pairs, and within each of size
    ordered = left[np.argsort(keys[left])]
    upto = np.concatenate(([0.0], np.cumsum(x[ordered])))
    first = pair[right] * width
    at, last = np.searchsorted(keys[ordered], keys[right]), first + width
    below, above = upto[at] - upto[first], upto[last] - upto[at]
    sums[right] += (2 * at - first - last) * x[right] - below + above


def _distances_to_all(x: Floats) -> Floats:
    """Return for each value the sum of its distances to all others, from sums in sorted order."""
    order = np.argsort(x)
    ordered = x[order]
    upto = np.cumsum(ordered)
    rank = np.arange(1, x.size + 1)
    sums = np.empty(x.size)
    sums[order] = (2 * rank - x.size) * ordered + upto[-1:] - 2 * upto
    return sums


def _candidates(x: Floats) -> list[int]:
    """Return the best split of the whole, then of its parts, as long as they look like changes."""
    passing = max(SEGMENT, min(PASSING, x.size // PASSING_PART))
    cuts: list[int] = []
    stretches = [(0, x.size)]
    while stretches:
        start, stop = stretches.pop()
        before = SEGMENT if start == 0 else passing
        after = SEGMENT if stop == x.size else passing
        if stop - start < before + after:
            continue
        cut = start + _best_split(x[start:stop], before, after)
        if _step(x[start:cut], x[cut:stop]).p < CANDIDATE_P:
            cuts.append(cut)
            stretches += [(start, cut), (cut, stop)]
    return sorted(cuts)


def _best_split(x: Floats, before: int = SEGMENT, after: int = SEGMENT) -> int:
    """Return the first value of the likeliest new level, with at least this many values on each
    side.
    """
    searched = energy(x)[before : x.size - after + 1]
    best = searched.max()
    return before + int(np.argmax(searched >= best - TIED * abs(best)))


def _step(old: Floats, new: Floats) -> TTest:
    return level_test(tamed(old), tamed(new))


def _confirmed(x: Floats, kept: list[int], smallest: float) -> list[int]:
    """Drop the smallest change that fails, and look again, since its neighbors' levels grow."""

    @cache
    def failure(start: int, cut: int, stop: int) -> float:
        """Return the size of the change if it fails; infinite if it passes."""
        old, new = x[max(start, cut - NEAR) : cut], x[cut : min(stop, cut + NEAR)]
        test = _step(old, new)
        shift = abs(test.difference)
        least = max(smallest, SPREADS * _spread(old, new)) * (1 - TIED)
        if test.p < CHANGE_P and shift >= least:
            return math.inf
        return shift

    while kept:
        bounds = [0, *kept, x.size]
        sizes = [failure(*bounds[place : place + 3]) for place in range(len(kept))]
        least = min(sizes) * (1 + TIED)
        weakest = next(place for place, size in enumerate(sizes) if size <= least)
        if sizes[weakest] == math.inf:
            break
        kept = kept[:weakest] + kept[weakest + 1 :]
    return kept


def _spread(old: Floats, new: Floats) -> float:
    """Return the pooled standard deviation of a run within its level, with outliers limited."""
    squares = sum(float(((x - x.mean()) ** 2).sum()) for x in (tamed(old), tamed(new)))
    return math.sqrt(squares / (old.size + new.size - 2))


def _change(x: Floats, start: int, cut: int, stop: int, scale: Scale) -> Change:
    old, new = tamed(x[start:cut]), tamed(x[cut:stop])
    test = level_test(old, new)
    low, high = scale.interval(test.interval.low, test.interval.high)
    first, last = _place(np.concatenate([old, new]))
    return Change(
        run=cut,
        first=min(start + first, cut),
        last=max(start + last, cut),
        before=scale.value(float(old.mean())),
        after=scale.value(float(new.mean())),
        change=scale.change(test.difference),
        low=low,
        high=high,
        p=test.p,
        worse=test.difference > 0,
    )


def _place(x: Floats) -> tuple[int, int]:
    """Return the first and last split of a stretch whose likelihood is close to the best.

    Of a step between two levels with one normal noise: log-likelihood -n/2 log(residual squares).
    """
    splits = np.arange(1, x.size)
    sums = np.cumsum(x - x.mean())[:-1]
    # residual squares = total squares - what a step at the split explains
    explained = sums**2 * x.size / (splits * (x.size - splits))
    total = float(((x - x.mean()) ** 2).sum())
    residual = np.maximum(total - explained, 1e-12 * total)
    fall = x.size / 2 * np.log(residual / residual.min())
    close = splits[fall <= LOCATED]
    return int(close[0]), int(close[-1])
