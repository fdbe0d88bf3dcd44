"""Each limit of `constraints` is enforced, refused with its place, or said not to hold."""

import json
from pathlib import Path
from typing import Any

import pytest
from processes import Place, make_place

LIMIT = {"memory_limit_mb": 300}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_place(tmp_path)


def with_agent(place: Place, target: str, **benchmark: Any) -> None:
    agents = [{"id": "mine", "target": target}]
    place.suite(2, constraints=LIMIT, suite={"agents": agents}, **benchmark)


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("reference:perfect", "`reference:` agents run in agentbench's own process"),
        ("openai:http://127.0.0.1:9/v1#m", "its memory is that of its server"),
        ("http://127.0.0.1:9/ask", "its memory is that of its server"),
    ],
)
def test_a_suite_cannot_limit_the_memory_of_an_agent_that_has_no_process(
    place: Place, target: str, reason: str
) -> None:
    with_agent(place, target)
    for command in (("suites", "validate", "suite.json"), ("run", "suite.json", "--no-ui")):
        refused = place.run(*command)
        assert refused.returncode == 2
        assert "suite.json:1:" in refused.stderr
        assert "benchmarks.0.constraints.memory_limit_mb" in refused.stderr
        assert f"does not hold for mine: {reason}" in refused.stderr


def test_a_run_says_that_the_memory_of_a_given_agent_is_not_limited(place: Place) -> None:
    place.suite(2, constraints=LIMIT)
    run = ("run", "suite.json", "--no-ui", "--format", "json")
    ended = place.run(*run, "--agent", "known=reference:perfect")
    assert ended.returncode == 0
    assert ended.stderr.count("benchmark echo: `memory_limit_mb` does not hold for known") == 1
    assert json.loads(ended.stdout)["status"] == "complete"


HUNGRY = (
    "def answer(text):\n"
    "    kept = bytearray(b'x' * 500_000_000) if text == '1' else b''\n"
    "    return text if len(kept) < 10 else ''\n"
)


@pytest.mark.parametrize("named_by", ["suite", "command line"])
def test_a_python_agent_is_within_the_limit_or_killed(place: Place, named_by: str) -> None:
    (place.folder / "hungry.py").write_text(HUNGRY)
    target = "python:hungry.py:answer"
    run = ["run", "suite.json", "--no-ui", "--format", "json"]
    if named_by == "suite":
        with_agent(place, target)
    else:
        place.suite(2, constraints=LIMIT)
        run += ["--agent", f"mine={target}"]
    ended = place.run(*run)
    assert ended.returncode == 0, ended.stderr
    assert "does not hold" not in ended.stderr
    assert json.loads(ended.stdout)["executions"][0]["failures"] == {"limit": 1}


def test_a_worker_is_within_the_limit_or_killed(place: Place) -> None:
    (place.folder / "worker.py").write_text(
        "from agentbench_tui.agents.worker import Reply, serve\n"
        "def answer(task):\n"
        "    kept = bytearray(b'x' * 500_000_000) if task.text == '1' else b''\n"
        "    return Reply(text=task.text if len(kept) < 10 else '')\n"
        "serve(answer, name='w')\n"
    )
    with_agent(place, "worker:{python} worker.py")
    ended = place.run("run", "suite.json", "--no-ui", "--format", "json")
    assert ended.returncode == 0, ended.stderr
    assert "does not hold" not in ended.stderr
    assert json.loads(ended.stdout)["executions"][0]["failures"] == {"limit": 1}


@pytest.mark.parametrize("name", ["token_limit", "cost_limit_usd", "memory_limit_mb"])
def test_an_experiment_refuses_limits_that_it_does_not_enforce(place: Place, name: str) -> None:
    place.suite(
        1, kind="experiment", experiment="store_writer", dataset=None, scorers=[],
        constraints={name: 5},
    )  # fmt: skip
    refused = place.run("suites", "validate", "suite.json")
    assert refused.returncode == 2
    assert f"`{name}` is not enforced in benchmarks of kind experiment" in refused.stderr


@pytest.mark.parametrize("name", ["token_limit", "cost_limit_usd"])
@pytest.mark.parametrize("kind", ["load", "stress"])
def test_loads_and_stress_refuse_limits_of_one_answer(place: Place, kind: str, name: str) -> None:
    block = {"rate": 5, "duration_s": 1} if kind == "load" else {"scenario": "overload"}
    place.suite(1, kind=kind, dataset=None, scorers=[], constraints={name: 5}, **{kind: block})
    refused = place.run("suites", "validate", "suite.json")
    assert refused.returncode == 2
    assert f"`{name}` is not enforced in benchmarks of kind {kind}" in refused.stderr
