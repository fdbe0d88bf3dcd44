"""Elementary figures of a comparison: means, spreads, and the width of an interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.intervals.interval import clustered_se
from agentbench_tui.analysis.sample import count_distinct

if TYPE_CHECKING:
    from agentbench_tui.analysis.sample import Floats, Integers


def mean(x: Floats, *, on_logs: bool) -> float | None:
    """Return the mean, geometric if `on_logs`; None without values."""
    if not len(x):
        return None
    return float(np.exp(np.log(x).mean())) if on_logs else float(x.mean())


def sd(d: Floats) -> float | None:
    """Return the standard deviation; None below two values."""
    return float(d.std(ddof=1)) if len(d) > 1 else None


def pooled_sd(x: Floats, y: Floats) -> float | None:
    """Return the standard deviation within two groups; None if one has fewer than two values."""
    if min(len(x), len(y)) < 2:
        return None
    squares = x.var(ddof=1) * (len(x) - 1) + y.var(ddof=1) * (len(y) - 1)
    return float(np.sqrt(squares / (len(x) + len(y) - 2)))


def all_binary(*columns: Floats) -> bool:
    """Return whether every value is 0 or 1."""
    return all(bool(((x == 0) | (x == 1)).all()) for x in columns)


def sd_of_clusters(d: Floats, clusters: Integers) -> float | None:
    """Return the sd of as many independent values whose mean has the same standard error."""
    if count_distinct(clusters) < 2:
        return None
    return clustered_se(d, clusters, "CR1") * math.sqrt(len(d))
