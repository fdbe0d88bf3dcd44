"""Statistics of the gaps between chunks, of which a long load has many millions.

They are whole µs, few of them different, so they are counted. The figures are those of the plain
list in ms (`analysis.intervals.estimate`, `analysis.intervals.quantiles`), without ever having it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from agentbench_tui.analysis.distribution import student_quantile
from agentbench_tui.analysis.intervals.estimate import Estimate, estimate, needs
from agentbench_tui.analysis.intervals.interval import order_ranks
from agentbench_tui.analysis.intervals.skewed_amount import (
    REPEATS_FROM,
    SKEWED_FROM,
    skewed_mean_of_counts,
)
from agentbench_tui.analysis.summary import needed, supported
from agentbench_tui.load.results.columns import Columns, Flags, Floats
from agentbench_tui.load.sending.sample import NONE
from agentbench_tui.model.figures.metric import SHARES

Counts = NDArray[np.int64]

_GAP_BITS = np.uint64(32)
_TABLE_US = 1 << 20
"""Up to it gaps are counted in a table rather than sorted."""
_UPPER = 0.975
"""Share below the upper end of an interval of 95%."""
_ROUNDING = 1e-12
"""Rounding error of a running sum: a weight within it counts as reached."""


@dataclass(frozen=True)
class Counted:
    """A multiset of at least one value in ms."""

    values: Floats
    """Each once, ascending."""
    counts: Counts
    """Number of occurrences of each value."""

    @cached_property
    def until(self) -> Counts:
        """Return the cumulative counts."""
        return np.cumsum(self.counts)

    def __len__(self) -> int:
        return int(self.until[-1])

    @property
    def mean(self) -> float:
        return float(self.values @ self.counts) / len(self)

    def at(self, place: int) -> float:
        """Return the value at a 0-based position of the ascending list of all values."""
        return float(self.values[np.searchsorted(self.until, place, side="right")])

    def quantile(self, share: float) -> float:
        """Return the quantile by linear interpolation (type 7 of Hyndman & Fan 1996, as numpy)."""
        place = (len(self) - 1) * share
        low, high = self.at(int(place)), self.at(min(int(place) + 1, len(self) - 1))
        return low + (high - low) * (place - int(place))


def figures_of_gaps(columns: Columns, rows: Flags) -> dict[str, Estimate]:
    """Return mean, percentiles and maximum of the gaps of some rows, by statistic name; empty if
    there is no gap. Gaps of one repeat are grouped, as in `analysis.intervals.estimate.estimate`.

    ValueError when the samples tell of other gaps than are stored.
    """
    counted = _counted(columns, rows, columns.repeat)
    if not counted:
        return {}
    repeats = [Counted(us / 1e3, counts) for us, counts in counted.values()]
    whole = repeats[0] if len(repeats) == 1 else _together(repeats)
    parts = {"mean": _mean(whole, repeats)}
    parts |= {part: _quantile(whole, share) for part, share in SHARES.items()}
    if len(repeats) > 1 and whole.values[0] > 0:
        medians = [one.quantile(0.5) for one in repeats]
        of_repeats = estimate(medians, "time", runs=np.arange(len(repeats)))
        parts["p50"] = replace(of_repeats, n=len(whole))
    return parts | {"max": Estimate(whole.at(len(whole) - 1), None, None, len(whole), "largest")}


def figures_per_token(columns: Columns, rows: Flags) -> dict[str, Estimate]:
    """Return mean, percentiles and maximum of gaps ÷ tokens per chunk, weighted by these tokens,
    for rows whose tokens and chunks are known; without intervals.
    """
    chunks = columns.table["chunks"]
    each = np.zeros(len(columns))
    np.divide(columns.output_tokens, chunks, out=each, where=rows & (chunks != NONE) & (chunks > 1))
    kinds, kind = np.unique(each, return_inverse=True)
    counted = _counted(columns, each > 0, kind)
    if not counted:
        return {}
    values = np.concatenate([us / 1e3 / kinds[place] for place, (us, _) in counted.items()])
    weights = np.concatenate([kinds[place] * counts for place, (_, counts) in counted.items()])
    n = int(sum(counts.sum() for _, counts in counted.values()))
    mean = float(np.average(values, weights=weights))
    parts = {"mean": Estimate(mean, None, None, n, "weighted mean")}
    order = np.argsort(values)
    sums = np.cumsum(weights[order])
    for part, share in SHARES.items():
        if supported(share, n):
            place = order[np.searchsorted(sums, share * sums[-1] * (1 - _ROUNDING))]
            found = Estimate(float(values[place]), None, None, n, "weighted quantile")
        else:
            reason = needs(needed(share), n)
            found = Estimate(None, None, None, n, "weighted quantile", reason)
        parts[part] = found
    return parts | {"max": Estimate(float(values.max()), None, None, n, "largest")}


def _counted(
    columns: Columns, rows: Flags, labels: NDArray[np.integer]
) -> dict[int, tuple[NDArray[np.uint32], Counts]]:
    """Return label → the distinct gaps of its rows, ascending in µs, and their counts.

    Labels without gaps are missing.
    """
    keys, counts = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for us, row in columns.gaps_of(rows):
        label = labels[row].astype(np.uint64) << _GAP_BITS
        if label.min() == label.max() and us.max() < _TABLE_US:  # counts ten times as fast
            table = np.bincount(us)
            found = np.flatnonzero(table)
            keys.append(label[0] | found.astype(np.uint64))
            counts.append(table[found])
        else:
            found, occur = np.unique(label | us, return_counts=True)
            keys.append(found)
            counts.append(occur)
    different, which = np.unique(np.concatenate(keys), return_inverse=True)
    occur = np.zeros(len(different), np.int64)
    np.add.at(occur, which, np.concatenate(counts))
    label = different >> _GAP_BITS
    us = different.astype(np.uint32)
    return {int(one): (us[label == one], occur[label == one]) for one in np.unique(label)}


def _together(repeats: Sequence[Counted]) -> Counted:
    values, which = np.unique(np.concatenate([one.values for one in repeats]), return_inverse=True)
    counts = np.zeros(len(values), np.int64)
    np.add.at(counts, which, np.concatenate([one.counts for one in repeats]))
    return Counted(values, counts)


def _mean(whole: Counted, repeats: Sequence[Counted]) -> Estimate:
    """Return the mean over the values, or over the sums of the repeats, as in
    `analysis.intervals.estimate`.
    """
    n, mean, several = len(whole), whole.mean, len(repeats)
    if n == 1:
        return Estimate(mean, None, None, n, "mean", needs(2, n))
    if several == 1:
        values, counts = whole.values, whole.counts.astype(np.float64)
    else:
        sums = np.array([(one.mean - mean) * len(one) for one in repeats])
        values, counts = mean + sums * several / n, np.ones(several)
    fewest = SKEWED_FROM if several == 1 else REPEATS_FROM
    interval = skewed_mean_of_counts(values, counts, fewest=fewest)
    if interval is not None:
        low, high, method = interval.low, interval.high, interval.method
    else:
        units = float(counts.sum())
        error = math.sqrt(float((values - mean) ** 2 @ counts) / (units - 1) / units)
        half = student_quantile(_UPPER, units - 1) * error
        low, high = mean - half, mean + half
        method = "t on the mean" if several == 1 else "clustered (CR1), t"
    return Estimate(mean, max(low, 0.0), high, n, f"mean; {method}")


def _quantile(whole: Counted, share: float) -> Estimate:
    """Return a quantile as `analysis.intervals.quantiles.quantile_estimates` does for values of
    unknown order.
    """
    n = len(whole)
    if not supported(share, n):
        return Estimate(None, None, None, n, "quantile", needs(needed(share), n))
    value, ranks = whole.quantile(share), order_ranks(n, share)
    if ranks is None:
        return Estimate(value, None, None, n, "quantile", needs(needed(share) + 1, n))
    first, last = ranks
    method = f"quantile; order statistics {first} and {last} of {n}"
    return Estimate(value, whole.at(first - 1), whole.at(last - 1), n, method)
