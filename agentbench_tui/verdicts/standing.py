"""Ranks that show ties: who is clearly ahead of whom, by cases, by whole repeats, or by intervals.

However it was found out, an agent's rank is 1 + the number of those clearly ahead of it, with all
pairs of the table adjusted together. Position is the place by the bare score.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.distribution import (
    normal_cdf,
    normal_quantile,
    student_cdf,
    student_quantile,
)
from agentbench_tui.analysis.estimate import Estimate, needs
from agentbench_tui.analysis.multiplicity import holm
from agentbench_tui.analysis.ranking import ranking
from agentbench_tui.analysis.severity import BOUNDS

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.analysis.scale import Better


ALPHA = 0.05
SEED = 42
_DRAWN = 40_000_000
"""Values that all resamples together may draw, or compare; then fewer resamples do."""
_BY_THE_HOUR = math.log1p(BOUNDS["ratio"][0])
"""What a time may differ by from run to run, on logs."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One agent of a table; others are told by their row in it."""

    score: float
    low: float | None
    high: float | None
    """95 % interval of the score alone."""
    position: int
    """1 + how many have a better score; equal ones share it."""
    rank: int
    """1 + how many are clearly ahead."""
    rank_low: int | None
    rank_high: int | None
    """95 % interval of the position."""
    ahead_of: tuple[int, ...]
    behind: tuple[int, ...]
    reason: str = ""
    """Why there is no interval, or nobody is clearly ahead."""


@dataclass(frozen=True, slots=True)
class Standings:
    """A whole table, in the order of its rows."""

    rows: tuple[Standing, ...]
    method: str

    def labels(self) -> list[str]:
        """Ranks as they are written: `1=` where several share it."""
        return rank_labels([row.rank for row in self.rows])


def rank_labels(ranks: Sequence[int | None]) -> list[str]:
    """`1`, or `1=` where several share it; `–` where there is none."""
    count = Counter(ranks)
    return ["–" if rank is None else f"{rank}=" if count[rank] > 1 else str(rank) for rank in ranks]


def mean_of_scores(scores: Sequence[Estimate]) -> Estimate:
    """Mean of scores that are independent of each other, with an interval where all have one: each
    end as far from the mean as the ends of the scores, added as squares."""
    count = len(scores)
    values = [one.value for one in scores if one.value is not None]
    if not count or len(values) < count:
        return Estimate(None, None, None, count, "mean of scores")
    mean = sum(values) / count
    below, above = 0.0, 0.0
    for value, of in zip(values, scores, strict=True):
        if of.low is None or of.high is None:
            return Estimate(mean, None, None, count, "mean of scores")
        below += (value - of.low) ** 2
        above += (of.high - value) ** 2
    low, high = mean - math.sqrt(below) / count, mean + math.sqrt(above) / count
    return Estimate(mean, low, high, count, "mean of scores")


