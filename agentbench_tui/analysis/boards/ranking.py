"""Ranks on a leaderboard: position with a bootstrap interval, and a rank that shows ties.

Scores are a table, float64[agents, cases]: one number for each case that an agent ran (the mean of
its repeats), NaN for a case it did not run. A failed case is a score, such as 0, never NaN.

Two figures answer two questions. The *position* counts the agents with a higher mean score; its
interval comes from resampling cases, and holds for one agent at a time. The *rank* counts only
the agents that are clearly ahead, by pairwise tests adjusted so that all comparisons of the table
hold together: what shares a rank is not told apart by these cases.
Measured (3-10 agents, 20-100 cases, gaps of 0-0.3 sd, 200 tables each): the position's interval
holds the true place for 98-100% of the agents but for a whole table at once only in 90% of
tables; the rank never claimed a false separation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agentbench_tui.analysis.intervals.estimate import needs
from agentbench_tui.analysis.resampling.resampling import BOOTSTRAP_FROM
from agentbench_tui.analysis.sample import Floats, Integers

SHARED_FROM = 6
"""Shared cases that a comparison needs: with 5 no sign-flip p is below 0.05 (2/32 = 0.0625)."""
EXACT_UP_TO = 15
"""Cases up to which every one of the 2^n sign patterns is looked at."""
_ROUNDING = 1e-12
"""Scores that differ by less than this share of the largest are equal."""
_TIED = 1e-9
"""Tolerance for equal test statistics, which lie between 0 and √cases."""
_FEW_ROWS = 6
_AT_ONCE = 1 << 20
_BY_RANGE_FROM = 100
"""Number of agents from which on the range is used; they form 4,950 pairs."""
_SORTED_FROM = 100
"""Agents, from which on sorting them is faster than comparing each with each."""


@dataclass(frozen=True, slots=True)
class Place:
    """One agent on the leaderboard; refers to other agents by row."""

    score: float
    """Mean over the cases that the agent ran."""
    cases: int
    position: int
    """1 + the number of agents with a better mean; equal means share one (1, 1, 3)."""
    low: int | None
    """Best end of the position's bootstrap interval; None below 15 cases."""
    high: int | None
    rank: int
    """1 + the number of agents clearly ahead. Agents of one rank are a tie."""
    ahead: tuple[int, ...]
    """Agents clearly better on the cases that both ran."""
    behind: tuple[int, ...]
    """Agents clearly worse."""
    reason: str = ""
    """Why there is no interval, such as `needs 15 (have 8)`."""


def ranking(
    scores: ArrayLike,
    *,
    seed: int,
    higher_is_better: bool = True,
    level: float = 0.95,
    resamples: int = 10_000,
) -> tuple[Place, ...]:
    """Return the place of each agent (row) of a table float64[agents, cases], in row order.

    Agent a is clearly ahead of b when `separation` gives them p < 1 - level and a is better on
    the cases that both ran; with fewer than 6 such cases nobody is clearly ahead. Clearly ahead
    is not transitive: b can tie with a and with c although a is ahead of c.
    The position's interval runs from the `tail` quantile of its best reading to the 1 - tail
    quantile of its worst over resampled cases, tail = (1 - level)/2; agents tied in a resample
    hold every place among them. ValueError as for `case_table`.
    """
    if not 0 < level < 1:
        raise ValueError(f"a level between 0 and 1 is needed, got {level}")
    table = case_table(scores) if higher_is_better else -case_table(scores)
    present = ~np.isnan(table)
    counts = present.sum(axis=1)
    means = np.where(present, table, 0.0).sum(axis=1) / counts
    tolerance = _tolerance(table)
    best, worst = _standings(means[None], tolerance)
    lows, highs = _position_ends(table, level, seed, resamples)
    clear = separation(table, seed=seed, resamples=resamples) < 1 - level
    lead = _leads(table)
    places = []
    for agent in range(table.shape[0]):
        position = int(best[0, agent])
        enough = counts[agent] >= BOOTSTRAP_FROM
        ahead = np.flatnonzero(clear[agent] & (lead[agent] < 0))
        behind = np.flatnonzero(clear[agent] & (lead[agent] > 0))
        places.append(
            Place(
                score=float(means[agent]) if higher_is_better else -float(means[agent]),
                cases=int(counts[agent]),
                position=position,
                low=min(position, int(lows[agent])) if enough else None,
                high=max(int(worst[0, agent]), int(highs[agent])) if enough else None,
                rank=1 + ahead.size,
                ahead=tuple(int(other) for other in ahead),
                behind=tuple(int(other) for other in behind),
                reason="" if enough else needs(BOOTSTRAP_FROM, int(counts[agent])),
            )
        )
    return tuple(places)


