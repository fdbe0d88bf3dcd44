"""A report renders in every format, and what an agent says in it stays harmless."""

import csv
import io
import json

import pytest

from agentbench_tui.cli.console.reports import print_report
from agentbench_tui.presentation.numbers import percent
from agentbench_tui.presentation.report import Column, Report, Section, Table, raw_columns

HOSTILE = "bad\x1b[31m agent"
ROWS = [{"agent": "good", "right": 0.972}, {"agent": HOSTILE, "right": None}]
TABLE = Table((Column("agent", "agent", names_row=True), Column("right", "right", percent, True)),
              ROWS)  # fmt: skip
REPORT = Report(
    Table(raw_columns(["agent", "right"]), ROWS),
    [Section("40 cases", [TABLE], ["good wins"]), Section("none | left", [], [HOSTILE])],
    ["p of one test"],
    csv_records=Table(raw_columns(["agent", "right", "run"]), [{**row, "run": 7} for row in ROWS]),
)


def printed(form: str, capsys: pytest.CaptureFixture[str], report: Report = REPORT) -> str:
    print_report(report, form, {"schema": "x/1"})
    return capsys.readouterr().out


def test_people_read_formatted_values_with_sentences_below(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = printed("table", capsys)
    lines = text.splitlines()
    assert lines[0] == "40 cases"
    assert lines[1].split() == ["agent", "right"]
    assert lines[2].split() == ["good", "97.2%"]
    assert lines[3].endswith("–")
    assert lines[4:6] == ["", "good wins"]
    assert lines[-1] == "p of one test"
    assert "\x1b" not in text


def test_markdown_has_a_table_and_a_list(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed("md", capsys)
    assert text.startswith("**40 cases**\n\n| agent | right |\n|---|---:|\n| good | 97.2% |\n")
    assert "\n- good wins\n" in text
    assert "\n- p of one test\n" in text
    assert "\x1b" not in text


def test_programs_read_plain_values(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed("jsonl", capsys).splitlines()
    assert [json.loads(line) for line in lines] == ROWS
    table = list(csv.reader(io.StringIO(printed("csv", capsys))))
    assert table[0] == ["agent", "right", "run"]
    assert table[1] == ["good", "0.972", "7"]
    assert table[2][1:] == ["", "7"]
    assert json.loads(printed("json", capsys)) == {"schema": "x/1"}


def test_without_sections_the_reason_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    empty = Report(Table((), ()), sentences=["nothing was measured"])
    assert printed("table", capsys, empty) == "nothing was measured\n"
