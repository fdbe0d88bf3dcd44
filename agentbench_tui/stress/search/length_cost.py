"""Time cost of longer inputs: a slope over windows of different sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

SIZES = 4
"""Different ones that a slope needs."""
WINDOWS = 6
LEVEL = 0.95


class LengthCost(NamedTuple):
    """Latency cost per 1,000 input tokens."""

    ms: float
    low: float
    high: float


def length_cost(points: Sequence[tuple[int, float]]) -> LengthCost | None:
    """Return the slope of latency over input size, from tokens and median latency in ms of each
    window.

    The median of the slopes of all pairs of windows, with Sen's interval (Sen 1968): a few windows
    that went wrong do not move it. None below 6 windows or 4 different sizes.
    """
    if len(points) < WINDOWS or len({tokens for tokens, _ in points}) < SIZES:
        return None
    from scipy.stats import theilslopes

    tokens, times = zip(*points, strict=True)
    slope, _, low, high = theilslopes(times, tokens, alpha=LEVEL)
    return LengthCost(*(1e3 * float(end) for end in (slope, low, high)))
