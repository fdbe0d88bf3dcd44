"""`agentbench.stress/1`: what is told of scenarios, and what can be asked of it by a gate."""

from typing import Any

import msgspec
import pytest
import run_documents
from run_documents import as_printed

from agentbench_tui.analysis.load.resilience import Overall
from agentbench_tui.contracts.document import schema_of
from agentbench_tui.contracts.run import ExecutionResult
from agentbench_tui.contracts.stress import (
    StressAdvice,
    StressAgentsDocument,
    StressDocument,
)
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.figures.stress_figures import SAID_OF_STRESS, STRESS_FACTS, STRESS_METRICS
from agentbench_tui.model.gate import parse_gate
from agentbench_tui.stress.catalog import SCENARIOS
from agentbench_tui.stress.report import (
    Advice,
    RecoveryFacts,
    ScalingFacts,
    Scenario,
    ScenarioReport,
    ScoreFacts,
    WindowFacts,
)
from agentbench_tui.stress.search.breaking_point import BreakingPoint
from agentbench_tui.verdicts.explanation import explain, explain_words
from agentbench_tui.verdicts.runs.gate import check_gates
from agentbench_tui.verdicts.stress.stress_document import (
    overall_resilience,
    scenario_result,
    stress_document,
)

BROKEN = BreakingPoint(
    on="rate",
    unit="requests/s",
    status="found",
    passes=152.0,
    fails=166.0,
    confirmed=True,
    broke=("p95 of latency",),
    reason="p95 of latency 812 ms [790, 850], limit 183 ms",
    hysteresis=False,
)
UNBROKEN = BreakingPoint(
    on="concurrency", unit="users", status="not reached", passes=64.0, confirmed=True
)
WINDOW = WindowFacts(phase="probe", repeat=0, length_s=5.0, asked_per_s=166.0, requests=830)


def a_report(name: Scenario = "high_load", **given: Any) -> ScenarioReport:
    return ScenarioReport(scenario=name, time_scale=0.05, simulated=True, **given)


def scored(name: Scenario, value: float) -> ScenarioReport:
    return a_report(name, score=ScoreFacts(value=value), windows=[WINDOW])


def execution(report: ScenarioReport, agent: str = "a") -> ExecutionResult:
    """An execution of a run document, made of a report."""
    return run_documents.execution(
        agent, report.scenario, kind="stress", simulated=True, stress=scenario_result(report)
    )


def overall_of(*reports: ScenarioReport) -> Overall:
    """All scenarios together."""
    return overall_resilience(map(scenario_result, reports))


def gated(report: ScenarioReport, **changes: Any) -> dict[str, Any]:
    """A run of one execution, as gates read it."""
    one = execution(report)
    run = as_printed(run_documents.run(one))
    return run | {"executions": [as_printed(one) | {"stress": one.stress} | changes]}


def test_a_scenario_is_told_by_the_names_of_the_contract() -> None:
    report = a_report(
        windows=[WINDOW],
        score=ScoreFacts(value=71.0, low=66.0, high=75.5, worst_second=0.1, windows=40),
        breaking_points=[BROKEN],
        recoveries=[RecoveryFacts(after="overload", seconds=3.0, watched_s=30.0)],
        advice=[
            Advice(
                rule="queueing",
                severity="warning",
                words="queueing starts at 84 requests/s",
                evidence={"rate_per_s": 84.0},
            )
        ],
    )

    found = scenario_result(report)

    assert (found.name, found.status) == ("high_load", "complete")
    assert (found.resilience, found.interval) == (71.0, (66.0, 75.5))
    assert found.broke is True
    assert found.recovery_s == 3.0
    point = found.breaking_point
    assert point is not None
    assert (point.on, point.passes, point.fails) == ("rate", 152.0, 166.0)
    assert point.reason == "p95 of latency 812 ms [790, 850], limit 183 ms"
    assert point.broke == ("p95 of latency",)
    assert found.recommendations == (
        StressAdvice(
            rule="queueing",
            severity="warning",
            words="queueing starts at 84 requests/s",
            evidence={"rate_per_s": 84.0},
        ),
    )
    assert (found.windows[0].phase, found.windows[0].asked_per_s) == ("probe", 166.0)


