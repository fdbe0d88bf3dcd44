"""Effect sizes, independent of their uncertainty: in standard deviations, ranks or ratio.

All are of x against y: positive (a ratio above 1) when x is larger. None where a size does not
exist: too few values, or no spread to measure a difference with.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.sample import Floats, column, mean


def cohens_d(x: ArrayLike, y: ArrayLike) -> float | None:
    """Return (mean(x) - mean(y)) / pooled standard deviation (Cohen 1988).

    Below 3 values in all, or with an empty column, it does not exist. Constant columns: 0 when
    equal, otherwise it does not exist.
    """
    first, second = column(x), column(y)
    df = first.size + second.size - 2
    if first.size == 0 or second.size == 0 or df < 1:
        return None
    pooled = (_squares(first) + _squares(second)) / df
    return _standardized(mean(first) - mean(second), pooled)


def hedges_g(x: ArrayLike, y: ArrayLike, *, exact: bool = False) -> float | None:
    """Return Cohen's d without its bias for few values (Hedges 1981): d J(n + m - 2).

    J(df) = 1 - 3 / (4 df - 1), or when `exact` Γ(df/2) / (√(df/2) Γ((df-1)/2)), which differs by
    less than 0.01% from 20 values in all. The exact one needs 4 values.
    """
    d = cohens_d(x, y)
    df = column(x).size + column(y).size - 2
    if d is None or (exact and df < 2):
        return None
    if not exact:
        return d * (1 - 3 / (4 * df - 1))
    return d * math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)


def dz(differences: ArrayLike) -> float | None:
    """Return mean / standard deviation of paired differences. None below 2.

    Constant differences: 0 when they are 0, otherwise it does not exist.
    """
    d = column(differences)
    if d.size < 2:
        return None
    return _standardized(mean(d), _squares(d) / (d.size - 1))


def cliffs_delta(x: ArrayLike, y: ArrayLike) -> float | None:
    """Return P(X > Y) - P(X < Y) over all pairs, from -1 to 1 (Cliff 1993); in O(n log n)."""
    first, second = np.sort(column(x)), np.sort(column(y))  # both: found in order it is quicker
    if first.size == 0 or second.size == 0:
        return None
    below = int(np.searchsorted(second, first, side="left").sum())
    not_above = int(np.searchsorted(second, first, side="right").sum())
    pairs = first.size * second.size
    return (below + not_above - pairs) / pairs


def probability_of_superiority(x: ArrayLike, y: ArrayLike) -> float | None:
    """Return P(X > Y) + P(X = Y) / 2 over all pairs: Mann-Whitney's U as a share."""
    delta = cliffs_delta(x, y)
    return None if delta is None else (delta + 1) / 2


def geometric_ratio(x: ArrayLike, y: ArrayLike) -> float | None:
    """Return the geometric mean of x / geometric mean of y; of pairs, the geometric mean of their
    ratios.

    None when a column is empty. ValueError when a value is 0 or negative.
    """
    first, second = column(x), column(y)
    if (first <= 0).any() or (second <= 0).any():
        raise ValueError("a geometric ratio needs positive values")
    if first.size == 0 or second.size == 0:
        return None
    with np.errstate(over="ignore"):  # columns hundreds of decades apart: infinite
        return float(np.exp(np.log(first).mean() - np.log(second).mean()))


def pearson(x: ArrayLike, y: ArrayLike) -> float | None:
    """Return the correlation of pairs. None below 2 pairs and for a constant column."""
    first, second = column(x), column(y)
    if first.size != second.size:
        raise ValueError(f"pairs are needed, got {first.size} values and {second.size}")
    if first.size < 2 or _squares(first) == 0 or _squares(second) == 0:
        return None
    a, b = first - first.mean(), second - second.mean()
    r = float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))
    return min(1.0, max(-1.0, r))


def _squares(x: Floats) -> float:
    """Return the sum of squared deviations; exactly 0 for equal values, whose mean is rounded."""
    return 0.0 if x.min() == x.max() else float(((x - x.mean()) ** 2).sum())


def _standardized(difference: float, variance: float) -> float | None:
    if variance > 0:
        return difference / math.sqrt(variance)
    return None if difference else 0.0
