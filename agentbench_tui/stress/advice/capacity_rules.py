"""Advice on what limits a target: its CPU, a concurrency limit, or shared resources."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from agentbench_tui.analysis.load.level_verdict import Limits, requests_needed
from agentbench_tui.stress.advice.aftermath_facts import comes_back
from agentbench_tui.stress.advice.window_bounds import (
    error_bounds,
    failed_bounds,
    figure,
    harm_before_normal,
    judged,
    knee,
    level_of,
)
from agentbench_tui.stress.report import Advice

if TYPE_CHECKING:
    from agentbench_tui.stress.report import ScenarioReport, WindowFacts
    from agentbench_tui.stress.search.breaking_point import BreakingPoint

IDLE_CORES = 0.5
"""A target that uses less cannot be waiting for the processor, however many threads it has."""
BUSY_SHARE = 0.85
"""Share of one core, or of all cores of the machine, from which on the CPU counts as busy."""
ONE_CORE = 1.1
"""More than this is not one core."""
LEAST_FAILURES = 3
"""Minimum number of failures in one window; fewer are normal."""
MOSTLY = 0.5
SERIAL_SHARE = 0.01
"""Contention below this has little effect with fewer than a hundred users."""
LOAD_CHECKS = ("p95 of latency", "completed of offered", "throughput")


def queueing_while_idle(report: ScenarioReport) -> Advice | None:
    """Advise when requests wait although the CPU is idle."""
    found = _at_limit(report)
    if found is None:
        return None
    point, cores = found
    if cores > IDLE_CORES:
        return None
    evidence: dict[str, float | str] = {
        "passes": point.passes or 0.0,
        "fails": point.fails or 0.0,
        "cpu_cores": cores,
    }
    starts = knee(report, by_users=point.on == "concurrency")
    where = f"The limit is {_level(point)}"
    if starts is not None:
        where = f"Queueing starts at {figure(starts)} {point.unit}".rstrip()
        where += f" and the limit is {_level(point)},"
        evidence["knee"] = starts
    return Advice(
        rule="queueing-while-idle",
        severity="warning",
        words=f"{where} while the target's CPU is at"
        f" {100 * cores:.0f}% of a core: look at its concurrency limit (slots, workers,"
        " connections to what it calls), not at its machine.",
        evidence=evidence,
    )


def processor_bound(report: ScenarioReport) -> Advice | None:
    """Advise when the CPU is the limit."""
    found = _at_limit(report)
    if found is None:
        return None
    point, cores = found
    machine = report.observations.get("machine_cores")
    if BUSY_SHARE <= cores <= ONE_CORE:
        of = "one core"
    elif isinstance(machine, int | float) and cores >= BUSY_SHARE * machine:
        of = f"all {machine:,.0f} cores of its machine"
    else:
        return None
    return Advice(
        rule="processor-bound",
        severity="warning",
        words=f"The limit at {_level(point)} is the processor: the target keeps {of} busy"
        f" ({cores:.2f} cores). Do less work for each request, or let it use more cores.",
        evidence={"passes": point.passes or 0.0, "fails": point.fails or 0.0, "cpu_cores": cores},
    )


def coherency_limit(report: ScenarioReport) -> Advice | None:
    """Advise when throughput falls with more users within the measured range, not only by
    extrapolation.
    """
    scaling = report.scaling
    if scaling is None or scaling.n_star is None or scaling.peak_per_s is None:
        return None
    ends = scaling.n_star_interval
    if max(scaling.n_star, 0.0 if ends is None else ends[1]) > scaling.largest:
        return None
    bounds = f" [{figure(ends[0])}, {figure(ends[1])}]" if ends is not None else ""
    evidence: dict[str, float | str] = {"n_star": scaling.n_star, "kappa": scaling.kappa}
    return Advice(
        rule="coherency-limit",
        severity="warning",
        words=f"Throughput peaks at {figure(scaling.peak_per_s)} requests/s with"
        f" {figure(scaling.n_star)}{bounds} requests at once and falls beyond: let no more than"
        f" {max(1, math.floor(scaling.n_star)):,} run at once, and queue or refuse the rest.",
        evidence=evidence | {"peak_per_s": scaling.peak_per_s},
    )


def contention_limit(report: ScenarioReport) -> Advice | None:
    """Advise when part of the work is serial."""
    scaling = report.scaling
    if scaling is None or scaling.model == "linear" or scaling.sigma_interval is None:
        return None
    low, high = scaling.sigma_interval
    if low < SERIAL_SHARE:
        return None
    ceiling = scaling.lambda_per_s / scaling.sigma
    return Advice(
        rule="contention-limit",
        severity="info",
        words=f"{figure(100 * scaling.sigma)}% [{figure(100 * low)}, {figure(100 * high)}] of the"
        f" work waits for something shared, which alone keeps it below {figure(ceiling)} requests/s"
        " however many ask at once: a lock, a single worker or a pool would look so.",
        evidence={"sigma": scaling.sigma, "low": low, "high": high, "ceiling_per_s": ceiling},
    )


def errors_at_normal_load(report: ScenarioReport) -> Advice | None:
    """Advise when requests fail even at normal load."""
    window = _failing_at_normal(report)
    if window is None or _is_refused(window):
        return None
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in sorted(window.failures.items()))
    return Advice(
        rule="errors-at-normal-load",
        severity="critical",
        words=f"Already at normal load ({level_of(window)}) {_failed(window)} of the requests fail"
        f" ({kinds}): fix this first: until then, results under stress mean little.",
        evidence={"error_share": window.error_share or 0.0},
    )


def refusals_at_normal_load(report: ScenarioReport) -> Advice | None:
    """Advise when the target's rate limit is below what it can serve for a moment."""
    window = _failing_at_normal(report)
    if window is None or not _is_refused(window):
        return None
    return Advice(
        rule="refusals-at-normal-load",
        severity="warning",
        words=f"Already at normal load ({level_of(window)}) it refuses {_failed(window)} (429),"
        f" though it had answered as much for a moment: about {figure(window.answered_per_s)}"
        " requests/s are let in. Say `normal_rate` below that to see what stress does to it.",
        evidence={
            "error_share": window.error_share or 0.0,
            "answered_per_s": window.answered_per_s,
        },
    )


