"""The small figures behind a comparison: means, spreads, and how wide an interval is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from agentbench_tui.analysis.paired_effect import Effect
    from agentbench_tui.verdicts.evidence import Floats, Integers


class HasEnds(Protocol):
    """What has an interval, or None for its ends."""

    @property
    def low(self) -> float | None: ...

    @property
    def high(self) -> float | None: ...


def mean(x: Floats, *, on_logs: bool) -> float | None:
    """The mean, geometric `on_logs`; None without values."""
    if not len(x):
        return None
    return float(np.exp(np.log(x).mean())) if on_logs else float(x.mean())


def sd(d: Floats) -> float | None:
    """Standard deviation; None below two values."""
    return float(d.std(ddof=1)) if len(d) > 1 else None


def pooled_sd(x: Floats, y: Floats) -> float | None:
    """Standard deviation within two groups; None where one has fewer than two values."""
    if min(len(x), len(y)) < 2:
        return None
    squares = x.var(ddof=1) * (len(x) - 1) + y.var(ddof=1) * (len(y) - 1)
    return float(np.sqrt(squares / (len(x) + len(y) - 2)))


def all_binary(*columns: Floats) -> bool:
    """Whether every value is 0 or 1."""
    return all(bool(((x == 0) | (x == 1)).all()) for x in columns)


def cluster_sums(d: Floats, clusters: Integers) -> Floats:
    """The sum of each cluster."""
    _, place = np.unique(clusters, return_inverse=True)
    return np.bincount(place.reshape(-1), d).astype(np.float64)


def width(of: HasEnds, *, logs: bool) -> float:
    """Of an interval, of a ratio on `logs`; infinite where an end is missing."""
    if of.low is None or of.high is None or (logs and of.low <= 0):
        return math.inf
    return math.log(of.high / of.low) if logs else of.high - of.low


def moved(end: float | None, effect: Effect, to: float | None) -> float | None:
    """An end of an effect's interval, when the effect itself lies at `to`."""
    if end is None or to is None:
        return None
    if effect.ratio is not None:
        return end * to / effect.ratio
    return end + to - (effect.difference or 0.0)


def widened(end: float | None, effect: float | None, factor: float, *, logs: bool) -> float | None:
    """An end `factor` times as far from the effect, of a ratio on `logs`."""
    if end is None or effect is None:
        return end
    if not logs:
        return effect + (end - effect) * factor
    try:
        return float(effect * (end / effect) ** factor)
    except (OverflowError, ZeroDivisionError):
        return None
