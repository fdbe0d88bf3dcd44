"""Test and interval of a paired mean, or of a ratio of paired totals, by flipping signs.

Without an effect each difference is as likely to have the other sign. Flipping the signs of a
subset leaves the sum at least as far from 0 exactly when the subset's own mean is on the other side
of 0, so that the means of all subsets are what the interval is read from (typical values, Hartigan
1969). Test and interval come from the same subsets and cannot contradict each other.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.intervals.confidence import least_count
from agentbench_tui.analysis.resampling.permutation import (
    DRAWS,
    FLIPPED_UP_TO,
    SUBSETS,
    TIED,
    in_eights,
)
from agentbench_tui.analysis.sample import Floats, column

FEWEST_FLIPPED = 6
"""Number of units with which a two-sided p can fall below 0.05; 5 reach 2 / 2^5 = 0.0625."""


class SignFlips(msgspec.Struct, frozen=True, eq=False):
    """See `agentbench_tui.analysis.intervals.confidence.Confidence`."""

    typical: Floats
    """Ascending: Σ tops / Σ bottoms of each subset that is not empty."""
    empty: int
    """Subsets without flipped signs, which are as extreme as the observation."""
    exact: bool
    """Whether all subsets were used, or some drawn."""

    @property
    def of(self) -> int:
        """Return the total number of subsets."""
        return self.typical.size + self.empty

    def rejects_up_to(self, value: float) -> float:
        below = int(np.searchsorted(self.typical, value, side="right"))
        return (below + self.empty) / self.of

    def rejects_from(self, value: float) -> float:
        above = self.typical.size - int(np.searchsorted(self.typical, value, side="left"))
        return (above + self.empty) / self.of

    def ends(self, tail: float) -> tuple[float, float]:
        place = least_count(tail, self.of) - self.empty - 1
        if place < 0:
            return -np.inf, np.inf
        return float(self.typical[place]), float(self.typical[-1 - place])


def sign_flips(
    tops: ArrayLike,
    bottoms: ArrayLike | None = None,
    *,
    null: float = 0.0,
    seed: int = 0,
    draws: int = DRAWS,
) -> SignFlips | None:
    """Flip signs of tops - θ bottoms, one row per independent unit. None without any.

    `bottoms` are the sizes of clusters, or the totals of a control; ones by default. All subsets of
    up to 15 units are tried; above, `draws` random ones, of which what was seen is one more
    (Phipson & Smyth 2010). Values that differ from `null` by rounding count as `null`.
    """
    top = column(tops)
    bottom = np.ones(top.size) if bottoms is None else column(bottoms)
    if bottom.size != top.size:
        raise ValueError(f"{top.size} tops but {bottom.size} bottoms")
    if top.size == 0:
        return None
    exact = top.size <= FLIPPED_UP_TO
    if exact:
        sums = _all_subsets(top), _all_subsets(bottom)
    else:
        sums = _drawn_subsets(top, bottom, np.random.default_rng(seed), draws)
    over, under = sums
    # A subset of nothing but free units of the control has an infinite ratio, none that is unknown.
    is_empty = (under <= 0) & (over <= 0)
    known = ~is_empty
    with np.errstate(over="ignore", divide="ignore"):  # infinite is beyond every null
        typical = over[known] / under[known]
    size = float(np.abs(top).sum() + abs(null) * bottom.sum())
    is_null = np.abs(over[known] - null * under[known]) <= TIED * size
    typical = np.sort(np.where(is_null, null, typical))
    return SignFlips(typical, int(is_empty.sum()) + (0 if exact else 1), exact)


def _all_subsets(values: Floats) -> Floats:
    """Return the sum of every subset, the empty one first."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums


def _drawn_subsets(
    top: Floats, bottom: Floats, generator: np.random.Generator, draws: int
) -> tuple[Floats, Floats]:
    """Return the sums of both columns over random subsets: one byte chooses among eight units."""
    over, under = np.zeros(draws), np.zeros(draws)
    for eight, below in zip(in_eights(top), in_eights(bottom), strict=True):
        chosen = generator.integers(0, 256, draws, dtype=np.uint8)
        over += (SUBSETS @ eight)[chosen]
        under += (SUBSETS @ below)[chosen]
    return over, under
