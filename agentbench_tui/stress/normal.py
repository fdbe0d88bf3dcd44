"""What is normal for a target: measured first, not assumed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.level_verdict import Limits
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.stress.course import Course
from agentbench_tui.stress.report import LimitsUsed, NormalLoad
from agentbench_tui.stress.reporter import facts_of

if TYPE_CHECKING:
    from agentbench_tui.stress.measured import Measured
    from agentbench_tui.stress.reporter import Reporter
    from agentbench_tui.stress.spec import StressSpec
    from agentbench_tui.stress.stand import Stand

EASE = 0.5
"""Of what is answered in a second before anything queues: a load at which random arrivals hardly
wait for each other."""
GROWTH = 1.10
"""More users must give so many times as many answers a second, or the ladder ends."""
QUEUEING = 2.0
"""Times the p95 of one user, from which requests wait for each other."""
SLACK_MS = 5.0
"""That p95 may always grow: of a target that answers in a moment, the machine's own noise."""
LIMIT_OVER_NORMAL = 3.0
LEAST_LIMIT_MS = 10.0
STEP_S = 2.0
"""Of the ladder, before `time_scale`; at least so many times the median latency:"""
STEP_LATENCIES = 6
FIRST_REQUESTS = 10
FIRST_LIMIT_S = 60.0
BASELINE_PIECES = 10
LEAST_PIECE_S = 0.1
REQUESTS_A_PIECE = 4
"""At least, where that is within a second: fewer are chance."""


@dataclass(frozen=True)
class Normal:
    """The target at ease, and the limits that follow from it."""

    rate: float
    """Requests a second."""
    concurrency: int
    """Users."""
    p50_ms: float
    p95_ms: float
    """At that load."""
    capacity: float
    """The most that a window of the ladder answered in a second: what it can do at its best."""
    limits: Limits
    """Errors, p95 and what is completed."""
    limit_p95_ms: float
    piece_s: float
    """Windows of scores and recoveries: a second, less where time is scaled."""
    baseline: Measured
    """The window at normal load, `BASELINE_PIECES` pieces and more: what it is held against
    afterwards."""


def piece_of(time_scale: float, rate: float = math.inf) -> float:
    """Seconds of the windows in which resilience is counted: one, less where time is scaled and
    enough is asked in them."""
    return min(1.0, max(LEAST_PIECE_S, time_scale, REQUESTS_A_PIECE / rate))


async def measure_normal(stand: Stand, spec: StressSpec, reporter: Reporter) -> Normal:
    """Climb 1, 2, 4 … users, at most `most_concurrency`, until answers a second grow by less than
    10 % or p95 is more than twice that of one user; the best of all is the capacity.

    Normal is half of the rate of the last step without queueing, and half of its users, where
    `multiple` times as many are still allowed; or what the suite says. One window at that load is
    the baseline. Fills `normal` and `limits` of the report. Raises AgentFailure when nothing is
    answered.
    """
    ladder = await _climb(stand, spec, reporter)
    capacity = max(_throughput(step) for step in ladder)
    at_ease = _at_ease(ladder, spec)
    users = spec.normal_concurrency or max(1, round(EASE * (at_ease.users or 1)))
    users = min(users, stand.most_users)
    rate = spec.normal_rate or min(EASE * _throughput(at_ease), spec.most_rate)
    piece_s = piece_of(spec.time_scale, rate)
    length_s = max(BASELINE_PIECES * piece_s, stand.pace_ms / 1e3 if stand.pace_ms else 0.0)
    course = Course(length_s, rate=rate)
    if spec.normal_rate is None and spec.normal_concurrency is not None:
        course = Course(length_s, users=users)
    baseline = await stand.hold(course, phase="normal")
    p50_ms, p95_ms = baseline.quantile_ms(0.5), baseline.quantile_ms(0.95)
    if p50_ms is None or p95_ms is None:
        raise _unanswered(baseline)
    stand.pace_ms = max(stand.pace_ms or 0.0, p50_ms)
    if course.users is not None:
        rate = baseline.answered_per_s
    given = spec.limits.p95_ms
    limit_ms = max(LIMIT_OVER_NORMAL * p95_ms, LEAST_LIMIT_MS) if given is None else given
    stand.keep_limits(limit_ms)
    measured = spec.normal_rate is None and spec.normal_concurrency is None
    reporter.report.normal = NormalLoad(
        rate_per_s=rate,
        users=users,
        p50_ms=p50_ms,
        p95_ms=p95_ms,
        capacity_per_s=max(capacity, baseline.answered_per_s),
        measured=measured,
        words=_words(at_ease, ladder) if measured else "as the suite says",
    )
    reporter.report.limits = LimitsUsed(
        error_share=spec.limits.error_share,
        p95_ms=limit_ms,
        completed_share=spec.limits.completed_share,
        derived=given is None,
    )
    await reporter.window(facts_of(baseline))
    return Normal(
        rate=rate,
        concurrency=users,
        p50_ms=p50_ms,
        p95_ms=p95_ms,
        capacity=reporter.report.normal.capacity_per_s,
        limits=Limits(
            spec.limits.error_share, ((0.95, limit_ms),), "ms", spec.limits.completed_share
        ),
        limit_p95_ms=limit_ms,
        piece_s=piece_s,
        baseline=baseline,
    )


