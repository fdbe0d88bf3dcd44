"""Number of runs for a mean of a given precision, from a pilot of runs.

The coefficient of variation (CV = sd / mean) does not fall with the number of runs: it is a
property of the runs. What falls is the half-width of the mean's interval, t(n-1) CV / √n as a
share of the mean. A "running CV under 5%" is therefore no sample size: it dips by luck. The
figures here take any column: times, areas under learning curves, their slopes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.distribution import normal_quantile, student_quantile
from agentbench_tui.analysis.intervals.estimate import needs
from agentbench_tui.analysis.sample import Floats, column
from agentbench_tui.model.text.plain_number import plain

_MOST_SPREADS = 1e15
"""CVs to a half-width beyond which the question is a mistake."""
_MANY_SPREADS = 1e4
"""From here on t² = z² + z² (z²+1) / 2n to within rounding (Cornish & Fisher 1937)."""
_SINH_LIMIT = 700.0
"""sinh of this still is a float."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The CV of a pilot, with its interval."""

    n: int
    """Values in the pilot."""
    mean: float
    sd: float
    """Sample standard deviation (n-1)."""
    cv: float
    """sd / |mean|, a share."""
    low: float
    high: float
    """Ends of the band of the CV: the chi-square interval of the sd, the mean taken as known."""


@dataclass(frozen=True, slots=True)
class Precision:
    """Precision of N runs, estimated from a pilot. All but `n` are shares of the mean."""

    n: int
    half_width: float
    """t(n-1) CV / √n with the CV of the whole pilot."""
    half_width_low: float
    half_width_high: float
    """The same with the ends of the pilot's band of the CV."""
    cv_low: float
    cv_high: float
    """Between these lies the true CV as far as N runs with the pilot's CV can tell.

    The CV itself is the pilot's at every N: averaged over all orders of the runs, the variance of
    the first N is exactly the variance of all.
    """


@dataclass(frozen=True, slots=True)
class PrecisionCurve:
    """Half-width against N; no points, with the reason, if a share of the mean is meaningless."""

    spread: Spread | None
    points: tuple[Precision, ...]
    """For N = 2, 3, …"""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RunsNeeded:
    """Runs that reach a half-width; no numbers, with the reason, if the pilot is not sufficient."""

    n: int | None
    low: int | None
    high: int | None
    """Ends of the band: the numbers for the ends of the band of the CV."""
    half_width: float | None
    """Half-width of the pilot itself, as a share of the mean."""
    more: int | None
    """Runs to add to the pilot; 0 when it is precise enough already."""
    reason: str = ""


def precision_n(cv: float, half_width: float, level: float = 0.95) -> int:
    """Return the smallest n >= 2 with t((1+level)/2, n-1) cv / √n <= half_width, both shares of the
    mean.

    CV 10%: half-width 5% takes 18, 2% takes 99; CV 30%: 5% takes 141.
    """
    if not 0 <= cv < math.inf:
        raise ValueError(f"a coefficient of variation of 0 or more is needed, got {cv}")
    if not 0 < half_width < math.inf:
        raise ValueError(f"a positive half-width is needed, got {half_width}")
    spreads, z = cv / half_width, normal_quantile(1 - _tail(level))
    if spreads > _MOST_SPREADS:
        raise ValueError(
            f"no number of runs brings a CV of {plain(cv)} to a half-width of {half_width}"
        )
    if spreads > _MANY_SPREADS:
        return math.ceil((z * spreads) ** 2 + (z * z + 1) / 2)
    n = max(2, math.floor((z * spreads) ** 2))  # never too many: t exceeds z
    while _half_width(cv, n, level) > half_width:
        n += 1
    return n


