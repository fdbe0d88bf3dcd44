"""Means of groups, shrunk toward their common mean: more for groups with less data.

Of many small groups the best and the worst are extreme mostly by chance. The model takes the true
means of the groups as drawn from a normal distribution with an unknown mean and standard deviation
τ, and each observed mean as normal around its true one (Rubin 1981). τ has a uniform prior and is
integrated out (Gelman 2006), so that the intervals allow for not knowing it.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.distribution import normal_quantile
from agentbench_tui.analysis.sample import column, upper_share

FEWEST_GROUPS = 3
"""With fewer the prior has no posterior: the spread of two means says nothing of τ."""
_STEPS = 600
_LEAST = 0.01
"""The least τ above 0, in units of the smallest error."""
_REACH = 6.0
"""Range of τ, in units of the spread of the means and their errors."""


class Pooled(msgspec.Struct, frozen=True):
    """The estimate of one group's true mean."""

    value: float
    low: float
    high: float
    weight: float
    """Of the group's own mean in it, 0 … 1; the rest is the weight of the common mean."""


def partially_pooled(
    means: ArrayLike, variances: ArrayLike, level: float = 0.95
) -> list[Pooled] | None:
    """Return the posterior mean and interval of each group; None with fewer than 3 groups.

    `variances` are the squares of the standard errors of the means, above 0 (ValueError).
    """
    y, v = column(means), column(variances)
    if y.size != v.size:
        raise ValueError(f"{y.size} means but {v.size} variances")
    if (v <= 0).any():
        raise ValueError("a variance of 0 leaves nothing to pool")
    if y.size < FEWEST_GROUPS:
        return None
    reach = _REACH * (float(np.ptp(y)) + float(np.sqrt(v.max())))
    # Denser near 0: a single unknown group makes the reach large, and the others may be alike.
    steps = np.concatenate([[0.0], np.geomspace(_LEAST * np.sqrt(v.min()), reach, _STEPS)])
    width = np.gradient(steps)[:, np.newaxis]
    tau = steps[:, np.newaxis]
    spread = v + tau**2
    precision = (1 / spread).sum(axis=1, keepdims=True)
    center = (y / spread).sum(axis=1, keepdims=True) / precision
    log_density = -0.5 * (
        np.log(spread).sum(axis=1, keepdims=True)
        + np.log(precision)
        + ((y - center) ** 2 / spread).sum(axis=1, keepdims=True)
    )
    density = width * np.exp(log_density - log_density.max())
    density /= density.sum()
    own = tau**2 / spread
    given_tau = own * y + (1 - own) * center
    variance = own * v + (1 - own) ** 2 / precision
    value = (density * given_tau).sum(axis=0)
    total = (density * (variance + (given_tau - value) ** 2)).sum(axis=0)
    half = normal_quantile(upper_share(level)) * np.sqrt(total)
    weight = (density * own).sum(axis=0)
    rows = zip(value, value - half, value + half, weight, strict=True)
    return [Pooled(*map(float, row)) for row in rows]
