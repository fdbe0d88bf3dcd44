"""`agentbench judge check`: a judge, or any scorer, against the labels of people."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agentbench_tui.cli.main import main
from agentbench_tui.scoring.judge.agreement import kappa_interval

SUITE = """
suite_id: s
benchmarks:
  - benchmark_id: b
    scorers: [exact, {contains: {}, as: within}]
    dataset: {cases: [{input: a, expected: b}]}
"""
# Of 10: both right 4, judge alone 1, people alone 2, both wrong 3.
ROWS = [("5", "right")] * 4 + [("5", "wrong")] + [("6", "yes")] * 2 + [("7", "0")] * 3


@pytest.fixture
def labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.yaml").write_text(SUITE)
    path = tmp_path / "labels.csv"
    lines = [f"{n},{answer},5,{label}" for n, (answer, label) in enumerate(ROWS)]
    path.write_text("\n".join(["id,answer,expected,label", *lines]) + "\n")
    return path


def check(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["judge", "check", *arguments])


def test_agreement_and_kappa_are_those_of_the_table(labels: Path) -> None:
    done = check(str(labels), "--suite", "suite.yaml", "--scorer", "exact", "--format", "json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["answers"], found["judged"], found["failed"]) == (10, 10, 0)
    assert (found["both_right"], found["both_wrong"]) == (4, 3)
    assert (found["human_right"], found["judge_right"]) == (6, 5)
    # By hand: observed 0.7, by chance 0.6 × 0.5 + 0.4 × 0.5 = 0.5.
    assert found["agreement"]["value"] == 0.7
    assert found["kappa"]["value"] == pytest.approx(0.4)
    # Wilson of 7 in 10 is 0.39678 … 0.89221.
    assert found["kappa"]["low"] == pytest.approx((0.39678 - 0.5) / 0.5, abs=1e-4)
    assert found["kappa"]["high"] == pytest.approx((0.89221 - 0.5) / 0.5, abs=1e-4)
    assert found["false_pass"]["value"] == 0.25
    assert found["false_fail"]["value"] == pytest.approx(2 / 6)
    assert [one["case_id"] for one in found["disagreements"]] == ["4", "5", "6"]


def test_the_table_leads_with_the_verdict(labels: Path) -> None:
    done = check(str(labels), "--suite", "suite.yaml", "--scorer", "exact", "--limit", "1")
    assert done.stdout.startswith("Not yet clear whether the judge agrees with people")
    assert "… and 2 more answers (--limit)." in done.stdout
    assert "10 answers: label 30 or more." in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--judge", "pyton:x.py:f", "--rubric", "r"), 'did you mean "python"?'),
        (("--judge", "python:absent.py:f", "--rubric", "r"), "judge python:absent.py:f: "),
        ((), "name the judge: --judge and --rubric, or --suite"),
        (("--suite", "suite.yaml"), "several scorers match"),
        (("--suite", "suite.yaml", "--scorer", "exat"), "no scorer matches"),
        (("--suite", "suite.yaml", "--scorer", "exact", "--label", "lable"), "no field for the"),
    ],
)
def test_mistakes_are_named(labels: Path, arguments: tuple[str, ...], message: str) -> None:
    done = check(str(labels), *arguments)
    assert done.exit_code != 0
    assert message in done.output + str(done.exception)


def test_a_label_that_is_neither_right_nor_wrong_is_refused(labels: Path) -> None:
    labels.write_text("answer,label\n5,maybe\n")
    done = check(str(labels), "--suite", "suite.yaml", "--scorer", "exact")
    assert "labels.csv:2: the label is 'maybe'" in done.output + str(done.exception)


def test_an_empty_label_is_named_and_an_empty_answer_is_one(labels: Path) -> None:
    labels.write_text("answer,expected,label\n5,5,right\n,5,wrong\n5,5,\n")
    done = check(str(labels), "--suite", "suite.yaml", "--scorer", "exact")
    assert "labels.csv:4: `label` is empty; fill it in, or leave the record out" in (
        done.output + str(done.exception)
    )
    labels.write_text("answer,expected,label\n5,5,right\n,5,wrong\n")
    done = check(str(labels), "--suite", "suite.yaml", "--scorer", "exact", "--format", "json")
    found = json.loads(done.stdout)
    assert (found["answers"], found["both_right"], found["both_wrong"]) == (2, 1, 1)


def test_kappa_has_no_interval_where_it_is_undefined() -> None:
    assert kappa_interval([True, True], [True, True]) is None
    assert kappa_interval([], []) is None


def test_full_agreement_is_no_certainty() -> None:
    found = kappa_interval([True, False] * 10, [True, False] * 10)
    assert found is not None
    assert found.high == 1
    # Wilson of 20 in 20 begins at 0.83887; by chance 0.5.
    assert found.low == pytest.approx((0.83887 - 0.5) / 0.5, abs=1e-4)
