"""What the chapters of a stress report say: headings, failures, levels without a verdict."""

from __future__ import annotations

from typing import Any

import msgspec
from run_documents import execution, run

from agentbench_tui.contracts.document import plain
from agentbench_tui.contracts.run import ExecutionResult, MetricValue
from agentbench_tui.contracts.runs import FailureDetail, RunDetailsDocument
from agentbench_tui.contracts.stress import (
    ScenarioResult,
    StressBreakingPoint,
    StressScaling,
    StressWindow,
)
from agentbench_tui.presentation.charts import LineChart
from agentbench_tui.presentation.full_report.parts import Chapter
from agentbench_tui.presentation.full_report.run import full_run
from agentbench_tui.presentation.stress.sentences import details, outcome_words


def window(phase: str, rate: float, **found: Any) -> StressWindow:
    given: dict[str, Any] = {
        "repeat": 0, "length_s": 1.0, "users": None, "input_tokens": None, "requests": 20,
        "answered_per_s": rate, "error_share": 0.0, "p50_ms": 50.0, "p50_low_ms": None,
        "p50_high_ms": None, "p95_ms": 60.0, "failures": {}, "memory_mb": None, "cpu_cores": None,
        "applied": {}, "verdict": None, "reason": "", "sender_limit": None,
    }  # fmt: skip
    return StressWindow(phase=phase, asked_per_s=rate, **{**given, **found})


def scenario(**found: Any) -> ScenarioResult:
    given: dict[str, Any] = {
        "name": "high_load", "status": "complete", "reason": "", "resilience": None,
        "interval": None, "resilience_watched": None, "resilience_words": "",
        "worst_second": None, "piece_s": None, "broke": False, "breaking_point": None,
        "breaking_points": (), "recovery_s": None, "recommendations": (), "time_scale": 1.0,
        "simulated": False, "normal": None, "limits": None, "recoveries": (), "trends": (),
        "scaling": None, "observations": {}, "windows": (), "missing": {}, "execution_id": "e",
        "benchmark_id": "high_load", "parameters": {},
    }  # fmt: skip
    return ScenarioResult(**{**given, **found})


def unclear_at(level: float) -> StressBreakingPoint:
    return StressBreakingPoint(
        on="rate", unit="requests/s", status="wide", passes=40.0, fails=50.0, unclear=(level,),
        confirmed=True, broke=(), reason="", hysteresis=None, drift=None, before=None,
        measurements=4, lengths=6, stopped="", words="",
    )  # fmt: skip


def under_stress(**found: Any) -> ExecutionResult:
    return msgspec.structs.replace(execution("a"), kind="stress", stress=scenario(**found))


def chapters(
    *executions: ExecutionResult, failures: tuple[FailureDetail, ...] = ()
) -> dict[str, Chapter]:
    document = run(*executions)
    given = {name: getattr(document, name) for name in document.__struct_fields__}
    details = RunDetailsDocument(
        **given, suite_ids=("stress",), seed=42, repeats=1, tags=(), notes=None, command=None,
        error=None, started_at="2026-01-01T00:00:00Z", ended_at=None, tool_version="0",
        overhead=None, vcs=None, environment=None, failure_details=failures, clusters=(),
    )  # fmt: skip
    report = full_run(details, None, plain(details))
    return {one.anchor: one for one in report.chapters}


def test_failures_under_stress_are_counted_over_all_windows() -> None:
    windows = (
        window("fault reset", 10.0, failures={"connection": 12, "truncated": 1}),
        window("fault kill", 10.0, failures={"connection": 22}),
    )
    detail = FailureDetail(
        agent_id="a", benchmark_id="b", stage="load", kind="connection", detail="closed", n=6,
        case_id=None,
    )  # fmt: skip
    found = chapters(under_stress(windows=windows), failures=(detail,))["failures"]
    counts, kept = found.sections
    assert [(row["kind"], row["n"]) for row in counts.tables[0].rows] == [
        ("connection", 34), ("truncated", 1),
    ]  # fmt: skip
    assert kept.tables[0].columns[0].title == "details kept"
    assert "first few failures of each kind" in kept.sentences[0]


def test_the_p95_of_a_stress_benchmark_is_labeled_as_that_of_normal_load() -> None:
    stressed, plain_task = under_stress(), execution("a")
    titles = [one.title for one in chapters(stressed)["benchmarks"].sections[0].tables[0].columns]
    assert "e2e p95" not in titles
    titles = [one.title for one in chapters(plain_task)["benchmarks"].sections[0].tables[0].columns]
    assert "p95 at normal load" not in titles


def test_beside_other_benchmarks_the_p95_itself_says_that_it_is_of_normal_load() -> None:
    p95 = {"e2e_ms.p95": MetricValue(value=57.4, unit="ms", low=None, high=None, n=40, reason=None)}
    both = [
        msgspec.structs.replace(one, metrics={**one.metrics, **p95})
        for one in (under_stress(), execution("a"))
    ]
    rows = chapters(*both)["benchmarks"].sections[0].tables[0].rows
    assert [row["p95"] for row in rows] == ["57.4 ms at normal load", "57.4 ms"]


def test_a_scenario_is_named_in_words_and_never_ends_in_nothing() -> None:
    assert outcome_words(scenario()) == "no score"
    headings = [one.title for one in chapters(under_stress())["stress"].sections]
    assert "a, high load: no score" in headings


def test_a_level_without_a_verdict_says_why() -> None:
    reason = "completed of offered 94% [90, 96], limit 95%"
    reaching = window("probe", 42.0, verdict="unclear", reason=reason)
    assert [one.line() for one in details(
        scenario(breaking_points=(unclear_at(42.0),), windows=(reaching,))
    )][-1] == f"unclear: 42 requests/s: {reason}; the interval includes the limit"  # fmt: skip
    why = "the sender was the limit: its CPU"
    busy = window("probe", 42.0, verdict="unclear", reason=why, sender_limit="its CPU")
    lines = [one.line() for one in details(
        scenario(breaking_points=(unclear_at(42.0),), windows=(busy,))
    )]  # fmt: skip
    assert f"unclear: 42 requests/s: {why}" in lines


def test_the_recovery_is_drawn_apart_and_named_in_the_legend() -> None:
    windows = (window("probe", 20.0), window("probe", 40.0), window("recovery", 20.0, p95_ms=371.0))
    point = unclear_at(42.0)
    stress = under_stress(breaking_point=point, breaking_points=(point,), windows=windows)
    [chart] = [chart for each in chapters(stress)["stress"].sections for chart in each.charts]
    assert isinstance(chart, LineChart)
    assert {one.name: list(one.y) for one in chart.lines} == {
        "p95": [60.0, 60.0], "p95, recovery after the overload": [371.0],
    }  # fmt: skip


def test_a_scalability_law_is_named_in_words() -> None:
    law = StressScaling(
        model="usl", lambda_per_s=20.0, sigma=0.1, kappa=0.01, sigma_interval=None,
        kappa_interval=None, n_star=None, n_star_interval=None, largest=4.0, r2=None, words="",
        points=((1.0, 20.0), (4.0, 50.0)), peak=None,
    )  # fmt: skip
    stress = under_stress(scaling=law)
    [chart] = [chart for each in chapters(stress)["stress"].sections for chart in each.charts]
    assert isinstance(chart, LineChart)
    assert chart.lines[1].name == "fitted: Universal Scalability Law (USL)"
