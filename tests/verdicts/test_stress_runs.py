"""Stress runs second by second, and the curves of their levels."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.analysis.load.usl import Curve
from agentbench_tui.contracts.stress import ScenarioResult, StressWindow
from agentbench_tui.store.queries.ticks import RequestTick
from agentbench_tui.stress.report import LimitsUsed, ScalingFacts, ScenarioReport, WindowFacts
from agentbench_tui.stress.search.breaking_point import BreakingPoint
from agentbench_tui.verdicts.stress.stress_document import scenario_result
from agentbench_tui.verdicts.stress.stress_levels import level_curve, scaling_curve
from agentbench_tui.verdicts.stress.stress_runs import MOST_SECONDS, course


def facts(repeat: int, length_s: float, phase: str = "probe", **more: Any) -> WindowFacts:
    return WindowFacts(phase=phase, repeat=repeat, length_s=length_s, **more)


def window(repeat: int, length_s: float, phase: str = "probe") -> StressWindow:
    (found,) = scenario([facts(repeat, length_s, phase)]).windows
    return found


def test_a_tick_counts_for_the_time_since_the_one_before() -> None:
    # 10 in the first second; then 30 over two seconds, 15 in each
    found = course(
        [RequestTick(101.0, 0, 10, 10, 0), RequestTick(103.0, 1, 30, 20, 10)],
        [window(0, 1.0), window(1, 2.0)],
    )
    assert found.seconds == (0.5, 1.5, 2.5)
    assert found.sent_per_s == pytest.approx((10.0, 15.0, 15.0))
    assert found.answered_per_s == pytest.approx((10.0, 10.0, 10.0))
    assert found.failed_per_s == pytest.approx((0.0, 5.0, 5.0))


def test_the_last_part_of_a_second_is_no_second_of_its_own() -> None:
    # 12 in the last 1.2 s; a rate over 0.2 s would be that of one request more or less
    found = course(
        [
            RequestTick(101.0, 0, 8, 8, 0),
            RequestTick(102.0, 0, 9, 9, 0),
            RequestTick(102.2, 0, 3, 3, 0),
        ],
        [window(0, 1.0)],
    )
    assert found.sent_per_s == pytest.approx((8.0, 10.0))
    found = course(
        [RequestTick(101.0, 0, 8, 8, 0), RequestTick(101.6, 0, 6, 6, 0)], [window(0, 1.0)]
    )
    assert found.sent_per_s == pytest.approx((8.0, 10.0))


@given(st.lists(st.tuples(st.floats(0.05, 40.0), st.integers(0, 500)), min_size=1, max_size=60))
def test_nothing_that_was_counted_is_lost(steps: list[tuple[float, int]]) -> None:
    at, ticks = 50.0, []
    for step, count in steps:
        at += step
        ticks.append(RequestTick(at, 0, count, count, 0))
    found = course(ticks, [window(0, steps[0][0])])
    assert len(found.seconds) <= MOST_SECONDS + 1
    whole = at - 50.0
    span = max(1, math.ceil(whole / MOST_SECONDS))
    before = len(found.seconds) - 1
    lengths = [span] * before + [whole - before * span]
    counted = sum(rate * length for rate, length in zip(found.sent_per_s, lengths, strict=True))
    assert counted == pytest.approx(sum(count for _, count in steps), rel=1e-6, abs=1e-3)


def test_events_begin_with_their_windows() -> None:
    ticks = [
        RequestTick(2.0, 0, 1, 1, 0),
        RequestTick(5.0, 1, 1, 1, 0),
        RequestTick(9.0, 2, 1, 1, 0),
    ]
    windows = [
        window(0, 2.0, "normal"),
        window(1, 1.0, "stress"),
        window(1, 2.0, "recovery"),
        window(2, 4.0, "fault kill"),
    ]
    assert course(ticks, windows).events == (
        (2.0, "stress"),
        (3.0, "recovery"),
        (5.0, "fault kill"),
    )


def test_before_the_first_tick_there_is_nothing() -> None:
    assert course([], [window(0, 1.0)]).seconds == ()


def scenario(windows: list[WindowFacts], *points: BreakingPoint) -> ScenarioResult:
    limits = LimitsUsed(error_share=0.01, p95_ms=120.0, completed_share=0.95, derived=False)
    return scenario_result(
        ScenarioReport(
            scenario="high_load", windows=windows, limits=limits, breaking_points=[*points]
        )
    )


def test_a_curve_has_the_median_of_each_level() -> None:
    measured = [(50.0, 10.0, "pass"), (100.0, 30.0, "pass"), (100.0, 50.0, "fail"),
                (100.0, 90.0, "fail"), (80.0, 20.0, "pass")]  # fmt: skip
    windows = [
        facts(n, 1.0, asked_per_s=level, p95_ms=p95, verdict=verdict)
        for n, (level, p95, verdict) in enumerate(measured)
    ]
    point = BreakingPoint(on="rate", unit="requests/s", status="wide", passes=80.0, fails=100.0)
    found = level_curve(scenario(windows, point))
    assert found is not None
    assert found.levels == (50.0, 80.0, 100.0)
    assert found.p95_ms == (10.0, 20.0, 50.0)
    assert found.verdicts == ("pass", "pass", "fail")
    assert (found.limit_ms, found.passes, found.fails) == (120.0, 80.0, 100.0)
    assert found.counts == "requests/s"


def test_two_levels_are_no_curve() -> None:
    windows = [facts(n, 1.0, users=n, p95_ms=1.0, verdict="pass") for n in (1, 2)]
    assert level_curve(scenario(windows)) is None
    assert level_curve(scenario([])) is None


@given(st.floats(0.1, 1e3), st.floats(0, 1), st.floats(0, 0.1), st.floats(1, 200))
def test_the_law_is_that_of_the_fit(
    rate: float, sigma: float, kappa: float, largest: float
) -> None:
    star = math.sqrt((1 - sigma) / kappa) if kappa > 0 and sigma < 1 else None
    scaling = ScalingFacts(
        model="usl", lambda_per_s=rate, sigma=sigma, kappa=kappa, largest=largest, n_star=star
    )
    report = ScenarioReport(scenario="concurrent_requests", scaling=scaling)
    found = scenario_result(report).scaling
    assert found is not None
    loads, law = scaling_curve(found)
    fitted = Curve("usl", rate, sigma, kappa, 0.0, 0.0)
    assert loads[0] == 1.0
    assert largest - 1e-6 <= loads[-1] <= 2 * largest + 1e-6
    assert law == pytest.approx([fitted.throughput(load) for load in loads])
