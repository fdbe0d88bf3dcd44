"""An imported run executes nothing unasked."""

import json
from pathlib import Path

import pytest

from agentbench_tui.agents.secret_names import named_variables
from agentbench_tui.cli.main import _run
from agentbench_tui.engine.plan import ExecutionPlan, Group, Plan
from agentbench_tui.engine.trust import executed_by_rescoring, executed_by_resuming
from agentbench_tui.model.agent import AgentSpec

AGENT = """
import os
from pathlib import Path

def answer(question):
    with (Path(__file__).parent / "asked").open("a") as file:
        file.write(question)
    if question == "2" and not (Path(__file__).parent / "go").exists():
        os.kill(os.getpid(), 9)
    return question

def score(case, answer):
    with (Path(__file__).parent / "scored").open("a") as file:
        file.write("x")
    return 1.0
"""
SUITE = {
    "suite_id": "small",
    "benchmarks": [
        {
            "benchmark_id": "echo",
            "dataset": {"cases": [{"input": "1"}, {"input": "2"}]},
            "scorers": ["python:agent.py:score"],
            "iterations": {"warmup": 0, "measured": 1},
            "concurrency": 1,
        }
    ],
}


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    """A database with an imported run that was killed after its first answer."""
    import subprocess
    import sys

    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "suite.json").write_text(json.dumps(SUITE))
    command = [sys.executable, "-m", "agentbench_tui", "run", "suite.json", "--no-ui", "-q"]
    options = ["--agent", "a=python:agent.py:answer", "--db", "made.db"]
    subprocess.run([*command, *options], cwd=tmp_path, check=False, timeout=60)
    database = tmp_path / "runs.db"
    made = ["--db", str(tmp_path / "made.db")]
    assert _run(["runs", "export", "latest", str(tmp_path / "out.db"), *made]) == 0
    assert _run(["runs", "import", str(tmp_path / "out.db"), "--db", str(database)]) == 0
    (tmp_path / "asked").unlink()
    (tmp_path / "scored").unlink(missing_ok=True)
    (tmp_path / "go").touch()
    return database


