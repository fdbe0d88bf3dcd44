"""Several quantiles of one column with their intervals, at the cost of one partition."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.intervals.estimate import Estimate, needs, why_no_ranks
from agentbench_tui.analysis.intervals.interval import order_ranks
from agentbench_tui.analysis.intervals.serial_dependence import worth_of_quantile
from agentbench_tui.analysis.sample import Floats, column
from agentbench_tui.analysis.summary import needed, supported

_ROUNDING = 1e-12
"""Rounding error of a running sum: a weight within it counts as reached."""


def quantile_estimates(
    values: ArrayLike, shares: Sequence[float], level: float = 0.95
) -> list[Estimate]:
    """Return `estimate.quantile_estimate` of each share, computed together.

    The values are in order of time: where neighbors are alike, intervals are wider.
    """
    x = column(values)
    n = x.size
    known = [q for q in shares if supported(q, n, level)]
    places = {q: (n - 1) * q for q in known}
    worth = {q: worth_of_quantile(x, q) for q in known}
    ranks = {q: _ranks(n, q, level, worth[q]) for q in known}
    wanted = {min(int(place) + step, n - 1) for place in places.values() for step in (0, 1)}
    wanted |= {rank - 1 for pair in ranks.values() if pair is not None for rank in pair}
    ordered = np.partition(x, sorted(wanted)) if wanted else x
    found = []
    for q in shares:
        if q not in places:
            reason = needs(needed(q, level), n)
            found.append(Estimate(None, None, None, n, "quantile", reason))
            continue
        below = int(places[q])
        low, high = ordered[below], ordered[min(below + 1, n - 1)]
        value = float(low + (high - low) * (places[q] - below))
        pair = ranks[q]
        if pair is None:
            reason = why_no_ranks(q, n, worth[q], level)
            found.append(Estimate(value, None, None, n, "quantile", reason))
        else:
            first, last = pair
            method = f"quantile; order statistics {first} and {last} of {n}"
            ends = float(ordered[first - 1]), float(ordered[last - 1])
            found.append(Estimate(value, *ends, n, method))
    return found


@lru_cache(maxsize=256)
def _ranks(n: int, q: float, level: float, worth: float) -> tuple[int, int] | None:
    return order_ranks(n, q, level, worth)


def weighted_quantiles(
    values: ArrayLike, weights: ArrayLike, shares: Sequence[float], level: float = 0.95
) -> list[Estimate]:
    """Return the smallest value at which a share of the weight is reached; no interval.

    Weights are >= 0 and not all 0. As many values are needed as for a quantile without weights.
    """
    x, weight = column(values), column(weights)
    if x.size != weight.size:
        raise ValueError(f"{x.size} values but {weight.size} weights")
    found = []
    places = iter(_reached(x, weight, [q for q in shares if supported(q, x.size, level)]))
    for q in shares:
        fits = supported(q, x.size, level)
        reason = "" if fits else needs(needed(q, level), x.size)
        value = next(places) if fits else None
        found.append(Estimate(value, None, None, x.size, "weighted quantile", reason))
    return found


def _reached(x: Floats, weight: Floats, shares: list[float]) -> list[float]:
    if not shares:
        return []
    if weight.min() == weight.max():  # no need to sort
        ranks = [max(math.ceil(q * x.size * (1 - _ROUNDING)), 1) - 1 for q in shares]
        return [float(value) for value in np.partition(x, sorted(set(ranks)))[ranks]]
    order = np.argsort(x)
    sums = np.cumsum(weight[order])
    wanted = np.array(shares) * sums[-1] * (1 - _ROUNDING)
    return [float(value) for value in x[order[np.searchsorted(sums, wanted)]]]
