"""What a stretch of runs at one level says: where it lies, and how far runs scatter about it."""

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
"""Of a median of n normal values, times n, for large n."""


@dataclass(frozen=True, slots=True)
class Level:
    """The level of some runs, on the scale of positions."""

    middle: float
    """Median."""
    spread: float
    """Standard deviation of a run: max(1.4826 MAD, sd/2).

    The first ignores outliers, up to half of the runs; the second keeps a level whose runs take
    one of two values, and most of them the same, from looking as if it had no spread at all.
    """
    runs: int

    @classmethod
    def of(cls, positions: Floats) -> Level:
        """Of one run or more."""
        middle = median(positions.tolist())
        mad = MAD_TO_SD * median(np.abs(positions - middle).tolist())
        sd = 0.0 if positions.min() == positions.max() else float(positions.std(ddof=1))
        return cls(middle, max(mad, sd / 2), positions.size)

    @property
    def prediction_error(self) -> float:
        """Standard error of one further run about the median: s √(1 + π/2n)."""
        return self.spread * math.sqrt(1 + _MEDIAN_VARIANCE / self.runs)

    def shift_error(self, runs: int) -> float:
        """Standard error of the difference to the median of some further runs."""
        return self.spread * math.sqrt(_MEDIAN_VARIANCE * (1 / runs + 1 / self.runs))


def tamed(positions: Floats) -> Floats:
    """The positions with outliers drawn in to 4 standard deviations (1.4826 MAD) from the median.

    Outliers are rare: where 15 % or more lie further out they are a second mode, such as cold
    starts, and stay; so does everything where more than half of the values are equal.
    """
    middle = median(positions.tolist())
    distances = np.abs(positions - middle)
    reach = OUTLIER_FROM * MAD_TO_SD * median(distances.tolist())
    outliers = np.count_nonzero(distances > reach)
    if reach == 0 or outliers >= OUTLIERS_BELOW * positions.size:
        return positions
    return np.clip(positions, middle - reach, middle + reach)