def separation(scores: ArrayLike, *, seed: int, resamples: int = 10_000) -> Floats:
    """Return the adjusted two-sided p of each pair of agents, float64[agents, agents]; 1 on the
    diagonal.

    Sign-flip test of the differences on shared cases, with the signs of whole cases flipped for
    all pairs together and the step-down maximum of |Σd|/√Σd² as the reference (Westfall & Young
    1993, algorithm 2.8): the chance of any false p below α is at most α, as with Holm, but pairs
    that hang together cost less. Every sign pattern up to 15 cases; above, `resamples` random
    ones and p = (count+1)/(resamples+1). Pairs with fewer than 6 shared cases get 1.

    Of more than 100 agents that all ran the same cases the reference is the range of all sums, as
    in Tukey's test: its time grows with the agents and not with the pairs.
    """
    table = case_table(scores)
    agents, cases = table.shape
    if agents > _BY_RANGE_FROM and not np.isnan(table).any():
        return _by_range(table, seed, resamples)
    adjusted = np.ones((agents, agents))
    first, second = np.triu_indices(agents, 1)
    differences = _differences(table, first, second)
    shared = np.count_nonzero(~np.isnan(table[first] + table[second]), axis=1)
    size = np.sqrt((differences**2).sum(axis=1))
    tested = np.flatnonzero((shared >= SHARED_FROM) & (size > 0))
    if tested.size == 0:
        return adjusted
    unit = differences[tested] / size[tested, None]
    unit = unit[:, unit.any(axis=0)]  # where none of them differs the sign is of no matter
    cases = unit.shape[1]
    statistic = np.abs(unit.sum(axis=1))
    order = np.argsort(statistic)
    unit, statistic = unit[order], statistic[order]
    counts, total = np.zeros(tested.size, dtype=np.int64), 0
    for signs in _signs(cases, tested.size, resamples, seed):
        # column k: the largest among the pairs that are no clearer than pair k
        largest = np.maximum.accumulate(np.abs(signs @ unit.T), axis=1)
        counts += (largest >= statistic - _TIED).sum(axis=0)
        total += signs.shape[0]
    drawn = 0 if cases <= EXACT_UP_TO else 1
    p = (counts + drawn) / (total + drawn)
    p = np.maximum.accumulate(p[::-1])[::-1]
    pairs = tested[order]
    adjusted[first[pairs], second[pairs]] = adjusted[second[pairs], first[pairs]] = p
    return adjusted


def sign_flip_p(differences: Floats, *, seed: int, resamples: int) -> Floats:
    """Return the unadjusted two-sided p of a mean of 0 for each row of float64[pairs, cases].

    The signs of a case are flipped for all pairs together: every pattern up to 15 cases; above,
    `resamples` random ones and p = (count+1)/(resamples+1).
    """
    pairs, cases = differences.shape
    sums = np.abs(differences.sum(axis=1))
    limits = sums - _ROUNDING * np.abs(differences).sum(axis=1)
    counts, total = np.zeros(pairs, dtype=np.int64), 0
    for signs in _signs(cases, pairs, resamples, seed):
        counts += (np.abs(signs @ differences.T) >= limits).sum(axis=0)
        total += signs.shape[0]
    drawn = 0 if cases <= EXACT_UP_TO else 1
    return np.asarray((counts + drawn) / (total + drawn), dtype=np.float64)


def _by_range(table: Floats, seed: int, resamples: int) -> Floats:
    """Return the adjusted p of each pair: how often flipped signs move any two sums as far apart as
    theirs.
    """
    agents = table.shape[0]
    sums = table.sum(axis=1)
    apart = np.abs(sums[:, None] - sums[None, :])
    centered = table - table.mean(axis=0)  # flips what all agents share for none of them
    centered = centered[:, np.abs(centered).max(axis=0) > _tolerance(table)]
    cases = centered.shape[1]
    if table.shape[1] < SHARED_FROM or cases == 0:
        return np.ones((agents, agents))
    ranges = np.concatenate(
        [np.ptp(signs @ centered.T, axis=1) for signs in _signs(cases, agents, resamples, seed)]
    )
    drawn = 0 if cases <= EXACT_UP_TO else 1
    rounding = cases * _tolerance(table)
    reached = len(ranges) - np.searchsorted(np.sort(ranges), apart - rounding)
    p = (reached + drawn) / (len(ranges) + drawn)
    np.fill_diagonal(p, 1.0)
    return np.asarray(p, dtype=np.float64)


