"""Normal load of a target: measured first, not assumed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agentbench_tui.analysis.load.level_verdict import Limits
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.stress.advice.window_bounds import error_bounds, level_figure
from agentbench_tui.stress.report import LimitsUsed, NormalLoad
from agentbench_tui.stress.reporter import facts_of
from agentbench_tui.stress.search.scaling import closed_rate
from agentbench_tui.stress.stand.window_plan import WindowPlan

if TYPE_CHECKING:
    from agentbench_tui.stress.reporter import Reporter
    from agentbench_tui.stress.spec import StressSpec
    from agentbench_tui.stress.stand.measured import Measured
    from agentbench_tui.stress.stand.stand import Stand

EASE = 0.5
"""Share of the throughput without queueing: at this load, random arrivals hardly wait for each
other.
"""
GROWTH = 1.10
"""The steps end if more users do not multiply throughput by this factor."""
QUEUEING = 2.0
"""Times the p95 of one user, from which requests wait for each other."""
SLACK_MS = 5.0
"""Growth that p95 is always allowed: for a target that answers immediately, it is the machine's
noise.
"""
LIMIT_OVER_NORMAL = 3.0
LEAST_LIMIT_MS = 10.0
STEP_S = 2.0
"""Length of a step before `time_scale`; at least this multiple of the median latency:"""
STEP_LATENCIES = 6
FIRST_REQUESTS = 10
FIRST_LIMIT_S = 60.0
BASELINE_PIECES = 10
LEAST_PIECE_S = 0.1
REQUESTS_A_PIECE = 4
"""Minimum number of requests per piece, if that takes less than a second: fewer would be chance."""
FAILING = 0.05
"""Share of errors, beyond doubt, from which more users are too many."""
STEADY_S = 5.0
"""Minimum length of windows after errors, not scaled: the burst of a rate limit is then over."""
STEPS_DOWN = 3
"""How often a candidate for normal load is halved at most, if it has errors."""
FEWER = 0.5
"""Share of the errors at twice the load or more: above it, load is not the cause."""
SLOWER = 2.0
"""Factor on the p95 of the steps: if the median of answers exceeds it, the target is not too
small but damaged, which shows at a load that it could serve before.
"""


@dataclass(frozen=True)
class Normal:
    """The target at normal load, and the limits derived from it."""

    rate: float
    """Requests a second."""
    concurrency: int
    """Users."""
    p50_ms: float
    p95_ms: float
    """At that load."""
    capacity: float
    """Peak capacity: the highest throughput of the steps or, if that did not last, of the
    windows held afterwards.
    """
    limits: Limits
    """Limits on errors, p95 and completion."""
    limit_p95_ms: float
    piece_s: float
    """Length of the pieces for scores and recoveries: one second, or less if time is scaled."""
    baseline: Measured
    """The window at normal load, `BASELINE_PIECES` pieces or more: the reference for later
    windows.
    """


def piece_of(time_scale: float, rate: float = math.inf) -> float:
    """Return the length in seconds of the pieces for resilience: one, or less if time is scaled
    and a piece has enough requests.
    """
    return min(1.0, max(LEAST_PIECE_S, time_scale, REQUESTS_A_PIECE / rate))


async def measure_normal(stand: Stand, spec: StressSpec, reporter: Reporter) -> Normal:
    """Climb 1, 2, 4 … users, at most `most_concurrency`, until throughput grows by less than 10%,
    p95 is more than twice that of one user, or errors are too many; the highest throughput is the
    capacity.

    Normal is half of the rate of the last step without queueing, and half of its users, where
    `multiple` times as many are still allowed; or what the suite says. One window at that load is
    the baseline; where it has errors that the ladder had not, such as behind a rate limit that lets
    a burst through, half of what it answered is tried, three times at most. Fills `normal` and
    `limits` of the report. Raises AgentFailure when nothing is answered.
    """
    ladder = await _climb(stand, spec, reporter)
    at_ease = _at_ease(ladder, spec)
    users = spec.normal_concurrency or max(1, round(EASE * (at_ease.users or 1)))
    users = min(users, stand.most_users)
    rate = spec.normal_rate or min(EASE * _throughput(at_ease), spec.most_rate)
    measured = spec.normal_rate is None and spec.normal_concurrency is None
    capacity, words = max(map(_throughput, ladder)), "as the suite says"
    if measured:
        words = _words(at_ease, ladder)
        lasting = await _lasting(stand, spec, reporter, ladder[-1], at_ease)
        if lasting is not None and lasting < capacity:
            capacity = lasting
            if EASE * lasting < rate:
                users, rate = max(1, round(users * EASE * lasting / rate)), EASE * lasting
                words = f"half of the {level_figure(lasting)} requests/s {_LASTING}"
        held = await _hold(stand, spec, rate, at_ease)
        if held.rate < rate:
            users, rate = max(1, round(users * held.rate / rate)), held.rate
            capacity, words = held.most_per_s, held.words
        for window in held.tried:
            await reporter.window(facts_of(replace(window, phase="ladder")))
        baseline = held.baseline
    else:
        baseline, rate = await _as_said(stand, spec, reporter, users, rate)
    p50_ms, p95_ms = baseline.quantile_ms(0.5), baseline.quantile_ms(0.95)
    if p50_ms is None or p95_ms is None:
        raise _unanswered(baseline)
    stand.pace_ms = max(stand.pace_ms or 0.0, p50_ms)
    reporter.report.normal = NormalLoad(
        rate_per_s=rate,
        users=users,
        p50_ms=p50_ms,
        p95_ms=p95_ms,
        capacity_per_s=max(capacity, baseline.answered_per_s),
        measured=measured,
        words=words,
    )
    reporter.report.limits = _limits(spec, p95_ms)
    stand.keep_limits(reporter.report.limits.p95_ms)
    await reporter.window(facts_of(baseline))
    return _normal(reporter.report.normal, reporter.report.limits, spec, baseline)


async def _as_said(
    stand: Stand, spec: StressSpec, reporter: Reporter, users: int, about: float
) -> tuple[Measured, float]:
    """Measure the baseline at the normal load that the suite specifies, and its rate.

    If its users exceed `most_rate`, that rate is used and never exceeded afterwards. `about` is the
    expected rate per second.
    """
    rate = spec.normal_rate
    if rate is None:
        course = replace(_baseline(stand, spec, about), rate=None, users=users)
        closed = await stand.hold(course, phase="normal")
        if closed.answered_per_s <= spec.most_rate:
            return closed, closed.answered_per_s
        await reporter.window(facts_of(replace(closed, phase="ladder")))
        rate = spec.most_rate
    return await stand.hold(_baseline(stand, spec, rate), phase="normal"), rate


def _normal(load: NormalLoad, limits: LimitsUsed, spec: StressSpec, baseline: Measured) -> Normal:
    latency = ((0.95, limits.p95_ms),)
    return Normal(
        rate=load.rate_per_s,
        concurrency=load.users,
        p50_ms=load.p50_ms,
        p95_ms=load.p95_ms,
        capacity=load.capacity_per_s,
        limits=Limits(limits.error_share, latency, "ms", limits.completed_share),
        limit_p95_ms=limits.p95_ms,
        piece_s=piece_of(spec.time_scale, load.rate_per_s),
        baseline=baseline,
    )


def _limits(spec: StressSpec, p95_ms: float) -> LimitsUsed:
    given = spec.limits.p95_ms
    return LimitsUsed(
        error_share=spec.limits.error_share,
        p95_ms=max(LIMIT_OVER_NORMAL * p95_ms, LEAST_LIMIT_MS) if given is None else given,
        completed_share=spec.limits.completed_share,
        derived=given is None,
    )


_LASTING = "that were answered for a while when more was asked; in short bursts more had been"


class _Held(NamedTuple):
    """Result of holding a candidate for normal load."""

    baseline: Measured
    rate: float
    """Requested rate."""
    tried: list[Measured]
    """The other windows."""

    @property
    def most_per_s(self) -> float:
        """Return the highest throughput in any of the windows."""
        return max(window.answered_per_s for window in (self.baseline, *self.tried))

    @property
    def words(self) -> str:
        """Describe how it was found, if not by the steps alone."""
        before = self.tried[-1]
        return f"half of the {level_figure(before.answered_per_s)} requests/s {_LASTING}"


def _baseline(stand: Stand, spec: StressSpec, rate: float) -> WindowPlan:
    """Return the window in which normal load is held."""
    pieces_s = BASELINE_PIECES * piece_of(spec.time_scale, rate)
    return WindowPlan(max(pieces_s, (stand.pace_ms or 0.0) / 1e3), rate=rate)


async def _lasting(
    stand: Stand, spec: StressSpec, reporter: Reporter, last: Measured, at_ease: Measured
) -> float | None:
    """Return the throughput sustained for the length of a baseline, if the steps ended with
    errors: their short windows may have used the burst of a rate limit. None if they ended
    without errors, and if the target is damaged.
    """
    if not _fails(last) or last.users is None:
        return None
    length_s = max(_baseline(stand, spec, math.inf).length_s, STEADY_S)
    window = await stand.hold(WindowPlan(length_s, users=last.users), phase="ladder")
    await reporter.window(facts_of(window))
    if not _is_unharmed(window, at_ease):
        return None
    return _later_half(window) or None


def _later_half(window: Measured) -> float:
    """Return good answers per second in the later half, after burst allowances are used up."""
    half_s = window.length_s / 2
    return window.part(half_s, window.length_s, phase="ladder").answered_per_s


async def _hold(stand: Stand, spec: StressSpec, rate: float, at_ease: Measured) -> _Held:
    """Hold the baseline, halving it while it has errors.

    Not if the target is damaged, which shows at a load that it served before, nor if less load has
    as many errors: then load is not the cause.
    """
    held: list[Measured] = []
    rates = [rate]
    for _ in range(1 + STEPS_DOWN):
        course = _baseline(stand, spec, rates[-1])
        if held:
            course = replace(course, length_s=max(course.length_s, STEADY_S))
        held.append(await stand.hold(course, phase="normal"))
        if len(held) > 1 and (held[-1].error_share or 0) > FEWER * (held[-2].error_share or 0):
            break
        if not _fails(held[-1]):
            return _Held(held[-1], rates[-1], held[:-1])
        if not _is_unharmed(held[-1], at_ease):
            break
        rates.append(EASE * _later_half(held[-1]))
    return _Held(held[0], rate, held[1:])


def _fails(window: Measured) -> bool:
    ends = error_bounds(facts_of(window))
    return ends is not None and ends.low > FAILING


def _is_unharmed(window: Measured, at_ease: Measured) -> bool:
    """Return whether the target answers about as fast as before."""
    p50_ms, before_ms = window.quantile_ms(0.5), at_ease.quantile_ms(0.95)
    return p50_ms is not None and before_ms is not None and p50_ms <= SLOWER * before_ms


async def _climb(stand: Stand, spec: StressSpec, reporter: Reporter) -> list[Measured]:
    """Return the windows of the ladder, including the one that ended it."""
    first = WindowPlan(FIRST_LIMIT_S, users=1, requests=FIRST_REQUESTS)
    one = await stand.hold(first, phase="ladder")
    await reporter.window(facts_of(one))
    pace_ms, alone_ms = one.quantile_ms(0.5), one.quantile_ms(0.95)
    if pace_ms is None or alone_ms is None:
        raise _unanswered(one)
    stand.pace_ms = pace_ms
    length_s = max(spec.scaled(STEP_S), STEP_LATENCIES * pace_ms / 1e3)
    ladder, users = [one], 2
    while users <= stand.most_users:
        step = await stand.hold(WindowPlan(length_s, users=users), phase="ladder")
        await reporter.window(facts_of(step))
        best = max(_throughput(before) for before in ladder)
        ladder.append(step)
        if _throughput(step) < GROWTH * best or _queues(step, alone_ms) or _fails(step):
            break
        users *= 2
    return ladder


def _throughput(step: Measured) -> float:
    """Return good answers per second: by users and their mean latency if all were answered; else by
    count, from half a latency after the first one, because users that begin together are answered
    together.
    """
    rate = closed_rate(step)
    if rate is not None:
        return rate
    ends = step.end_s[step.ok]
    if not ends.size or not step.length_s:  # the last requests of a budget take no time to begin
        return 0.0
    begins_s = min(1.5 * float(ends.min()), step.length_s / 2)
    within = np.count_nonzero((ends > begins_s) & (ends <= step.length_s))
    return float(within) / (step.length_s - begins_s)


def _queues(step: Measured, alone_ms: float) -> bool:
    p95_ms = step.quantile_ms(0.95)
    return p95_ms is None or p95_ms > max(QUEUEING * alone_ms, alone_ms + SLACK_MS)


def _at_ease(ladder: list[Measured], spec: StressSpec) -> Measured:
    """Return the step with the highest throughput among those without queueing and errors whose
    half, times `multiple`, stays within the allowed users; if more users hardly added
    throughput, the one with the fewest. The first step if there is none.
    """
    alone_ms = ladder[0].quantile_ms(0.95) or 0.0
    most = max(1.0, spec.most_concurrency / spec.multiple)
    good = [
        step
        for step in ladder
        if not _queues(step, alone_ms) and not _fails(step) and EASE * (step.users or 1) <= most
    ] or ladder[:1]
    enough = max(map(_throughput, good)) / GROWTH
    return next(step for step in good if _throughput(step) >= enough)


def _unanswered(window: Measured) -> AgentFailure:
    kind = max(window.failures, key=lambda name: window.failures[name], default="")
    known = kind in FailureKind._value2member_map_
    return AgentFailure(
        FailureKind(kind) if known else FailureKind.AGENT,
        f"none of {len(window):,} requests at ease was answered ({kind or 'nothing was sent'})",
    )


def _words(at_ease: Measured, ladder: list[Measured]) -> str:
    most = max(ladder, key=_throughput)
    return (
        f"half of the {level_figure(_throughput(at_ease))} requests/s that {at_ease.users or 1}"
        f" users had answered without queueing; {most.users or 1} users had"
        f" {level_figure(_throughput(most))}"
    )
