"""The side of "no difference" that a test examines, and its p value from two tails."""

from __future__ import annotations

from typing import Literal, TypeAlias

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
"""Alternative of a test: a difference, or that the first (or the mean) lies above, or below."""


def p_value(below: float, above: float, alternative: Alternative) -> float:
    """Return p from P(statistic <= observed) and P(statistic >= observed), both under no
    difference.

    Two-sided is twice the smaller tail, at most 1. ValueError on an unknown alternative.
    """
    tails = {"two-sided": 2 * min(below, above), "greater": above, "less": below}
    if alternative not in tails:
        raise ValueError(f"alternative is two-sided, greater or less, not {alternative!r}")
    return min(1.0, tails[alternative])
