"""`agentbench compare --by FIELD`, of files and of stored runs."""

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
def odd(prompt):
    return prompt if int(prompt) % 2 else "no"
"""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    """80 cases; `odd` is right on those of parity odd."""
    cases = [
        {
            "id": f"c{n}", "input": str(n), "expected": str(n),
            "metadata": {"parity": "odd" if n % 2 else "even"},
        }
        for n in range(80)
    ]  # fmt: skip
    folder = tmp_path_factory.mktemp("groups")
    document = suite(dataset={"cases": cases})
    return str(asyncio.run(run(folder, document, AGENTS, "right", "odd")).database)


def compared(database: str, *arguments: str) -> int:
    return _run(["compare", "right", "odd", "--metric", "accuracy", *arguments, "--db", database])


def test_the_table_has_a_verdict_for_each_group(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compared(database, "--by", "parity") == 0
    lines = capsys.readouterr().out.splitlines()
    place = lines.index("By parity: odd against right")
    even, odd = (line.split() for line in lines[place + 2 : place + 4])
    assert (even[0], even[1], even[2], even[3]) == ("even", "accuracy", "40", "-100.0")
    assert "worse" in even
    assert (odd[0], odd[3]) == ("odd", "0.0")
    assert lines[place + 4].startswith("accuracy: the difference varies by parity more than by")


def test_json_and_csv_have_the_groups_and_the_gate_is_of_the_whole(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compared(database, "--by", "parity", "--format", "json", "--fail-on", "worse") == 1
    document = json.loads(capsys.readouterr().out)
    (pair,) = document["breakdown"]["pairs"]
    assert [group["metrics"][0]["difference"] for group in pair["groups"]] == [-1, 0]
    assert compared(database, "--format", "json") == 0
    whole = json.loads(capsys.readouterr().out)
    assert "breakdown" not in whole
    assert whole["metrics"] == document["metrics"]
    assert compared(database, "--by", "parity", "--format", "csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["group"] for row in rows] == ["", "even", "odd"]


def test_an_unknown_field_ends_with_2(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert compared(database, "--by", "partiy") == 2
    said = capsys.readouterr().err
    assert '(did you mean "parity"?); there are benchmark, expected, parity, suite' in said


def test_a_case_whose_rows_differ_in_the_column_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("case,repeat,hour,correct\nx,0,9,1\nx,1,10,0\ny,0,9,1\ny,1,9,1\n")
    assert _run(["compare", f"file:{path}", f"file:{path}", "--by", "hour"]) == 2
    assert "one case has '9' and '10'" in capsys.readouterr().err
