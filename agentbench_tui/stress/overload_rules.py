"""Advice on what a target does with more than it can do, and after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.stress.report import Advice
from agentbench_tui.stress.window_bounds import (
    best,
    error_bounds,
    failed_bounds,
    harm_before_normal,
    level_of,
    overloads,
    rate_bounds,
    share_bounds,
)

if TYPE_CHECKING:
    from agentbench_tui.stress.report import RecoveryFacts, ScenarioReport, WindowFacts

COLLAPSED = 0.5
"""Of the most it ever answered: less under overload is a collapse."""
FAILING = 0.05
"""Share of errors from which it matters how they fail."""
LATE = 0.5
"""Of the window's length: who is answered later than that has waited in a queue without end."""
SLOW_RECOVERY_S = 10.0
_LEAST_REFUSALS = 5
_UNKNOWN = "not known"

TIMED_OUT = ("timeout", "unfinished", "unsent")
"""Also what never ended, and what found no place in flight behind such."""
BROKEN_OFF = ("connection", "truncated")


def congestion_collapse(report: ScenarioReport) -> Advice | None:
    """Beyond its limit it does less than at it."""
    top = best(report)
    over = [window for window in overloads(report) if not _is_hammered(window)]
    if top is None or not over:
        return None
    worst = min(over, key=lambda window: rate_bounds(window).high)
    low, high = rate_bounds(top).low, rate_bounds(worst).high
    if high >= COLLAPSED * low or no_recovery(report) is not None:
        return None  # of what never comes back, an overload after the first says nothing
    return Advice(
        rule="congestion-collapse",
        severity="critical",
        words=f"At {level_of(worst)} it answers {worst.answered_per_s:,.3g} requests/s, at its best"
        f" {top.answered_per_s:,.3g}: under overload it works for nobody. Refuse early (429) what"
        " cannot be served in time, and drop requests whose client has gone.",
        evidence={
            "peak_per_s": top.answered_per_s,
            "peak_low_per_s": low,
            "overload_per_s": worst.answered_per_s,
            "overload_high_per_s": high,
        },
    )


def no_recovery(report: ScenarioReport) -> Advice | None:
    """What an overload did stays."""
    harm = harm_before_normal(report)
    if harm is not None:
        best_before, normal = harm
        return _not_back(
            f"more users at once than it can serve ({best_before.answered_per_s:,.4g} requests/s"
            f" were answered before, {normal.answered_per_s:,.4g} of"
            f" {normal.asked_per_s or 0:,.4g} after)",
            {"after": "more users than it can serve"},
        )
    for recovery in _lasting(report):
        if not _goes_on_refusing(report):
            return _not_back(
                f"{_name(recovery)} ({recovery.watched_s:,.3g} s watched at normal load)",
                {"after": recovery.after, "watched_s": recovery.watched_s},
            )
    for point in report.breaking_points:
        if point.hysteresis and not _goes_on_refusing(report):
            passed = f"{point.passes or 0:,.4g} {point.unit} had passed, and failed after it"
            return _not_back(f"an overload ({passed})", {"on": point.on})
    return None


def keeps_refusing(report: ScenarioReport) -> Advice | None:
    """It is well again, and lets nobody in."""
    for recovery in _lasting(report):
        if _goes_on_refusing(report):
            return Advice(
                rule="keeps-refusing",
                severity="critical",
                words=f"It goes on refusing (429) after {_name(recovery)}, for all of the"
                f" {recovery.watched_s:,.3g} s that were watched at normal load: its limit counts"
                " what it has refused, or punishes for too long.",
                evidence={"after": recovery.after, "watched_s": recovery.watched_s},
            )
    return None


def slow_recovery(report: ScenarioReport) -> Advice | None:
    """It comes back, and takes its time."""
    slow = [one for one in report.recoveries if (one.seconds or 0.0) > SLOW_RECOVERY_S]
    if not slow:
        return None
    slowest = max(slow, key=lambda one: one.seconds or 0.0)
    seconds = slowest.seconds or 0.0
    return Advice(
        rule="slow-recovery",
        severity="warning",
        words=f"After {_name(slowest)} it takes {seconds:,.3g} s until it is as before: a backlog"
        " is worked off, or connections and caches are built anew. Bound the queue, and drop what"
        " nobody waits for.",
        evidence={"after": slowest.after, "seconds": seconds},
    )


def refusals_without_retry_after(report: ScenarioReport) -> Advice | None:
    """It refuses and does not say for how long."""
    refused, told = _number(report, "polite_refused"), _number(report, "polite_told")
    if refused is None or told is None or refused < _LEAST_REFUSALS:
        return None
    ends = share_bounds(told, round(refused))
    if ends is None or ends.high >= COLLAPSED:
        return None
    return Advice(
        rule="refusals-without-retry-after",
        severity="warning",
        words=f"{refused - told:,.0f} of {refused:,.0f} refusals (429) do not say when to come"
        " back: without Retry-After clients guess, and come back all at once.",
        evidence={"refused": refused, "told": told},
    )


def retry_after_not_kept(report: ScenarioReport) -> Advice | None:
    """Who waits as told is refused again, although nobody else asks for much."""
    waited = _number(report, "quiet_waited")
    again = _number(report, "quiet_refused_after_wait")
    if waited is None or again is None:
        return None
    ends = share_bounds(again, round(waited))
    if ends is None or ends.low <= COLLAPSED or no_recovery(report) is not None:
        return None  # one that does not come back has another fault
    told = _number(report, "longest_told_s")
    of = "" if told is None else f" (up to {told:,.3g} s)"
    return Advice(
        rule="retry-after-not-kept",
        severity="critical",
        words=f"It does not keep its own Retry-After: with the overload over, {again:,.0f} of"
        f" {waited:,.0f} requests that had waited as told{of} were refused again. Say how long it"
        " really takes, or let in who has waited.",
        evidence={"waited": waited, "refused_again": again, "low": ends.low},
    )


