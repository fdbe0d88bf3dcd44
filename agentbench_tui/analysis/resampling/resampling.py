"""Resampling settings, and interval ends from resampled figures: BCa (Efron 1987) or percentile.

A bootstrap interval of few values is too narrow: it holds the mean 85-86% of the time instead of
95% at n = 5, and 91-92% at n = 15 (log-normal with log-sd 0.3). Hence a least number of values,
and ends that can be widened.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from agentbench_tui.analysis.distribution import normal_cdf, normal_quantile, student_quantile
from agentbench_tui.analysis.intervals.interval import Interval
from agentbench_tui.analysis.sample import Floats

BOOTSTRAP_FROM = 15
"""Fewer values than this get no bootstrap: it covers 85-86% instead of 95% at n = 5."""
BOOTSTRAP_UP_TO = 2_000
"""More values than this need none: t is as good by then, and takes no time."""
RESAMPLES = 10_000
"""Fewest by default."""
MOST_RESAMPLES = 100_000
"""Most by default, of short columns: there the ends of 10,000 depend on the seed too much."""
_QUICK = 4_000_000
"""Number of values drawn in about 20 ms."""
_DRAWN_AT_ONCE = 1 << 16

Side: TypeAlias = Literal["two-sided", "greater", "less"]
"""`greater` leaves the upper end open and puts all of the error below; `less` mirrors it."""
Method: TypeAlias = Literal["bca", "percentile"]


@dataclass(frozen=True, slots=True)
class Resampling:
    """Method of resampling, and of its interval."""

    seed: int = 0
    resamples: int | None = None
    """None for as many as are quick, 10,000 to 100,000."""
    level: float = 0.95
    side: Side = "two-sided"
    method: Method = "bca"
    at_least: int = BOOTSTRAP_FROM
    """Minimum number of values (or clusters) in each group for an interval; never below 2."""

    def __post_init__(self) -> None:
        if self.resamples is not None and self.resamples < 1:
            raise ValueError(f"a positive number of resamples is needed, got {self.resamples}")
        if not 0 < self.level < 1:
            raise ValueError(f"a level between 0 and 1 is needed, got {self.level}")
        if self.side not in ("two-sided", "greater", "less"):
            raise ValueError(f"side needs two-sided, greater or less, got {self.side!r}")
        if self.method not in ("bca", "percentile"):
            raise ValueError(f"method needs bca or percentile, got {self.method!r}")

    def count(self, values: int) -> int:
        """Return the number of resamples of this many values each."""
        if self.resamples is not None:
            return self.resamples
        return min(max(RESAMPLES, _QUICK // max(values, 1)), MOST_RESAMPLES)


DEFAULT = Resampling()


@dataclass(frozen=True, slots=True, eq=False)
class Bootstrap:
    """An estimate, its interval, and the resampled estimates for a plot."""

    estimate: float
    interval: Interval
    resampled: Floats
    """float64[B], in order of drawing."""
    bias: float
    """z0, the distance of the median of `resampled` from the estimate; 0 for percentile ends."""
    acceleration: float
    """Growth of the standard error with the estimate; 0 for percentile ends."""
    seed: int


def percentile_bootstrap(
    estimate: float, resampled: Floats, how: Resampling, name: str
) -> Bootstrap:
    """Return the result of external resampling, with percentile ends."""
    low, high = ends(resampled, how)
    interval = Interval(low, high, how.level, method_words("percentile", name, how, resampled.size))
    return Bootstrap(estimate, interval, resampled, 0.0, 0.0, how.seed)


def blocks(resamples: int, drawn: int) -> list[slice]:
    """Return the resamples in slices, each of which draws a bounded number of values."""
    rows = max(1, _DRAWN_AT_ONCE // max(drawn, 1))
    return [slice(at, min(at + rows, resamples)) for at in range(0, resamples, rows)]


def streams(a: Floats, b: Floats, seed: int) -> list[np.random.Generator]:
    """Return a generator for each group, seeded by its content: swapped groups give mirrored
    results.
    """
    generators = np.random.default_rng(seed).spawn(2)
    in_order = (a.size, a.tolist()) <= (b.size, b.tolist())
    return generators if in_order else generators[::-1]


def bias_correction(resampled: Floats, estimate: float, closeness: float) -> float:
    """Return z0 = Φ⁻¹(share of resampled figures below the estimate); ties, up to closeness, count
    half.

    Kept finite where all lie on one side: half a resample is put on the other.
    """
    below = np.count_nonzero(resampled < estimate - closeness)
    tied = np.count_nonzero(np.abs(resampled - estimate) <= closeness)
    least = 0.5 / resampled.size
    return normal_quantile(min(max((below + tied / 2) / resampled.size, least), 1 - least))


def ends(
    resampled: Floats,
    how: Resampling,
    bias: float = 0.0,
    acceleration: float = 0.0,
    units: int | None = None,
) -> tuple[float, float]:
    """Return the BCa ends Φ(z0 + (z0 + z) / (1 - a (z0 + z))) of the resampled figures, linear
    (type 7).

    With no bias and no acceleration they are the percentile ends. `units`, the number of values
    resampled, widens: see `bootstrap_mean`. The end that `how.side` leaves open is infinite.
    """
    tail = (1 - how.level) / (2 if how.side == "two-sided" else 1)
    if units is None:
        z = -normal_quantile(tail)
    else:
        z = -student_quantile(tail, units - 1) * math.sqrt(units / (units - 1))

    def end(z: float) -> float:
        shifted = bias + z
        room = 1 - acceleration * shifted
        if room <= 0:  # beyond what the expansion can tell: the outermost resample
            return float(resampled.max() if shifted > 0 else resampled.min())
        return float(np.quantile(resampled, normal_cdf(bias + shifted / room)))

    low = -math.inf if how.side == "less" else end(-z)
    high = math.inf if how.side == "greater" else end(z)
    return low, high


def method_words(kind: str, name: str, how: Resampling, resamples: int) -> str:
    """Describe the method for a reader."""
    sided = "" if how.side == "two-sided" else f", one-sided ({how.side})"
    return f"{kind} bootstrap of the {name}{sided}, {resamples:,} resamples, seed {how.seed}"