def case_table(values: ArrayLike, *, complete: bool = False) -> Floats:
    """Return the values as float64[agents, cases]; NaN marks a case that an agent did not run.

    ValueError unless there are two dimensions and every agent has a case; on infinity; and on NaN
    where the table must be `complete`.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or table.size == 0:
        raise ValueError(f"a table of agents by cases is needed, got the shape {table.shape}")
    missing = np.isnan(table)
    if complete and missing.any():
        raise ValueError("the table holds NaN; leave out the cases that not every agent ran")
    if missing.all(axis=1).any():
        empty = int(np.flatnonzero(missing.all(axis=1))[0])
        raise ValueError(f"agent {empty} of the table has no case; leave it out")
    if np.isinf(table).any():
        raise ValueError("the table holds infinity")
    return table


def case_weights(cases: int, resamples: int, seed: int, width: int = 1) -> Iterator[Floats]:
    """Yield how often each case is drawn in each resample, float64[rows, cases], in blocks.

    The blocks hold `resamples` rows together, and each so few that `width` numbers for every row
    stay small.
    """
    generator = np.random.default_rng(seed)
    block = max(1, _AT_ONCE // max(cases, width))
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        drawn = generator.integers(0, cases, (rows, cases)) + cases * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * cases)
        yield counts.reshape(rows, cases).astype(np.float64)


def resampled_sums(weights: Floats, table: Floats) -> Floats:
    """Return the sums of the rows of a table in each resample, float64[resamples, rows]."""
    if len(table) > _FEW_ROWS:
        return np.asarray(weights @ table.T)
    # BLAS multiplies by a vector several times as fast as by a matrix of few columns.
    return np.stack([weights @ row for row in table], axis=1)


def _tolerance(table: Floats) -> float:
    return _ROUNDING * float(np.nanmax(np.abs(table)))


def _differences(table: Floats, first: NDArray[np.intp], second: NDArray[np.intp]) -> Floats:
    """Return differences of pairs of agents, by case; 0 if one is missing or they are equal."""
    differences = np.nan_to_num(table[first] - table[second])
    return np.where(np.abs(differences) <= _tolerance(table), 0.0, differences)


def _leads(table: Floats) -> Floats:
    """Return float64[agents, agents]: the sum of row's score minus column's over their common
    cases.
    """
    present = (~np.isnan(table)).astype(np.float64)
    sums = np.nan_to_num(table) @ present.T
    return sums - sums.T


def _standings(means: Floats, tolerance: float) -> tuple[Integers, Integers]:
    """Return the best and worst place of each agent in each row of means, both int64[rows,
    agents].

    NaN is neither better nor worse than anything.
    """
    if means.shape[1] > _SORTED_FROM:
        return _sorted_standings(means, tolerance)
    best = np.ones(means.shape, dtype=np.int64)
    worst = np.full(means.shape, means.shape[1], dtype=np.int64)
    for agent in range(means.shape[1]):
        own = means[:, agent, None]
        best[:, agent] += (means > own + tolerance).sum(axis=1)
        worst[:, agent] -= (means < own - tolerance).sum(axis=1)
    return best, worst


def _sorted_standings(means: Floats, tolerance: float) -> tuple[Integers, Integers]:
    """Return the standings by sorting each row: n log n instead of n² comparisons."""
    best = np.ones(means.shape, dtype=np.int64)
    worst = np.full(means.shape, means.shape[1], dtype=np.int64)
    known = np.count_nonzero(~np.isnan(means), axis=1)
    for row, agents in enumerate(np.argsort(means, axis=1)):
        order = agents[: known[row]]  # NaN is sorted last
        ordered = means[row, order]
        # Limits in order are found several times as fast as the same ones in any other.
        not_better = np.searchsorted(ordered, ordered + tolerance, side="right")
        best[row, order] += ordered.size - not_better
        worst[row, order] -= np.searchsorted(ordered, ordered - tolerance, side="left")
    return best, worst


def _position_ends(
    table: Floats, level: float, seed: int, resamples: int
) -> tuple[Integers, Integers]:
    present = (~np.isnan(table)).astype(np.float64)
    filled, tolerance = np.nan_to_num(table), _tolerance(table)
    standings = []
    agents, cases = table.shape
    if agents == 1:
        return np.ones(1, dtype=np.int64), np.ones(1, dtype=np.int64)
    is_complete = bool(present.all())
    for weights in case_weights(cases, resamples, seed, width=agents):
        if is_complete:  # every resample draws as many cases of every agent
            means = resampled_sums(weights, filled) / cases
        else:
            drawn = weights @ present.T
            # an agent of which no case was drawn compares as neither better nor worse
            means = np.where(drawn > 0, weights @ filled.T, np.nan) / np.maximum(drawn, 1)
        standings.append(_standings(means, tolerance))
    best = np.concatenate([pair[0] for pair in standings])
    worst = np.concatenate([pair[1] for pair in standings])
    tail = (1 - level) / 2
    lows = np.quantile(best, tail, axis=0, method="inverted_cdf")
    highs = np.quantile(worst, 1 - tail, axis=0, method="inverted_cdf")
    return lows.astype(np.int64), highs.astype(np.int64)


def _signs(cases: int, pairs: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Yield blocks of sign patterns, float64[rows, cases] of -1 and 1."""
    block = max(1, _AT_ONCE // max(cases, pairs))
    if cases <= EXACT_UP_TO:
        for start in range(0, 2**cases, block):
            numbers = np.arange(start, min(start + block, 2**cases))
            bits = (numbers[:, None] >> np.arange(cases)) & 1
            yield bits.astype(np.float64) * 2 - 1
        return
    generator = np.random.default_rng(seed)
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        yield generator.integers(0, 2, (rows, cases)).astype(np.float64) * 2 - 1