def test_a_report_is_the_same_after_it_was_stored() -> None:
    report = a_report(windows=[WINDOW], breaking_points=[BROKEN, UNBROKEN])
    again = msgspec.json.decode(msgspec.json.encode(report), type=ScenarioReport)
    assert scenario_result(again) == scenario_result(report)


def test_the_search_that_found_a_failing_level_is_named_first() -> None:
    found = scenario_result(a_report(windows=[WINDOW], breaking_points=[UNBROKEN, BROKEN]))
    assert found.breaking_point == found.breaking_points[1]
    assert [one.on for one in found.breaking_points] == ["concurrency", "rate"]
    alone = scenario_result(a_report(windows=[WINDOW], breaking_points=[UNBROKEN]))
    assert alone.broke is False
    assert alone.breaking_point == alone.breaking_points[0]


@pytest.mark.parametrize(
    ("report", "broke"),
    [
        (a_report(), None),
        (a_report(status="not applicable"), None),
        (a_report(windows=[msgspec.structs.replace(WINDOW, phase="ladder")]), None),
        (a_report(windows=[WINDOW]), False),
        (a_report(status="target lost"), True),
    ],
)
def test_nobody_says_that_it_held_where_nothing_was_measured(
    report: ScenarioReport, broke: bool | None
) -> None:
    assert scenario_result(report).broke is broke


@pytest.mark.parametrize(
    ("seconds", "slowest"), [([], None), ([0.0], 0.0), ([2.0, 9.0], 9.0), ([2.0, None], None)]
)
def test_one_that_never_recovered_has_no_time_of_recovery(
    seconds: list[float | None], slowest: float | None
) -> None:
    recoveries = [RecoveryFacts(after="reset", seconds=one) for one in seconds]
    assert (
        scenario_result(a_report("failure_recovery", recoveries=recoveries)).recovery_s == slowest
    )


def test_one_agent_stands_at_the_top() -> None:
    scaling = ScalingFacts(
        model="usl", lambda_per_s=95.3, sigma=0.036, kappa=0.0009, n_star=32.5, peak_per_s=1008.3
    )
    concurrent = a_report("concurrent_requests", score=ScoreFacts(value=90.0), scaling=scaling)

    found = stress_document(
        run_documents.run(execution(scored("spike_load", 40.0)), execution(concurrent))
    )

    assert isinstance(found, StressDocument)
    assert (schema_of(found), found.run_id) == ("agentbench.stress/1", "r1")
    assert (found.agent, found.simulated, found.time_scale) == ("a", True, 0.05)
    assert found.resilience_score == pytest.approx(60.0)  # √(40 × 90)
    assert found.worst == "spike_load"
    assert set(found.missing) == set(SCENARIOS) - {"spike_load", "concurrent_requests"}
    assert found.scaling is not None
    assert (found.scaling.model, found.scaling.peak, found.scaling.n_star) == ("usl", 1008.3, 32.5)


def test_several_agents_have_a_document_each() -> None:
    found = stress_document(
        run_documents.run(
            execution(scored("high_load", 80.0), "a"),
            execution(scored("high_load", 20.0), "b"),
            run_documents.execution("c", "a task"),
        )
    )
    assert isinstance(found, StressAgentsDocument)
    assert [(one.agent, one.resilience_score) for one in found.agents] == [
        ("a", 80.0),
        ("b", 20.0),
    ]


def test_scenarios_are_told_in_their_own_order() -> None:
    names: tuple[Scenario, ...] = ("failure_recovery", "high_load", "spike_load")
    found = stress_document(run_documents.run(*(execution(scored(name, 50.0)) for name in names)))
    assert isinstance(found, StressDocument)
    assert [one.name for one in found.scenarios] == [
        "high_load",
        "spike_load",
        "failure_recovery",
    ]


