"""State of a target after a stress, as read by the advice rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from agentbench_tui.stress.advice.window_bounds import (
    best,
    error_bounds,
    failed_bounds,
    harm_before_normal,
    judged,
    rate_bounds,
)

if TYPE_CHECKING:
    from agentbench_tui.stress.report import RecoveryFacts, ScenarioReport, WindowFacts

ComesBack = Literal["yes", "less", "late", "refuses", "no"]
"""`less`: to normal load, but not to the most that it had passed. `late`: not in the time it was
watched, but when it is left alone. `refuses`: it would be well, and lets nobody in. `no`: not even
when it is left alone, as far as that was tried."""

FAILING = 0.05
MOSTLY = 0.5


def comes_back(report: ScenarioReport) -> ComesBack:
    """Return whether the target recovered after each stress."""
    if harm_before_normal(report) is not None:
        return "no"
    if not lasting(report) and not _fails_what_had_passed(report):
        return "yes"
    if _goes_on_refusing(report):
        return "refuses"
    if report.recoveries and all(one.seconds is not None for one in report.recoveries):
        return "less"
    return "late" if _left_alone(report) else "no"


def lasting(report: ScenarioReport) -> list[RecoveryFacts]:
    """Return the damage that the target did not recover from while it was observed."""
    return [one for one in report.recoveries if one.seconds is None and report.knows(one)]


def _fails_what_had_passed(report: ScenarioReport) -> bool:
    return any(point.hysteresis or point.before is not None for point in report.breaking_points)


def _left_alone(report: ScenarioReport) -> bool:
    """Return whether the target recovered after load stopped."""
    if report.observations.get("idle_again") is True:
        return True
    points = report.breaking_points
    return any(point.hysteresis is False and point.before is None for point in points)


def _goes_on_refusing(report: ScenarioReport) -> bool:
    """Return whether most requests were refused, and the others answered in time, when the target
    last failed at less load than it had served.
    """
    if report.limits is None:
        return False
    for window in reversed(_below_its_best(report)):
        errors, refused = error_bounds(window), failed_bounds(window, ("rate_limited",))
        if errors is not None and errors.low > FAILING and refused is not None:
            in_time = (window.p50_ms or 0.0) <= report.limits.p95_ms
            return in_time and refused.low > MOSTLY
    return False


def _below_its_best(report: ScenarioReport) -> list[WindowFacts]:
    """Return the windows after peak throughput that offered less load than that peak."""
    windows, top = judged(report), best(report)
    if top is None:
        return []
    most = rate_bounds(top).low
    later = windows[windows.index(top) + 1 :]
    return [one for one in later if one.asked_per_s is not None and one.asked_per_s < most]
