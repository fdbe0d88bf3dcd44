"""Advice on how a target refuses requests, and on agents that ignore a refusal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.stress.advice.aftermath_facts import comes_back
from agentbench_tui.stress.advice.window_bounds import (
    error_bounds,
    failed_bounds,
    figure,
    level_of,
    overloads,
    share_bounds,
)
from agentbench_tui.stress.report import Advice

if TYPE_CHECKING:
    from agentbench_tui.stress.report import ScenarioReport, WindowFacts

FAILING = 0.05
"""Share of errors from which it matters how they fail."""
MOSTLY = 0.5
LATE = 0.5
"""Share of the window's length: a later answer has waited in a queue that keeps growing."""
LEAST_REFUSALS = 5

TIMED_OUT = ("timeout", "unfinished", "unsent")
"""Also what never ended, and what found no place in flight behind such."""
BROKEN_OFF = ("connection", "truncated")


def refusals_without_retry_after(report: ScenarioReport) -> Advice | None:
    """Advise when refusals carry no Retry-After."""
    refused, told = _number(report, "polite_refused"), _number(report, "polite_told")
    if refused is None or told is None or refused < LEAST_REFUSALS:
        return None
    ends = share_bounds(told, round(refused))
    if ends is None or ends.high >= MOSTLY:
        return None
    return Advice(
        rule="refusals-without-retry-after",
        severity="warning",
        words=f"{refused - told:,.0f} of {refused:,.0f} refusals (429) do not say when to come"
        " back: without Retry-After clients guess, and come back all at once.",
        evidence={"refused": refused, "told": told},
    )


def retry_after_not_kept(report: ScenarioReport) -> Advice | None:
    """Advise when clients that waited for Retry-After are refused again, although other load is
    low.
    """
    waited = _number(report, "quiet_waited")
    again = _number(report, "quiet_refused_after_wait")
    if waited is None or again is None:
        return None
    ends = share_bounds(again, round(waited))
    if ends is None or ends.low <= MOSTLY or comes_back(report) == "no":
        return None  # one that does not come back has another fault
    told = _number(report, "longest_told_s")
    of = "" if told is None else f" (up to {figure(told)} s)"
    return Advice(
        rule="retry-after-not-kept",
        severity="critical",
        words=f"It does not keep its own Retry-After: with the overload over, {again:,.0f} of"
        f" {waited:,.0f} requests that had waited that long{of} were refused again. Announce how"
        " long it really takes, or admit clients that have waited.",
        evidence={"waited": waited, "refused_again": again, "low": ends.low},
    )


def timeouts_instead_of_refusals(report: ScenarioReport) -> Advice | None:
    """Advise when requests time out instead of being refused."""
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
    """Advise when connections break instead of being refused with a status."""
    worst = _failing(report, BROKEN_OFF)
    if worst is None or report.status == "target lost":
        return None  # who has ended cannot answer
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
    """Advise when all requests are answered, but too late."""
    limits = report.limits
    if limits is None:
        return None
    late = [
        window
        for window in overloads(report)
        if window.users is None  # as many as there are may wait in a closed loop, and no more
        and (window.p50_ms or 0.0) > max(limits.p95_ms, LATE * 1e3 * window.length_s)
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
        words=f"At {level_of(worst)} it refuses no request and answers half of them later than"
        f" {figure(median_s)} s (limit {figure(limits.p95_ms / 1e3)} s): its queue has no end."
        " Bound it, and refuse the rest with 429 and Retry-After.",
        evidence={"p50_ms": worst.p50_ms or 0.0, "limit_ms": limits.p95_ms},
    )


def refusals_not_honoured(report: ScenarioReport) -> Advice | None:
    """Advise when an agent continues to call its upstream during a 429."""
    seen = _number(report, "upstream_requests_in_block")
    allowed = _number(report, "upstream_allowed_in_block")
    if seen is None or allowed is None or seen <= allowed:
        return None
    told = _number(report, "retry_after_s") or 0.0
    return Advice(
        rule="refusals-not-honoured",
        severity="critical",
        words=f"While its upstream returned 429 with Retry-After {told:,.0f} s, the agent sent"
        f" {seen:,.0f} requests; an agent that waits sends no more than {allowed:,.0f}. Wait"
        " for Retry-After before the next try, across all calls in flight.",
        evidence={"seen": seen, "allowed": allowed},
    )


def _failing(report: ScenarioReport, kinds: tuple[str, ...]) -> WindowFacts | None:
    """Return the worst overload in which, with confidence, many requests fail and most of them in
    this way.
    """
    found = [
        window
        for window in overloads(report)
        if (errors := error_bounds(window)) is not None
        and errors.low > FAILING
        and (of_kinds := failed_bounds(window, kinds)) is not None
        and of_kinds.low > MOSTLY
    ]
    return max(found, key=lambda window: window.error_share or 0.0, default=None)


def _number(report: ScenarioReport, name: str) -> float | None:
    value = report.observations.get(name)
    return float(value) if isinstance(value, int | float) else None
