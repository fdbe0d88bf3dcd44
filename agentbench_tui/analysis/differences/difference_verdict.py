"""Decide better, worse, equivalent or inconclusive from an effect, its interval and its p value."""

from __future__ import annotations

import math
from typing import Literal

from agentbench_tui.analysis.differences.equivalence import check_margin
from agentbench_tui.analysis.scale import Better

Verdict = Literal["better", "worse", "equivalent", "inconclusive"]


def verdict(
    effect: float | None,
    low: float | None,
    high: float | None,
    p_adjusted: float | None,
    margin: float,
    better: Better,
    *,
    ratio: bool = False,
    alpha: float = 0.05,
) -> Verdict:
    """Return the verdict on B for a metric whose better direction is `better`.

    `better` or `worse` when p, adjusted for the number of metrics, is below alpha and the effect is
    at least half the margin; otherwise `equivalent` when the interval low … high, which is the
    90% interval (1 - 2 alpha), lies within the margins; otherwise `inconclusive`. `effect` and
    interval are B - A in the margin's unit, or B / A when `ratio`. What is missing or not finite
    (no value, no test, NaN) decides nothing.
    """
    check_margin(margin)
    if effect is None or not math.isfinite(effect) or (ratio and effect <= 0):
        return "inconclusive"
    size = math.log(effect) if ratio else effect
    least = math.log1p(margin / 2) if ratio else margin / 2
    if p_adjusted is not None and p_adjusted < alpha and abs(size) >= least:
        return "better" if (size > 0) == (better == "higher") else "worse"
    lower, upper = (1 / (1 + margin), 1 + margin) if ratio else (-margin, margin)
    if low is not None and high is not None and lower < low <= high < upper:
        return "equivalent"
    return "inconclusive"
