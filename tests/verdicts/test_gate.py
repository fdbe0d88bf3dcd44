"""Gates say what they found, or why they cannot be judged."""

from agentbench_tui.verdicts.gate import check_gates, gate_lines

EXECUTION = {
    "suite_id": "s",
    "agent_id": "a",
    "benchmark_id": "b",
    "parameters": {},
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
