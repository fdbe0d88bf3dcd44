"""Level of a stretch of runs, and the variation of runs around it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

import numpy as np

from agentbench_tui.analysis.sample import Floats
from agentbench_tui.analysis.summary import MAD_TO_SD

OUTLIER_FROM = 4.0
"""Standard deviations from the median."""
OUTLIERS_BELOW = 0.15
"""Share of the runs."""
_MEDIAN_VARIANCE = math.pi / 2
"""Variance of a median of n normal values, times n, for large n."""


@dataclass(frozen=True, slots=True)
class Level:
    """The level of some runs, on the scale of positions."""

    middle: float
    """Median."""
    spread: float
    """Standard deviation of a run, outliers drawn in (`tamed`), or half of it without that.

    Of normal runs it scatters a third less than the MAD does, so that fewer runs lie outside what
    is predicted by chance. The half keeps a level from which many runs stray from looking calm.
    """
    runs: int

    @classmethod
    def of(cls, positions: Floats) -> Level:
        """Return the level of one or more runs."""
        values = positions.tolist()  # few: plain floats are faster than arrays
        middle = median(values)
        plain = _sd(values)
        if plain == 0:
            return cls(middle, 0.0, len(values))
        reach = OUTLIER_FROM * MAD_TO_SD * median([abs(value - middle) for value in values])
        outliers = sum(abs(value - middle) > reach for value in values)
        if not 0 < outliers < OUTLIERS_BELOW * len(values) or reach == 0:
            return cls(middle, plain, len(values))
        low, high = middle - reach, middle + reach
        drawn_in = _sd([min(max(value, low), high) for value in values])
        return cls(middle, max(drawn_in, plain / 2), len(values))

    @property
    def prediction_error(self) -> float:
        """Return the standard error of one further run about the median: s √(1 + π/2n)."""
        return self.spread * math.sqrt(1 + _MEDIAN_VARIANCE / self.runs)

    def shift_error(self, runs: int) -> float:
        """Return the standard error of the difference to the median of further runs."""
        return self.spread * math.sqrt(_MEDIAN_VARIANCE * (1 / runs + 1 / self.runs))


def _sd(values: list[float]) -> float:
    if min(values) == max(values):
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum([(value - mean) ** 2 for value in values]) / (len(values) - 1))


def tamed(positions: Floats) -> Floats:
    """Return the positions with outliers limited to 4 standard deviations (1.4826 MAD) from the
    median.

    Outliers are rare: where 15% or more lie further out they are a second mode, such as cold
    starts, and stay; so does everything where more than half of the values are equal.
    """
    middle = median(positions.tolist())
    distances = np.abs(positions - middle)
    reach = OUTLIER_FROM * MAD_TO_SD * median(distances.tolist())
    outliers = np.count_nonzero(distances > reach)
    if reach == 0 or outliers >= OUTLIERS_BELOW * positions.size:
        return positions
    return np.clip(positions, middle - reach, middle + reach)


def drawn_in_spread(positions: Floats) -> float:
    """Return the standard deviation of a run, with outliers limited (`tamed`).

    For medians of several runs, which rare outliers do not move; a single further run needs the
    wider `Level.spread`.
    """
    return _sd(tamed(positions).tolist())


def dependence(positions: Floats) -> float:
    """Return the factor by which the median of consecutive runs scatters more than that of
    independent runs.

    √((1 + r)/(1 - r)) of the correlation r of each run with the one before, about a straight line
    and with outliers drawn in; at least 1, at most 3.
    """
    x = tamed(positions)
    off = x - x.mean()
    trend = np.arange(x.size) - (x.size - 1) / 2
    if x.size > 2:
        off -= trend * float(off @ trend) / float(trend @ trend)
    squares = float(off @ off)
    if squares <= 1e-18 * float(x @ x):
        return 1.0
    r = float(off[1:] @ off[:-1]) / squares + 2 / x.size  # which is about -2/n without any
    r = min(max(r, 0.0), 0.8)
    return math.sqrt((1 + r) / (1 - r))
