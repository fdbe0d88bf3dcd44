"""Ranks contenders by a score of their executions: overall, a dimension, or a comparison."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import msgspec
import numpy as np

from agentbench_tui.analysis.intervals.estimate import Estimate
from agentbench_tui.verdicts.ranking.ranked_group import NotRanked, Ranked, Rankings
from agentbench_tui.verdicts.ranking.scorecard import comparable_groups, runs_at
from agentbench_tui.verdicts.ranking.standing import RunLuck, by_intervals, mean_over_places

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentbench_tui.verdicts.ranking.execution_scores import ExecutionScore
    from agentbench_tui.verdicts.ranking.rankable import Rankable
    from agentbench_tui.verdicts.ranking.scorecard import Scorecard

Places: TypeAlias = "list[list[tuple[int, ExecutionScore]]]"
"""Scores of the executions at each place, each with the key of its run."""


def ranked_by_score(
    cards: Sequence[Scorecard], by: Rankable, scores: Mapping[int, ExecutionScore]
) -> Rankings:
    """Rank by the mean over places of the mean over executions, which are treated as
    independent.

    Times of a run share its luck. So scores of times that were not measured in the same runs have
    the assumed between-run variance in their interval, and differ only by more than a change of
    10% in their times would make of them.
    """
    known = [_known(card, scores) for card in cards]
    count = 1 + max((place for one in known for place in one), default=-1)
    present = np.array([[place in one for place in range(count)] for one in known], bool)
    groups = []
    for group in comparable_groups(present.reshape(len(cards), count)):
        members = [cards[row] for row in group.members]
        shared = [int(place) for place in group.shared]
        means = [_Mean.of([known[row][place] for place in shared]) for row in group.members]
        runs = runs_at(members, shared)
        scored = [one.estimate for one in means]
        is_apart = any(one.is_timed for one in means) and any(one != runs[0] for one in runs)
        luck = RunLuck(runs, [one.wide for one in means], [one.large for one in means])
        groups.append(
            Ranked(
                members,
                by_intervals(scored, by.better, luck if is_apart else None),
                "scores",
                by.name,
                group.shared,
                int(present[list(group.members)].any(axis=0).sum()),
                group.shared,
                several_runs=is_apart,
            )
        )
    return groups, [NotRanked(card) for card, one in zip(cards, known, strict=True) if not one]


def _known(
    card: Scorecard, scores: Mapping[int, ExecutionScore]
) -> dict[int, list[tuple[int, ExecutionScore]]]:
    """Return place → its scores, if all executions have one."""
    return {
        place: [(row["run_key"], scores[row["key"]]) for row in one.executions]
        for place, one in card.evidence.items()
        if all(row["key"] in scores for row in one.executions)
    }


class _Mean(msgspec.Struct, frozen=True):
    """The mean score of one contender."""

    estimate: Estimate
    wide: Estimate
    """With the between-run variance in its interval."""
    large: float
    """Change of the score when all times change by 10%."""
    is_timed: bool

    @classmethod
    def of(cls, places: Places) -> _Mean:
        rows = [(run, one, 1 / len(some) / len(places)) for some in places for run, one in some]
        estimate = _estimate(places, [(one, weight) for _, one, weight in rows])
        by_run: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for run, one, weight in rows:  # what one run moves moves together
            by_run[run][0] += weight * one.worse
            by_run[run][1] += weight * one.better
        worse, better = (math.hypot(*(run[end] for run in by_run.values())) for end in (0, 1))
        return cls(
            estimate,
            _widened(estimate, worse, better),
            sum(weight * one.large for _, one, weight in rows),
            any(one.is_timed for _, one, _ in rows),
        )


def _estimate(places: Places, rows: Sequence[tuple[ExecutionScore, float]]) -> Estimate:
    """Return the estimate from the intervals of the scores, or without them from the variation
    between executions of a place (of other seeds).
    """
    value = sum(weight * one.value for one, weight in rows)
    below = above = 0.0
    for one, weight in rows:
        if one.low is None or one.high is None:
            values = [np.array([score.value for _, score in some]) for some in places]
            return replace(mean_over_places(values), value=value)
        below += (weight * (one.value - one.low)) ** 2
        above += (weight * (one.high - one.value)) ** 2
    low, high = value - below**0.5, value + above**0.5
    return Estimate(value, low, high, len(rows), "mean of scores")


def _widened(found: Estimate, worse: float, better: float) -> Estimate:
    if found.value is None or found.low is None or found.high is None:
        return found
    low = found.value - math.hypot(found.value - found.low, worse)
    high = found.value + math.hypot(found.high - found.value, better)
    return replace(found, low=low, high=high)
