"""Tables on narrow screens: no value is cut, and every line says what it is about."""

import io
from contextlib import redirect_stdout

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agentbench_tui.cli.console import output
from agentbench_tui.cli.console.output import print_rows
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.report import Column

NAME = Column("name", "name", names_row=True)
A, B, EMPTY = Column("a", "first", right=True), Column("b", "second", right=True), Column("e", "e")
ROWS = [{"name": "one", "a": "1111111111", "b": "2222222222"}, {"name": "two", "a": "3", "b": "4"}]


def table(
    rows: list[dict[str, str]],
    columns: list[Column],
    width: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> list[str]:
    monkeypatch.setattr(output, "screen_width", lambda: width)
    monkeypatch.setattr(output, "console", lambda: Console(width=width, color_system=None))
    print_rows(rows, columns, "table")
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def printed(rows: list[dict[str, str]], columns: list[Column], width: int) -> list[str]:
    """`table` for tests that are called many times over."""
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as out:
        patch.setattr(output, "screen_width", lambda: width)
        patch.setattr(output, "console", lambda: Console(width=width, color_system=None))
        print_rows(rows, columns, "table")
    return out.getvalue().splitlines()


def test_a_table_that_fits_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert table(ROWS, [NAME, A, B], 28, monkeypatch, capsys) == [
        "name       first      second",
        "one   1111111111  2222222222",
        "two            3           4",
    ]


def test_a_table_too_wide_is_told_in_parts_that_repeat_the_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert table(ROWS, [NAME, A, B], 27, monkeypatch, capsys) == [
        *("name       first", "one   1111111111", "two            3", ""),
        *("name      second", "one   2222222222", "two            4"),
    ]


def test_an_empty_column_makes_room(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert table(ROWS, [NAME, A, B, EMPTY], 31, monkeypatch, capsys)[0].split()[-1] == "e"
    assert table(ROWS, [NAME, A, B, EMPTY], 30, monkeypatch, capsys)[0].split()[-1] == "second"


@given(
    width=st.integers(1, 60),
    values=st.lists(st.text("abc", min_size=1, max_size=8), min_size=1, max_size=9),
)
def test_no_value_is_lost_or_cut_where_its_column_fits(width: int, values: list[str]) -> None:
    columns = [NAME, *(Column(str(n), "x", right=True) for n in range(len(values)))]
    row = {"name": "n", **{str(n): value for n, value in enumerate(values)}}
    lines = printed([row], columns, max(width, 14))
    cells = [cell for line in lines if line.startswith("n ") for cell in line.split()[1:]]
    assert cells == values


def test_a_title_longer_than_the_table_is_one_line_in_a_pipe(
    capsys: pytest.CaptureFixture[str],
) -> None:
    title = f"python:{'a/long/way/' * 20}workloads.py:Sums: what each parameter does to found"
    print_rows(ROWS, [NAME, A, B], "table", title=title)
    assert capsys.readouterr().out.splitlines()[0] == title


@given(
    rows=st.lists(
        st.fixed_dictionaries(dict.fromkeys("nab", st.text("ab é–你😀", min_size=1, max_size=6))),
        max_size=5,
    )
)
def test_a_table_looks_as_rich_lays_it_out(rows: list[dict[str, str]]) -> None:
    columns = [Column("n", "name"), Column("a", "你", right=True), Column("b", "second one")]
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(Text(column.title), justify="right" if column.right else "left")
    for row in rows:
        table.add_row(*(Text(one_line(row[column.key])) for column in columns))
    screen = Console(width=80, color_system=None)
    with screen.capture() as captured:
        screen.print(table)
    assert printed(rows, columns, 80) == captured.get().splitlines()