def by_cases(
    table: Floats, scores: Sequence[Estimate], better: Better, resamples: int = 10_000
) -> Standings:
    """From float64[agents, units] without gaps: what each agent got on each independent unit.

    Units are cases, or clusters of them. The interval of the position is a bootstrap over units,
    and who is clearly ahead is tested by flipping signs (see `analysis.ranking`).
    """
    agents, units = table.shape
    resamples = max(1_000, min(resamples, _DRAWN // max(units, agents * (agents - 1) // 2)))
    places = ranking(
        table, seed=SEED, higher_is_better=better == "higher", level=1 - ALPHA, resamples=resamples
    )
    rows = [
        Standing(
            place.score,
            of.low,
            of.high,
            place.position,
            place.rank,
            place.low,
            place.high,
            place.behind,
            place.ahead,
            f"{place.reason} independent cases" if place.reason else "",
        )
        for place, of in zip(places, scores, strict=True)
    ]
    method = f"by case: sign flips, step-down maximum; {resamples:,} resamples, seed {SEED}"
    return Standings(tuple(rows), method)


def by_repeats(
    samples: Sequence[Sequence[Floats]],
    better: Better,
    *,
    share: bool,
    hours: Sequence[Set[int]] = (),
) -> Standings:
    """From one value for each whole repeat, by agent and place; all have values of every place.

    The score is the mean over places of the repeats' mean, geometric where all values are above 0
    (but for shares). Pairs are tested by Welch's t with the places as strata, adjusted by Holm;
    where nothing varies, by the exact rank test of one place, which needs 4 repeats a side.
    Measured (4 log-normal agents, 2-15 repeats, 1 or 4 places, 300 tables each): equal agents were
    told apart in 1-5 % of the tables, and the interval always held the true place of all four.
    `hours`, of what the machine has a say in: the runs of each agent. All repeats of a run share
    its hour, so that of two agents without a common run it is tested whether they differ by more
    than 10 %, as `compare` has it.
    """
    on_logs = not share and all((one > 0).all() for places in samples for one in places)
    columns = [[np.log(one) if on_logs else one for one in places] for places in samples]
    strata = [_Strata.of(places) for places in columns]
    fewest = min(len(one) for places in samples for one in places)
    scores = [_score(one, on_logs=on_logs) for one in strata]

    def apart(a: int, b: int) -> bool:
        return bool(hours) and hours[a].isdisjoint(hours[b])

    p = {
        (a, b): _welch(strata[a], strata[b], _BY_THE_HOUR if on_logs and apart(a, b) else 0.0)
        for a in range(len(strata))
        for b in range(a)
        if strata[a].known and strata[b].known
    }
    kind = "Welch's t on logarithms" if on_logs else "Welch's t"
    reason = "" if fewest > 1 else f"{needs(2, fewest)} repeats"
    return _from_pairs(scores, p, better, f"by whole repeats: {kind}, Holm", reason)


def by_intervals(scores: Sequence[Estimate], better: Better) -> Standings:
    """From scores with 95 % intervals of their own, taken as independent of each other.

    The interval of a difference is the one of Zou & Donner (2008), which is exact where both ends
    lie equally far; pairs are adjusted by Holm. Answers to the same questions hang together, so
    that this finds fewer differences than a comparison case by case.
    Measured (4 equal agents, yes/no on 20-200 cases with Wilson's interval, 300 tables each): told
    apart in 0-5 % of the tables.
    """
    p = {
        (a, b): _apart(scores[a], scores[b])
        for a in range(len(scores))
        for b in range(a)
        if None not in (scores[a].low, scores[b].low)
    }
    lacking = any(one.low is None for one in scores)
    reason = "a score without an interval" if lacking else ""
    return _from_pairs(scores, p, better, "by intervals: Zou & Donner, Holm", reason)


def _from_pairs(
    scores: Sequence[Estimate],
    p: dict[tuple[int, int], float],
    better: Better,
    method: str,
    reason: str,
) -> Standings:
    """Ranks from p of pairs. The interval of the position follows from them: all that are clearly
    ahead stay ahead (Mogstad et al. 2024)."""
    adjusted = dict(zip(p, holm(list(p.values())), strict=True)) if p else {}
    sign = 1 if better == "higher" else -1
    values = [sign * (one.value if one.value is not None else -math.inf) for one in scores]
    count = len(values)
    rows = []
    for row, (value, of) in enumerate(zip(values, scores, strict=True)):
        clear = [
            other
            for other in range(count)
            if adjusted.get((max(row, other), min(row, other)), 1.0) < ALPHA
        ]
        behind = tuple(other for other in clear if values[other] > value)
        ahead_of = tuple(other for other in clear if values[other] < value)
        tested = sum(row in pair for pair in adjusted) == count - 1
        rows.append(
            Standing(
                float(of.value) if of.value is not None else math.nan,
                of.low,
                of.high,
                1 + sum(other > value for other in values),
                1 + len(behind),
                1 + len(behind) if tested else None,
                count - len(ahead_of) if tested else None,
                ahead_of,
                behind,
                "" if tested else reason,
            )
        )
    return Standings(tuple(rows), method)


@dataclass(frozen=True, slots=True)
class _Strata:
    """Mean over places with its error; variances are those of the places' means."""

    mean: float
    variances: tuple[float, ...]
    freedom: tuple[int, ...]
    known: bool
    """Whether every place has two values or more."""

    @classmethod
    def of(cls, places: Sequence[Floats]) -> _Strata:
        k = len(places)
        known = all(len(one) > 1 for one in places)
        return cls(
            float(np.mean([one.mean() for one in places])),
            tuple(float(one.var(ddof=1)) / len(one) / k**2 for one in places) if known else (),
            tuple(len(one) - 1 for one in places),
            known,
        )


def _freedom(variances: Sequence[float], freedom: Sequence[int]) -> float:
    """Satterthwaite's degrees of freedom of a sum of variances."""
    total = sum(variances)
    below = sum((v / total) ** 2 / n for v, n in zip(variances, freedom, strict=True))
    return 1 / below


def _score(of: _Strata, *, on_logs: bool) -> Estimate:
    back = np.exp if on_logs else np.asarray
    total = sum(of.variances)
    if not of.known:
        return Estimate(float(back(of.mean)), None, None, 1, "mean over places")
    half = 0.0
    if total > 0:
        t = student_quantile(1 - ALPHA / 2, _freedom(of.variances, of.freedom))
        half = t * math.sqrt(total)
    value, low, high = (float(back(of.mean + by)) for by in (0.0, -half, half))
    return Estimate(value, low, high, len(of.freedom), "mean over places")


def _welch(a: _Strata, b: _Strata, allowed: float = 0.0) -> float:
    """Two-sided p of the difference of two means, or of how far it lies beyond what is allowed."""
    difference = max(0.0, abs(a.mean - b.mean) - allowed)
    variances = (*a.variances, *b.variances)
    total = sum(variances)
    if total == 0:  # t has nothing to divide by: the chance of just this split of the repeats
        splits = min(math.comb(n + m + 2, n + 1) for n, m in zip(a.freedom, b.freedom, strict=True))
        return 1.0 if difference == 0 else min(1.0, 2 / splits)
    df = _freedom(variances, (*a.freedom, *b.freedom))
    return min(1.0, 2 * student_cdf(-difference / math.sqrt(total), df))


def _apart(a: Estimate, b: Estimate) -> float:
    """Two-sided p of the difference of two estimates, from the ends that face each other."""
    if a.value is None or b.value is None:
        return 1.0
    upper, lower = (a, b) if a.value >= b.value else (b, a)
    difference = abs(a.value - b.value)
    assert upper.low is not None
    assert lower.high is not None
    assert upper.value is not None
    assert lower.value is not None
    reach = math.hypot(upper.value - upper.low, lower.high - lower.value)
    if difference == 0:
        return 1.0
    if reach == 0:
        return 0.0
    return 2 * normal_cdf(-normal_quantile(1 - ALPHA / 2) * difference / reach)
