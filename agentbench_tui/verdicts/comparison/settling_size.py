"""Required sample sizes of an inconclusive comparison: to detect a difference, and to exclude
one.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace

import msgspec

from agentbench_tui.analysis.differences.equivalence import values_needed
from agentbench_tui.analysis.distribution import beta_quantile, normal_quantile
from agentbench_tui.analysis.power import (
    sample_size_mcnemar,
    sample_size_paired,
    sample_size_two_sample,
)

MANY = 1_000
"""Sample size from which on the normal distribution replaces *t*."""
_POWER = 0.8
_TAIL = 0.05
"""Error at each end of the interval that decides equivalence."""
_PLAIN = 10.0
"""Effect size, in sds, that the smallest sample that a test accepts detects."""


@dataclass(frozen=True, slots=True)
class Open:
    """Data of an inconclusive comparison; for a ratio, all on logarithms."""

    sd: float
    """Standard deviation of the values, or of the pairs' differences."""
    effect: float
    margin: float
    have: int
    """Values a side, or pairs."""
    paired: bool
    reach: float | None = None
    """Distance from no difference to the farther end of the interval that decides equivalence."""
    only: tuple[int, int] | None = None
    """Number of cases that only A, and only B, answers correctly, if each is right or wrong."""


class Settling(msgspec.Struct, frozen=True):
    """Values per side, or pairs, that decide a comparison with 80% power; more than there are
    now.
    """

    effect: float | None
    """The likely effect: the observed one, shrunk toward none.

    None if it lies within the margin, because chance alone can then explain the observation.
    """
    to_detect: int | None
    """Sample size that detects `effect`, if the effect is that large."""
    to_exclude: int
    """Sample size that excludes the margin, if there is no effect."""

    @property
    def needed(self) -> int:
        """Return the sample size that detects the effect if there seems to be one, otherwise the
        one that excludes the margin.
        """
        return self.to_exclude if self.to_detect is None else self.to_detect


def settling_size(known: Open, alpha: float) -> Settling | None:
    """Return the sample sizes that decide the comparison; None if sd or effect are unknown.

    An effect observed in a small sample overestimates the true one on average. It is therefore
    shrunk as by James & Stein (1961): × (1 - se² / effect²), and 0 below one se. Excluding the
    margin takes more values than detecting a change of that size: z(1-alpha) + z((1+power)/2)
    instead of z(1-alpha/2) + z(power).
    """
    if not (math.isfinite(known.sd) and math.isfinite(known.effect)):
        return None
    effect = _shrunk(known)
    detects = None
    if abs(effect) > known.margin:
        detects = max(_for_effect(known, effect, alpha), known.have + 1)
    if known.only is not None and known.paired and sum(known.only) > 0:
        excludes = _for_margin_of_answers(known.only, known)
    elif known.sd == 0 and known.reach is not None and 0 < known.reach < 1:
        excludes = _where_nothing_varied(known, known.reach)
    elif known.sd == 0 and known.reach is not None:
        excludes = _for_margin(replace(known, sd=_sd_without_effect(known)), alpha)
    else:
        excludes = _for_margin(known, alpha)
    return Settling(None if detects is None else effect, detects, max(excludes, known.have + 1))


def _shrunk(known: Open) -> float:
    variance = (1 if known.paired else 2) * known.sd**2 / max(known.have, 1)
    if known.effect**2 <= variance:
        return 0.0
    return known.effect * (1 - variance / known.effect**2)


def _for_effect(known: Open, effect: float, alpha: float) -> int:
    """Return the sample size that detects the effect."""
    least = values_needed(0.0, known.margin, paired=known.paired, power=_POWER, alpha=alpha)
    size = abs(effect)
    if size >= _PLAIN * known.sd:
        return least
    if known.only is not None and known.paired:
        apart = min(max(_share_that_differs(known.only, known.have), size), 1.0)
        only_a, only_b = (apart - size) / 2, (apart + size) / 2
        return sample_size_mcnemar(only_a, only_b, power=_POWER, alpha=alpha)
    z = normal_quantile(1 - alpha / 2) + normal_quantile(_POWER)
    normal = (1 if known.paired else 2) * (z * known.sd / size) ** 2
    if normal >= MANY or known.have >= MANY:
        return math.ceil(normal)
    sized = sample_size_paired if known.paired else sample_size_two_sample
    return max(least, sized(size / known.sd, _POWER, alpha=alpha).n)


def _share_that_differs(only: tuple[int, int], have: int) -> float:
    """Return the number of cases that only one side answers correctly, plus one.

    Most comparisons are inconclusive because, by chance, fewer cases differed than would in a
    larger sample.
    """
    return min((sum(only) + 1) / have, 1.0)


def _for_margin_of_answers(only: tuple[int, int], known: Open) -> int:
    """Return the pairs of right or wrong answers that exclude the margin, if there is no effect.

    Both the interval of the difference and the exact ends of `share_interval.with_room` have to lie
    within the margin.
    """
    apart, margin = _share_that_differs(only, known.have), known.margin
    lean = normal_quantile((1 + _POWER) / 2)
    normal = apart * ((normal_quantile(1 - _TAIL) + lean) / margin) ** 2

    def excludes(n: int) -> bool:
        half, by = apart * n / 2, lean * math.sqrt(apart * n) / 2
        more, fewer = min(half + by, n), max(half - by, 0.0)
        most = 1 - beta_quantile(_TAIL, n - more, more + 1) if more < n else 1.0
        return most - fewer / n <= margin

    enough = 2
    while not excludes(enough):
        enough *= 2
    exact = bisect_left(range(enough), True, lo=enough // 2, key=excludes)
    return max(exact, math.ceil(normal))


def _where_nothing_varied(known: Open, reach: float) -> int:
    """Return the sample size whose interval of a share shrinks to the margin.

    For pairs it is exact, 1 - c^(1/n); for two groups z² / (n + z²), by Wilson. Solved for n.
    """
    if known.paired:
        return math.floor(known.have * math.log1p(-reach) / math.log1p(-known.margin)) + 1
    return math.ceil(known.have * reach / (1 - reach) * (1 - known.margin) / known.margin)


def _sd_without_effect(known: Open) -> float:
    """Return the sd of shares under the assumption that "all of one side right and all of the other
    wrong" was chance: of the pairs' differences, all of 1 point in size, or of the values of both
    groups.
    """
    return abs(known.effect) * (1.0 if known.paired else 0.5)


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