def test_resume_names_what_an_imported_run_would_execute_and_refuses(
    imported: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert _run(["resume", "--no-ui", "--db", str(imported)]) == 2
    told = capfd.readouterr().err
    assert "runs python:agent.py:answer" in told
    assert "runs python:agent.py:score (scorers of echo)" in told
    assert "--trust" in told
    assert not (imported.parent / "asked").exists()

    assert _run(["resume", "--no-ui", "-q", "--trust", "--db", str(imported)]) == 0
    assert (imported.parent / "asked").read_text() in {"2", "12"}  # "1" may not have been committed


def test_rescore_asks_for_the_runs_own_scorers_only(
    imported: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert _run(["resume", "--no-ui", "-q", "--trust", "--db", str(imported)]) == 0
    (imported.parent / "scored").unlink()
    capfd.readouterr()

    assert _run(["rescore", "--db", str(imported)]) == 2
    told = capfd.readouterr().err
    assert "runs python:agent.py:score" in told
    assert "python:agent.py:answer" not in told
    assert not (imported.parent / "scored").exists()

    own = {**SUITE, "benchmarks": [{**SUITE["benchmarks"][0], "scorers": ["exact"]}]}
    own["benchmarks"][0]["dataset"] = {"cases": [{"input": "1", "expected": "1"}]}
    (imported.parent / "own.json").write_text(json.dumps(own))
    suite = str(imported.parent / "own.json")
    assert _run(["rescore", "--suite", suite, "--db", str(imported)]) in (0, 3)
    assert _run(["rescore", "--trust", "--db", str(imported)]) == 0
    assert (imported.parent / "scored").exists()


def test_a_run_made_here_is_not_asked_about(tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "suite.json").write_text(json.dumps(SUITE))
    database = ["--db", str(tmp_path / "runs.db")]
    agent = f"--agent=a=python:{tmp_path}/agent.py:answer"
    suite = str(tmp_path / "suite.json")
    assert _run(["run", suite, agent, "--no-ui", "-q", *database]) == 0
    assert _run(["rescore", *database]) == 0


def plan_of(target: str = "reference:expected", **benchmark: object) -> Plan:
    agent = AgentSpec(id="a", version="1", target=target)
    group = Group(
        suite_id="s",
        suite_hash="h",
        benchmark={"benchmark_id": "b", **benchmark},
        parameters={},
        values={},
        seed=1,
        base_dir=".",
        executions=(ExecutionPlan("e", 0, agent),),
    )
    return Plan(run_id="r", suites=(), groups=(group,), repeats=1, seed=1)


@pytest.mark.parametrize(
    ("target", "line"),
    [
        ("command:sh x", "runs command:sh x"),
        (" command:sh x", "runs command:sh x"),
        ("command?mode=task:sh x", "runs command?mode=task:sh x"),
        ("python?inline=true:m:f", "runs python?inline=true:m:f"),
        ("worker?cwd=.:sh x", "runs worker?cwd=.:sh x"),
        ("plugged:x", "runs plugged:x"),
        ("openai:#m", "sends questions to openai:#m"),
        ("a2a:http://h", "sends questions to a2a:http://h"),
    ],
)
def test_every_way_to_write_an_agent_that_runs_code_or_sends_questions(
    target: str, line: str
) -> None:
    assert executed_by_resuming(plan_of(target)) == [line]


@pytest.mark.parametrize("target", ["reference:expected", "mock", "replay:a.jsonl", "market:calm"])
def test_agents_that_run_nothing_foreign_are_not_asked_about(target: str) -> None:
    assert executed_by_resuming(plan_of(target)) == []


@pytest.mark.parametrize(
    ("benchmark", "line"),
    [
        (
            {"load": {"workload": [{"data_source": "python:m.py:f"}]}},
            "runs python:m.py:f (load of b)",
        ),
        ({"stress": {"serve": "sh x"}}, "runs sh x (stress of b)"),
        ({"dataset": {"data_source": "python:m:f"}}, "runs python:m:f (dataset of b)"),
    ],
)
def test_code_that_a_benchmark_names_for_a_resumed_run(
    benchmark: dict[str, object], line: str
) -> None:
    assert executed_by_resuming(plan_of(**benchmark)) == [line]
    assert executed_by_rescoring(plan_of(**benchmark)) == []


@pytest.mark.parametrize(
    ("scorer", "line"),
    [
        ("python_tests", "runs the code in answers and cases by python_tests (scorers of b)"),
        (
            {"weighted": {"parts": [{"scorer": {"python_tests": {"timeout_s": 5}}}]}},
            "runs the code in answers and cases by python_tests (scorers of b)",
        ),
        (
            {"model_graded": {"judges": ["command?mode=task:sh x"]}},
            "runs command?mode=task:sh x (scorers of b)",
        ),
        ({"model_graded": {"judges": ["j=command:sh x"]}}, "runs j=command:sh x (scorers of b)"),
        (
            {"model_graded": {"judges": ["openai:#m"]}},
            "sends questions to openai:#m (scorers of b)",
        ),
    ],
)
def test_code_and_judges_that_scorers_name(scorer: object, line: str) -> None:
    assert executed_by_rescoring(plan_of(scorers=[scorer])) == [line]
    assert executed_by_resuming(plan_of(scorers=[scorer])) == [line]


def test_ordinary_scorers_run_nothing_of_others() -> None:
    scorers = ["exact", {"regex": {"pattern": "python"}}, {"numeric": {"marker": "answer: "}}]
    assert executed_by_rescoring(plan_of(scorers=scorers)) == []


@pytest.mark.parametrize(
    ("specification", "names"),
    [
        ({"options": {"env": ["A_KEY", "B"]}}, {"A_KEY", "B"}),
        ({"options": {"key_env": "TOKEN"}}, {"TOKEN"}),
        (
            {"options": {"headers": {"x-api-key": "$MINE", "y": "${YOURS}/$Z"}}},
            {"MINE", "YOURS", "Z"},
        ),
        ({"options": {"proxy": "http://$WHO:$PASS@proxy"}}, {"WHO", "PASS"}),
        ([{"judge": {"agent": "openai:http://x/v1#m?key_env=JUDGE"}}], {"JUDGE"}),
        ({"target": "command:run.sh?env=ONE,TWO"}, {"ONE", "TWO"}),
        ({"target": "command?env=ONE%2C+TWO&mode=task:run.sh"}, {"ONE", "TWO"}),
        ({"options": {"env": "ONE, TWO"}}, {"ONE", "TWO"}),
        ({"options": {"env": ["ONE ", "2"]}}, {"ONE"}),
        ({"options": {"body": {"price": "$5"}}, "name": "env"}, set()),
    ],
)
def test_the_variables_that_a_specification_hands_out(
    specification: object, names: set[str]
) -> None:
    assert named_variables(specification) == names
