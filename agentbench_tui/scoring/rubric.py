"""Maps a metric to a score of 0..1, and five scores to one.

Three ways, in this order: the suite's rubric with a target and a limit, so that the same number
means the same in every run; relative to the named baseline; nothing, where there is neither.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol


class Scale(Protocol):
    """Values of a metric that score 1 and 0, and the interpolation between them."""

    @property
    def target(self) -> float: ...
    @property
    def limit(self) -> float: ...
    @property
    def scale(self) -> str: ...


def score_metric(value: float | None, entry: Scale) -> float | None:
    """Return the score of a metric by a rubric: 1 at `target` or better, 0 at `limit` or worse.

    linear: (value − limit) ÷ (target − limit); log: the same of the logarithms; both clipped to
    0..1. On a logarithmic scale a value of 0 or less lies beyond the smaller of the two. None for
    a value that is missing or not a number.
    """
    if value is None or math.isnan(value):
        return None
    target, limit = entry.target, entry.limit
    if entry.scale == "log":
        if value <= 0:
            return 1.0 if target < limit else 0.0
        value, target, limit = math.log(value), math.log(target), math.log(limit)
    return min(1.0, max(0.0, (value - limit) / (target - limit)))


def relative_score(value: float | None, baseline: float | None, direction: str) -> float | None:
    """Return the score of a metric relative to a baseline: 0.5 if equal, 1 from twice as good.

    clip(ratio ÷ 2, 0, 1), where the ratio says how many times as good: baseline ÷ value if lower is
    better, value ÷ baseline if higher is. Half as good is 0.25. The ratio is used since times,
    tokens and dollars have a zero but no natural worst; and it saturates, so that one metric cannot
    outweigh everything else. With a divisor of zero, equal values score 0.5, a better one 1. None
    if a value is missing, negative or not a number, or if neither direction is better.
    """
    if value is None or baseline is None or not (value >= 0 and baseline >= 0):
        return None
    if direction == "lower":
        better, worse = baseline, value
    elif direction == "higher":
        better, worse = value, baseline
    else:
        return None
    if better == worse:
        return 0.5
    return min(1.0, 0.5 * better / worse) if worse else 1.0


def overall(scores: Mapping[str, float | None], weights: Mapping[str, float]) -> float | None:
    """Return the weighted mean of the dimensions' scores.

    None unless every dimension with a weight above 0 has a score: a mean over what happens to be
    known would rank an agent higher for what was not measured.
    """
    total = 0.0
    for dimension, weight in weights.items():
        score = scores.get(dimension)
        if weight > 0 and score is None:
            return None
        total += weight * (score or 0.0)
    whole = sum(weights.values())
    return total / whole if whole > 0 else None
