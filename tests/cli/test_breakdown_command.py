"""`--by FIELD` of `run` and `runs show`, as a person and as a script sees it."""

import csv
import io
import json
from pathlib import Path

import pytest

from agentbench_tui.cli.main import _run

AGENTS = """
def half(prompt):
    return prompt if int(prompt) % 2 else "no"
"""


@pytest.fixture
def suite_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """40 cases, even ones called `even | x`, whose answers are wrong."""
    monkeypatch.setenv("AGENTBENCH_DB", str(tmp_path / "store.db"))
    (tmp_path / "agents.py").write_text(AGENTS)
    cases = [
        {
            "id": f"c{n}", "input": str(n), "expected": str(n),
            "metadata": {"parity": "odd" if n % 2 else "even | x", "size": n},
        }
        for n in range(40)
    ]  # fmt: skip
    benchmark = {
        "benchmark_id": "echo", "dataset": {"cases": cases}, "scorers": ["exact"],
        "iterations": {"warmup": 0, "measured": 1},
    }  # fmt: skip
    suite = {
        "suite_id": "small", "benchmarks": [benchmark],
        "agents": [{"id": "half", "target": "python:agents.py:half"}],
    }  # fmt: skip
    path = tmp_path / "suite.json"
    path.write_text(json.dumps(suite))
    return path


def ran(suite_file: Path, *words: str) -> int:
    return _run(["run", str(suite_file), "--no-ui", "--quiet", *words])


def test_a_misspelled_field_is_refused_before_anything_is_asked(
    suite_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(suite_file, "--by", "party") == 2
    said = capsys.readouterr().err
    assert '--by party: no case has this field (did you mean "parity"?)' in said
    assert "there are benchmark, expected, parity, size, suite" in said
    assert not (suite_file.parent / "store.db").exists()


def test_a_run_prints_its_groups_at_the_end_and_writes_them_into_its_report(
    suite_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = suite_file.parent / "out"
    words = ("--by", "parity", "--report", "both", "--output", str(folder))
    assert ran(suite_file, *words) == 0
    lines = capsys.readouterr().out.splitlines()
    place = lines.index("By parity")
    even, odd, whole = (line.split() for line in lines[place + 2 : place + 5])
    assert even[:7] == ["half", "even", "|", "x", "20", "0%", "[0,"]
    assert "lower" in even
    assert odd[:4] == ["half", "odd", "20", "100%"]
    assert "higher" in odd
    assert whole[:4] == ["half", "all", "40", "50.0%"]
    assert lines[place + 5].startswith("half: accuracy varies by parity more than by chance (p < 0")
    document = json.loads((folder / "benchmark_results.json").read_text())
    assert [one["group"] for one in document["breakdown"]["agents"][0]["groups"]] == [
        "even | x", "odd",
    ]  # fmt: skip
    page = (folder / "benchmark_results.html").read_text()
    assert '<h2 id="groups-title">By parity</h2>' in page
    assert '<a href="#groups">By parity</a>' in page
    assert "half: accuracy varies by parity more than by chance" in page
    assert ran(suite_file, "--by", "parity", "--report", "md", "--output", str(folder)) == 0
    text = (folder / "benchmark_results.md").read_text()
    assert "## By parity" in text
    assert r"| half | even \| x | 20 | 0% [" in text


def test_every_format_has_the_groups(suite_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(suite_file, "--by", "parity", "--format", "json") == 0
    of_run = json.loads(capsys.readouterr().out)
    assert of_run["schema"] == "agentbench.run/1"
    assert _run(["runs", "show", "--by", "parity", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["schema"] == "agentbench.run-details/1"
    assert shown["breakdown"] == of_run["breakdown"]
    (agent,) = shown["breakdown"]["agents"]
    assert [one["differs"] for one in agent["groups"]] == ["lower", "higher"]
    assert _run(["runs", "show", "--by", "parity", "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["group"], row["value"], row["correct"]) for row in rows] == [
        ("even | x", "0.0", "0"), ("odd", "1.0", "20"),
    ]  # fmt: skip
    assert _run(["runs", "show", "--by", "parity", "--format", "md"]) == 0
    assert r"| half | even \| x | 20 | 0% \[" in capsys.readouterr().out


def test_numbers_are_cut_and_groups_limited(
    suite_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(suite_file) == 0
    assert _run(["runs", "show", "--by", "size", "--by-limit", "1"]) == 0
    shown = capsys.readouterr().out
    assert "size: numbers in ranges of about a quarter of the cases each" in shown
    assert "… 3 more groups with fewer cases (--by-limit)" in shown


def test_groups_do_not_go_with_single_answers(
    suite_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(suite_file) == 0
    capsys.readouterr()
    assert _run(["runs", "show", "--by", "parity", "--case", "c1", "--wrong"]) == 2
    assert "it cannot be combined with --case, --wrong" in capsys.readouterr().err


def test_what_is_printed_at_the_end_does_not_go_with_detach(
    suite_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(suite_file, "--by", "parity", "--detach") == 2
    assert "--by applies at the end of the run" in capsys.readouterr().err
