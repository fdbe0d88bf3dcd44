"""Ranks that show ties: which agents are clearly ahead, by cases, whole repeats, or intervals.

An agent's rank is 1 + the number of agents clearly ahead of it, with all pairs of the table
adjusted together. Its position is the place by the score alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from agentbench_tui.analysis.boards.ranking import ranking
from agentbench_tui.analysis.differences.multiplicity import holm
from agentbench_tui.analysis.distribution import (
    normal_quantile,
    student_quantile,
)
from agentbench_tui.analysis.intervals.estimate import Estimate, needs
from agentbench_tui.analysis.runs.between_run import ASSUMED_SD, LARGE_CHANGE, between_run_error
from agentbench_tui.analysis.sample import random_groups
from agentbench_tui.verdicts.ranking.interval_differences import interval_differences
from agentbench_tui.verdicts.ranking.repeat_differences import (
    Strata,
    freedom_of_sum,
    repeat_differences,
)

if TYPE_CHECKING:
    from agentbench_tui.analysis.sample import Floats, Integers
    from agentbench_tui.analysis.scale import Better


ALPHA = 0.05
SEED = 42
_DRAWN = 40_000_000
"""Values that all resamples together may draw, or compare; then fewer resamples do."""
_MOST_UNITS = 40_000
"""Number of units up to which units are resampled; above it, groups of them are."""
_GROUPS = 2_000
Runs = Sequence[Set[int]]
"""Keys of one agent's runs at each place."""


class Standing(msgspec.Struct, frozen=True):
    """One agent of a table; refers to other agents by row."""

    score: float
    low: float | None
    high: float | None
    """95% interval of the score alone."""
    position: int
    """1 + how many have a better score; equal ones share it."""
    rank: int
    """1 + how many are clearly ahead."""
    rank_low: int | None
    rank_high: int | None
    """95% interval of the position."""
    ahead_of: tuple[int, ...]
    behind: tuple[int, ...]
    reason: str = ""
    """Why there is no interval, or no agent is clearly ahead."""


class Standings(msgspec.Struct, frozen=True):
    """A whole table, in row order."""

    rows: tuple[Standing, ...]
    method: str

    def labels(self) -> list[str]:
        """Format ranks: `1=` if several share it."""
        return rank_labels([row.rank for row in self.rows])


def rank_labels(ranks: Sequence[int | None]) -> list[str]:
    """Format a rank: `1`, or `1=` if several share it; `–` if there is none."""
    count = Counter(ranks)
    return ["–" if rank is None else f"{rank}=" if count[rank] > 1 else str(rank) for rank in ranks]


