"""Differences of estimates with intervals, for all pairs of a table at once.

Of a thousand agents, half a million pairs: arrays take a tenth of a second, a loop several.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.distribution import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.analysis.intervals.estimate import Estimate
    from agentbench_tui.analysis.sample import Floats

_QUANTILE = normal_quantile(0.975)
"""Of the 95% intervals that the estimates have."""


def interval_differences(scores: Sequence[Estimate], allowed: Floats | float = 0.0) -> Floats:
    """Return two-sided p of each difference, float64[estimates, estimates]; NaN if one of a pair
    has no interval.

    The error of a difference comes from the facing interval ends (Zou & Donner 2008). `allowed`:
    part of each difference that does not count, one for all pairs or float64[estimates, estimates].
    """
    value, low, high = (
        np.array([math.nan if end is None else end for end in ends], np.float64)
        for ends in zip(*((one.value, one.low, one.high) for one in scores), strict=True)
    )
    difference = np.maximum(0.0, np.abs(np.subtract.outer(value, value)) - allowed)
    below, above = value - low, high - value
    reach = np.where(
        np.greater_equal.outer(value, value),
        np.hypot.outer(below, above),
        np.hypot.outer(above, below),
    )
    size = np.divide(difference, reach, out=np.full_like(reach, math.inf), where=reach > 0)
    # Twice the lower tail of the normal distribution: the complementary error function.
    tails = map(math.erfc, (_QUANTILE / math.sqrt(2) * size).ravel().tolist())
    p = np.fromiter(tails, np.float64, size.size).reshape(size.shape)
    p[difference == 0] = 1.0
    p[np.isnan(reach)] = math.nan
    return np.asarray(p)
