"""One value per independent unit of each group, for tests between groups of cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from agentbench_tui.analysis.sample import mean_by

if TYPE_CHECKING:
    from agentbench_tui.analysis.groups.group_differences import Bools
    from agentbench_tui.analysis.sample import Floats, Integers


class UnitValues(msgspec.Struct, frozen=True):
    """Cases, or parts of clusters in the same groups; each counts as one draw."""

    value: Floats
    """Of each unit how far its cases lie from the mean of all cases, added up, plus that mean."""
    sizes: Floats
    """Cases of each unit."""
    members: Bools
    """bool[groups, units]."""
    means: Floats
    """Mean over the cases of each group; NaN for an empty group."""
    variances: Floats
    """The squares of the standard errors of these means, from what units of one group scatter."""


def unit_values(
    case: Integers, cluster: Integers, value: Floats, members: Bools, *, share: bool
) -> UnitValues | None:
    """Return unit values from observations, one row each; repeats of a case are averaged. None
    without values.

    The variance is pooled over the groups, since that of a small group is hardly known: groups that
    are all right would else seem to be known exactly. Of a share it is therefore never 0 either:
    one more value counts, which scatters as much as a share can.
    """
    known = ~np.isnan(value)
    case, cluster, value, members = case[known], cluster[known], value[known], members[:, known]
    if not len(case):
        return None
    _, mean_of_case = mean_by(case, value)
    of_case = np.unique(case, return_index=True)[1]
    inside, own = members[:, of_case], cluster[of_case]
    center = float(mean_of_case.mean())
    unit = _numbered(own, inside)
    count = int(unit.max()) + 1
    sums = np.bincount(unit, mean_of_case - center, count).astype(np.float64)
    sizes = np.bincount(unit, minlength=count).astype(np.float64)
    of_unit = np.unique(unit, return_index=True)[1]
    groups = inside[:, of_unit]
    cases_in = inside.sum(axis=1).astype(np.float64)
    with np.errstate(invalid="ignore"):
        means = (inside.astype(np.float64) @ mean_of_case) / cases_in
    variance = _within(sums, sizes, groups, means - center, share=share)
    with np.errstate(divide="ignore", invalid="ignore"):
        variances = variance * groups.sum(axis=1) / cases_in**2
    return UnitValues(sums + center, sizes, groups, means, variances)


def _numbered(cluster: Integers, inside: Bools) -> Integers:
    """Return a number for each cluster in each set of groups."""
    packed = np.packbits(inside, axis=0)
    rows = np.column_stack([cluster.reshape(-1, 1), packed.T.astype(np.int64)])
    _, numbers = np.unique(rows, axis=0, return_inverse=True)
    return np.asarray(numbers.reshape(-1).astype(np.int64))


def _within(sums: Floats, sizes: Floats, groups: Bools, off: Floats, *, share: bool) -> float:
    """Return the variance of units around the means of their groups."""
    squares, freedom = 0.0, 0.0
    for row, mean in zip(groups, off, strict=True):
        if row.any():
            residual = sums[row] - sizes[row] * mean
            squares += float(residual @ residual)
            freedom += int(row.sum()) - 1
    if share:
        squares += 0.25 * float(np.mean(sizes**2))
        freedom += 1
    return squares / freedom if freedom else 0.0
