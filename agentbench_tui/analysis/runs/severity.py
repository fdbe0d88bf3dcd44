"""Severity of a regression at the confidence bound: the end of its interval closest to no
change.
"""

from __future__ import annotations

from typing import Literal

from agentbench_tui.analysis.scale import Kind, Scale

Severity = Literal["minor", "major", "critical"]

BOUNDS: dict[Kind, tuple[float, float]] = {"ratio": (0.10, 0.25), "points": (0.05, 0.10)}
"""From here on a regression is major, and critical: factors of 1.10 and 1.25, or 5 and 10 points.

What is worse by less than the margin is no regression, so that minor needs no bound of its own.
"""


def least_worsening(low: float, high: float, scale: Scale) -> float:
    """Return the least worsening by the interval of the change; 0 if there may be none.

    `low` and `high` are new / old, or new - old on the scale of points. 0.10 is a factor of 1.10,
    which for a metric where higher is better means old / new = 1.10; or 10 points.
    """
    if not low <= high:
        raise ValueError(f"an interval from low to high is needed, got {low} to {high}")
    bound = low if scale.better == "lower" else high
    if scale.kind == "points":
        return max(0.0, bound if scale.better == "lower" else -bound)
    if bound <= 0:
        raise ValueError(f"a ratio is positive, got an interval from {low} to {high}")
    return max(0.0, (bound if scale.better == "lower" else 1 / bound) - 1)


def severity(low: float, high: float, scale: Scale) -> Severity:
    """Return the class of a regression by its least worsening, not by its estimate.

    Few noisy runs may show a large loss and prove a small one only; the class says what is proved.
    """
    worse = least_worsening(low, high, scale)
    major, critical = BOUNDS[scale.kind]
    if worse < major:
        return "minor"
    return "major" if worse < critical else "critical"