async def _climb(stand: Stand, spec: StressSpec, reporter: Reporter) -> list[Measured]:
    """The windows of the ladder, with the one that ended it."""
    first = Course(FIRST_LIMIT_S, users=1, requests=FIRST_REQUESTS)
    one = await stand.hold(first, phase="ladder")
    await reporter.window(facts_of(one))
    pace_ms, alone_ms = one.quantile_ms(0.5), one.quantile_ms(0.95)
    if pace_ms is None or alone_ms is None:
        raise _unanswered(one)
    stand.pace_ms = pace_ms
    length_s = max(spec.scaled(STEP_S), STEP_LATENCIES * pace_ms / 1e3)
    ladder, users = [one], 2
    while users <= stand.most_users:
        step = await stand.hold(Course(length_s, users=users), phase="ladder")
        await reporter.window(facts_of(step))
        best = max(_throughput(before) for before in ladder)
        ladder.append(step)
        if _throughput(step) < GROWTH * best or _queues(step, alone_ms):
            break
        users *= 2
    return ladder


def _throughput(step: Measured) -> float:
    """Good answers a second, from half a latency after the first one: before it there are none, and
    users that begin together are answered together."""
    ends = step.end_s[step.ok]
    if not ends.size:
        return 0.0
    begins_s = min(1.5 * float(ends.min()), step.length_s / 2)
    within = np.count_nonzero((ends > begins_s) & (ends <= step.length_s))
    return float(within) / (step.length_s - begins_s)


def _queues(step: Measured, alone_ms: float) -> bool:
    p95_ms = step.quantile_ms(0.95)
    return p95_ms is None or p95_ms > max(QUEUEING * alone_ms, alone_ms + SLACK_MS)


def _at_ease(ladder: list[Measured], spec: StressSpec) -> Measured:
    """The step with most answers a second of those without queueing, of which `multiple` times half
    as many users may be asked for; where more users gave hardly more, that with fewest. The first
    if there is none."""
    alone_ms = ladder[0].quantile_ms(0.95) or 0.0
    most = max(1.0, spec.most_concurrency / spec.multiple)
    good = [
        step for step in ladder if not _queues(step, alone_ms) and EASE * (step.users or 1) <= most
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
        f"half of the {_throughput(at_ease):,.4g} requests/s that {at_ease.users or 1} users had"
        f" answered without queueing; {most.users or 1} users had {_throughput(most):,.4g}"
    )
