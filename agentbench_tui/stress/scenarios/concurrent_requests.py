"""Behavior with many concurrent users: the breaking point, and throughput by number of users.

First the search, then windows of 8 numbers of users, each five times in random order, for the
scalability law; then the highest number for a while, and normal load again.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.load.level_verdict import Check, requests_needed, windows_check
from agentbench_tui.model.identity import derive_seed
from agentbench_tui.stress.reporter import facts_of
from agentbench_tui.stress.search.axis import Axis
from agentbench_tui.stress.search.scaling import closed_rate, scaling_facts, steady, user_levels
from agentbench_tui.stress.search.searching import PROBE_S, Further, probe, warm_up_of
from agentbench_tui.stress.stand.aftermath import watch
from agentbench_tui.stress.stand.window_plan import WindowPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.stress.reporter import Reporter
    from agentbench_tui.stress.search.breaking_point import BreakingPoint
    from agentbench_tui.stress.spec import StressSpec
    from agentbench_tui.stress.stand.measured import Measured
    from agentbench_tui.stress.stand.normal import Normal
    from agentbench_tui.stress.stand.stand import Stand

REPEATS = 5
"""Repeats of each number of users: the state of the machine varies between windows by more than
chance within one, so many short windows are more precise than few long ones.
"""
STRESS_SHARE = 0.5
"""Share of the scenario's length for the highest number of users; the scaling law takes as long
as the whole.
"""
COLLAPSE = 0.9
"""Share of the best throughput with fewer users: less throughput with more users counts as
failing.
"""
PIECES = 20
"""Pieces of one window, to estimate the variation of throughput."""
ROUNDS = 10.0
"""Requests of each user that a window has room for at least."""


async def run(stand: Stand, spec: StressSpec, normal: Normal, reporter: Reporter) -> None:
    """Fill the report. Raises as `Stand.hold` does."""
    most = stand.most_users
    point = await probe(
        stand,
        Axis(on="concurrency", start=min(normal.concurrency, most), most=most, unit="users"),
        normal.limits,
        reporter,
        course_of=lambda users, seconds: WindowPlan(seconds, users=round(users)),
        length_of=lambda users: _probe_s(spec, normal, users),
        warm_up_s=warm_up_of(normal),
        further=no_less_than_fewer_users(),
        closed=True,
    )
    await stand.idle()
    await _scale(stand, spec, normal, reporter, _most_served(point, most))
    stress = await stand.hold(WindowPlan(STRESS_SHARE * spec.length_s, users=most), phase="stress")
    await reporter.window(facts_of(stress))
    await watch(
        stand,
        normal,
        reporter,
        stress=stress,
        after=f"{most:,} users",
        watched_s=spec.watched_s,
    )


def no_less_than_fewer_users() -> Further:
    """Return a check that throughput is not below the best at fewer users, so that a collapse
    counts as failure.
    """
    best: dict[int, float] = {}

    def check(windows: Sequence[Measured]) -> Sequence[Check]:
        users = windows[-1].users or 0
        rates = np.concatenate([_rates(one) for one in windows])
        if rates.size:
            best[users] = max(float(rates.mean()), best.get(users, 0.0))
        fewer = max((rate for level, rate in best.items() if level < users), default=0.0)
        return (windows_check("throughput", rates, COLLAPSE * fewer, "below", "requests/s"),)

    return check


def _rates(window: Measured) -> Floats:
    """Return good answers per second in each of `PIECES` pieces with equally many requests, by the
    interactive response time law. Counts by the clock would jump, since users that begin together
    stay in step.
    """
    took_s = window.end_s - window.due_s
    over = np.flatnonzero(steady(window))
    if over.size < PIECES or window.users is None:
        return np.empty(0)
    pieces = np.array_split(over, PIECES)
    shares = [window.ok[piece].sum() / took_s[piece].sum() for piece in pieces]
    return np.array(shares, dtype=np.float64) * window.users


def _most_served(point: BreakingPoint, most: int) -> int:
    """Return the most users up to which the law is measured: levels that fail by errors are not
    served.
    """
    if "errors" in point.broke and point.passes is not None:
        return round(point.passes)
    return most


async def _scale(
    stand: Stand, spec: StressSpec, normal: Normal, reporter: Reporter, most: int
) -> None:
    order = user_levels(most) * REPEATS
    Random(derive_seed(0, "users", most)).shuffle(order)  # noqa: S311  # no secret
    points: list[tuple[float, float]] = []
    for users in order:
        length_s = max(_rounds_s(normal, users), spec.length_s / len(order))
        measured = await stand.hold(WindowPlan(length_s, users=users), phase="scaling")
        await reporter.window(facts_of(measured))
        rate = closed_rate(measured)
        if rate is not None and measured.sender_limit is None:
            points.append((float(users), rate))
    try:
        reporter.report.scaling = scaling_facts(points)
    except ValueError as error:
        reporter.report.missing["scaling"] = str(error)


def _probe_s(spec: StressSpec, normal: Normal, users: float) -> float:
    """Return the time with enough requests to judge, at the throughput of at most this many
    users.
    """
    rate = min(normal.capacity, users * 1e3 / normal.p50_ms)
    return max(
        spec.scaled(PROBE_S), 1.05 * requests_needed(normal.limits) / rate, _rounds_s(normal, users)
    )


def _rounds_s(normal: Normal, users: float) -> float:
    """Return the time for several requests of each user, at capacity and at normal load."""
    return ROUNDS * max(users / normal.capacity, normal.p50_ms / 1e3)
