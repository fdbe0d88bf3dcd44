"""How many cases or runs would settle a comparison that is open."""

from __future__ import annotations

import math
from dataclasses import dataclass

from agentbench_tui.analysis.distribution import normal_quantile
from agentbench_tui.analysis.equivalence import values_needed
from agentbench_tui.analysis.power import (
    sample_size_mcnemar,
    sample_size_paired,
    sample_size_two_sample,
)

MANY = 1_000
"""From here on the normal distribution is as good as t, and there is nothing to wait for."""
_POWER = 0.8
_PLAIN = 10.0
"""Sds from which on an effect is seen by the fewest values that a test takes."""


@dataclass(frozen=True, slots=True)
class Open:
    """What is known of a comparison that is inconclusive; of a ratio all on logs."""

    sd: float
    """Of values, or of the pairs' differences."""
    effect: float
    margin: float
    have: int
    """Values a side, or pairs."""
    paired: bool
    reach: float | None = None
    """How far from no difference the interval goes that decides on equivalence."""
    only: tuple[int, int] | None = None
    """Cases that A, and that B, alone is right on, where each is right or wrong."""


def settling_size(known: Open, alpha: float) -> int | None:
    """Values a side, or pairs, with which it would hardly stay inconclusive; more than there are.

    An effect beyond the margin, if it is as large as it looks, has to be found. Otherwise as
    `analysis.equivalence.values_needed`: what shows that nothing differs takes more than what finds
    a change of the margin, so that for many values (z(1-alpha) + z((1+power)/2))² sd² / m² are
    enough, twice as many for two columns.
    """
    if not (math.isfinite(known.sd) and math.isfinite(known.effect)):
        return None
    if abs(known.effect) > known.margin:
        found = _for_effect(known, alpha)
    elif known.sd == 0 and known.reach is not None and 0 < known.reach < 1:
        found = _where_nothing_varied(known, known.reach)
    else:
        found = _for_margin(known, alpha)
    return max(found, known.have + 1)


def _for_effect(known: Open, alpha: float) -> int:
    """Those that find the effect."""
    least = values_needed(0.0, known.margin, paired=known.paired, power=_POWER, alpha=alpha)
    size = abs(known.effect)
    if size >= _PLAIN * known.sd:
        return least
    z = normal_quantile(1 - alpha / 2) + normal_quantile(_POWER)
    normal = (1 if known.paired else 2) * (z * known.sd / size) ** 2
    if normal >= MANY or known.have >= MANY:
        return math.ceil(normal)
    if known.only is not None and known.paired:
        only_a, only_b = (count / known.have for count in known.only)
        return sample_size_mcnemar(only_a, only_b, power=_POWER, alpha=alpha)
    sized = sample_size_paired if known.paired else sample_size_two_sample
    return max(least, sized(size / known.sd, _POWER, alpha=alpha).n)


def _where_nothing_varied(known: Open, reach: float) -> int:
    """Of shares, with an interval that shrinks to the margin.

    Of pairs it is exact, 1 - c^(1/n); of two groups z² / (n + z²), by Wilson. Solved for n.
    """
    if known.paired:
        return math.floor(known.have * math.log1p(-reach) / math.log1p(-known.margin)) + 1
    return math.ceil(known.have * reach / (1 - reach) * (1 - known.margin) / known.margin)


def _for_margin(known: Open, alpha: float) -> int:
    z = normal_quantile(1 - alpha) + normal_quantile((1 + _POWER) / 2)
    normal = (1 if known.paired else 2) * (z * known.sd / known.margin) ** 2
    if normal >= MANY:
        return math.ceil(normal)
    if known.have >= MANY:
        return known.have
    # Next to the margin nothing: power over it cannot be told from 1.
    sd = known.sd if normal >= 1 else 0.0
    return values_needed(sd, known.margin, paired=known.paired, power=_POWER, alpha=alpha)
