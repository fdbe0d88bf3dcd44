"""Judges that a suite names are checked before anything runs, since a run pays for its answers."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentbench_tui.engine.suite.loading import load_suite
from agentbench_tui.engine.suite.parameters import parse_settings
from agentbench_tui.engine.suite.validation import validate_suite


def problems(folder: Path, scorer: Any, *settings: str, **suite: Any) -> list[str]:
    benchmark = {
        "benchmark_id": "b",
        "dataset": {"cases": [{"id": "a", "input": "q", "expected": "5"}]},
        "scorers": [scorer],
    }
    path = folder / "suite.json"
    path.write_text(json.dumps({"suite_id": "s", **suite, "benchmarks": [benchmark]}))
    loaded = load_suite(path)
    found = validate_suite(loaded, [], parse_settings(loaded.suite, settings))
    return [problem.message for problem in found]


def graded_by(*judges: str) -> dict[str, Any]:
    return {"model_graded": {"judges": list(judges), "rubric": "Is polite."}}


def test_judges_that_can_be_asked_are_no_problem(tmp_path: Path) -> None:
    (tmp_path / "judge.py").write_text("def grade(text):\n    return '{}'\n")
    assert problems(tmp_path, graded_by("python:judge.py:grade", "reference:noop")) == []


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ("pyton:judge.py:grade", 'did you mean "python"?'),
        ("python:absent.py:grade", "no file"),
        ("openai:http://127.0.0.1:9/v1?key_env=ABSENT_KEY#m", "ABSENT_KEY, which is not set"),
        ("gpt", "is not a target"),
    ],
)
def test_a_judge_that_cannot_be_asked_is_named(tmp_path: Path, judge: str, said: str) -> None:
    (one,) = problems(tmp_path, graded_by("reference:noop", judge, judge))
    assert one.startswith(f"judge {judge}: ")
    assert said in one
    # The same judge inside another scorer.
    weighted = {"weighted": {"parts": [{"scorer": "exact"}, {"scorer": graded_by(judge)}]}}
    assert problems(tmp_path, weighted) == [one]


def test_a_judge_that_is_a_parameter_is_checked_with_its_value(tmp_path: Path) -> None:
    declared = {"parameters": {"judge": {"type": "string", "required": True}}}
    assert problems(tmp_path, graded_by("${judge}"), **declared) == []
    assert problems(tmp_path, graded_by("${judge}"), "judge=reference:noop", **declared) == []
    (one,) = problems(tmp_path, graded_by("${judge}"), "judge=gpt", **declared)
    assert one.startswith("judge gpt: ")
