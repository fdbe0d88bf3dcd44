"""What is normal for a target: measured first, not assumed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentbench_tui.analysis.level_verdict import Limits

if TYPE_CHECKING:
    from agentbench_tui.stress.reporter import Reporter
    from agentbench_tui.stress.spec import StressSpec
    from agentbench_tui.stress.stand import Stand


@dataclass(frozen=True, slots=True)
class Normal:
    """The target at ease, and the limits that follow from it."""

    rate: float
    """Requests a second."""
    concurrency: int
    """Users."""
    p50_ms: float
    p95_ms: float
    """At that load."""
    capacity: float
    """The most that a window of the ladder answered in a second: what it can do at its best."""
    limits: Limits
    """Errors, p95 and what is completed."""
    limit_p95_ms: float
    words: str = ""


async def measure_normal(stand: Stand, spec: StressSpec, reporter: Reporter) -> Normal:
    """Climb 1, 2, 4 … users, at most `most_concurrency`, until answers a second grow by less than
    a quarter or p95 is more than twice that of one user; a third of the best rate is normal.

    Where the suite says what is normal, one window at that load. Fills `normal` and `limits` of
    the report. Raises AgentFailure when nothing is answered.
    """
    raise NotImplementedError
