"""Between-run variance: what all answers of one run share, which one run cannot show.

Two runs of the same code differ in time by a few percent, because they meet another temperature,
another neighbor on the machine, another memory layout. From three independent draws of the run on
each side this variance is estimated from the data. With fewer it is assumed: a standard deviation
of 5% on logarithms, and a difference counts only if its interval, with that in it, lies beyond 10%.

Why these two numbers: runs on shared machines usually vary by 3-8%. The 5% and the 10% together
ask of two single runs an estimated difference of 26%, which chance exceeds in 4% of comparisons of
equal agents where runs vary by 8%, and in 0.1% where they vary by 5%. With two runs on each side
it is 21%, which chance exceeds in 2% at 8%. `benchmarks/simulations/run_luck.py` measures both.
"""

from __future__ import annotations

import math
import sys

from agentbench_tui.analysis.distribution import normal_cdf, normal_quantile
from agentbench_tui.analysis.runs.severity import BOUNDS
from agentbench_tui.analysis.sample import Floats
from agentbench_tui.analysis.scale import Scale

_LARGEST_LOG = math.log(sys.float_info.max)
ASSUMED_SD = 0.05
"""Assumed standard deviation between runs, of logarithms."""
DRAWS_NEEDED = 3
"""Independent draws of the run on each side from which on the data show the variance."""
LARGE_CHANGE = BOUNDS["ratio"][0]
"""A change that counts with fewer draws: 0.10 is a factor of 1.10."""


def between_run_sd(*sides: Floats) -> float:
    """Return the pooled standard deviation of the runs' values, but at least `ASSUMED_SD`.

    `sides`: for each side float64[runs] of logarithms. Sides of one run show no variance.
    """
    squares = sum(float(((side - side.mean()) ** 2).sum()) for side in sides if side.size)
    freedom = sum(side.size - 1 for side in sides if side.size)
    if not freedom:
        return ASSUMED_SD
    return max(ASSUMED_SD, math.sqrt(squares / freedom))


def between_run_error(draws: tuple[float, float], sd: float = ASSUMED_SD) -> float:
    """Return the standard error that the runs add to the difference of two means of logarithms.

    `draws`: independent draws of the run on each side, 1 or more.
    """
    return sd * math.sqrt(1 / draws[0] + 1 / draws[1])


def interval_with_error(
    effect: float, low: float, high: float, error: float, level: float
) -> tuple[float, float]:
    """Return the ends of an interval at `level` after an independent normal error was added.

    The distances from the effect are added as squares (Zou & Donner 2008), so that each end may lie
    at a distance of its own, which may be 0.
    """
    added = normal_quantile((1 + level) / 2) * error
    return effect - math.hypot(effect - low, added), effect + math.hypot(high - effect, added)


def ratio_interval_with_error(
    ratio: float, low: float, high: float, error: float, level: float
) -> tuple[float, float]:
    """Return `interval_with_error` of a ratio, whose interval and error are on logarithms.

    An end that no float can hold, or that is 0 already, is infinite or 0.
    """
    if not (error > 0 and 0 < ratio < math.inf):
        return low, high
    effect = math.log(ratio)
    is_low, is_high = (0 < end < math.inf for end in (low, high))
    below, above = interval_with_error(
        effect,
        math.log(low) if is_low else effect,
        math.log(high) if is_high else effect,
        error,
        level,
    )
    upper = math.exp(above) if above < _LARGEST_LOG else math.inf
    return math.exp(below) if is_low else low, upper if is_high else high


def p_of_interval(
    effect: float, low: float, high: float, level: float = 0.95, allowed: float = 0.0
) -> float:
    """Return the two-sided p that an effect is at most `allowed`, from its interval.

    It is below 1 - level where the interval lies beyond `allowed`. The end that faces 0 decides,
    taken as a normal quantile.
    """
    beyond = max(0.0, abs(effect) - allowed)
    facing = effect - low if effect > 0 else high - effect
    if beyond == 0 or facing <= 0:
        return float(beyond == 0)
    return 2 * normal_cdf(-beyond / facing * normal_quantile((1 + level) / 2))


def is_large_change(low: float, high: float) -> bool:
    """Return whether an interval of a ratio lies beyond `LARGE_CHANGE`, in either direction."""
    return low > 0 and max(low, 1 / high) >= 1 + LARGE_CHANGE


def outlasts_run_variance(
    change: float, low: float, high: float, scale: Scale, draws: tuple[float, float]
) -> bool:
    """Return whether a change is more than the between-run variance of few runs explains.

    `change`, `low` and `high` are new / old with its 95% interval, in which that variance is not
    yet included; `draws` are the independent draws of the run on both sides. With `DRAWS_NEEDED` on
    each side the interval has to include it already, and every change does. On the scale of points
    none does: how far the share of answers within a limit moves when all times move by 5% depends
    on the limit.
    """
    if min(draws) >= DRAWS_NEEDED:
        return True
    if scale.kind != "ratio" or not 0 < low <= change <= high < math.inf:
        return False
    error = between_run_error(draws)
    return is_large_change(*ratio_interval_with_error(change, low, high, error, 0.95))
