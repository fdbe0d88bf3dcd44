"""Wilcoxon's signed-rank test: whether paired differences tend to one side of zero."""

from __future__ import annotations

import math

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.differences.alternative import Alternative, p_value
from agentbench_tui.analysis.differences.rank import doubled_midranks, tie_sum
from agentbench_tui.analysis.distribution import normal_cdf
from agentbench_tui.analysis.sample import Floats, Integers, column

EXACT_UP_TO = 50
"""Differences other than 0; the number of their signs still fits 53 bits."""
NO_DIFFERENCE = 1e-12
"""A difference this small relative to the largest is a rounding error of 0."""
TIED = 1e-9
"""Sizes whose gap is at most this share of them are equal but for the rounding of a subtraction."""


class SignedRankTest(msgspec.Struct, frozen=True):
    """A signed-rank test of differences."""

    w: float
    """Sum of the ranks of the differences above 0."""
    n: int
    """Differences that were ranked."""
    zeros: int
    """Number of differences of 0, which were dropped."""
    p: float
    exact: bool


def wilcoxon(
    differences: ArrayLike, alternative: Alternative = "two-sided"
) -> SignedRankTest | None:
    """Test differences of pairs by Wilcoxon (1945); `greater` means above 0. None without
    differences.

    Zeros are dropped before ranking (Wilcoxon's rule, not Pratt's) and counted; when nothing else
    is there, p is 1. Up to 50 ranked differences p is exact, also with ties: every choice of signs
    is counted. Above, the normal approximation with correction for ties and continuity.
    """
    d = column(differences)
    if d.size == 0:
        return None
    ranked = d[np.abs(d) > NO_DIFFERENCE * np.abs(d).max()]
    n = ranked.size
    if n == 0:
        return SignedRankTest(0.0, 0, d.size, p_value(1.0, 1.0, alternative), exact=True)
    doubled, ties = doubled_midranks(_without_rounding(np.abs(ranked)))
    positive = int(doubled[ranked > 0].sum())
    exact = n <= EXACT_UP_TO
    below, above = _exact_tails(doubled, positive) if exact else _normal_tails(n, positive, ties)
    p = p_value(below, above, alternative)
    return SignedRankTest(positive / 2, n, d.size - n, p, exact)


def _without_rounding(sizes: Floats) -> Floats:
    """Return numbers in the same order, equal where sizes differ only by rounding."""
    order = np.argsort(sizes)
    ordered = sizes[order]
    steps = np.concatenate([[0.0], np.diff(ordered) > TIED * ordered[1:]])
    levels = np.empty(sizes.size)
    levels[order] = np.cumsum(steps)
    return levels


def _exact_tails(doubled: Integers, positive: int) -> tuple[float, float]:
    """Return both tails of the sum of the positive ranks, over all signs."""
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1
    for rank in doubled:
        ways[rank:] += ways[:-rank].copy()
    signs = 2.0**doubled.size
    return float(ways[: positive + 1].sum()) / signs, float(ways[positive:].sum()) / signs


def _normal_tails(n: int, positive: int, ties: Integers) -> tuple[float, float]:
    distance = positive / 2 - n * (n + 1) / 4
    sd = math.sqrt(n * (n + 1) * (2 * n + 1) / 24 - tie_sum(ties) / 48)
    return normal_cdf((distance + 0.5) / sd), normal_cdf((0.5 - distance) / sd)
