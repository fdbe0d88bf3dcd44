"""Means of scores over several executions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from agentbench_tui.analysis.intervals.estimate import Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence


def mean_of_all(values: Sequence[float | None]) -> float | None:
    """Return the mean if no value is missing; None otherwise."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def mean_of_scores(scores: Sequence[Estimate]) -> Estimate:
    """Return the mean of independent scores, with an interval if all have one: the distances of its
    ends add up as squares.
    """
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