def test_a_scenario_without_a_score_is_missing_and_not_100() -> None:
    whole = overall_of(scored("high_load", 50.0), a_report("memory_pressure"))
    assert whole.score == 50.0
    assert "memory_pressure" in whole.missing


def test_a_scenario_that_ran_twice_counts_by_its_worst_time() -> None:
    whole = overall_of(scored("high_load", 90.0), scored("high_load", 10.0))
    assert whole.score == pytest.approx(10.0)


def test_a_collapse_takes_everything() -> None:
    whole = overall_of(scored("high_load", 100.0), scored("spike_load", 0.0))
    assert (whole.score, whole.worst) == (0.0, "spike_load")


def gate_results(report: ScenarioReport, *gates: str) -> list[str]:
    return [str(one) for one in check_gates(gated(report), gates, {})]


def test_a_gate_asks_whether_it_broke() -> None:
    assert gate_results(a_report(windows=[WINDOW]), "broke==false", "broke!=false") == [
        "broke==false holds for a on high_load: false",
        "broke!=false FAILS for a on high_load: false",
    ]
    lost = a_report(status="target lost", reason="it no longer answers")
    assert gate_results(lost, "broke==false") == ["broke==false FAILS for a on high_load: true"]


def test_a_gate_cannot_judge_what_was_not_measured() -> None:
    (line,) = gate_results(a_report(status="not applicable", reason="no process"), "broke==false")
    assert line == "broke==false cannot be judged for a on high_load: no process"
    task = gated(a_report(), stress=None)
    (result,) = check_gates(task, ["broke==false"], {})
    assert (result.holds, result.reason) == (
        None,
        "it is a fact of stress, and no stress was put on it here",
    )


def test_a_gate_on_resilience_stands_on_the_metric() -> None:
    metrics = {"resilience": {"value": 71.0, "reason": None}}
    run = gated(a_report(windows=[WINDOW]), metrics=metrics)
    (result,) = check_gates(run, ["resilience>=60"], {})
    assert result.holds is True


@pytest.mark.parametrize(
    ("gate", "told_so"),
    [
        ("broke==no", "no broke 'no'; there are false, true"),
        ("broke>=false", "broke is compared by == or !=, as in broke==false"),
        ("resiliance>=60", 'did you mean "resilience"?'),
    ],
)
def test_a_slip_in_a_gate_on_stress_is_told(gate: str, told_so: str) -> None:
    with pytest.raises(UsageError) as slip:
        parse_gate(gate)
    assert told_so in str(slip.value)


def test_every_figure_and_word_of_stress_is_explained() -> None:
    for name in (*STRESS_METRICS, *STRESS_FACTS, *SCENARIOS):
        assert explain(name)["name"] == name
    for said, names in SAID_OF_STRESS.items():
        assert [one["name"] for one in explain_words(said)] == list(names)
        assert said == said.lower()


@pytest.mark.parametrize(
    ("stored", "known"),
    [
        # Five windows in a row make a recovery (of 1 s, or of `piece_s`): 4 s hold too few.
        ({"watched_s": 4.0}, False),
        ({"watched_s": 5.0}, True),
        ({"watched_s": 4.0, "seconds": 2.0}, True),
        ({"watched_s": 4.0, "known": True}, True),
        ({"watched_s": 9.0, "known": False}, False),
    ],
)
def test_a_report_stored_without_the_field_says_whether_a_recovery_is_known(
    stored: dict[str, Any], known: bool
) -> None:
    document = {"scenario": "high_load", "recoveries": [{"after": "overload", **stored}]}
    report = msgspec.convert(document, ScenarioReport)
    assert [one.known for one in scenario_result(report).recoveries] == [known]


def test_windows_of_scaled_time_are_shorter() -> None:
    document = {
        "scenario": "high_load",
        "score": {"value": 50.0, "piece_s": 0.1},
        "recoveries": [{"after": "overload", "watched_s": watched} for watched in (0.4, 0.5)],
    }
    report = msgspec.convert(document, ScenarioReport)
    assert [one.known for one in scenario_result(report).recoveries] == [False, True]
