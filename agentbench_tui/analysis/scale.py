"""The scale on which a metric's changes are measured, and its worse direction.

Every gate works on positions: numbers whose differences are changes, and which grow as the metric
gets worse. Times, tokens, costs and throughputs change by factors, so their positions are logs;
shares (success rate, accuracy) change by points, so theirs are the shares themselves.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.sample import Floats, column

Better = Literal["lower", "higher"]
Kind = Literal["ratio", "points"]

MARGINS: dict[Kind, float] = {"ratio": 0.05, "points": 0.02}
"""The smallest change that matters, unless a metric says otherwise: a factor of 1.05, 2 points."""

_LARGEST_LOG = math.log(sys.float_info.max)
_ROUNDING = 1 - 1e-12
"""So that a change of just the size that counts does count: 0.94 - 0.92 is a little below 0.02."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Converts a metric's values to positions and back."""

    better: Better = "lower"
    kind: Kind = "ratio"
    """`points` for shares in 0 … 1; a point is 0.01."""

    def positions(self, values: ArrayLike) -> Floats:
        """Return float64[n] that grows as the metric worsens; a change of unit shifts all of it.

        ValueError on NaN and infinity, and on the ratio scale for values of 0 or less.
        """
        x = column(values)
        if self.kind == "ratio":
            if (x <= 0).any():
                raise ValueError("a value of 0 or less has no ratio; leave it out or use points")
            x = np.log(x)
        return x if self.better == "lower" else -x

    def value(self, position: float) -> float:
        """Return the metric at a position, in its own unit; infinite beyond the range of
        numbers.
        """
        signed = position if self.better == "lower" else -position
        if self.kind == "points":
            return signed
        return math.exp(signed) if signed < _LARGEST_LOG else math.inf

    def change(self, shift: float) -> float:
        """Return a difference of positions as new / old, or as new - old on the scale of points."""
        return self.value(shift)

    def interval(self, low: float, high: float) -> tuple[float, float]:
        """Return the ends of an interval of shifts as changes, in the order of the metric's
        values.
        """
        first, second = self.change(low), self.change(high)
        return (first, second) if self.better == "lower" else (second, first)

    def length(self, size: float) -> float:
        """Return a size as a difference of positions: 0.05 is a factor of 1.05 either way, or 5
        points.

        ValueError when negative.
        """
        if not size >= 0:
            raise ValueError(f"a size of 0 or more is needed, got {size}")
        return _ROUNDING * (math.log1p(size) if self.kind == "ratio" else size)

    def size(self, length: float) -> float:
        """Return a difference of positions as a size; the inverse of `length`."""
        if self.kind == "points":
            return length
        return math.expm1(length) if length < _LARGEST_LOG else math.inf

    def margin(self, margin: float | None) -> float:
        """Return the margin as a difference of positions; by default the scale's own."""
        return self.length(MARGINS[self.kind] if margin is None else margin)
