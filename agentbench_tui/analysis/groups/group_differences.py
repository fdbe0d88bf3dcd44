"""Tests whether groups of values differ: each group from the rest, and all from each other.

Values are one for each independent unit. They may belong to several groups (tags), or to none.
Nothing is tested where no value differs from another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from agentbench_tui.analysis.differences.multiplicity import holm
from agentbench_tui.analysis.differences.student import welch
from agentbench_tui.analysis.distribution import beta_cdf
from agentbench_tui.analysis.sample import Floats, column

DRAWS = 10_000
_FEWEST_DRAWS = 1_000
_DRAWN = 20_000_000
"""Total number of values drawn by all permutations; with more values, fewer permutations."""
_BLOCK = 2_000_000
"""Values that are in memory at once."""
_ROUNDED = 1 - 1e-9
"""A sum in another order differs in its last digit."""

Bools = NDArray[np.bool_]


class GroupDifferences(msgspec.Struct, frozen=True):
    """Results for each group, in the order of the rows of `members`."""

    p: tuple[float | None, ...]
    """p of each group against all values outside it; None without a test."""
    p_adjusted: tuple[float | None, ...]
    """The same adjusted for the number of groups: the chance of any false difference stays below
    the level."""
    method: str


def group_differences(
    values: ArrayLike,
    members: Bools,
    *,
    share: bool,
    sizes: ArrayLike | None = None,
    seed: int = 0,
    draws: int = DRAWS,
) -> GroupDifferences:
    """Test bool[groups, n] groups of float64[n] values, each against the values outside it.

    Shares, which have equal variances where they have equal means: the labels of the groups are
    permuted over the values, and p is adjusted by the step-down maximum (Westfall & Young 1993).
    That is exact, whatever the sizes of the groups. Other values may have equal means and unequal
    variances: Welch's t, adjusted by Holm's rule. `sizes` counts the cases behind each value. Sums
    over more cases vary more, so shares of unequal sizes get the larger p of both tests. ValueError
    unless `members` has a column for each value.
    """
    x = column(values)
    inside = _groups(x, members)
    counts = inside.sum(axis=1)
    tested = (counts > 0) & (counts < x.size)
    none: tuple[float | None, ...] = (None,) * len(inside)
    if not tested.any() or float(np.ptp(x)) == 0:
        return GroupDifferences(none, none, "none")
    if not share:
        return _by_student(x, inside)
    draws = _affordable(draws, x.size)
    p, adjusted = _by_permutation(x - x.mean(), inside[tested], seed, draws)
    method = f"label permutation, step-down maximum ({draws:,} draws, seed {seed})"
    found = GroupDifferences(_placed(p, tested), _placed(adjusted, tested), method)
    if sizes is None or np.ptp(sizes) == 0:
        return found
    return _larger(found, _by_student(x, inside))


def common_mean(
    values: ArrayLike, members: Bools, *, seed: int = 0, draws: int = DRAWS
) -> float | None:
    """Return p of all groups having one mean; None with fewer than two groups, or without
    variation.

    The statistic is Σ n (mean of the group - mean of all)², as of Cochran's Q with one variance.
    The larger p of two counts: of permuted labels, which is exact where the groups are alike, and
    of flipping the signs of what each value is off the mean of all (the wild bootstrap of Liu
    1988), which also holds where values scatter much in one group and hardly in another.
    """
    x = column(values)
    inside = _groups(x, members)
    inside = inside[inside.any(axis=1)]
    if len(inside) < 2 or x.size < 2 or float(np.ptp(x)) == 0:
        return None
    draws = _affordable(draws, x.size)
    weights = inside.astype(np.float64).T
    n = weights.sum(axis=0)

    def between(drawn: Floats) -> Floats:
        mean = drawn @ weights / n
        center = (mean @ n / n.sum())[:, np.newaxis]
        return np.asarray((mean - center) ** 2 @ n)

    residual = x - x.mean()
    observed = float(between(residual[np.newaxis])[0]) * _ROUNDED
    generator = np.random.default_rng(seed)

    def flipped(count: int) -> Floats:
        return np.asarray((generator.integers(0, 2, (count, x.size)) * 2.0 - 1.0) * residual)

    return max(
        (1 + sum(int((between(block) >= observed).sum()) for block in blocks)) / (draws + 1)
        for blocks in (_permuted(residual, draws, seed), _in_blocks(flipped, draws, x.size))
    )


def cochran_q(effects: ArrayLike, variances: ArrayLike, freedom: float) -> float:
    """Return p of independent effects being equal (Cochran 1954): Q = Σ (effect - mean)² ÷
    variance.

    `variances` are the squares of the standard errors, estimated with `freedom` degrees together:
    Q ÷ (effects - 1) is held against F. ValueError with fewer than two effects.
    """
    found, squared = column(effects), column(variances)
    if found.size < 2 or found.size != squared.size:
        raise ValueError(f"{found.size} effects and {squared.size} variances")
    weights = 1 / squared
    center = float(found @ weights / weights.sum())
    f = float(weights @ (found - center) ** 2) / (found.size - 1)
    above = freedom / (freedom + (found.size - 1) * f)
    return beta_cdf(above, freedom / 2, (found.size - 1) / 2)


def _groups(x: Floats, members: Bools) -> Bools:
    inside = np.asarray(members, np.bool_)
    if inside.ndim != 2 or inside.shape[1] != x.size:
        raise ValueError(f"{x.size} values but groups of shape {inside.shape}")
    return inside


def _affordable(draws: int, size: int) -> int:
    return max(min(draws, _FEWEST_DRAWS), min(draws, _DRAWN // max(size, 1)))


def _by_student(x: Floats, inside: Bools) -> GroupDifferences:
    tests = [welch(x[row], x[~row]) for row in inside]
    p = tuple(None if one is None else one.p for one in tests)
    adjusted = iter(holm([one for one in p if one is not None]))
    method = "Welch's t against the rest, Holm"
    return GroupDifferences(p, tuple(None if one is None else next(adjusted) for one in p), method)


def _larger(first: GroupDifferences, second: GroupDifferences) -> GroupDifferences:
    """Return the larger p of two tests of each group; that of the first if the second has none."""

    def of(pairs: Iterable[tuple[float | None, float | None]]) -> tuple[float | None, ...]:
        return tuple(
            one if other is None or one is None else max(one, other) for one, other in pairs
        )

    return GroupDifferences(
        of(zip(first.p, second.p, strict=True)),
        of(zip(first.p_adjusted, second.p_adjusted, strict=True)),
        f"the larger p of {first.method}, and {second.method}",
    )


def _by_permutation(
    residual: Floats, inside: Bools, seed: int, draws: int
) -> tuple[Floats, Floats]:
    """Return p of each group, and adjusted p, from the deviations of the values from the overall
    mean.
    """
    weights = inside.astype(np.float64).T
    n = weights.sum(axis=0)
    scale = np.sqrt(n * (1 - n / residual.size))
    observed = np.abs(residual @ weights) / scale
    order = np.argsort(-observed, kind="stable")
    limits = observed * _ROUNDED
    beyond, largest = np.ones(len(order)), np.ones(len(order))
    for block in _permuted(residual, draws, seed):
        drawn = np.abs(block @ weights) / scale
        beyond += (drawn >= limits).sum(axis=0)
        maxima = np.maximum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]
        largest += (maxima >= limits[order]).sum(axis=0)
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate(largest / (draws + 1))
    return beyond / (draws + 1), adjusted


def _permuted(x: Floats, draws: int, seed: int) -> Iterator[Floats]:
    generator = np.random.default_rng(seed)
    return _in_blocks(
        lambda count: generator.permuted(np.broadcast_to(x, (count, x.size)), axis=1), draws, x.size
    )


def _in_blocks(draw: Callable[[int], Floats], draws: int, size: int) -> Iterator[Floats]:
    rows = max(1, _BLOCK // size)
    for first in range(0, draws, rows):
        yield draw(min(rows, draws - first))


def _placed(p: Floats, tested: Bools) -> tuple[float | None, ...]:
    found = iter(p.tolist())
    return tuple(next(found) if one else None for one in tested.tolist())
