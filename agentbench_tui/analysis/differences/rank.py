"""Rank tests of two independent columns: whether values of one tend to lie above those of the
other.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.differences.alternative import Alternative, p_value
from agentbench_tui.analysis.distribution import normal_cdf, student_cdf
from agentbench_tui.analysis.sample import Floats, Integers, column

RankMethod: TypeAlias = Literal["auto", "exact", "asymptotic"]

EXACT_UP_TO = 50
"""Values of both columns together that `auto` still counts out; a count then fits 53 bits."""
EXACT_ON_DEMAND_UP_TO = 200
"""Beyond this even a wanted exact p would take seconds and hundreds of megabytes."""


class RankTest(msgspec.Struct, frozen=True):
    """A Mann-Whitney test of x against y."""

    u: float
    """Number of pairs with x above y; ties count half."""
    p: float
    exact: bool


class BrunnerMunzelTest(msgspec.Struct, frozen=True):
    """A Brunner-Munzel test of x against y."""

    statistic: float
    """Positive when x tends to lie above y."""
    df: float
    p: float


def mann_whitney(
    x: ArrayLike,
    y: ArrayLike,
    alternative: Alternative = "two-sided",
    method: RankMethod = "auto",
) -> RankTest | None:
    """Test by Mann & Whitney (1947); `greater` means x tends above y. None if a column is empty.

    `exact`: every split of the mid-ranks is counted, so it holds with ties too. `asymptotic`: the
    normal approximation with correction for ties and continuity. `auto`: exact up to 50 values in
    all. ValueError for `exact` beyond 200 values.
    """
    first, second = column(x), column(y)
    if method not in ("auto", "exact", "asymptotic"):
        raise ValueError(f"method is auto, exact or asymptotic, not {method!r}")
    if first.size == 0 or second.size == 0:
        return None
    doubled, ties = doubled_midranks(np.concatenate([first, second]))
    rank_sum = int(doubled[: first.size].sum())
    u = rank_sum / 2 - first.size * (first.size + 1) / 2
    exact = method == "exact" or (method == "auto" and doubled.size <= EXACT_UP_TO)
    if exact:
        below, above = _exact_tails(doubled, first.size, rank_sum)
    else:
        below, above = _normal_tails(u, first.size, second.size, ties)
    return RankTest(u, p_value(below, above, alternative), exact)


def brunner_munzel(
    x: ArrayLike, y: ArrayLike, alternative: Alternative = "two-sided"
) -> BrunnerMunzelTest | None:
    """Test by Brunner & Munzel (2000) with t: like Mann-Whitney, but the spreads may differ.

    `greater` means x tends above y. None when a column has fewer than 2 values, and when the ranks
    do not vary within the columns, as in columns that do not overlap: `mann_whitney` answers there.
    """
    first, second = column(x), column(y)
    n, m = first.size, second.size
    if n < 2 or m < 2:
        return None
    doubled, _ = doubled_midranks(np.concatenate([first, second]))
    variances = []
    for own, both in ((first, doubled[:n]), (second, doubled[n:])):
        placements = (both - doubled_midranks(own)[0]) / 2
        variances.append(float(placements.var(ddof=1)))
    of_first, of_second = n * variances[0], m * variances[1]
    spread = of_first + of_second
    if spread == 0:
        return None
    distance = float(doubled[:n].mean() - doubled[n:].mean()) / 2
    statistic = n * m * distance / ((n + m) * math.sqrt(spread))
    df = spread**2 / (of_first**2 / (n - 1) + of_second**2 / (m - 1))
    p = p_value(student_cdf(statistic, df), student_cdf(-statistic, df), alternative)
    return BrunnerMunzelTest(statistic, df, p)


def doubled_midranks(values: Floats) -> tuple[Integers, Integers]:
    """Return twice the rank from 1, as whole numbers with mid-ranks for ties, and the sizes of
    the ties.
    """
    order = np.argsort(values)
    ordered = values[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    ends = np.append(starts[1:], values.size)
    doubled = np.empty(values.size, dtype=np.int64)
    doubled[order] = np.repeat(starts + 1 + ends, ends - starts)
    return doubled, ends - starts


def tie_sum(ties: Integers) -> float:
    """Return Σ (t³ - t) over the sizes of the ties, by which tied ranks vary less."""
    sizes = ties.astype(np.float64)
    return float((sizes**3 - sizes).sum())


def _exact_tails(doubled: Integers, size: int, rank_sum: int) -> tuple[float, float]:
    """Return both tails of the rank sum over all choices of `size` ranks."""
    if doubled.size > EXACT_ON_DEMAND_UP_TO:
        raise ValueError(
            f"an exact p needs at most {EXACT_ON_DEMAND_UP_TO} values, got {doubled.size}; "
            "use asymptotic"
        )
    total = int(doubled.sum())
    if 2 * size > doubled.size:  # what is left out is as good a choice, and smaller
        above, below = _exact_tails(doubled, doubled.size - size, total - rank_sum)
        return below, above
    ways = np.zeros((size + 1, int(np.sort(doubled)[-size:].sum()) + 1))
    ways[0, 0] = 1
    for rank in doubled:
        ways[1:, rank:] += ways[:-1, :-rank].copy()
    chosen, splits = ways[size], math.comb(doubled.size, size)
    return float(chosen[: rank_sum + 1].sum()) / splits, float(chosen[rank_sum:].sum()) / splits


def _normal_tails(u: float, size: int, other: int, ties: Integers) -> tuple[float, float]:
    n = size + other
    variance = size * other / 12 * (n + 1 - tie_sum(ties) / (n * (n - 1)))
    if variance <= 0:
        return 1.0, 1.0
    distance, sd = u - size * other / 2, math.sqrt(variance)
    return normal_cdf((distance + 0.5) / sd), normal_cdf((0.5 - distance) / sd)
