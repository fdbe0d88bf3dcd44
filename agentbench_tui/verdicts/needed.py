"""How many cases or runs would settle a comparison that is open."""

from __future__ import annotations

import math

from agentbench_tui.analysis.distribution import normal_quantile
from agentbench_tui.analysis.equivalence import values_needed

MANY = 1_000
"""From here on the normal distribution is as good as t, and there is nothing to wait for."""
_POWER = 0.8


def needed(
    sd: float, margin: float, *, paired: bool, have: int, alpha: float, share: bool
) -> int | None:
    """Values a side, or pairs, with which it would hardly stay inconclusive; more than there are.

    As `analysis.equivalence.values_needed`: what shows that nothing differs takes more than what
    finds a change of the margin, so that for many values (z(1-alpha) + z((1+power)/2))² sd² / m²
    are enough, twice as many for two columns. Of a `share` that never varied what may still
    differ has to be bounded: 1 - alpha'^(1/n) <= m with alpha' = 2 alpha.
    """
    if not math.isfinite(sd):
        return None
    if sd == 0 and share:
        least = math.ceil(math.log(2 * alpha) / math.log1p(-margin))
        return max(least, have + 1)
    z = normal_quantile(1 - alpha) + normal_quantile((1 + _POWER) / 2)
    normal = (1 if paired else 2) * (z * sd / margin) ** 2
    if normal >= MANY:
        return max(math.ceil(normal), have + 1)
    if have >= MANY:
        return have + 1
    return max(values_needed(sd, margin, paired=paired, power=_POWER, alpha=alpha), have + 1)