def half_width_curve(
    values: ArrayLike, up_to: int | None = None, level: float = 0.95
) -> PrecisionCurve:
    """Return the half-width of the mean's interval for N = 2 … `up_to` runs (the pilot's length if
    None).

    Needs two values that differ, and a mean clear of 0: values of both signs must have an interval
    of the mean that leaves 0 out. ValueError on NaN and infinity, and for `up_to` below 2.
    """
    x = column(values)
    if up_to is not None and up_to < 2:
        raise ValueError(f"a curve starts at 2 runs, got up_to = {up_to}")
    spread = _spread(x, level)
    if isinstance(spread, str):
        return PrecisionCurve(None, (), spread)
    points = []
    for n in range(2, (up_to or x.size) + 1):
        width = _half_width(1.0, n, level)
        low, high = _chi_square_factors(n, level)
        points.append(
            Precision(
                n,
                half_width=spread.cv * width,
                half_width_low=spread.low * width,
                half_width_high=spread.high * width,
                cv_low=spread.cv * low,
                cv_high=spread.cv * high,
            )
        )
    return PrecisionCurve(spread, tuple(points))


def runs_needed(
    values: ArrayLike, half_width: float, level: float = 0.95, *, logs: bool = False
) -> RunsNeeded:
    """Return the runs with which the mean is known to ± `half_width` of itself, from a pilot.

    `n` is `precision_n` of the pilot's CV; its band is wide for a small pilot, and honest about
    it: a pilot of 15 with a CV of 10% says 18 (11 to 41) for 5%. Conditions and errors as
    `half_width_curve`. Asked again while runs come in, it plans; it is no rule for stopping, which
    looks only at agreed numbers of runs (`summary.precision_reached`).

    With `logs`, for positive values only: of the geometric mean by t on logs, as that rule has it.
    Its half-width is sinh(t(n-1) s / √n) with s the sd of the logs.
    """
    x = column(values)
    if logs and (x <= 0).any():
        raise ValueError("a geometric mean needs positive values")
    spread = _spread(np.log(x) if logs else x, level, relative=not logs)
    if isinstance(spread, str):
        return RunsNeeded(None, None, None, None, None, spread)
    target = math.asinh(half_width) if logs else half_width
    reached = _half_width(spread.cv, spread.n, level)
    n = precision_n(spread.cv, target, level)
    return RunsNeeded(
        n,
        precision_n(spread.low, target, level),
        precision_n(spread.high, target, level),
        math.sinh(min(reached, _SINH_LIMIT)) if logs else reached,
        max(0, n - spread.n),
    )


def _half_width(cv: float, n: int, level: float) -> float:
    return student_quantile(1 - _tail(level), n - 1) * cv / math.sqrt(n)


def _spread(x: Floats, level: float, *, relative: bool = True) -> Spread | str:
    """Return the pilot's spread, or why no number of runs can be derived from it.

    Unless `relative`, the sd itself stands for the CV, as it does for logs.
    """
    if x.size < 2:
        return needs(2, x.size)
    if x.min() == x.max():
        return "all values are equal: no spread to plan from"
    mean, sd = float(x.mean()), float(x.std(ddof=1))
    # values of one sign are never refused, however few: their mean cannot be 0
    if relative and x.min() < 0 < x.max() and abs(mean) <= _half_width(sd, x.size, level):
        return "the mean is not clear of 0: a share of it means nothing"
    low, high = _chi_square_factors(x.size, level)
    cv = sd / abs(mean) if relative else sd
    return Spread(x.size, mean, sd, cv, cv * low, cv * high)


def _chi_square_factors(n: int, level: float) -> tuple[float, float]:
    """Return the factors on the sd of n normal values for the ends of its interval."""
    from scipy.special import gammaincinv

    df, tail = n - 1, _tail(level)
    # chi-square with df degrees of freedom is twice a gamma variable of shape df / 2
    lower, upper = 2 * gammaincinv(df / 2, [tail, 1 - tail])
    return math.sqrt(df / upper), math.sqrt(df / lower)


def _tail(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"a level between 0 and 1 is needed, got {level}")
    return (1 - level) / 2
