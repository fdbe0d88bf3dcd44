"""Ranks by a ratio of totals, such as cost ÷ right answers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.distribution import student_cdf
from agentbench_tui.analysis.estimate import Estimate, needs
from agentbench_tui.analysis.ranking import SHARED_FROM, separation
from agentbench_tui.verdicts.standing import ALPHA, SEED, Standings, from_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.analysis.scale import Better

_FLIPPED_UP_TO = 1_000
_FEWEST_DRAWS, _DRAWS_A_PAIR = 5_000, 60
"""Draws of signs: so many that the least p is below 5% after all pairs were adjusted."""


def by_ratios(
    tops: Floats,
    bottoms: Floats,
    scores: Sequence[Estimate],
    better: Better,
    alpha: float = ALPHA,
) -> Standings:
    """Rank agents by Σ tops ÷ Σ bottoms, both float64[agents, units], such as cost ÷ right answers.

    Two agents of one ratio R have Σ(top - R bottom) = 0, each of them. So a pair is tested by
    flipping the signs of the difference of both, unit by unit, with the ratio of the two together
    for R (above 1,000 units by t); pairs are adjusted by Holm. `scores` are the ratios.
    Measured (4 agents, 10-100 cases, costs of log-sd 0.5 and 1, 400 tables each): equal agents, 30
    and 80% right, were told apart in 2-6% of the tables, and agents of one ratio, two of which pay
    half and are right half as often, in 4-6% from 30 cases on and in 8% at 15.
    """
    agents, units = tops.shape
    pairs = [(a, b) for a in range(agents) for b in range(a)]
    draws = round(max(_FEWEST_DRAWS, len(pairs) * _DRAWS_A_PAIR * ALPHA / alpha))

    def p_of(a: int, b: int) -> float:
        below = float(bottoms[a].sum() + bottoms[b].sum())
        ratio = float(tops[a].sum() + tops[b].sum()) / below
        rest = [tops[row] - ratio * bottoms[row] for row in (a, b)]
        if units <= _FLIPPED_UP_TO:
            return float(separation(np.array(rest), seed=SEED, resamples=draws)[0, 1])
        return _paired_t(rest[0] - rest[1])

    p = {pair: p_of(*pair) for pair in pairs} if units >= SHARED_FROM else {}
    reason = "" if p or agents == 1 else f"{needs(SHARED_FROM, units)} independent cases"
    method = "ratios of totals by case: sign flips, Holm"
    return from_pairs(scores, p, better, method, reason, alpha)


def _paired_t(differences: Floats) -> float:
    """Two-sided p of a mean of 0."""
    error = float(differences.std(ddof=1)) / math.sqrt(differences.size)
    if error == 0:
        return 1.0
    return min(1.0, 2 * student_cdf(-abs(float(differences.mean())) / error, differences.size - 1))
