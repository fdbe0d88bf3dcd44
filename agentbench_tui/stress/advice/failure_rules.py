"""Advice on a target's behavior when connections, answers or processes fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.stress.advice.aftermath_facts import lasting
from agentbench_tui.stress.advice.window_bounds import FAULT, error_bounds, failed_bounds, figure
from agentbench_tui.stress.report import Advice

if TYPE_CHECKING:
    from agentbench_tui.stress.report import ScenarioReport

SCENARIO = "failure_recovery"
FAILING = 0.05
MOSTLY = 0.5
BROKEN_CONNECTIONS = ("reset", "cut", "truncation")
PASSED_ON = ("agent", "server")
"""Kinds of failure that the agent itself reports; a broken connection to it is another."""


def failure_not_survived(report: ScenarioReport) -> Advice | None:
    """Advise when the target does not recover after a fault is over."""
    never = lasting(report) if report.scenario == SCENARIO else []
    if not never:
        return None
    names = ", ".join(one.after.replace("_", " ") for one in never)
    watched_s = min(one.watched_s for one in never)
    return Advice(
        rule="failure-not-survived",
        severity="critical",
        words=f"It is not as good as before within {figure(watched_s)} s of the end of {names}:"
        " give every call to what it depends on a time limit, open connections anew"
        " after a failure, and let something start its processes again.",
        evidence={"after": names, "watched_s": watched_s},
    )


def broken_connections_passed_on(report: ScenarioReport) -> Advice | None:
    """Advise when an agent does not retry after its upstream breaks a connection."""
    for window in report.windows:
        fault = window.phase.removeprefix(FAULT)
        if window.phase == fault or fault not in BROKEN_CONNECTIONS:
            continue
        errors, own = error_bounds(window), failed_bounds(window, PASSED_ON)
        if errors is None or own is None or errors.low <= FAILING or own.low <= MOSTLY:
            continue
        failed = sum(window.failures.values())
        return Advice(
            rule="broken-connections-passed-on",
            severity="warning",
            words=f"While its connections to what it depends on broke off ({fault}), {failed:,} of"
            f" {window.requests:,} requests failed: try such a call once more, on a new"
            " connection, before giving up.",
            evidence={"fault": fault, "failed": float(failed), "requests": float(window.requests)},
        )
    return None