def _failing_at_normal(report: ScenarioReport) -> WindowFacts | None:
    if report.limits is None or harm_before_normal(report) is not None:
        return None
    for window in judged(report):
        if window.phase != "normal" or sum(window.failures.values()) < LEAST_FAILURES:
            continue
        ends = error_bounds(window)
        if ends is not None and ends.low > report.limits.error_share:
            return window
    return None


def _is_refused(window: WindowFacts) -> bool:
    refused = failed_bounds(window, ("rate_limited",))
    return refused is not None and refused.low > MOSTLY


def _failed(window: WindowFacts) -> str:
    ends = error_bounds(window)
    assert ends is not None, "it was looked at"
    low, high = figure(100 * ends.low), figure(100 * ends.high)
    return f"{figure(100 * (window.error_share or 0))}% [{low}, {high}]"


def sender_limit(report: ScenarioReport) -> Advice | None:
    """Advise when the load generator, not the target, was the limit."""
    limited = [window for window in report.windows if window.sender_limit is not None]
    if not limited:
        return None
    least = min(limited, key=lambda window: (window.asked_per_s or 0.0, window.users or 0))
    return Advice(
        rule="sender-limit",
        severity="info",
        words=f"In {len(limited)} of {len(report.windows)} windows, from {level_of(least)} on, the"
        f" sender was or may have been the limit ({least.sender_limit}): they say"
        " nothing about the target. Send from another machine, or with more workers.",
        evidence={"windows": float(len(limited)), "reason": str(least.sender_limit)},
    )


def unclear_search(report: ScenarioReport) -> Advice | None:
    """Advise when longer windows would narrow the breaking point."""
    if comes_back(report) in ("no", "refuses", "less"):
        return None
    for point in report.breaking_points:
        if point.status not in ("wide", "nothing clear") and not point.unclear:
            continue
        # Where the sender was the limit, longer windows are no clearer.
        windows = [one for one in judged(report) if one.verdict == "unclear" and one.requests]
        if not windows or report.limits is None:
            continue
        asked = max(windows, key=lambda one: one.length_s)
        limits = Limits(
            report.limits.error_share,
            ((0.95, report.limits.p95_ms),),
            completed_share=report.limits.completed_share,
        )
        # Bounds narrow with the square root of what is measured: half as wide takes 4 times.
        by_count = 2 * requests_needed(limits) / (asked.requests / asked.length_s)
        seconds = max(4 * asked.length_s, by_count)
        return Advice(
            rule="unclear-search",
            severity="info",
            words=f"The breaking point in {point.on} is known only roughly ({point.words}):"
            f" windows of {seconds:,.0f} s instead of {figure(asked.length_s)} s would halve the"
            " doubt.",
            evidence={"length_s": asked.length_s, "needed_s": seconds},
        )
    return None


def _at_limit(report: ScenarioReport) -> tuple[BreakingPoint, float] | None:
    """Return the lowest load that fails with confidence, and the most cores used at or above the
    highest passing load; None for a target that an overload damaged.
    """
    if comes_back(report) in ("no", "refuses", "less"):
        return None
    for point in report.breaking_points:
        if point.on == "input" or point.fails is None or not point.confirmed:
            continue
        if not any(name in LOAD_CHECKS for name in point.broke):
            continue
        cores = [
            window.cpu_cores
            for window in judged(report)
            if window.cpu_cores is not None and _is_beyond(window, point)
        ]
        if cores:
            return point, max(cores)
    return None


def _is_beyond(window: WindowFacts, point: BreakingPoint) -> bool:
    asked = window.users if point.on == "concurrency" else window.asked_per_s
    return asked is not None and asked >= (point.passes or point.fails or 0.0)


def _level(point: BreakingPoint) -> str:
    level = point.fails if point.passes is None else point.passes
    assert level is not None, "one end is known"
    return f"{figure(level)} {point.unit}".rstrip()
