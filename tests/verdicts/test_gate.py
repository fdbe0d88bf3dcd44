"""Gates say what they found, or why they cannot be judged."""

from typing import Any

import pytest
import run_documents

from agentbench_tui.engine.run.closing import VERDICTS as OF_RUNS
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.figures.load_figures import VERDICTS
from agentbench_tui.model.gate import parse_gate
from agentbench_tui.verdicts.runs.gate import check_gates, gate_lines

EXECUTION = {
    "suite_id": "s",
    "agent_id": "a",
    "benchmark_id": "b",
    "parameters": {},
    "cases": {"observed": 4},
    "scores": {"overall": None, "accuracy": 0.5},
    "metrics": {
        "accuracy": {"value": 0.5, "reason": None},
        "e2e_ms.p99": {"value": None, "reason": "needs 299 (have 4)"},
    },
}


def said(*gates: str) -> list[str]:
    return [str(one) for one in check_gates({"executions": [EXECUTION]}, gates, {})]


def test_a_gate_that_holds_or_fails_tells_the_value() -> None:
    assert said("accuracy>=0.5", "accuracy_score>0.5") == [
        "accuracy>=0.5 holds for a on b: 0.5",
        "accuracy_score>0.5 FAILS for a on b: 0.5",
    ]


def test_a_gate_without_a_value_tells_why() -> None:
    assert said("e2e_ms.p99<=10", "overall>=0.1") == [
        "e2e_ms.p99<=10 cannot be judged for a on b: needs 299 (have 4)",
        "overall>=0.1 cannot be judged for a on b: it has no score",
    ]


def test_gates_of_a_suite_are_for_its_executions() -> None:
    document = {"executions": [EXECUTION, {**EXECUTION, "suite_id": "other"}]}
    (found,) = check_gates(document, (), {"other": ["accuracy>=0.9"]})
    assert found.holds is False


def test_a_gate_that_fails_often_is_one_line_with_the_worst() -> None:
    executions = [
        {**EXECUTION, "agent_id": f"a{n}", "metrics": {"e2e_ms.p50": {"value": float(n)}}}
        for n in range(6)
    ]
    results = check_gates({"executions": executions}, ["e2e_ms.p50<=1", "overall>=0.5"], {})
    unjudged = "a0 on b: it has no score; a1 on b: it has no score; a2 on b: it has no score"
    assert gate_lines(results) == [
        f"overall>=0.5 cannot be judged for 6 of 6 executions: {unjudged}; …",
        "e2e_ms.p50<=1 FAILS for 4 of 6 executions: a5 on b: 5; a4 on b: 4; a3 on b: 3; …",
    ]


def test_gates_that_hold_are_not_told_and_one_failure_is_told_as_it_is() -> None:
    document = {"executions": [EXECUTION]}
    results = check_gates(document, ["accuracy>=0.5", "accuracy>=0.9"], {})
    assert gate_lines(results) == ["accuracy>=0.9 FAILS for a on b: 0.5"]


def test_a_gate_on_a_sweep_names_the_point() -> None:
    document = {"executions": [EXECUTION | {"parameters": {"rate": rate}} for rate in (5, 10)]}
    (line,) = gate_lines(check_gates(document, ["accuracy>=0.9"], {}))
    assert (
        line
        == "accuracy>=0.9 FAILS for 2 of 2 executions: a on b (rate=5): 0.5; a on b (rate=10): 0.5"
    )


def a_load(**load: Any) -> dict[str, Any]:
    document = {
        "verdict": "noisy",
        "requests": {"failed": {"timeout": 2, "server": 1}, "unfinished": 0},
        "harness": {"cpu_us_per_request": 812.5, "ceiling_per_s": None},
    }
    return {**EXECUTION, "load": run_documents.load(**document | load)}


def said_of(execution: dict[str, Any], *gates: str) -> list[str]:
    document = {"executions": [execution], "harness": "noisy"}
    return [str(one) for one in check_gates(document, gates, {})]


def test_a_gate_on_the_verdict_holds_for_that_verdict_alone() -> None:
    assert said_of(a_load(), "verdict==clean", "verdict!=generator-limited") == [
        "verdict==clean FAILS for a on b: noisy",
        "verdict!=generator-limited holds for a on b: noisy",
    ]
    assert said_of(a_load(verdict="clean"), "verdict==clean") == [
        "verdict==clean holds for a on b: clean"
    ]


def test_what_is_no_load_has_the_verdict_of_its_run() -> None:
    assert said_of(EXECUTION, "verdict==clean") == ["verdict==clean FAILS for a on b: noisy"]


def test_what_was_not_measured_has_no_verdict() -> None:
    nothing = {**EXECUTION, "cases": {"observed": 0}}
    assert said_of(nothing, "verdict==clean") == [
        "verdict==clean cannot be judged for a on b: nothing was measured"
    ]


def test_verdicts_that_fail_are_one_line() -> None:
    loads = [a_load() | {"parameters": {"rate": rate}} for rate in (5, 10)]
    results = check_gates({"executions": loads, "harness": "noisy"}, ["verdict==clean"], {})
    places = "a on b (rate=5): noisy; a on b (rate=10): noisy"
    assert gate_lines(results) == [f"verdict==clean FAILS for 2 of 2 executions: {places}"]


