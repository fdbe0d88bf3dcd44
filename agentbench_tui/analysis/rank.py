"""Rank tests: do two columns come from one distribution?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.distribution import normal_cdf
from agentbench_tui.analysis.sample import Floats, Integers, column

EXACT_UP_TO = 50
"""Values of both columns together; the number of their splits still fits 64 bits."""


@dataclass(frozen=True, slots=True)
class RankTest:
    """A Mann-Whitney test of x against y."""

    u: float
    """How many pairs have x above y; ties count half."""
    p: float
    """Two-sided."""
    exact: bool


def mann_whitney(x: ArrayLike, y: ArrayLike) -> RankTest | None:
    """Mann & Whitney (1947), two-sided; None when a column is empty.

    Up to 50 values in all, p is exact, also with ties: every split of the mid-ranks is counted.
    Above, the normal approximation with correction for ties and continuity.
    """
    first, second = column(x), column(y)
    if first.size == 0 or second.size == 0:
        return None
    doubled = _doubled_midranks(np.concatenate([first, second]))
    rank_sum = int(doubled[: first.size].sum())
    u = rank_sum / 2 - first.size * (first.size + 1) / 2
    if doubled.size <= EXACT_UP_TO:
        return RankTest(u, _exact_p(doubled, first.size, rank_sum), exact=True)
    return RankTest(u, _normal_p(doubled, first.size, u), exact=False)


def _doubled_midranks(values: Floats) -> Integers:
    """Twice the rank from 1, ties sharing the middle: whole numbers."""
    _, positions, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return np.asarray((2 * last - counts + 1)[positions], dtype=np.int64)


def _exact_p(doubled: Integers, size: int, rank_sum: int) -> float:
    """Twice the smaller tail of the rank sum over all choices of `size` ranks."""
    ways = np.zeros((size + 1, int(doubled.sum()) + 1), dtype=np.int64)
    ways[0, 0] = 1
    for rank in doubled:
        ways[1:, rank:] += ways[:-1, :-rank].copy()
    chosen = ways[size]
    tail = min(int(chosen[: rank_sum + 1].sum()), int(chosen[rank_sum:].sum()))
    return min(1.0, 2 * tail / math.comb(doubled.size, size))


def _normal_p(doubled: Integers, size: int, u: float) -> float:
    n, other = doubled.size, doubled.size - size
    _, counts = np.unique(doubled, return_counts=True)
    ties = float((counts.astype(np.float64) ** 3 - counts).sum())
    variance = size * other / 12 * (n + 1 - ties / (n * (n - 1)))
    if variance <= 0:
        return 1.0
    distance = max(0.0, abs(u - size * other / 2) - 0.5)
    return min(1.0, 2 * normal_cdf(-distance / math.sqrt(variance)))
