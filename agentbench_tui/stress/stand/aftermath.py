"""Normal load after a stress: recovery, and the score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.stress.reporter import facts_of
from agentbench_tui.stress.score import recovered, score_of
from agentbench_tui.stress.stand.window_plan import WindowPlan

if TYPE_CHECKING:
    from agentbench_tui.stress.reporter import Reporter
    from agentbench_tui.stress.stand.measured import Measured
    from agentbench_tui.stress.stand.normal import Normal
    from agentbench_tui.stress.stand.stand import Stand


async def watch(
    stand: Stand,
    normal: Normal,
    reporter: Reporter,
    *,
    stress: Measured,
    after: str,
    watched_s: float,
) -> None:
    """Hold normal load for `watched_s` after a window of stress called `after`; fill score and
    recoveries.

    If the target does not recover, it is then left alone: `idle_again` says whether that helps.
    Raises as `Stand.hold` does.
    """
    report = reporter.report
    window = await stand.hold(WindowPlan(watched_s, rate=normal.rate), phase="recovery")
    report.score = score_of([stress, window], normal)
    report.recoveries.append(recovered(after, window, normal))
    await reporter.window(facts_of(window))
    if report.recoveries[-1].seconds is None:
        report.observations["idle_again"] = await stand.idle()
        await reporter.save()
