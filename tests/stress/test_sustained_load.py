"""A soak tells what creeps, by how much, and what it can rule out."""

import math
from typing import Any

import numpy as np
import pytest
from scripted_stand import Answered, Notebook, ScriptedStand, even, normal_load, window

from agentbench_tui.stress import leak
from agentbench_tui.stress.faults.host_memory import HostMemory
from agentbench_tui.stress.report import ScenarioReport, TrendFacts
from agentbench_tui.stress.scenarios.sustained_load import run
from agentbench_tui.stress.spec import StressSpec
from agentbench_tui.stress.stand.soak import Soak
from agentbench_tui.stress.stand.window_plan import WindowPlan

READ_EVERY_S = 0.25


class Creeping:
    """Memory, latency and errors that rise with the time under load, on top of noise."""

    def __init__(
        self,
        *,
        mb_per_h: float = 0.0,
        ms_per_h: float = 0.0,
        error_share: float = 0.0,
        errors_per_h: float = 0.0,
        start_mb: float = 0.0,
    ) -> None:
        self.mb_per_h, self.ms_per_h = mb_per_h, ms_per_h
        self.error_share, self.errors_per_h = error_share, errors_per_h
        self.start_mb = start_mb
        self.random = np.random.default_rng(3)
        self.past_s = 0.0

    def __call__(self, course: WindowPlan, phase: str, due_s: Any) -> Answered:
        hours = (self.past_s + due_s) / 3600
        read_s = np.arange(0.0, course.length_s, READ_EVERY_S)
        past_s = self.past_s + read_s
        started = self.start_mb * (1 - np.exp(-past_s / 2))
        held = 100 + started + self.mb_per_h * past_s / 3600
        held += self.random.normal(0, 0.05, len(read_s))
        self.past_s += course.length_s
        failing = self.error_share + self.errors_per_h * hours
        return Answered(
            self.random.random(len(due_s)) >= failing,
            20 + self.ms_per_h * hours + self.random.exponential(2, len(due_s)),
            tuple(zip(read_s.tolist(), held.tolist(), strict=True)),
        )


async def soaked(
    length_s: float = 300.0, *, limit_mb: float | None = None, **creeping: float
) -> ScenarioReport:
    stand = ScriptedStand(Creeping(**creeping))
    notebook = Notebook("sustained_load")
    spec = StressSpec(scenario="sustained_load", duration_s=length_s, memory_limit_mb=limit_mb)
    await run(stand.typed, spec, normal_load(), notebook)
    return notebook.report


def trend(report: ScenarioReport, of: str) -> TrendFacts:
    (found,) = (one for one in report.trends if one.of == of)
    return found


async def test_a_leak_is_found_and_its_size_lies_in_the_interval() -> None:
    memory = trend(await soaked(mb_per_h=60), "memory")
    assert memory.direction == "rises"
    assert memory.low <= 60 <= memory.high
    assert memory.low > 50
    assert "memory rises by" in memory.words
    assert "MB/h [" in memory.words


async def test_without_a_leak_it_says_what_is_ruled_out() -> None:
    memory = trend(await soaked(), "memory")
    assert memory.direction == "no trend seen"
    assert memory.low < 0 < memory.high
    assert f"a rise of more than {memory.high:,.3g} MB/h is ruled out" in memory.words


async def test_half_a_megabyte_is_no_leak_however_steep() -> None:
    memory = trend(await soaked(30, mb_per_h=66), "memory")  # 0.5 MB in 27 s
    assert memory.low > 0
    assert memory.direction == "no trend seen"
    assert "MB in all, too little to be called a trend" in memory.words


async def test_the_growth_of_a_start_is_no_leak() -> None:
    report = await soaked(start_mb=40)
    assert trend(report, "memory").direction == "no trend seen"
    assert report.observations["warm_up_s"] == pytest.approx(30)


async def test_latency_that_creeps() -> None:
    report = await soaked(ms_per_h=120)
    latency = trend(report, "latency")
    assert latency.direction == "rises"
    assert latency.low <= 120 <= latency.high
    assert trend(report, "memory").direction == "no trend seen"


async def test_a_twentieth_slower_is_no_trend() -> None:
    latency = trend(await soaked(ms_per_h=10), "latency")  # 0.75 of 21 ms in 270 s
    assert latency.direction == "no trend seen"
    assert "ms in all, too little to be called a trend" in latency.words


async def test_errors_that_grow_are_told_from_errors_that_stay() -> None:
    growing = trend(await soaked(600, errors_per_h=0.6), "errors")
    assert growing.direction == "rises"
    assert growing.low <= 60 <= growing.high  # percentage points an hour
    staying = trend(await soaked(600, error_share=0.05), "errors")
    assert staying.direction == "no trend seen"


