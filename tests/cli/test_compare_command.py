"""`agentbench compare` as a person and as a script sees it."""

import asyncio
import csv
import io
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))

from carried_out import run, suite

from agentbench_tui.cli.main import _run

AGENTS = """
def right(prompt):
    return prompt
def twin(prompt):
    return prompt
def half(prompt):
    return prompt if int(prompt) % 2 else "\\x1b[31mwrong | no"
"""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("compared")
    document = suite(160, suite={"category": "accuracy"})
    return str(asyncio.run(run(folder, document, AGENTS, "right", "twin", "half")).database)


def compared(database: str, *arguments: str) -> int:
    return _run(["compare", *arguments, "--db", database])


def test_the_table_tells_change_verdict_and_cases(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compared(database, "right", "half", "--metric", "accuracy") == 0
    lines = capsys.readouterr().out.splitlines()
    (row,) = [line for line in lines if line.startswith("accuracy")]
    assert row.split()[1] == "-50.0"
    assert "<0.001  worse" in row
    assert "160 pairs, 80 A alone, 0 B alone" in row
    assert lines[0] == "half is worse than right: worse in accuracy."
    assert lines[1].startswith("Accuracy: half 50.0%, right 100% (-50.0 pp [")
    assert any(line.startswith("Keep right: with half accuracy 50.0 points") for line in lines)
    assert "Cases that only one gets right, 5 of 80:" in lines
    assert any("\\x1b[31mwrong" in line for line in lines)  # what steers a terminal is made visible


def test_json_csv_and_markdown_tell_the_same(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = (database, "right", "half", "--metric", "accuracy", "--format")
    assert compared(*arguments, "json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "agentbench.compare/1"
    (metric,) = document["metrics"]
    assert (metric["only_a"], metric["only_b"], metric["verdict"]) == (80, 0, "worse")
    assert (document["a"], document["b"], document["n_pairs"]) == ("right", "half", 160)
    assert compared(*arguments, "csv") == 0
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (row["candidate"], row["verdict"]) == ("half", "worse")
    assert float(row["p_value"]) == metric["p_value"]
    assert compared(*arguments, "md") == 0
    shown = capsys.readouterr().out
    assert shown.startswith("**half is worse than right: worse in accuracy.**\n")
    assert "echo: A right, B half**" in shown
    assert "| accuracy | -50.0" in shown


@pytest.mark.parametrize(
    ("margin", "overall", "advice"),
    [
        (
            "2%",
            "right and twin are equivalent: twin is equivalent in accuracy.",
            "Take either: they are",
        ),
        (
            "0.1%",
            "No winner yet between right and twin: twin is inconclusive in accuracy.",
            "To settle",
        ),
    ],
)
def test_a_tie_is_shown_or_still_open(
    database: str, margin: str, overall: str, advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compared(database, "right", "twin", "--metric", "accuracy", "--margin", margin) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == overall
    assert any(line.startswith(advice) for line in lines)


def test_three_agents_make_a_matrix(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert compared(database, "right", "twin", "half", "--metric", "accuracy") == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["is", "against", "right", "twin", "half"] in lines
    assert ["half", "worse", "worse", "–"] in lines
    assert " ".join(lines[0]) in {
        "No single winner among 3 contenders.", "right is the best of 3 contenders."
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("right", "half"), 1),
        (("half", "right"), 0),
        (("right", "twin", "--benchmark", "echo"), 0),
        (("right", "twin", "--margin", "0.1%"), 3),
    ],
)
def test_the_gate(
    database: str, arguments: tuple[str, ...], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compared(database, *arguments, "--metric", "accuracy", "--fail-on", "worse") == code
    assert ("gate:" in capsys.readouterr().err) == (code != 0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("right",), "only 'right' is given; add a second agent"),
        (("right", "halff"), "no agent 'halff' (did you mean \"half\"?)"),
        (("right", "rum:1"), "no kind of selector 'rum' (did you mean \"run\"?)"),
        (("right", "half", "right"), "'right' is given twice"),
        (("right", "run:latest"), "holds 3 agents: say which, as in run:latest/half"),
        (("right", "half?rate=5"), "nothing was measured at rate=5"),
        (("right", "half@9"), "there is no complete execution"),
        (("right", "half", "--metric", "e2e"), "no such metric"),
        (("right", "half", "--margin", "much"), "neither a share such as 0.05 nor a percentage"),
        (("right", "half", "--margin", "500"), "is not between 0 and 100%"),
        (("right", "half", "--margin", "nan"), "neither a share such as 0.05 nor a percentage"),
        (("right", "half", "--suite", "other"), "no complete execution of suite 'other'"),
    ],
)
def test_what_cannot_be_compared_says_why(
    database: str, arguments: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compared(database, *arguments) == 2
    assert said in capsys.readouterr().err


def test_metrics_that_nobody_has(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert compared(database, "right", "half", "--metric", "ttft_ms") == 3
    assert "no benchmark has values of ttft_ms on both sides" in capsys.readouterr().err


def test_several_attempts_are_compared_without_naming_a_metric(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agents = """
def lucky(request):
    return request.text() if request.iteration == int(request.text()) % 3 else "?"
def steady(request):
    return request.text() if int(request.text()) % 3 == 0 else "?"
"""
    document = suite(24, iterations={"warmup": 0, "measured": 3})
    stored = str(asyncio.run(run(tmp_path, document, agents, "lucky", "steady")).database)
    assert compared(stored, "lucky", "steady") == 0
    text = capsys.readouterr().out
    rows = {line.split()[0]: line for line in text.splitlines() if " pairs" in line}
    # Right at one of three attempts everywhere against right at all three in a third of the cases.
    assert "-66.7 pp" in rows["pass@3"]
    assert "100%, 33.3%" in rows["pass@3"]
    assert "+33.3 pp" in rows["pass^3"]
    assert "--metric 'pass@3' --metric 'pass^3' tests them" in " ".join(text.split())
    assert compared(stored, "lucky", "steady", "--format", "csv") == 0
    named = [row["metric"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))]
    assert "accuracy" in named
    assert not [name for name in named if name.startswith("pass")]
