"""Confidence bounds of stored windows' figures, which the advice rules are based on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from agentbench_tui.analysis.distribution import normal_quantile
from agentbench_tui.analysis.intervals.interval import Interval, wilson

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentbench_tui.stress.report import ScenarioReport, WindowFacts

LEVEL = 0.95
HARMED = 0.05
"""Share of errors at normal load, at the confidence bound, from which on the target counts as
damaged.
"""
SLOWER = 3.0
"""Times the p95 of before: such a median is that of a target which is not well."""
QUEUED = 1.1
"""Times the unloaded median; less may be a busy machine."""
FAULT = "fault "
"""Prefix of the phase of a window with an injected fault."""
OVERLOADED = 1.2
"""Ratio of requested rate to peak throughput from which on a window is an overload."""


def share_bounds(part: float, whole: int) -> Interval | None:
    """Return Wilson's interval of a share; None if `whole` is 0."""
    return wilson(min(max(part, 0.0), whole), whole, LEVEL) if whole else None


def error_bounds(window: WindowFacts) -> Interval | None:
    """Return the bounds of the share of errors; None without requests."""
    if window.error_share is None:
        return None
    return share_bounds(window.error_share * window.requests, window.requests)


def failed_bounds(window: WindowFacts, kinds: Iterable[str]) -> Interval | None:
    """Return the bounds of the share of these kinds among all failures; None without any."""
    of_kinds = sum(window.failures.get(kind, 0) for kind in kinds)
    return share_bounds(of_kinds, sum(window.failures.values()))


def rate_bounds(window: WindowFacts) -> Interval:
    """Return the bounds of good answers per second, assuming Poisson arrivals.

    Square roots of counts have a variance of 1/4 (Anscombe 1948). A queue answers more evenly, so
    the bounds are conservative.
    """
    half = normal_quantile(0.5 + LEVEL / 2) / 2
    root = math.sqrt(window.answered_per_s * window.length_s + 3 / 8)
    low, high = (max(0.0, root + side) ** 2 - 3 / 8 for side in (-half, half))
    length = window.length_s or math.inf
    return Interval(max(0.0, low) / length, high / length, LEVEL, "square root of a count")


def judged(report: ScenarioReport) -> list[WindowFacts]:
    """Return the windows that describe the target alone: without a fault, and not limited by the
    sender.
    """
    return [
        window
        for window in report.windows
        if not window.applied and not window.phase.startswith(FAULT) and window.sender_limit is None
    ]


def knee(report: ScenarioReport, *, by_users: bool) -> float | None:
    """Return the lowest level whose median latency exceeds the unloaded one beyond doubt.

    Unloaded is the lowest level that was measured; the interval of the level's median, in each of
    its windows, has to lie above that of the unloaded median by `QUEUED` or more. Levels are users,
    or requests a second. None where no level is so slow, or intervals are not known.
    """
    lows: dict[float, float] = {}
    highs: dict[float, float] = {}
    for window in judged(report):
        level = window.users if by_users else window.asked_per_s
        if level is None or window.p50_low_ms is None or window.p50_high_ms is None:
            continue
        lows[level] = min(lows.get(level, math.inf), window.p50_low_ms)
        highs.setdefault(level, window.p50_high_ms)  # before an overload could have done harm
    if not lows:
        return None
    unloaded = highs[min(highs)]
    return min((level for level, low in lows.items() if low > QUEUED * unloaded), default=None)


def best(report: ScenarioReport) -> WindowFacts | None:
    """Return the window with the highest throughput, at the confidence bound."""
    return max(judged(report), key=lambda window: rate_bounds(window).low, default=None)


def overloads(report: ScenarioReport) -> list[WindowFacts]:
    """Return the windows that requested more than any window answered; by rate or, in a closed
    loop, by more users than at peak throughput.
    """
    top = best(report)
    if top is None:
        return []
    most, users = rate_bounds(top).high, top.users
    return [
        window
        for window in judged(report)
        if (window.asked_per_s is not None and window.asked_per_s >= OVERLOADED * most)
        or (window.users is not None and users is not None and window.users > users)
    ]


def harm_before_normal(report: ScenarioReport) -> tuple[WindowFacts, WindowFacts] | None:
    """Return the window after which the target was damaged, and the one at normal load, if normal
    load failed although more had been answered correctly before.

    Empty if the target only refuses and answers the accepted requests as fast as before: that is a
    rate limit whose burst was used up.
    """
    phases = [window.phase for window in report.windows]
    if "normal" not in phases:
        return None
    place = phases.index("normal")
    normal = report.windows[place]
    failing = error_bounds(normal)
    if normal.asked_per_s is None or failing is None or failing.low <= HARMED:
        return None
    refused = failed_bounds(normal, ("rate_limited",))
    for window in report.windows[:place]:
        if window.error_share != 0 or rate_bounds(window).low <= normal.asked_per_s:
            continue
        in_time = (normal.p50_ms or 0.0) <= SLOWER * (window.p95_ms or 0.0)
        if refused is None or refused.low <= 0.5 or not in_time:
            return window, normal
    return None


def level_of(window: WindowFacts) -> str:
    """Return the load level in words, such as `200 requests/s` or `64 users`."""
    if window.users is not None:
        return f"{window.users:,} users"
    rate = window.asked_per_s
    return "no set rate" if rate is None else f"{figure(rate)} requests/s"


def level_figure(value: float) -> str:
    """Format with four digits, more for a large number, without an exponent: `8.5`, `84.25`,
    `131,072`.
    """
    return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:,.4g}"


def figure(value: float) -> str:
    """Format with three digits, more for a large number, without an exponent: `0.0123`, `8.5`,
    `84.3`, `7,620`.
    """
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 1e-4 or not value else f"{value:.6f}"