async def test_no_errors_bound_what_could_have_been() -> None:
    report = await soaked()
    errors = trend(report, "errors")
    asked = sum(one.requests for one in report.windows)
    # Of a line from 0, errors to be expected are slope × requests × hours / 2; without any the
    # 95% bound of a Poisson count is 3.0 (-ln 0.05).
    assert errors.high == pytest.approx(100 * 2 * 2.9957 / (0.9 * asked) / (270 / 3600), rel=0.01)
    assert (errors.low, errors.per_hour) == (0, 0)
    assert errors.words.startswith(f"errors: none in {0.9 * asked:,.0f} requests")


async def test_windows_of_a_minute_at_seven_tenths_of_capacity() -> None:
    stand = ScriptedStand(Creeping())
    notebook = Notebook("sustained_load")
    spec = StressSpec(scenario="sustained_load", duration_s=3000, time_scale=0.1, most_rate=1000)
    normal = normal_load()
    await run(stand.typed, spec, normal, notebook)
    assert [course.length_s for course, _ in stand.held] == [60] * 5
    assert {course.rate for course, _ in stand.held} == {0.7 * normal.capacity}
    assert len(notebook.report.windows) == 5
    assert notebook.report.score is not None
    assert notebook.report.score.value == 100


async def test_errors_lower_the_score() -> None:
    report = await soaked(error_share=0.2)
    assert report.score is not None
    assert report.score.value == pytest.approx(80, abs=2)


async def test_a_leak_ends_service_when_memory_is_full() -> None:
    report = await soaked(mb_per_h=600, limit_mb=10_200)
    score = report.score
    assert score is not None
    assert score.watched == 100
    # 10,050 MB more than the 150 MB at its end, 600 an hour: 16.75 of the 168 hours of a week.
    assert score.value == pytest.approx(100 * 16.75 / 168, rel=0.05)
    assert score.low is not None
    assert score.high is not None
    assert score.low < score.value < score.high
    assert "up to its limit are used up after" in score.words
    assert score.words.startswith("100 while it was watched")


@pytest.mark.parametrize(
    "creeping",
    [
        {"mb_per_h": 0.0},
        {"mb_per_h": 60.0},  # 5% more than at first: too little to foretell a week from
        {"mb_per_h": 600.0, "limit_mb": 200_000.0},  # lasts for two weeks
        {"mb_per_h": -200.0},
    ],
)
async def test_what_outlives_a_week_costs_nothing(creeping: dict[str, float]) -> None:
    report = await soaked(**{"limit_mb": 10_000.0, **creeping})
    assert report.score is not None
    assert (report.score.value, report.score.watched, report.score.words) == (100, None, "")


async def test_without_a_limit_memory_is_full_when_the_machine_has_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(leak, "read_host_memory", lambda: HostMemory(10**11, 10**10))
    report = await soaked(mb_per_h=600)
    assert report.score is not None
    assert report.score.value == pytest.approx(100 * (10_000 / 600) / 168, rel=0.05)
    assert "the 10,000 MB that this machine has left" in report.score.words


async def test_too_short_a_soak_says_so() -> None:
    report = await soaked(5)
    assert report.trends == []
    assert set(report.missing) == {"memory trend", "latency trend", "errors trend"}
    assert "too short" in report.missing["memory trend"]


async def test_reasons_are_taken_back_when_more_is_known() -> None:
    stand = ScriptedStand(Creeping())
    notebook = Notebook("sustained_load")
    notebook.report.missing = {"other": "kept", "memory trend": "not yet"}
    spec = StressSpec(scenario="sustained_load", duration_s=60)
    await run(stand.typed, spec, normal_load(), notebook)
    assert notebook.report.missing == {"other": "kept"}


def test_memory_that_nobody_sees_is_missing() -> None:
    course = WindowPlan(60, rate=10)
    due_s = even(course)
    soak = Soak("nobody looks")
    soak.windows.append(
        window(course, "stress", Answered(np.zeros(len(due_s)), np.full(len(due_s), 5.0)), due_s)
    )
    trends, missing = soak.trends()
    assert [one.of for one in trends] == ["errors"]
    assert missing["memory trend"] == "nobody looks"
    assert missing["latency trend"] == "nothing was answered"


def test_memory_that_never_moves_is_bounded_by_a_page() -> None:
    course = WindowPlan(360, rate=10)
    due_s = even(course)
    held = [(float(at), 50.0) for at in range(360)]
    soak = Soak("nobody looks")
    fine = Answered(np.ones(len(due_s)), np.full(len(due_s), 5.0), held)
    soak.windows.append(window(course, "stress", fine, due_s))
    memory = soak.trends()[0][0]
    span_h = (359 - 36) / 3600
    assert memory.high == pytest.approx(0.004096 / span_h)
    assert memory.low == -memory.high
    assert math.isfinite(memory.per_hour)