def by_cases(
    table: Floats,
    scores: Sequence[Estimate],
    better: Better,
    resamples: int = 10_000,
    alpha: float = ALPHA,
) -> Standings:
    """Rank by complete float64[agents, units]: each agent's value on each independent unit.

    Units are cases, or clusters of them. The interval of the position is a bootstrap over units,
    and which agents are clearly ahead is tested by sign flips (see `analysis.boards.ranking`); more
    than 40,000 units are combined into random groups.
    """
    grouped = ""
    if table.shape[1] > _MOST_UNITS:
        table = random_groups(table, _GROUPS, SEED)
        grouped = f" of {_GROUPS:,} random groups of cases"
    agents, units = table.shape
    resamples = max(1_000, min(resamples, _DRAWN // max(units, agents * (agents - 1) // 2)))
    places = ranking(
        table, seed=SEED, higher_is_better=better == "higher", level=1 - alpha, resamples=resamples
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
    method = "by case: sign flips, step-down maximum; "
    method += f"{resamples:,} resamples{grouped}, seed {SEED}"
    return Standings(tuple(rows), method)


def by_repeats(
    samples: Sequence[Sequence[Floats]],
    better: Better,
    *,
    share: bool,
    runs: Sequence[Runs] = (),
    alpha: float = ALPHA,
) -> Standings:
    """Rank agents by one value per whole repeat, by agent and place; none may be missing.

    The score is the mean over places of the repeats' mean, geometric where all values are above 0
    (but for shares). Pairs are tested by Welch's t with the places as strata, adjusted by Holm;
    where nothing varies, by the exact rank test of one place, which needs 4 repeats per agent.
    Measured (4 log-normal agents, 2-15 repeats, 1 or 4 places, 300 tables each): equal agents were
    told apart in 1-5% of the tables, and the interval always held the true place of all four.

    `runs`: of each agent the runs at each place, for a metric in which the machine has a say. All
    repeats of a run share its luck. So two agents that were not measured in the same runs differ
    only if they differ by more than 10%, with the assumed between-run variance in the error (see
    `analysis.runs.between_run`); the score's interval includes it, too. Holm's adjustment makes the
    allowance grow with the number of pairs. Shares of answers within a limit are not told apart
    then, since what 5% of the time does to them is not known.
    """
    on_logs = not share and all((one > 0).all() for places in samples for one in places)
    columns = [[np.log(one) if on_logs else one for one in places] for places in samples]
    strata = [Strata.of(places) for places in columns]
    fewest = min(len(one) for places in samples for one in places)
    is_apart = bool(runs) and any(one != runs[0] for one in runs)
    own = [_run_error(one, on_logs=on_logs) if is_apart and not share else 0.0 for one in strata]
    scores = [
        _score(one, on_logs=on_logs, run_error=error)
        for one, error in zip(strata, own, strict=True)
    ]

    p = repeat_differences(strata)
    if is_apart:
        means = np.abs([one.mean for one in strata])
        largest = np.maximum.outer(means, means)
        allowed = np.full_like(p, math.log1p(LARGE_CHANGE)) if on_logs else LARGE_CHANGE * largest
        beyond = repeat_differences(strata, allowed, np.hypot.outer(own, own))
        if share:
            beyond[~np.isnan(beyond)] = 1.0
        p = np.where(_equal_pairs(runs), p, beyond)
    kind = "Welch's t on logarithms" if on_logs else "Welch's t"
    method = f"by whole repeats: {kind}, Holm"
    if is_apart:
        method += f"; {100 * ASSUMED_SD:.0f}% assumed between runs"
    reason = "" if fewest > 1 else f"{needs(2, fewest)} repeats (--runs 5)"
    return from_pairs(scores, p, better, method, reason, alpha)


def _run_error(of: Strata, *, on_logs: bool) -> float:
    """Return the standard error that one run adds to the mean of an agent."""
    error = between_run_error((1, math.inf))
    return error if on_logs else error * abs(of.mean)


class RunLuck(msgspec.Struct, frozen=True):
    """Effect of the between-run variance on scores from different runs."""

    runs: Sequence[Runs]
    wide: Sequence[Estimate]
    """The scores with the assumed between-run variance in their intervals."""
    large: Sequence[float]
    """Change of each score when its times change by 10%: a difference counts if it is larger."""


def by_intervals(
    scores: Sequence[Estimate], better: Better, luck: RunLuck | None = None
) -> Standings:
    """Rank by scores with 95% intervals, treated as independent of each other.

    The interval of a difference is the one of Zou & Donner (2008), which is exact where both ends
    lie equally far; pairs are adjusted by Holm. Answers to the same questions hang together, so
    that this finds fewer differences than a comparison case by case.
    Measured (4 equal agents, yes/no on 20-200 cases with Wilson's interval, 300 tables each): told
    apart in 0-5% of the tables.

    `luck`: of scores that rest on times. Two agents that were not measured in the same runs are
    compared by the wide intervals, beyond what a change of 10% does; all are shown with these.
    Measured (2-20 equal agents in as many runs, a logarithmic rubric, 400 tables each): told apart
    in 0-1% of the tables where runs differ by 3-6%, in 5% of those of 2 to 4 agents at 8%.
    """

    p = interval_differences(scores)
    if luck is not None:
        large = np.asarray(luck.large, np.float64)
        wide = interval_differences(luck.wide, np.maximum.outer(large, large))
        p = np.where(_equal_pairs(luck.runs), p, wide)
    lacking = any(one.low is None for one in scores)
    reason = "a score without an interval" if lacking else ""
    method = "by intervals: Zou & Donner, Holm"
    if luck is not None:
        method += f"; {100 * ASSUMED_SD:.0f}% assumed between runs"
    return from_pairs(scores if luck is None else luck.wide, p, better, method, reason)


def mean_over_places(places: Sequence[Floats]) -> Estimate:
    """Return the mean over places of the mean of their values, with t if each place has two or
    more.
    """
    return _score(Strata.of(places), on_logs=False, run_error=0.0)


def _equal_pairs(runs: Sequence[Runs]) -> NDArray[np.bool_]:
    """Return bool[agents, agents]: which were measured in the same runs at each place."""
    numbers: dict[tuple[frozenset[int], ...], int] = {}
    each = [numbers.setdefault(tuple(map(frozenset, one)), len(numbers)) for one in runs]
    return np.equal.outer(each, each)


def from_pairs(
    scores: Sequence[Estimate],
    p: Floats,
    better: Better,
    method: str,
    reason: str,
    alpha: float = ALPHA,
) -> Standings:
    """Return ranks from p of pairs, all of which hold together with probability 1 - `alpha`.

    `p`: float64[agents, agents], of which only what lies below the diagonal is read; NaN for pairs
    that were not tested.

    The interval of the position follows from them: all that are clearly ahead stay ahead (Mogstad
    et al. 2024).
    """
    sign = 1 if better == "higher" else -1
    values = np.array([-math.inf if one.value is None else sign * one.value for one in scores])
    count = len(values)
    clear, tests = _clear_pairs(p, alpha)
    rows = []
    for row, (value, of) in enumerate(zip(values, scores, strict=True)):
        ahead = clear[row] & (values > value)
        ahead_of = tuple(np.flatnonzero(clear[row] & (values < value)).tolist())
        behind = tuple(np.flatnonzero(ahead).tolist())
        tested = tests[row] == count - 1
        rows.append(
            Standing(
                float(of.value) if of.value is not None else math.nan,
                of.low,
                of.high,
                1 + int((values > value).sum()),
                1 + len(behind),
                1 + len(behind) if tested else None,
                count - len(ahead_of) if tested else None,
                ahead_of,
                behind,
                "" if tested else reason,
            )
        )
    return Standings(tuple(rows), method)


def _clear_pairs(p: Floats, alpha: float) -> tuple[NDArray[np.bool_], Integers]:
    """Return which pairs are clear after Holm's adjustment, bool[agents, agents], and the number of
    pairs in which each agent was tested.
    """
    tested = np.tril(~np.isnan(p), -1)
    clear = np.zeros(p.shape, np.bool_)
    if tested.any():
        clear[tested] = np.asarray(holm(p[tested]), np.float64) < alpha
    both = tested | tested.T
    return clear | clear.T, both.sum(axis=1)


def _score(of: Strata, *, on_logs: bool, run_error: float) -> Estimate:
    back = np.exp if on_logs else np.asarray
    variances, freedom = (*of.variances, run_error**2), (*of.freedom, math.inf)
    total = sum(variances)
    if not of.known:
        return Estimate(float(back(of.mean)), None, None, 1, "mean over places")
    half = 0.0
    if total > 0:
        half = _t_quantile(1 - ALPHA / 2, freedom_of_sum(variances, freedom)) * math.sqrt(total)
    value, low, high = (float(back(of.mean + by)) for by in (0.0, -half, half))
    return Estimate(value, low, high, len(of.freedom), "mean over places")


def _t_quantile(p: float, df: float) -> float:
    return normal_quantile(p) if df == math.inf else student_quantile(p, df)
