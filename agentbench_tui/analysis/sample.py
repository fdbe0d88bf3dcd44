"""What every statistic here takes: one column of finite numbers, and labels of the same length."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]


def column(values: ArrayLike) -> Floats:
    """The values as float64[n]; n may be 0. ValueError on NaN, infinity or a second dimension.

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
    """Between the least and the largest, although sums round: of equal values exactly theirs."""
    return min(max(float(x.mean()), float(x.min())), float(x.max()))


def median(x: Floats) -> float:
    """The middle of one value or more, as `np.median`, which imports a lot when it is called."""
    half = x.size // 2
    if x.size % 2:
        return float(np.partition(x, half)[half])
    return float(np.partition(x, [half - 1, half])[half - 1 : half + 1].mean())


def variance(x: Floats) -> float:
    """Of a sample of two values or more; exactly 0 of equal ones, whose mean rounds."""
    return 0.0 if x.min() == x.max() else float(x.var(ddof=1))


def upper_share(level: float) -> float:
    """The share of a distribution below the upper end of its central `level`: 0.975 for 0.95.

    ValueError unless the level lies between 0 and 1.
    """
    if not 0 < level < 1:
        raise ValueError(f"a level between 0 and 1 is needed, got {level}")
    return 0.5 + level / 2


def mean_by(labels: Integers, values: Floats) -> tuple[Integers, Floats]:
    """The labels that there are, in order, and the mean of the values of each."""
    names, place = np.unique(labels, return_inverse=True)
    place = place.reshape(-1)
    return names, np.bincount(place, values, len(names)) / np.bincount(place)


def count_distinct(labels: Integers) -> int:
    """How many different labels there are."""
    ordered = np.sort(labels)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + (labels.size > 0)


def grouped(values: Floats, labels: ArrayLike) -> tuple[Integers, int]:
    """Labels renumbered 0 … G-1, and G. ValueError unless there is one label for each value."""
    array = np.asarray(labels)
    if array.shape != values.shape:
        raise ValueError(f"{values.size} values but {array.size} labels")
    if array.size and (array == array[0]).all():
        return np.zeros(array.size, np.int64), 1
    names, numbers = np.unique(array, return_inverse=True)
    return numbers.astype(np.int64, copy=False), int(names.size)
