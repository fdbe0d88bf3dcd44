"""Input of every statistic: one column of finite numbers, and labels of the same length."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
_DENSE = 8
"""Numbers of a range for each label, up to which counting them all is quicker than sorting."""


def column(values: ArrayLike) -> Floats:
    """Return the values as float64[n]; n may be 0. Raises ValueError for NaN, infinity or a second
    dimension.

    What has no value (a failed request) must be left out and counted by the caller: a NaN that
    silently vanishes would make a failing agent look quick.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"one column of numbers is needed, got {array.ndim} dimensions")
    if not np.isfinite(array).all():
        raise ValueError("the values hold NaN or infinity; leave out what has no value")
    return array


def mean(x: Floats) -> float:
    """Return the mean, between minimum and maximum despite rounding: of equal values exactly
    theirs.
    """
    return min(max(float(x.mean()), float(x.min())), float(x.max()))


def median(x: Floats) -> float:
    """Return the median of one or more values; `np.median` imports many modules when called."""
    half = x.size // 2
    if x.size % 2:
        return float(np.partition(x, half)[half])
    return float(np.partition(x, [half - 1, half])[half - 1 : half + 1].mean())


def variance(x: Floats) -> float:
    """Return the sample variance of two or more values; exactly 0 for equal ones, whose mean is
    rounded.
    """
    return 0.0 if x.min() == x.max() else float(x.var(ddof=1))


def upper_share(level: float) -> float:
    """Return the share of a distribution below the upper end of its central `level`: 0.975 for
    0.95.

    ValueError unless the level lies between 0 and 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"a level between 0 and 1 is needed, got {level}")
    return 0.5 + level / 2


def sorted_distinct(labels: Integers) -> Integers:
    """Return `np.unique`, without sorting or hashing if labels are numbers of one dense range."""
    if not len(labels):
        return labels
    low = int(labels.min())
    span = int(labels.max()) - low + 1
    if span > _DENSE * len(labels):
        return np.unique(labels)
    is_there = np.zeros(span, np.bool_)
    is_there[labels - low] = True
    return np.flatnonzero(is_there) + low


def count_distinct(labels: Integers) -> int:
    """Return the number of different labels."""
    return len(sorted_distinct(labels))


class Distinct(NamedTuple):
    """The existing labels, in order, and their positions."""

    names: Integers
    first: Integers
    """Place of the first value of each."""
    place: Integers
    """For each value, the index of its label in `names`."""
    counts: Integers


def distinct(labels: Integers) -> Distinct:
    """Return the distinct labels, without sorting if they are numbers of one dense range."""
    low = int(labels.min(initial=0))
    span = int(labels.max(initial=0)) - low + 1
    if span > _DENSE * len(labels):
        names, first, place, counts = np.unique(
            labels, return_index=True, return_inverse=True, return_counts=True
        )
        return Distinct(names, first, place.reshape(-1), counts)
    shifted = labels - low
    counts = np.bincount(shifted, minlength=span)
    present = np.flatnonzero(counts)
    number = np.empty(span, np.int64)
    number[present] = np.arange(len(present))
    first = np.empty(span, np.int64)
    first[shifted[::-1]] = np.arange(len(labels) - 1, -1, -1)  # the last to be set is the first
    return Distinct(present + low, first[present], number[shifted], counts[present])


def mean_by(labels: Integers, values: Floats) -> tuple[Integers, Floats]:
    """Return the existing labels in order, and the mean of the values of each."""
    low = int(labels.min(initial=0))
    span = int(labels.max(initial=0)) - low + 1
    if span > _DENSE * len(labels):
        names, _, place, counts = distinct(labels)
        return names, np.bincount(place, values, len(names)) / counts
    shifted = labels - low if low else labels
    counts = np.bincount(shifted, minlength=span)
    names = np.flatnonzero(counts)
    if len(names) < span:
        return names + low, np.bincount(shifted, values, span)[names] / counts[names]
    return names + low, np.bincount(shifted, values, span) / counts


def known_or_zero(values: Floats) -> Floats:
    """Return the values with 0 for NaN: `np.nan_to_num` for finite values, but faster."""
    return np.where(np.isnan(values), 0.0, values)


@lru_cache(maxsize=16, typed=True)
def constant(value: float, count: int) -> NDArray[Any]:
    """Return the value `count` times in the memory of one: read-only, and shared by all callers
    with the same arguments.
    """
    return np.broadcast_to(np.asarray(value), count)


def random_groups(table: Floats, groups: int, seed: int) -> Floats:
    """Sum the units of a table float64[rows, units] in random groups: float64[rows, groups].

    Each holds the sum of its units × groups ÷ units, so that the means stay. What varies between
    units varies between groups of them as if each were a draw (the method of random groups, Wolter
    2007, chapter 2), which bounds the time of resampling; the error of a standard error from
    2,000 groups is 1.6%.
    """
    units = table.shape[1]
    place = np.random.default_rng(seed).permutation(units) % groups
    sums = np.array([np.bincount(place, row, groups) for row in table])
    return np.asarray(sums * groups / units)


def grouped(values: Floats, labels: ArrayLike) -> tuple[Integers, int]:
    """Return labels renumbered 0 … G-1, and G. Raises ValueError unless there is one label per
    value.
    """
    array = np.asarray(labels)
    if array.shape != values.shape:
        raise ValueError(f"{values.size} values but {array.size} labels")
    is_number = array.dtype == np.int64 and array.size > 0
    low, high = (int(array.min()), int(array.max())) if is_number else (0, 0)
    if not is_number or high - low >= _DENSE * array.size:
        names, numbers = np.unique(array, return_inverse=True)
        return numbers.astype(np.int64, copy=False), int(names.size)
    shifted = array - low if low else array
    is_there = np.zeros(high - low + 1, np.bool_)
    is_there[shifted] = True
    count = int(is_there.sum())
    if count == len(is_there):
        return shifted, count
    return (np.cumsum(is_there) - 1)[shifted], count
