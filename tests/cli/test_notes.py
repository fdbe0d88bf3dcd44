"""What is said below the tables of a run."""

import threading
from pathlib import Path
from typing import Any

import pytest
from processes import make_place
from run_documents import entry, execution, metric, run

from agentbench_tui.cli.main import _run
from agentbench_tui.cli.run import running
from agentbench_tui.contracts.run import CaseCounts, RunDocument
from agentbench_tui.presentation.run import run_report

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


def sentences(document: RunDocument, *, full: bool = False) -> list[str]:
    """Every sentence of a run's result."""
    report = run_report(document, full=full)
    return [line for part in (*report.answer, *report.remarks) for line in part.sentences]


def test_the_last_line_says_why_a_run_stopped() -> None:
    reason = "cost limit reached: 0.3000 of 0.25 USD"
    assert sentences(run(execution()))[-1] == "run r1: complete"
    stopped = run(execution(), status="interrupted", stop_reason="interrupted")
    assert sentences(stopped)[-1] == "run r1: interrupted"
    incomplete = run(execution(), status="incomplete", stop_reason=reason)
    assert sentences(incomplete)[-1] == f"run r1: incomplete ({reason})"


@pytest.mark.parametrize(("mean_ms", "warned"), [(1.5, True), (None, False)])
def test_noise_is_told_where_anything_was_timed(mean_ms: float | None, warned: bool) -> None:
    timed = execution(metrics={"e2e_ms.mean": metric(mean_ms)})
    lines = sentences(run(timed, harness="noisy"))
    assert any(line.startswith("Timings: noisy") for line in lines) == warned


def test_estimated_costs_are_named() -> None:
    counted = "estimated: the tokens of 3 answers were counted here, not by the server"
    executions = [
        execution(agent, metrics={"cost_usd": metric(1.0, reason=reason)})
        for agent, reason in (("b", counted), ("a", counted), ("c", None))
    ]
    said = "Costs are estimated, from tokens counted here: a, b."
    assert said in sentences(run(*executions))


def test_executions_that_never_ran_have_nothing_to_say_of_their_metrics() -> None:
    never = execution(unmeasured={"e2e_ms.p50": None})
    reason = "nothing answered"
    ran = execution(
        metrics={"e2e_ms.p50": metric(None, reason=reason)}, unmeasured={"e2e_ms.p50": reason}
    )
    assert not [line for line in sentences(run(never), full=True) if "e2e_ms" in line]
    (line,) = [line for line in sentences(run(never, ran), full=True) if "e2e_ms" in line]
    assert line == "– b: e2e_ms.p50 of a: nothing answered"


def test_a_score_that_has_no_weight_is_not_missed() -> None:
    weighted = execution(weights={"accuracy": 0.6, "speed": 0.4, "efficiency": 0, "cost": 0})
    agent = entry(accuracy=0.9, reliability=1.0)
    lines = sentences(run(weighted, leaderboard=(agent,)))
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
    answered = CaseCounts(total=8, observed=8, answered=8, correct=8)
    unanswered = CaseCounts(total=8, observed=8, answered=0, correct=0)
    unknown = {"metrics": {"cost_usd": metric(None, reason=reason)}, "cases": answered}
    known = {"metrics": {"cost_usd": metric(0.1)}, "cases": answered}
    executions = [
        execution("a", "x", **unknown), execution("a", "x", **unknown),
        execution("b", "x", **unknown), execution("a", "y", **unknown),
        execution("c", "x", **known), execution("d", "x", **unknown | {"cases": unanswered}),
        execution("e", "x", **unknown, kind="experiment"),
    ]  # fmt: skip
    lines = [line for line in sentences(run(*executions), full=True) if "USD of" in line]
    assert lines == [f"– x: USD of a, b: {reason}", f"– y: USD of a: {reason}"]
