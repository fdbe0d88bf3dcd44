"""Spike scenario: repeated short loads far above normal, and the recovery after each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.load.schedule.rate_profile import Steps
from agentbench_tui.stress.reporter import facts_of
from agentbench_tui.stress.scenarios.high_load import too_little
from agentbench_tui.stress.score import recovered, score_of
from agentbench_tui.stress.stand.window_plan import WindowPlan

if TYPE_CHECKING:
    from agentbench_tui.stress.reporter import Reporter
    from agentbench_tui.stress.spec import StressSpec
    from agentbench_tui.stress.stand.normal import Normal
    from agentbench_tui.stress.stand.stand import Stand

BEFORE_PIECES = 5
"""Pieces of normal load before the first spike."""


async def run(stand: Stand, spec: StressSpec, normal: Normal, reporter: Reporter) -> None:
    """Run one window: normal load, then spikes of `multiple` times normal with normal load between
    them.
    """
    peak = min(spec.multiple * normal.rate, spec.most_rate)
    rate = min(normal.rate, peak)
    before_s, spike_s, watched_s = BEFORE_PIECES * normal.piece_s, spec.length_s, spec.watched_s
    steps = ((rate, before_s), *((peak, spike_s), (rate, watched_s)) * spec.spikes)
    length_s = sum(seconds for _, seconds in steps)
    whole = await stand.hold(WindowPlan(length_s, profile=Steps(steps)), phase="stress")
    report = reporter.report
    report.observations["spike_rate_per_s"] = peak
    if peak < spec.multiple * normal.rate:
        report.missing["spike"] = too_little(spec, normal)
    await reporter.window(facts_of(whole.part(0.0, before_s, phase="normal")))
    for nth in range(spec.spikes):
        begin_s = before_s + nth * (spike_s + watched_s)
        end_s = begin_s + spike_s
        until_s = end_s + watched_s
        name = f"spike {nth + 1}" if spec.spikes > 1 else "spike"
        report.recoveries.append(recovered(name, whole, normal, from_s=end_s, until_s=until_s))
        await reporter.window(facts_of(whole.part(begin_s, end_s, phase="stress")))
        await reporter.window(facts_of(whole.part(end_s, until_s, phase="recovery")))
    report.score = score_of([whole.part(before_s, whole.length_s, phase="stress")], normal)
    await reporter.save()