def timeouts_instead_of_refusals(report: ScenarioReport) -> Advice | None:
    """Clients wait for nothing."""
    worst = _failing(report, TIMED_OUT)
    if worst is None:
        return None
    count = sum(worst.failures.get(kind, 0) for kind in TIMED_OUT)
    return Advice(
        rule="timeouts-instead-of-refusals",
        severity="warning",
        words=f"At {level_of(worst)} {count:,} of {worst.requests:,} requests run into their time"
        " limit: it takes on more than it can do. Refuse at once with 429 (or 503) and"
        " Retry-After what will not be served in time.",
        evidence={"timeouts": float(count), "requests": float(worst.requests)},
    )


def resets_instead_of_refusals(report: ScenarioReport) -> Advice | None:
    """Connections break where a word would do."""
    worst = _failing(report, BROKEN_OFF)
    if worst is None:
        return None
    count = sum(worst.failures.get(kind, 0) for kind in BROKEN_OFF)
    return Advice(
        rule="resets-instead-of-refusals",
        severity="warning",
        words=f"At {level_of(worst)} the connections of {count:,} of {worst.requests:,} requests"
        " are refused or break off, which clients cannot tell from a crash. Answer 429 (or 503)"
        " with Retry-After; a longer listen backlog and a bounded queue behind it make room for"
        " that.",
        evidence={"broken": float(count), "requests": float(worst.requests)},
    )


def answers_too_late(report: ScenarioReport) -> Advice | None:
    """Everybody is answered, when it no longer helps."""
    limits = report.limits
    if limits is None:
        return None
    late = [
        window
        for window in overloads(report)
        if (window.p50_ms or 0.0) > max(limits.p95_ms, LATE * 1e3 * window.length_s)
        and (ends := error_bounds(window)) is not None
        and ends.high < FAILING
    ]
    if not late:
        return None
    worst = max(late, key=lambda window: window.p50_ms or 0.0)
    median_s = (worst.p50_ms or 0.0) / 1e3
    return Advice(
        rule="answers-too-late",
        severity="warning",
        words=f"At {level_of(worst)} it refuses nobody and answers half of them later than"
        f" {median_s:,.3g} s (limit {limits.p95_ms / 1e3:,.3g} s): its queue has no end. Bound it,"
        " and refuse the rest with 429 and Retry-After.",
        evidence={"p50_ms": worst.p50_ms or 0.0, "limit_ms": limits.p95_ms},
    )


def refusals_not_honoured(report: ScenarioReport) -> Advice | None:
    """An agent that asks on when its upstream says 429."""
    seen = _number(report, "upstream_requests_in_block")
    allowed = _number(report, "upstream_allowed_in_block")
    if seen is None or allowed is None or seen <= allowed:
        return None
    told = _number(report, "retry_after_s") or 0.0
    return Advice(
        rule="refusals-not-honoured",
        severity="critical",
        words=f"While its upstream said 429 with Retry-After {told:,.0f} s, the agent sent"
        f" {seen:,.0f} requests; one that waits as told sends no more than {allowed:,.0f}. Wait"
        " for Retry-After before the next try, across all calls in flight.",
        evidence={"seen": seen, "allowed": allowed},
    )


def _failing(report: ScenarioReport, kinds: tuple[str, ...]) -> WindowFacts | None:
    """Of the overloads in which beyond doubt many fail, most of them so, the worst."""
    found = [
        window
        for window in overloads(report)
        if (errors := error_bounds(window)) is not None
        and errors.low > FAILING
        and (of_kinds := failed_bounds(window, kinds)) is not None
        and of_kinds.low > COLLAPSED
    ]
    return max(found, key=lambda window: window.error_share or 0.0, default=None)


def _is_hammered(window: WindowFacts) -> bool:
    """Users of a closed loop that are refused ask again at once: what that costs says little."""
    refused = failed_bounds(window, ("rate_limited",))
    return window.users is not None and refused is not None and refused.high > COLLAPSED


def _not_back(after: str, evidence: dict[str, float | str]) -> Advice:
    return Advice(
        rule="no-recovery",
        severity="critical",
        words=f"It does not come back after {after}. Bound what may wait, so that nothing is left"
        " to work off; until then only a restart helps.",
        evidence=evidence,
    )


def _lasting(report: ScenarioReport) -> list[RecoveryFacts]:
    """What it did not recover from in the time it was watched."""
    return [
        one
        for one in report.recoveries
        if one.seconds is None and one.watched_s > 0 and not one.words.startswith(_UNKNOWN)
    ]


def _goes_on_refusing(report: ScenarioReport) -> bool:
    """Whether at normal load afterwards most are refused, and those let in are answered in time."""
    for window in report.windows:
        if window.phase == "recovery" and report.limits is not None:
            refused = failed_bounds(window, ("rate_limited",))
            errors = error_bounds(window)
            return (
                (window.p50_ms or 0.0) <= report.limits.p95_ms
                and refused is not None
                and refused.low > COLLAPSED
                and errors is not None
                and errors.low > FAILING
            )
    return False


def _name(recovery: RecoveryFacts) -> str:
    return recovery.after.replace("_", " ")


def _number(report: ScenarioReport, name: str) -> float | None:
    value = report.observations.get(name)
    return float(value) if isinstance(value, int | float) else None
