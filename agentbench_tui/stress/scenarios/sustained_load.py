"""Sustained load: 70% of capacity for a long time, to detect trends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.stress.leak import tell_leak
from agentbench_tui.stress.reporter import facts_of
from agentbench_tui.stress.score import score_of
from agentbench_tui.stress.stand.ownership import why_unseen
from agentbench_tui.stress.stand.soak import Soak
from agentbench_tui.stress.stand.window_plan import WindowPlan

if TYPE_CHECKING:
    from agentbench_tui.stress.reporter import Reporter
    from agentbench_tui.stress.spec import StressSpec
    from agentbench_tui.stress.stand.normal import Normal
    from agentbench_tui.stress.stand.stand import Stand

SHARE = 0.7
"""Share of capacity: busy, but with room, so that nothing grows through overload."""
PIECE_S = 60.0
"""Approximate length of a part of the soak, after which results are stored."""


async def run(stand: Stand, spec: StressSpec, normal: Normal, reporter: Reporter) -> None:
    """Hold the load in windows of about a minute; fill trends, score and observations."""
    report = reporter.report
    rate = min(SHARE * normal.capacity, spec.most_rate)
    pieces = max(1, round(spec.length_s / PIECE_S))
    report.observations["soak_rate_per_s"] = rate
    if spec.memory_limit_mb is not None:
        report.observations["memory_limit_mb"] = spec.memory_limit_mb
    soak = Soak(why_unseen(stand))
    for _ in range(pieces):
        soak.windows.append(
            await stand.hold(WindowPlan(spec.length_s / pieces, rate=rate), phase="stress")
        )
        report.trends, missing = soak.trends()
        report.missing = {
            name: reason for name, reason in report.missing.items() if not name.endswith(" trend")
        } | missing
        report.observations["warm_up_s"] = soak.warm_up_s
        report.score = score_of(soak.windows, normal)
        tell_leak(report, spec.memory_limit_mb)
        await reporter.window(facts_of(soak.windows[-1]))
