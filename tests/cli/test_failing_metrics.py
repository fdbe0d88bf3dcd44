"""Metrics of the user's own that fail or have no value: what is printed, and the exit codes."""

import json
from pathlib import Path

import pytest
from processes import Place, make_place

RUN = ("run", "suite.json", "--no-ui", "--agent", "echo=python:agents.py:echo")
METRICS = """
def size(case, answer):
    if answer.text == "1":
        raise ValueError("no size")
    return len(answer.text)
def absent(case, answer):
    return None
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = make_place(tmp_path)
    (tmp_path / "metrics.py").write_text(METRICS)
    return made


def test_a_metric_that_fails_on_an_answer_leaves_the_run_unfinished(place: Place) -> None:
    place.suite(4, metrics=["python:metrics.py:size"])
    done = place.run(*RUN, "--format", "json")
    assert done.returncode == 3
    (execution,) = json.loads(done.stdout)["executions"]
    # 1 and 2 are answered rightly, 0 and 3 with "?"; the metric has no value for 1.
    assert execution["metrics"]["accuracy"]["value"] == 0.5
    assert execution["metrics"]["size"]["n"] == 3
    assert place.run("gate", "latest", "accuracy>=0.5").returncode == 3


def test_scoring_again_ends_with_3_until_nothing_fails(place: Place) -> None:
    place.suite(4, metrics=["python:metrics.py:size"])
    place.run(*RUN)
    assert place.run("rescore", "latest").returncode == 3
    (place.folder / "metrics.py").write_text(METRICS.replace('"1"', '"none"'))
    assert place.run("rescore", "latest").returncode == 0
    assert place.run("gate", "latest", "accuracy>=0.5").returncode == 0


def test_a_metric_without_any_value_is_listed_as_such(place: Place) -> None:
    place.suite(4, metrics=["python:metrics.py:absent"])
    done = place.run(*RUN)
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if "absent" in line]
    assert "– (no answer has a value)" in line
