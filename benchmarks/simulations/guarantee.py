"""What a verdict guarantees, and how a simulation measures it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Rate:
    """How often something happened in independent trials."""

    hits: int
    trials: int

    @property
    def share(self) -> float:
        return self.hits / self.trials

    @property
    def standard_error(self) -> float:
        """Of the share; one hit more and one trial more keep it above 0 at 0 hits."""
        share = (self.hits + 1) / (self.trials + 2)
        return math.sqrt(share * (1 - share) / self.trials)


@dataclass(frozen=True, slots=True)
class Guarantee:
    """One row of the table: a claim with its bounds, and the simulation that measures it."""

    topic: str
    """The verdict and the design, such as `compare, times, two runs each, run luck 3%`."""
    event: str
    """What is counted, such as `equal agents called different`."""
    measure: Callable[[int, np.random.Generator], Rate]
    """Runs so many trials with this generator."""
    trials: int
    """Of the small size, which takes seconds."""
    highest: float = 1.0
    lowest: float = 0.0
    """Bounds of the share, both included."""
    assumes: str = ""
    """What the data must satisfy."""
    breaks: str = ""
    """What makes the rate worse than the bound."""

    def is_held_by(self, rate: Rate) -> bool:
        """Whether the rate is within the bounds, up to two standard errors of the trials."""
        slack = 2 * rate.standard_error
        return self.lowest - slack <= rate.share <= self.highest + slack
