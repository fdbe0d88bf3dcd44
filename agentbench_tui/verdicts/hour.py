"""What the hour of a run may explain: two runs of the same code differ by some per cent in time.

The one rule of `compare` and `regressions` for times of one run a side, whose repeats all share it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.analysis.scale import Scale
from agentbench_tui.analysis.severity import BOUNDS, severity
from agentbench_tui.analysis.version_gate import RUNS_NEEDED

if TYPE_CHECKING:
    from agentbench_tui.verdicts.comparison import Comparison

ONE_RUN_EACH = (
    f"suspect: repeats of one run share its hour, which may explain less than"
    f" {100 * BOUNDS['ratio'][0]:.0f} %; {RUNS_NEEDED} runs a side decide (--tag), or both in one"
    " run"
)
"""Why a difference of few per cent between two runs is no verdict."""


def outlasts_an_hour(low: float, high: float, scale: Scale, *, is_worse: bool) -> bool:
    """Whether a change in time is as large as a major regression, by the near end of its interval.

    `low` and `high` are new / old, or on the scale of points new - old. An improvement is as large
    as the worsening of going back.
    """
    if not is_worse:
        low, high = (1 / high, 1 / low) if scale.kind == "ratio" else (-high, -low)
    return severity(low, high, scale) != "minor"


def is_beyond_an_hour(found: Comparison) -> bool:
    """The same of a judged comparison, which may have no ratio where a value is 0."""
    if found.low is None or found.high is None:
        return False
    if found.is_ratio and found.low <= 0:
        return False
    if not found.is_ratio and found.unit != "share":
        largest = max(abs(found.a or 0.0), abs(found.b or 0.0))
        return min(abs(found.low), abs(found.high)) >= BOUNDS["ratio"][0] * largest
    scale = Scale(found.better, "ratio" if found.is_ratio else "points")
    return outlasts_an_hour(found.low, found.high, scale, is_worse=found.verdict == "worse")
