"""Intervals of means between 0 and 1: shares, graded scores, pass@k, benchmark aggregates.

Wilson's interval on the effective number of observations: the number of independent units (cases,
or clusters of them) ÷ φ, where φ = variance of a unit ÷ (mean (1 - mean)) is what a design effect
is between units. Units of equal size that are right or wrong as a whole have φ = 1 and get Wilson's
own interval: an answer that every repeat gives again is one answer. Few units, or a mean close to 0
or 1, say little about φ; it is then drawn towards 1, so that units that are all right are no better
known than as many right answers. Student's t takes the place of the normal quantile where φ is
estimated (Korn & Graubard 1998).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.distribution import normal_quantile, student_quantile
from agentbench_tui.analysis.intervals.interval import Interval, cluster_sums, wilson_ends
from agentbench_tui.analysis.sample import Floats, column, grouped, upper_share

_PRIOR = 0.5
"""Weight of φ = 1, against 4 × units × mean (1 - mean) of the φ that was observed."""
_NO_WIDTH = 1e-12
"""A variance below this is the rounding of a sum."""


def bounded_mean(
    values: ArrayLike, clusters: ArrayLike | None = None, level: float = 0.95
) -> Interval | None:
    """Return the interval of the mean of values in [0, 1]; None without values.

    Values of one cluster (a case asked several times, a source) count as one unit. Clusters of
    unlike size are worth (Σ size)² / Σ size² of equal ones (Kish 1965). ValueError for values
    outside 0 … 1, and for labels of another length.
    """
    x = column(values)
    if ((x < 0) | (x > 1)).any():
        raise ValueError("a share lies between 0 and 1")
    if clusters is None:
        return bounded_mean_of_units(x, np.ones(x.size), level)
    numbers, count = grouped(x, clusters)
    sizes = np.bincount(numbers, minlength=count).astype(np.float64)
    return bounded_mean_of_units(cluster_sums(x, clusters), sizes, level)


def bounded_mean_of_units(sums: Floats, sizes: Floats, level: float = 0.95) -> Interval | None:
    """Return the interval from the sum and number of values of each unit; None without units."""
    if sums.size == 0:
        return None
    mean = min(max(float(sums.sum() / sizes.sum()), 0.0), 1.0)
    units = float(sizes.sum() ** 2 / (sizes @ sizes))
    if bool((sizes == sizes[0]).all()) and bool(((sums == 0) | (sums == sizes)).all()):
        low, high = wilson_ends(mean, units, normal_quantile(upper_share(level)))
        return Interval(low, high, level, "Wilson")
    variance = 0.0
    if sums.size > 1:
        residuals = sums - sizes * mean
        variance = float(residuals @ residuals) / float(sizes.sum()) ** 2
        variance *= sums.size / (sums.size - 1)
    return bounded_interval(mean, variance, units, level)


def bounded_interval(
    mean: float, variance: float, units: float, level: float = 0.95, df: float | None = None
) -> Interval:
    """Return the interval of a mean in [0, 1] with this variance, estimated from this many
    independent units.

    `df` are the degrees of freedom of the variance; units - 1 where it is None.
    """
    most = mean * (1 - mean)
    weight = 4 * units * most
    observed = variance * units / most if most > 0 and variance > _NO_WIDTH else 0.0
    phi = min(1.0, (weight * observed + _PRIOR) / (weight + _PRIOR))
    effective = units / phi
    freedom = max(1.0, units - 1 if df is None else df)
    low, high = wilson_ends(mean, effective, student_quantile(upper_share(level), freedom))
    return Interval(low, high, level, f"Wilson (t) on {effective:,.0f} effective units")
