"""What is said below the tables of a run."""

import threading
from pathlib import Path
from typing import Any

import pytest
from processes import make_place

from agentbench_tui.cli.main import _run
from agentbench_tui.cli.run import running
from agentbench_tui.cli.run.result import notes

REFUSING = """
from agentbench_tui.cli.run import running
from agentbench_tui.model.answer import AgentFailure, FailureKind

tries = []

def agent(prompt):
    tries.append(prompt)
    if len(tries) == 1:
        raise AgentFailure(FailureKind.KIND, "later", retry_after_s=SECONDS)
    assert running.seen.wait(60)
    return prompt
"""


def document(**changes: Any) -> dict[str, Any]:
    executions = changes.pop("executions", [{"metrics": {"e2e_ms.mean": {"value": 1.5}}}])
    return {
        "run_id": "r1",
        "status": "complete",
        "stop_reason": None,
        "harness": "clean",
        "executions": [{"simulated": False, **execution} for execution in executions],
        "leaderboard": [],
        **changes,
    }


def test_the_last_line_says_why_a_run_stopped() -> None:
    reason = "cost limit reached: 0.3000 of 0.25 USD"
    assert notes(document())[-1] == "run r1: complete"
    stopped = document(status="interrupted", stop_reason="interrupted")
    assert notes(stopped)[-1] == "run r1: interrupted"
    assert (
        notes(document(status="incomplete", stop_reason=reason))[-1]
        == f"run r1: incomplete ({reason})"
    )


@pytest.mark.parametrize(("mean_ms", "warned"), [(1.5, True), (None, False)])
def test_noise_is_told_where_anything_was_timed(mean_ms: float | None, warned: bool) -> None:
    executions = [{"metrics": {"e2e_ms.mean": {"value": mean_ms}}}]
    lines = notes(document(harness="noisy", executions=executions))
    assert any(line.startswith("Timings: noisy") for line in lines) == warned


def test_estimated_costs_are_named() -> None:
    def execution(agent: str, reason: str | None) -> dict[str, Any]:
        return {"agent_id": agent, "metrics": {"cost_usd": {"value": 1.0, "reason": reason}}}

    counted = "estimated: the tokens of 3 answers were counted here, not by the server"
    executions = [execution("b", counted), execution("a", counted), execution("c", None)]
    assert "Costs are estimated, from tokens counted here: a, b." in notes(
        document(executions=executions)
    )


def test_executions_that_never_ran_have_nothing_to_say_of_their_metrics() -> None:
    lacking = {"unmeasured": {"e2e_ms.p50": None}, "benchmark_id": "b", "agent_id": "a"}
    never = lacking | {"metrics": {}}
    reason = {"e2e_ms.p50": {"value": None, "reason": "nothing answered"}}
    ran = lacking | {"metrics": reason, "unmeasured": {"e2e_ms.p50": "nothing answered"}}
    assert not [line for line in notes(document(executions=[never])) if "e2e_ms" in line]
    (line,) = [line for line in notes(document(executions=[never, ran])) if "e2e_ms" in line]
    assert line == "– b: e2e_ms.p50 of a: nothing answered"


def test_a_score_that_has_no_weight_is_not_missed() -> None:
    weights = {"accuracy": 0.6, "speed": 0.4, "efficiency": 0, "cost": 0}
    execution = {"metrics": {}, "weights": weights}
    scores = dict.fromkeys(("overall", "speed", "efficiency", "cost"))
    entry = scores | {"answered": 3, "accuracy": 0.9, "reliability": 1.0}
    lines = notes(document(executions=[execution], leaderboard=[entry]))
    assert any("no score for speed; in the suite" in line for line in lines)


@pytest.mark.parametrize(
    ("kind", "seconds", "awaited", "line"),
    [
        ("RATE_LIMITED", 0.0, "asked to wait", "0 of 1 asked, 0 answered, 0 right, 1 ×"),
        ("SERVER", 2.5, "; a waits ", " s as its server asked"),
    ],
)
def test_what_is_waited_for_is_told_while_nothing_goes_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    seconds: float,
    awaited: str,
    line: str,
) -> None:
    place = make_place(tmp_path)
    place.suite(1)
    code = REFUSING.replace("KIND", kind).replace("SECONDS", str(seconds))
    (tmp_path / "refusing.py").write_text(code)
    told: list[str] = []
    seen = threading.Event()

    def echo(text: str = "", **_: Any) -> None:
        told.append(text)
        if awaited in text:
            seen.set()

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(running, "PROGRESS_S", 0.02)
    monkeypatch.setattr(running, "seen", seen, raising=False)
    monkeypatch.setattr(running.click, "echo", echo)
    words = ["run", "suite.json", "--agent", "a=python:refusing.py:agent", "--no-ui"]
    assert _run([*words, "--db", str(place.database)]) == 0
    (said, *_) = [text for text in told if awaited in text]
    assert "1 × asked to wait by the server" in said
    assert line in said


def test_the_reason_of_an_unknown_cost_names_all_to_whom_it_applies() -> None:
    reason = "the agent did not say which model it used (8 answers)"

    def execution(agent: str, benchmark: str, **changes: Any) -> dict[str, Any]:
        return {
            "agent_id": agent,
            "benchmark_id": benchmark,
            "kind": "task",
            "metrics": {"cost_usd": {"value": None, "reason": reason}},
            "cases": {"answered": 8},
            **changes,
        }

    known = {"metrics": {"cost_usd": {"value": 0.1, "reason": None}}}
    executions = [
        execution("a", "x"), execution("a", "x"), execution("b", "x"), execution("a", "y"),
        execution("c", "x", **known), execution("d", "x", cases={"answered": 0}),
        execution("e", "x", kind="experiment"),
    ]  # fmt: skip
    lines = [line for line in notes(document(executions=executions)) if "USD of" in line]
    assert lines == [f"– x: USD of a, b: {reason}", f"– y: USD of a: {reason}"]
