"""The hidden side of a prediction market: a random walk whose sign at resolution is the outcome.

Z_t = Z_0 + sum of N(0, 1) over ticks 1..t, and YES if Z_R > 0. Given all that has happened the
probability of YES is p_t = Phi(Z_t / sqrt(R - t)): a martingale, calibrated by construction.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.market.world import bits

if TYPE_CHECKING:
    from agentbench_tui.market.world.bits import Floats, Streams

_PRIOR_SPREAD = 0.6
"""Standard deviation of Z_0 in units of that of Z_R - Z_0: opening prices of 0.27 to 0.73, say."""
_EARLIEST = 0.5
"""Earliest resolution of a market, as a share of the world's ticks."""


@dataclass(frozen=True, slots=True)
class Belief:
    """One market's hidden path."""

    resolve_tick: int
    fair: Floats
    """float64[ticks + 1]: p_t; 0 or 1 from resolution."""
    outcome: bool


def resolve_tick(streams: Streams, market: int, ticks: int) -> int:
    """Draw the tick at which the market resolves, in the later half of the world."""
    share = float(bits.uniform(streams.fixed("resolution", market, 1))[0])
    return min(ticks, 1 + int(ticks * (_EARLIEST + (1.0 - _EARLIEST) * share)))


def draw_belief(streams: Streams, market: int, ticks: int) -> Belief:
    """Draw the hidden path of that market, from separate streams."""
    end = resolve_tick(streams, market, ticks)
    steps = bits.normal(streams.by_tick("belief", market, ticks + 1))[: end + 1, 0]
    prior = float(bits.normal(streams.fixed("prior", market, 1))[0])
    steps[0] = prior * _PRIOR_SPREAD * sqrt(end)
    walk = np.add.accumulate(steps)
    outcome = bool(walk[end] > 0.0)
    fair = np.full(ticks + 1, float(outcome))
    left = np.arange(end, 0, -1, dtype=np.float64)
    fair[:end] = bits.normal_cdf(walk[:end] / np.sqrt(left))
    return Belief(end, fair, outcome)
