"""`agentbench compare --by FIELD`, of files and of stored runs."""

import csv
import io
import json
from pathlib import Path

import pytest
from store_of_halves import store_of_halves

from agentbench_tui.cli.main import _run


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> str:
    return store_of_halves(tmp_path_factory.mktemp("groups"))


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