def test_gates_stand_on_what_the_harness_measured_and_counted() -> None:
    gates = ("cpu_us_per_request<=800", "failed==3", "unfinished<1", "ceiling_per_s>=100")
    assert said_of(a_load(), *gates) == [
        "cpu_us_per_request<=800 FAILS for a on b: 812.5",
        "failed==3 holds for a on b: 3",
        "unfinished<1 holds for a on b: 0",
        "ceiling_per_s>=100 cannot be judged for a on b: not known of this load",
    ]


def test_requests_that_hang_are_unanswered_though_none_failed() -> None:
    requests = {"failed": {}, "unfinished": 10, "unanswered": 10}
    assert said_of(a_load(requests=requests), "failed==0", "unanswered==0") == [
        "failed==0 holds for a on b: 0",
        "unanswered==0 FAILS for a on b: 10",
    ]


def test_a_task_has_no_figures_of_load() -> None:
    (line,) = said_of(EXECUTION, "cpu_us_per_request<=800")
    assert line.endswith("it is a figure of load, and no load was measured here")


@pytest.mark.parametrize(
    ("gate", "told"),
    [
        ("verdict==clen", "no verdict 'clen' (did you mean \"clean\"?); there are clean, noisy,"),
        ("verdict==1", "no verdict '1'; there are clean, noisy, generator-limited"),
        ("verdict>=noisy", "verdict is compared by == or !=, as in verdict==clean"),
        ("verdict=clean", '(did you mean "verdict==clean"?)'),
        ("accuracy => 0.8", '(did you mean "accuracy>=0.8"?)'),
        ("e2e_ms.p95≤1200", '(did you mean "e2e_ms.p95<=1200"?)'),
        ("accuracy", "expected NAME OPERATOR NUMBER, such as accuracy>=0.8 or"),
        ("no-regresion", '(did you mean "no-regression"?)'),
        ("accuracy>=80%", "'80%' is not a number; write a share, 0.8"),
        ("e2e_ms.p95<=1200ms", "'1200ms' is not a number; write it without a unit"),
        ("verdikt==clean", "unknown metric 'verdikt' (did you mean \"verdict\"?)"),
        ("answered==0", "'answered'; there are request_throughput_per_s, ok, unanswered;"),
        ("ttft<=200", "there are ttft_ms.mean, ttft_ms.p50, ttft_ms.p90, ttft_ms.p95,"),
        ("e2e_ms<=200", "there are e2e_ms.mean, e2e_ms.p50,"),
        ("accuracy==clean", "'clean' is not a number"),
        ("no-regression()", "expected metrics, as in no-regression(accuracy)"),
        ("no-regression(accuracy,)", "expected metrics, as in no-regression(accuracy)"),
        ("no-regression(acuracy)", "no metric 'acuracy' (did you mean \"accuracy\"?)"),
        ("no-regression(e2e_ms)", 'did you mean "e2e_ms.p50"?'),
        ("no-regression(sent_per_s)", "neither good nor bad"),
        ("no-regression(accuracy", "expected NAME OPERATOR NUMBER"),
    ],
)
def test_a_slip_in_a_gate_is_told(gate: str, told: str) -> None:
    with pytest.raises(UsageError) as slip:
        parse_gate(gate)
    assert told in str(slip.value)


def test_the_verdicts_that_gates_know_are_those_of_runs() -> None:
    assert VERDICTS == OF_RUNS


def test_no_regression_says_that_it_holds_and_where_to_look_when_it_does_not() -> None:
    document = {"executions": [EXECUTION, {**EXECUTION, "benchmark_id": "c"}]}

    def judge(execution: dict[str, Any], _: tuple[str, ...]) -> tuple[bool | None, str]:
        of_b = execution["benchmark_id"] == "b"
        return of_b, "none seen; would have seen 4.0% of e2e_ms.p50" if of_b else "accuracy 0"

    results = check_gates(document, ["no-regression"], {}, judge)
    assert gate_lines(results) == [
        "no-regression holds for a on b: none seen; would have seen 4.0% of e2e_ms.p50",
        "no-regression FAILS for a on c: accuracy 0 (`agentbench regressions a`)",
    ]
    assert results[1].document() == {
        "gate": "no-regression",
        "agent_id": "a",
        "benchmark_id": "c",
        "value": "accuracy 0",
        "holds": False,
        "reason": "accuracy 0",
        "point": None,
    }


def test_no_regression_of_chosen_metrics_asks_for_these_and_points_at_them() -> None:
    asked: list[tuple[str, ...]] = []

    def judge(_: dict[str, Any], metrics: tuple[str, ...]) -> tuple[bool | None, str]:
        asked.append(metrics)
        return False, "worse"

    gates = ["no-regression", " no-regression ( accuracy, e2e_ms.p50,accuracy ) "]
    results = check_gates({"executions": [EXECUTION]}, gates, {}, judge)
    assert asked == [(), ("accuracy", "e2e_ms.p50")]
    chosen = "no-regression(accuracy,e2e_ms.p50) FAILS for a on b: worse"
    assert gate_lines(results) == [
        "no-regression FAILS for a on b: worse (`agentbench regressions a`)",
        f"{chosen} (`agentbench regressions a --metric accuracy --metric e2e_ms.p50`)",
    ]
