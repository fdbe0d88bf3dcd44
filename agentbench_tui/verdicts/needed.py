"""How many cases or runs would settle a comparison that is open."""

from __future__ import annotations

import math

from agentbench_tui.analysis.distribution import normal_quantile
from agentbench_tui.analysis.equivalence import values_needed

MANY = 1_000
"""From here on the normal distribution is as good as t, and there is nothing to wait for."""
_POWER = 0.8


def needed(
    sd: float, margin: float, reach: float | None, *, paired: bool, have: int, alpha: float
) -> int | None:
    """Values a side, or pairs, with which it would hardly stay inconclusive; more than there are.

    As `analysis.equivalence.values_needed`: what shows that nothing differs takes more than what
    finds a change of the margin, so that for many values (z(1-alpha) + z((1+power)/2))² sd² / m²
    are enough, twice as many for two columns. Of shares that never varied (sd 0) only how far the
    interval still goes (`reach`) can be told: z² / (n + z²) by Wilson, which is solved for n.
    """
    if not math.isfinite(sd):
        return None
    if sd == 0 and reach is not None and 0 < reach < 1:
        return max(math.ceil(have * reach / (1 - reach) * (1 - margin) / margin), have + 1)
    z = normal_quantile(1 - alpha) + normal_quantile((1 + _POWER) / 2)
    normal = (1 if paired else 2) * (z * sd / margin) ** 2
    if normal >= MANY:
        return max(math.ceil(normal), have + 1)
    if have >= MANY:
        return have + 1
    if normal < 1:
        sd = 0.0  # next to the margin nothing: power over it cannot be told from 1
    return max(values_needed(sd, margin, paired=paired, power=_POWER, alpha=alpha), have + 1)
