"""Advice on memory that grows, and on memory that is not released."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.stress.advice.window_bounds import figure
from agentbench_tui.stress.report import Advice

if TYPE_CHECKING:
    from agentbench_tui.stress.report import ScenarioReport, TrendFacts

MATTERS_MB_PER_H = 1.0
KEPT_SHARE = 0.5
"""Share of the memory at normal load before the stress from which on additional memory
afterwards is reported.
"""
KEPT_MB = 50.0
SOON_H = 24.0


def memory_leak(report: ScenarioReport) -> Advice | None:
    """Advise when memory rises, with confidence and by a relevant amount."""
    trend = next((one for one in report.trends if one.of == "memory"), None)
    if trend is None or trend.direction != "rises" or trend.low < MATTERS_MB_PER_H:
        return None
    words = (
        f"Memory rises by {figure(trend.per_hour)} {trend.unit}/h [{figure(trend.low)},"
        f" {figure(trend.high)}] at constant load"
    )
    evidence: dict[str, float | str] = {"per_hour": trend.per_hour, "low": trend.low}
    requests_per_h = _requests_per_h(report)
    if requests_per_h:
        each_kb = 1e3 * trend.per_hour / requests_per_h
        words += f", {figure(each_kb)} kB for each request"
        evidence["kb_per_request"] = each_kb
    hours = _hours_left(report, trend)
    if hours is not None:
        least, most, room = hours
        words += f"; {room} are used up after {figure(least)} to {figure(most)} h"
        evidence |= {"hours_least": least, "hours_most": most}
    return Advice(
        rule="memory-leak",
        severity="critical" if hours is not None and hours[0] <= SOON_H else "warning",
        words=words + ". Look for what is kept for each request: histories, caches without a bound,"
        " handlers that are never removed.",
        evidence=evidence,
    )


def memory_not_given_back(report: ScenarioReport) -> Advice | None:
    """Advise when memory taken at peak load is not released."""
    before = [one.memory_mb for one in report.windows if one.phase == "normal" and one.memory_mb]
    after = [one.memory_mb for one in report.windows if one.phase == "recovery" and one.memory_mb]
    if not before or not after or any(one.of == "memory" for one in report.trends):
        return None
    highest_before, held_after = max(before), after[0]
    kept = held_after - highest_before
    if kept < max(KEPT_MB, KEPT_SHARE * highest_before):
        return None
    return Advice(
        rule="memory-not-given-back",
        severity="warning",
        words=f"After the stress it holds {held_after:,.0f} MB, at normal load before it"
        f" {highest_before:,.0f} MB: what the peak took is not given back. Bound what is kept"
        " (queues, caches, pools), or restart workers after a peak.",
        evidence={"before_mb": highest_before, "after_mb": held_after},
    )


def ended_under_pressure(report: ScenarioReport) -> Advice | None:
    """Advise when the target ended while the machine was short of memory."""
    why = report.observations.get("ended_under_ballast")
    if why is None:
        return None
    left_mb = report.observations.get("left_beside_ballast_mb")
    left = f" ({left_mb:,.0f} MB left)" if isinstance(left_mb, int | float) else ""
    return Advice(
        rule="ended-under-pressure",
        severity="critical",
        words=f"It ended while its machine had little memory{left}: {why}. Reserve what it needs,"
        " bound what it takes, and have it started again by itself.",
        evidence={"why": str(why)},
    )


def _requests_per_h(report: ScenarioReport) -> float | None:
    """Return the request rate at which the trend was measured."""
    longest = max(report.windows, key=lambda one: one.length_s, default=None)
    if longest is None or not longest.length_s:
        return None
    return 3600 * longest.requests / longest.length_s


def _hours_left(report: ScenarioReport, trend: TrendFacts) -> tuple[float, float, str] | None:
    """Return the shortest and longest time until memory is full in hours, and the room that is
    left.
    """
    room_mb = report.observations.get("memory_room_mb")
    if not isinstance(room_mb, int | float):
        return None
    of = str(report.observations.get("memory_room_of", f"{room_mb:,.0f} MB"))
    return room_mb / trend.high, room_mb / trend.low, of
