"""High load: the rate at which the target fails, ten times normal load for long, and recovery."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.load.schedule.rate_profile import Steps
from agentbench_tui.stress.advice.window_bounds import level_figure
from agentbench_tui.stress.reporter import facts_of
from agentbench_tui.stress.score import recovered, score_of
from agentbench_tui.stress.search.axis import Axis
from agentbench_tui.stress.search.searching import probe, rate_lengths, warm_up_of
from agentbench_tui.stress.stand.window_plan import WindowPlan

if TYPE_CHECKING:
    from agentbench_tui.stress.reporter import Reporter
    from agentbench_tui.stress.spec import StressSpec
    from agentbench_tui.stress.stand.normal import Normal
    from agentbench_tui.stress.stand.stand import Stand


async def run(stand: Stand, spec: StressSpec, normal: Normal, reporter: Reporter) -> None:
    """Search the rate from normal to `multiple` times normal, hold the highest, and watch the
    recovery at normal load in the same window.
    """
    most = min(spec.multiple * normal.rate, spec.most_rate)
    start = min(normal.rate, most)
    await probe(
        stand,
        Axis(on="rate", start=start, most=most, unit="requests/s"),
        normal.limits,
        reporter,
        course_of=lambda rate, length_s: WindowPlan(length_s, rate=rate, drain_s=drain_of(normal)),
        length_of=rate_lengths(normal, spec.time_scale),
        warm_up_s=warm_up_of(normal),
    )
    await stand.idle()
    steps = Steps(((most, spec.length_s), (start, spec.watched_s)))
    whole = await stand.hold(
        WindowPlan(spec.length_s + spec.watched_s, profile=steps, drain_s=drain_of(normal)),
        phase="stress",
    )
    report = reporter.report
    report.observations["stress_rate_per_s"] = most
    if most < spec.multiple * normal.rate:
        report.missing["stress"] = too_little(spec, normal)
    report.score = score_of([whole], normal)
    report.recoveries.append(recovered("high load", whole, normal, from_s=spec.length_s))
    await reporter.window(facts_of(whole.part(0.0, spec.length_s, phase="stress")))
    await reporter.window(facts_of(whole.part(spec.length_s, whole.length_s, phase="recovery")))


def too_little(spec: StressSpec, normal: Normal) -> str:
    """Return why the stress was lower than the multiple of normal load suggests."""
    return (
        f"{spec.multiple:g} × normal would be {level_figure(spec.multiple * normal.rate)}"
        f" requests/s, and {level_figure(spec.most_rate)} are the most that may be asked"
        " (`most_rate`)"
    )


def drain_of(normal: Normal) -> float:
    """Return the drain in seconds: answers later than the limit do not count as good."""
    return max(2 * normal.limit_p95_ms / 1e3, 0.25)
