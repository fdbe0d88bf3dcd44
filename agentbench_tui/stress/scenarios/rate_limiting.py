"""Rate limiting: a target's behavior under too many requests, or an agent's under refusals.

For a server, the rate rises from normal until the server refuses with 429 or reaches its capacity,
is held above that, and returns to normal; clients that respect Retry-After run in parallel. For a
program with an `upstream`, the upstream answers 429 with Retry-After for a while, repeatedly, and
the agent's requests in that time are counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.stress.advice.window_bounds import error_bounds, failed_bounds, level_figure
from agentbench_tui.stress.reporter import facts_of
from agentbench_tui.stress.scenarios import upstream_limit
from agentbench_tui.stress.stand.aftermath import watch
from agentbench_tui.stress.stand.retry_after_clients import (
    LONGEST_UNTOLD_S,
    PoliteClients,
    polite_clients,
)
from agentbench_tui.stress.stand.window_plan import WindowPlan

if TYPE_CHECKING:
    from agentbench_tui.stress.report import WindowFacts
    from agentbench_tui.stress.reporter import Reporter
    from agentbench_tui.stress.spec import StressSpec
    from agentbench_tui.stress.stand.measured import Measured
    from agentbench_tui.stress.stand.normal import Normal
    from agentbench_tui.stress.stand.stand import Stand

STEP = 2.0
"""By which the rate is raised."""
STEP_SHARE = 0.1
"""Share of the scenario's length for each step."""
LEAST_STEP_S = 0.5
OVER = 1.5
"""Factor above the rate of the first refusal, or failure, at which load is held."""
CLIENTS = 16
REFUSES = 0.01
"""Share of requests answered with 429, at the confidence bound, from which on there is a limit."""
MOSTLY = 0.5
KEPT_UP = 0.6
"""Share of due requests answered within a step, below which the target is overloaded."""
LONGEST_WAIT_S = 60.0
"""Extension of the time after the overload, to observe clients that respect Retry-After."""
WAIT_MARGIN_S = 1.0
NOT_APPLICABLE = (
    "the agent is a program, which does not refuse with 429, and no `upstream` is named whose limit"
    " it could be held to: give `upstream` (--upstream URL)"
)


async def run(stand: Stand, spec: StressSpec, normal: Normal, reporter: Reporter) -> None:
    """Fill the report. Raises as `Stand.hold` does."""
    if spec.upstream is not None:
        await upstream_limit.run(stand, spec, normal, reporter)
    elif stand.agent is not None:
        await _endpoint(stand, spec, normal, reporter)
    else:
        reporter.report.status = "not applicable"
        reporter.report.reason = NOT_APPLICABLE


async def _endpoint(stand: Stand, spec: StressSpec, normal: Normal, reporter: Reporter) -> None:
    assert stand.agent is not None, "run looks for it"
    async with polite_clients(stand.agent, clients=CLIENTS) as polite:
        rate, limit = await _raise_rate(stand, spec, normal, reporter)
        over = min(rate * OVER, spec.most_rate)
        course = WindowPlan(spec.length_s, rate=over)
        overload = await stand.hold(course, phase="overload")
        facts = facts_of(overload)
        await reporter.window(facts)
        if limit is None and (_refuses(facts) or not _keeps_up(facts, overload, normal)):
            limit = facts  # held for longer, the most that may be asked is too much
        quiet_from_s = polite.now_s
        told_s = polite.counts().longest_told_s
        watched_s = spec.watched_s
        if told_s is not None:
            watched_s = max(watched_s, min(told_s, LONGEST_WAIT_S) + WAIT_MARGIN_S)
        await watch(stand, normal, reporter, stress=overload, after="overload", watched_s=watched_s)
        _tell_polite(reporter, polite, quiet_from_s)
    _tell_limit(reporter, normal, facts, limit)
    await reporter.save()


async def _raise_rate(
    stand: Stand, spec: StressSpec, normal: Normal, reporter: Reporter
) -> tuple[float, WindowFacts | None]:
    """Double the rate from normal load. Return the rate at which the target refused or no longer
    kept up, with that window; the highest allowed rate and None if it kept up throughout.
    """
    rate = min(normal.rate, spec.most_rate)
    length_s = max(STEP_SHARE * spec.length_s, LEAST_STEP_S)
    while True:
        rate = min(STEP * rate, spec.most_rate)
        measured = await stand.hold(WindowPlan(length_s, rate=rate), phase="step")
        facts = facts_of(measured)
        await reporter.window(facts)
        if _refuses(facts) or not _keeps_up(facts, measured, normal):
            return rate, facts
        if rate >= spec.most_rate:
            return rate, None


def _refuses(facts: WindowFacts) -> bool:
    """Return whether it returns 429, at the confidence bound."""
    refused = facts.failures.get("rate_limited", 0)
    ends = error_bounds(facts)
    of_failures = failed_bounds(facts, ["rate_limited"])
    return bool(
        refused
        and ends is not None
        and ends.low > REFUSES
        and of_failures is not None
        and of_failures.low > MOSTLY
    )


def _keeps_up(facts: WindowFacts, measured: Measured, normal: Normal) -> bool:
    """Return whether errors and completion may be within the limits, at the confidence bound."""
    ends = error_bounds(facts)
    if ends is not None and ends.low > normal.limits.error_share:
        return False
    return measured.completed >= KEPT_UP * len(measured)


def _tell_polite(reporter: Reporter, polite: PoliteClients, quiet_from_s: float) -> None:
    report = reporter.report
    everything, quiet = polite.counts(), polite.counts(quiet_from_s)
    report.observations |= {
        "polite_requests": everything.tries,
        "polite_refused": everything.refused,
        "polite_told": everything.told,
        "polite_waited": everything.waited,
        "polite_served_after_wait": everything.served_after_wait,
        "polite_refused_after_wait": everything.refused_after_wait,
        "quiet_waited": quiet.waited,
        "quiet_served_after_wait": quiet.served_after_wait,
        "quiet_refused_after_wait": quiet.refused_after_wait,
    }
    if everything.longest_told_s is not None:
        report.observations["longest_told_s"] = everything.longest_told_s
    if everything.told and not quiet.waited:
        report.missing["retry_after_kept"] = (
            "no client that received Retry-After came back in the time that was watched"
        )
    elif everything.refused and not everything.told:
        report.missing["retry_after_kept"] = (
            f"no refusal had Retry-After; clients chose to wait 1 to {LONGEST_UNTOLD_S:g} s"
        )


def _tell_limit(
    reporter: Reporter, normal: Normal, overload: WindowFacts, limit: WindowFacts | None
) -> None:
    """Record the limit: where it begins, how the target refuses, and the throughput below it."""
    report = reporter.report
    observations = report.observations
    goodput = overload.answered_per_s
    observations |= {
        "overload_per_s": overload.asked_per_s or 0.0,
        "goodput_per_s": goodput,
        "capacity_per_s": normal.capacity,
        "goodput_share_of_capacity": goodput / normal.capacity if normal.capacity else 0.0,
        "refuses_with_429": _refuses(overload),
    }
    if limit is None:
        report.missing["rate_limit"] = (
            f"it kept up with {level_figure(overload.asked_per_s or 0)} requests/s, the most that"
            " may be asked: no limit was met"
        )
        return
    observations["limit_met_per_s"] = limit.asked_per_s or 0.0
    observations["limit_met_by"] = "429" if _refuses(limit) else "errors or lateness"
