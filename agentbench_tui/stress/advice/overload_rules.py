"""Advice on a target's behavior during and after overload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.stress.advice.aftermath_facts import comes_back, lasting
from agentbench_tui.stress.advice.window_bounds import (
    best,
    failed_bounds,
    figure,
    harm_before_normal,
    level_of,
    overloads,
    rate_bounds,
)
from agentbench_tui.stress.report import Advice

if TYPE_CHECKING:
    from agentbench_tui.stress.report import RecoveryFacts, ScenarioReport, WindowFacts

COLLAPSED = 0.5
"""Share of peak throughput below which an overload counts as a collapse."""
ANSWERS_LONG = 4.0
"""Times the p95 at normal load, from which the length of a window leaves room for answers."""
MOSTLY = 0.5
SLOW_RECOVERY_S = 10.0


def congestion_collapse(report: ScenarioReport) -> Advice | None:
    """Advise when throughput beyond the limit is lower than at the limit."""
    top = best(report)
    over = [
        window
        for window in overloads(report)
        if not _is_hammered(window) and _has_room(window, report) and not _is_later(window, report)
    ]
    # Of what does not come back from the first overload, a later one says nothing.
    if top is None or not over or comes_back(report) in ("no", "refuses"):
        return None
    worst = min(over, key=lambda window: rate_bounds(window).high)
    low, high = rate_bounds(top).low, rate_bounds(worst).high
    if report.normal is not None:  # what a burst was answered for a moment is no best to fall from
        low = min(low, report.normal.capacity_per_s)
    if high >= COLLAPSED * low:
        return None
    return Advice(
        rule="congestion-collapse",
        severity="critical",
        words=f"At {level_of(worst)} it answers {figure(worst.answered_per_s)} requests/s, at its"
        f" best {figure(top.answered_per_s)}: under overload its work reaches no client. Refuse"
        " early (429) what cannot be served in time, and drop requests whose client has gone.",
        evidence={
            "peak_per_s": top.answered_per_s,
            "peak_low_per_s": low,
            "overload_per_s": worst.answered_per_s,
            "overload_high_per_s": high,
        },
    )


def no_recovery(report: ScenarioReport) -> Advice | None:
    """Advise when the damage of an overload remains."""
    if comes_back(report) != "no" or report.scenario == "failure_recovery":
        return None  # what failed there was no overload
    after, evidence = _what_it_did(report)
    return Advice(
        rule="no-recovery",
        severity="critical",
        words=f"It does not come back after {after}. Bound what may wait, so that nothing is left"
        " to work off; until then only a restart helps.",
        evidence=evidence,
    )


def keeps_refusing(report: ScenarioReport) -> Advice | None:
    """Advise when the target has recovered but still refuses requests."""
    if comes_back(report) != "refuses":
        return None
    after, evidence = _what_it_did(report)
    return Advice(
        rule="keeps-refusing",
        severity="critical",
        words=f"It continues to refuse (429) after {after}: its limit counts what it has refused,"
        " or punishes for too long.",
        evidence=evidence,
    )


def less_than_before(report: ScenarioReport) -> Advice | None:
    """Advise when the target serves normal load again, but not the load that had passed before."""
    if comes_back(report) != "less":
        return None
    after, evidence = _what_it_did(report)
    return Advice(
        rule="less-than-before",
        severity="warning",
        words=f"It serves normal load after {after}, but less than before: look for what an"
        " overload leaves behind (full pools, lost workers, throttling), and whether something else"
        " was busy on its machine.",
        evidence=evidence,
    )


def slow_recovery(report: ScenarioReport) -> Advice | None:
    """Advise when recovery is slow."""
    back = comes_back(report)
    if back == "late":
        after, evidence = _what_it_did(report)
        return Advice(
            rule="slow-recovery",
            severity="critical",
            words=f"After {after}, it recovers only once all load stops: it works off a backlog."
            " Bound the queue, and drop requests whose client no longer waits.",
            evidence=evidence,
        )
    slow = [one for one in report.recoveries if (one.seconds or 0.0) > SLOW_RECOVERY_S]
    if not slow or back != "yes":
        return None
    slowest = max(slow, key=lambda one: one.seconds or 0.0)
    seconds = slowest.seconds or 0.0
    return Advice(
        rule="slow-recovery",
        severity="warning",
        words=f"After {_name(slowest)} it takes {figure(seconds)} s until it is as before: a"
        " backlog is worked off, or connections and caches are rebuilt. Bound the queue, and"
        " drop requests whose client no longer waits.",
        evidence={"after": slowest.after, "seconds": seconds},
    )


def target_lost(report: ScenarioReport) -> Advice | None:
    """Advise when the target ended."""
    if report.status != "target lost":
        return None
    last = report.windows[-1] if report.windows else None
    held = "" if last is None or last.memory_mb is None else f", holding {last.memory_mb:,.0f} MB"
    asked = "" if last is None else f"; the last window that is known had {level_of(last)}{held}"
    return Advice(
        rule="target-lost",
        severity="critical",
        words=f"It was gone in the middle ({report.reason}){asked}. See what has ended it (its log,"
        " the kernel's messages on memory), restart it automatically, and refuse excess load"
        " before it ends.",
        evidence={"reason": report.reason, "phase": "" if last is None else last.phase},
    )


def _what_it_did(report: ScenarioReport) -> tuple[str, dict[str, float | str]]:
    """Return what the target does not recover from and how that was observed, as words and as
    evidence.
    """
    harm = harm_before_normal(report)
    if harm is not None:
        before, normal = harm
        what = "more users at once than it can serve"
        rates = f"{figure(normal.answered_per_s)} of {figure(normal.asked_per_s or 0)} requests/s"
        seen = f"{figure(before.answered_per_s)} requests/s were answered before, {rates} after"
        return f"{what} ({seen})", {"after": what}
    for recovery in lasting(report):
        return (
            f"{_name(recovery)} ({figure(recovery.watched_s)} s watched at normal load)",
            {"after": recovery.after, "watched_s": recovery.watched_s},
        )
    point = next(one for one in report.breaking_points if one.hysteresis or one.before is not None)
    level = point.before if point.before is not None else point.passes
    return (
        f"an overload ({figure(level or 0)} {point.unit} had passed, and failed after it)",
        {"after": "overload", "passed": level or 0.0},
    )


def _is_hammered(window: WindowFacts) -> bool:
    """Return whether refused users of a closed loop retry immediately, which makes the cost of
    refusals uninformative.
    """
    refused = failed_bounds(window, ("rate_limited",))
    return window.users is not None and refused is not None and refused.high > MOSTLY


def _has_room(window: WindowFacts, report: ScenarioReport) -> bool:
    """Return whether the window is long enough, relative to the latency, to hold answers."""
    first_ms = report.windows[0].p95_ms or 0.0  # that of one user
    at_ease_ms = first_ms if report.normal is None else report.normal.p95_ms
    return window.length_s * 1e3 > ANSWERS_LONG * at_ease_ms


def _is_later(window: WindowFacts, report: ScenarioReport) -> bool:
    """Return whether it is a later spike, which may begin with an unknown number of requests left
    over from the first.
    """
    spikes = [one for one in report.windows if one.phase == "stress"]
    return report.scenario == "spike_load" and window in spikes[1:]


def _name(recovery: RecoveryFacts) -> str:
    return recovery.after.replace("_", " ")
