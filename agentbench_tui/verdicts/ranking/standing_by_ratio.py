"""Ranks by a ratio of totals, such as cost ÷ right answers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.boards.ranking import EXACT_UP_TO, SHARED_FROM, sign_flip_p
from agentbench_tui.analysis.differences.ratio_of_sums_effect import Sums, paired_sums_effect
from agentbench_tui.analysis.distribution import student_cdf
from agentbench_tui.analysis.intervals.estimate import Estimate, needs
from agentbench_tui.verdicts.ranking.standing import ALPHA, SEED, Standings, from_pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.analysis.scale import Better

_FEWEST_DRAWS, _DRAWS_A_PAIR = 5_000, 60
"""Number of sign draws: enough for p below 5% after adjustment for all pairs."""
_MOST_FLIPS = 30_000_000_000
"""Signs that all draws flip in all pairs: a few seconds. They grow with the square of the pairs."""


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
    for R; by t where that takes too long (more than about 65 agents on 100 cases). Pairs are
    adjusted by Holm. `scores` are the ratios.
    Measured (4 agents, 10-100 cases, costs of log-sd 0.5 and 1, 400 tables each): equal agents, 30
    and 80% right, were told apart in 2-6% of the tables, and agents of one ratio, two of which pay
    half and are right half as often, in 4-6% from 30 cases on and in 8% at 15.
    """
    agents, units = tops.shape
    pairs = [(a, b) for a in range(agents) for b in range(a)]
    draws = round(max(_FEWEST_DRAWS, len(pairs) * _DRAWS_A_PAIR * ALPHA / alpha))
    patterns = 2**units if units <= EXACT_UP_TO else draws
    by_flips = patterns * units * len(pairs) <= _MOST_FLIPS
    differences = (_difference(tops, bottoms, a, b) for a, b in pairs)
    found: Iterable[float] = ()
    if pairs and units >= SHARED_FROM:
        found = (
            sign_flip_p(np.array([*differences]), seed=SEED, resamples=draws).tolist()
            if by_flips
            else map(_paired_t, differences)
        )
    p = np.full((agents, agents), np.nan)
    for pair, value in zip(pairs, found, strict=False):
        p[pair] = value
    method = f"ratios of totals by case: {'sign flips' if by_flips else 't'}, Holm"
    reason = (
        ""
        if units >= SHARED_FROM or agents == 1
        else f"{needs(SHARED_FROM, units)} independent cases"
    )
    return from_pairs(scores, p, better, method, reason, alpha)


def by_ratios_of_sums(
    sums: Sequence[Sums],
    scores: Sequence[Estimate],
    better: Better,
    alpha: float = ALPHA,
    *,
    share: bool,
) -> Standings:
    """Rank agents by ratios of sums over the same independent units, pairs by the test of
    `compare`, adjusted by Holm. `scores` are the ratios.
    """
    agents, units = len(sums), len(sums[0].top)
    p, reasons = np.full((agents, agents), np.nan), []
    for row in range(agents):
        for other in range(row):
            found = paired_sums_effect(sums[other], sums[row], share=share)
            if found.p is None:
                reasons.append(found.reason)
            else:
                p[row, other] = found.p
    reason = next(iter(reasons), "")
    if units < SHARED_FROM and agents > 1:
        reason = f"{needs(SHARED_FROM, units)} independent cases"
    return from_pairs(scores, p, better, "ratios of sums by case: jackknife t, Holm", reason, alpha)


def _difference(tops: Floats, bottoms: Floats, a: int, b: int) -> Floats:
    """Return the deviation of a from the common ratio of both minus that of b, by unit."""
    ratio = float(tops[a].sum() + tops[b].sum()) / float(bottoms[a].sum() + bottoms[b].sum())
    return np.asarray((tops[a] - tops[b]) - ratio * (bottoms[a] - bottoms[b]))


def _paired_t(differences: Floats) -> float:
    """Return two-sided p of a mean of 0."""
    error = float(differences.std(ddof=1)) / math.sqrt(differences.size)
    if error == 0:
        return 1.0
    return min(1.0, 2 * student_cdf(-abs(float(differences.mean())) / error, differences.size - 1))
