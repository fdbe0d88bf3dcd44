"""Searches for a breaking point with measured windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.load.level_verdict import (
    Check,
    LevelVerdict,
    Limits,
    judge_level,
    requests_needed,
)
from agentbench_tui.load.calibration.verdict import SENT_SHARE
from agentbench_tui.model.answer import AgentFailure
from agentbench_tui.stress.budget import Stopped
from agentbench_tui.stress.reporter import facts_of
from agentbench_tui.stress.search.breaking_point import BreakingPoint, Search
from agentbench_tui.stress.stand.window_plan import WindowPlan

if TYPE_CHECKING:
    from agentbench_tui.stress.reporter import Reporter
    from agentbench_tui.stress.search.axis import Axis
    from agentbench_tui.stress.stand.measured import Measured
    from agentbench_tui.stress.stand.normal import Normal
    from agentbench_tui.stress.stand.stand import Stand

PROBE_S = 2.0
"""Least length of a probe, before `time_scale`."""
LIMIT_LENGTHS = 20
"""Times the limit of p95 that a probe lasts if that is not too long: a queue that grows by 5% is
then seen within it."""
LONGEST_FOR_LIMIT_S = 10.0
"""The same, at most; before `time_scale`."""
WARM_UP_LATENCIES = 2.0
"""Times the p95 at normal load that a window begins before it is judged."""
MOST_REQUESTS_S = 120.0
"""Maximum time, before `time_scale`, to collect enough requests at a low level; otherwise the
level stays unclear.
"""

NOT_BACK = "left alone it did not come back to its unloaded pace"
"""Why a search ends early."""

CourseOf = Callable[[float, float], WindowPlan]
"""Level, seconds → the window."""
Further = Callable[[Sequence["Measured"]], Sequence[Check]]
"""Checks in addition to errors, latency and completion, over all windows of one level."""


async def probe(
    stand: Stand,
    axis: Axis,
    limits: Limits,
    reporter: Reporter,
    *,
    course_of: CourseOf,
    length_of: Callable[[float], float],
    warm_up_s: float = 0.0,
    further: Further = lambda _: (),
    closed: bool = False,
) -> BreakingPoint:
    """Search for the breaking point on an axis; add each window and the current result to the
    report.

    `length_of` returns the judged seconds of a usual window at a level; `warm_up_s` comes before
    them. In a `closed` loop, completion is not judged. Raises as `Stand.hold`, with the result so
    far in the report; a level at which the target is lost has failed.
    """
    search, points = Search(axis), reporter.report.breaking_points
    place = len(points)
    points.append(search.report())
    windows: list[Measured] = []
    try:
        while (step := search.probe) is not None:
            if step.cool_down and not await stand.idle():
                # It will not come back while we search: no level would tell what it had been.
                search.stop(NOT_BACK)
                break
            course = course_of(step.level, warm_up_s + length_of(step.level))
            measured = await stand.hold(course, phase="probe")
            windows = [measured] if step.length == 1 else [*windows, measured]
            verdict = _judge(windows, limits, step.length, warm_up_s, further, closed=closed)
            verdict, reason = _of_target(verdict, windows, course)
            facts = facts_of(
                measured, verdict=verdict, input_tokens=course.input_tokens, reason=reason
            )
            search.take(verdict)
            points[place] = search.report()
            await reporter.window(facts)
    except Stopped as stopped:
        search.stop(str(stopped))
        raise
    except AgentFailure:
        lost = Check("target lost", 1.0, 1.0, 1.0, 0.0, "above")
        search.take(LevelVerdict("fail", (lost,)))
        search.stop("the target was lost")
        raise
    finally:
        points[place] = search.report()
    return points[place]


def rate_lengths(normal: Normal, time_scale: float) -> Callable[[float], float]:
    """Return a function from a rate to the judged seconds of a probe: enough requests to pass, and
    long enough for a queue to show.
    """
    limit_s = normal.limit_p95_ms / 1e3
    for_limit_s = min(LIMIT_LENGTHS * limit_s, LONGEST_FOR_LIMIT_S * time_scale)
    least_s = max(PROBE_S * time_scale, for_limit_s)
    needed, most_s = requests_needed(normal.limits), MOST_REQUESTS_S * time_scale
    return lambda rate: max(least_s, min(1.05 * needed / rate, most_s))


def warm_up_of(normal: Normal) -> float:
    """Return the seconds of a window before it is judged."""
    return WARM_UP_LATENCIES * normal.p95_ms / 1e3


def _judge(
    windows: Sequence[Measured],
    limits: Limits,
    length: int,
    warm_up_s: float,
    further: Further,
    *,
    closed: bool,
) -> LevelVerdict:
    judged = [window.due_s >= warm_up_s for window in windows]
    ok = np.concatenate([one.ok[own] for one, own in zip(windows, judged, strict=True)])
    times = np.concatenate([one.e2e_ms[own] for one, own in zip(windows, judged, strict=True)])
    completed = len(ok) if closed else sum(_completed(one, warm_up_s) for one in windows)
    return judge_level(ok, times, completed, limits, length=length, further=tuple(further(windows)))


def _completed(window: Measured, warm_up_s: float) -> int:
    within = (window.end_s >= warm_up_s) & (window.end_s <= window.length_s)
    return int(np.count_nonzero(within))


def _of_target(
    verdict: LevelVerdict, windows: Sequence[Measured], course: WindowPlan
) -> tuple[LevelVerdict, str]:
    """Return the verdict, or unclear if the sender was the limit, which is never blamed on the
    target.
    """
    limited = [window.sender_limit for window in windows if window.sender_limit is not None]
    if not limited:
        return verdict, ""
    asked = course.asked
    all_sent = asked is None or all(len(one) >= SENT_SHARE * asked for one in windows)
    if verdict.outcome == "pass" and all_sent:
        return verdict, ""
    unclear = replace(verdict, outcome="unclear")
    return unclear, f"the sender was the limit: {limited[-1]}"
