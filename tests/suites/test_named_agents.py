"""Some of a suite's agents, named by their ids: they are the suite's wherever one is."""

import json
from pathlib import Path

import pytest

from agentbench_tui.engine.run.planning import RunOptions, make_plan
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.errors import SuiteError, UsageError

AGENTS = [
    {"id": "right", "target": "python:./agent.py:right", "name": "Right", "hourly_price_usd": 2.0},
    {
        "id": "wrong",
        "version": "3",
        "target": "python:./agent.py:wrong",
        "options": {"inline": True},
    },
]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "agent.py").write_text("def right(q): return q\ndef wrong(q): return q * 2\n")
    benchmark = {
        "benchmark_id": "b",
        "dataset": {"cases": [{"id": "c", "input": "1", "expected": "1"}]},
        "scorers": ["exact"],
    }
    path = folder / "suite.json"
    path.write_text(json.dumps({"suite_id": "s", "agents": AGENTS, "benchmarks": [benchmark]}))
    return path


def planned(suite: Path, *agents: str) -> list[AgentSpec]:
    (group,) = make_plan([str(suite)], RunOptions(agents=agents, folder=suite.parents[1])).groups
    return [execution.agent for execution in group.executions]


def test_an_id_means_the_suites_agent_with_the_files_beside_the_suite(suite: Path) -> None:
    everyone = planned(suite)
    assert planned(suite, "wrong") == everyone[1:]
    assert planned(suite, "wrong", "right") == everyone[::-1]
    assert {one.base_dir for one in everyone} == {str(suite.parent)}


def test_a_target_is_relative_to_where_one_is(suite: Path) -> None:
    with pytest.raises(SuiteError, match=r"no file"):
        planned(suite, "right=python:./agent.py:right")
    (given,) = planned(suite, "right=python:./there/agent.py:right")
    assert given.base_dir == str(suite.parents[1])


def test_a_mistyped_id_is_told_what_was_meant(suite: Path) -> None:
    with pytest.raises(UsageError, match='did you mean "wrong"'):
        planned(suite, "wrnog")
