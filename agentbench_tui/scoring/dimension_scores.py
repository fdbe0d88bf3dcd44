"""Scores of a benchmark's dimensions from its metrics, and the overall score, with intervals.

The rules read a rubric as a suite has it, and as `model.scored_suite` reads it from the store.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from agentbench_tui.model.figures.metric import DEFAULT_METRIC, find_metric
from agentbench_tui.scoring.rubric import Scale, overall, relative_score, score_metric

if TYPE_CHECKING:
    from collections.abc import Mapping

NO_RIGHT_ANSWER = "no right answer"
"""Reason of a missing cost, or tokens, per right answer: it is infinite."""
_BY_ITSELF = frozenset({"accuracy", "reliability"})
"""Dimensions whose metric is a share, and so a score already."""


class Entry(Scale, Protocol):
    """How one metric is mapped to the score of a dimension."""

    @property
    def metric(self) -> str: ...


class Measured(Protocol):
    """A metric of an execution."""

    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def reason(self) -> str | None: ...


class DimensionScore(msgspec.Struct, frozen=True):
    """A score with the scores of its metric's interval ends."""

    value: float | None
    low: float | None = None
    high: float | None = None


class ScoreRule(msgspec.Struct, frozen=True):
    """How one dimension of a benchmark is scored: by rubric, directly, or relative to the
    baseline.
    """

    metric: str
    """The metric behind it."""
    entry: Entry | None
    is_share: bool
    """Whether the metric is itself a score, if there is no rubric."""
    baseline: float | None
    """The metric of the baseline; None without any."""

    @property
    def is_relative(self) -> bool:
        """Return whether the score is relative to the baseline."""
        return self.entry is None and not self.is_share

    def score(self, value: float | None) -> float | None:
        """Return the score of a value of the metric; None if there is nothing to score it by."""
        if value is None:
            return None
        if self.entry is not None:
            return score_metric(value, self.entry)
        if self.is_share:
            return value
        metric = find_metric(self.metric)
        if metric is None or metric.direction == "none" or self.baseline is None:
            return None
        return relative_score(value, self.baseline, metric.direction)


def score_rule(
    dimension: str, rubric: Mapping[Any, Entry], baseline: Mapping[str, float]
) -> ScoreRule:
    """Return the rule of a dimension by the rubric of its benchmark; `baseline` has the metrics of
    the suite's baseline, if any.
    """
    entry = rubric.get(dimension)
    name = DEFAULT_METRIC[dimension] if entry is None else entry.metric
    return ScoreRule(name, entry, dimension in _BY_ITSELF, baseline.get(name))


def score_dimension(rule: ScoreRule, found: Measured | None) -> DimensionScore:
    """Return the score of one dimension from its metric; None without an applicable rule."""
    if found is None or found.value is None:
        if rule.entry is not None and found is not None and found.reason == NO_RIGHT_ANSWER:
            return DimensionScore(0.0, 0.0, 0.0)  # infinite: beyond any limit
        return DimensionScore(None)
    ends = [end for end in (rule.score(found.low), rule.score(found.high)) if end is not None]
    value = rule.score(found.value)
    if value is None or len(ends) < 2:
        return DimensionScore(value)
    return DimensionScore(value, min(ends), max(ends))


def overall_score(
    scores: Mapping[str, DimensionScore], shares: Mapping[str, float]
) -> DimensionScore:
    """Return the weighted mean of the dimensions with its interval; `shares` are their weights.

    The interval takes the dimensions as independent: half widths weighted, added in quadrature.
    It is missing when a dimension that counts has none.
    """
    value = overall({name: score.value for name, score in scores.items()}, shares)
    counting = [(scores[name], share) for name, share in shares.items() if share > 0]
    if value is None or any(score.low is None for score, _ in counting):
        return DimensionScore(value)
    total = sum(share for _, share in counting)
    below = above = 0.0
    for score, share in counting:
        assert score.value is not None
        assert score.low is not None
        assert score.high is not None
        below += (share / total * (score.value - score.low)) ** 2
        above += (share / total * (score.high - score.value)) ** 2
    return DimensionScore(
        value, max(0.0, value - math.sqrt(below)), min(1.0, value + math.sqrt(above))
    )
