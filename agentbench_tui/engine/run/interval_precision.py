"""How precise an execution is by now, and how many iterations more it would take: for the screen.

It plans and decides nothing: a run stops only at agreed numbers of iterations (see `stopping`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentbench_tui.model.text.plain_number import plain

if TYPE_CHECKING:
    from agentbench_tui.engine.run.stopping import Progress
    from agentbench_tui.model.suite import EarlyStop

FROM = 3
"""Iterations (or repeats) before a spread says anything."""
USUAL_HALF_WIDTH = 0.05
"""Precision assumed for times if none is requested: the smallest change that matters."""


def outlook(progress: Progress, rule: EarlyStop) -> str:
    """Describe the current precision, such as `half-width now 3.1%, 2% needs 24 more`; empty
    while there is none.
    """
    if rule.half_width is not None and rule.metric == "accuracy":
        return share_outlook(progress.pass_accuracy, rule.half_width)
    return time_outlook(progress.pass_median_ms, rule.half_width or USUAL_HALF_WIDTH)


def time_outlook(medians_ms: Sequence[float], half_width: float) -> str:
    """Return the outlook for the geometric mean of medians, one per iteration or repeat;
    relative to it.
    """
    if len(medians_ms) < FROM or min(medians_ms) <= 0:
        return ""
    from agentbench_tui.analysis.runs.variance import runs_needed

    needed = runs_needed(medians_ms, half_width, logs=True)
    if needed.half_width is None or needed.more is None:
        return ""
    return _words(_percent(needed.half_width), _percent(half_width), needed.more)


def share_outlook(shares: Sequence[float], half_width: float) -> str:
    """Return the outlook for the mean of accuracies; in percentage points."""
    if len(shares) < FROM:
        return ""
    from agentbench_tui.analysis.runs.variance import runs_needed

    mean = math.fsum(shares) / len(shares)
    if mean <= 0:
        return ""
    needed = runs_needed(shares, half_width / mean)
    if needed.half_width is None or needed.more is None:
        return ""
    return _words(
        f"{plain(100 * mean * needed.half_width, 2)} points",
        plain(100 * half_width, 3),
        needed.more,
    )


def _words(now: str, wanted: str, more: int) -> str:
    if more == 0:
        return f"half-width now {now}, within {wanted}"
    return f"half-width now {now}, {wanted} needs {more:,} more"


def _percent(share: float) -> str:
    return f"{plain(100 * share, 3 if share >= 0.1 else 2)}%"
