"""Files of rows: what each kind says, and where it is wrong, told with file and line."""

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.files import table_file
from agentbench_tui.verdicts.files.table_file import Table, read_table

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(content: str | bytes, name: str = "a.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def read(path: Path) -> Table:
    table = read_table(path, lambda name: True)
    assert isinstance(table, Table)
    return table


def test_the_first_line_of_excel_names_the_separator(write: Write) -> None:
    table = read(write("\ufeffsep=;\r\ncase;score\r\na,b;1,5\r\n"))
    assert table.columns == {"case": ["a,b"], "score": ["1,5"]}
    assert table.lines == [3]
    assert table.has_decimal_commas("score")
    with pytest.raises(UsageError, match="has a header but no rows"):
        read(write("sep=;\n"))


def test_an_empty_line_of_a_single_column_is_a_row_without_a_value(write: Write) -> None:
    table = read(write("ms\n1\n\n2\n\n\n"))  # at the end it is only an end
    assert table.columns == {"ms": ["1", "", "2"]}
    assert table.lines == [2, 3, 4]


ROWS = [{"id": "a", "ms": "1"}, {"id": "b", "ms": "2"}]


@pytest.mark.parametrize(
    "content",
    [
        "id,ms\na,1\nb,2\n",
        "id,ms\r\na,1\r\nb,2",
        "\n\nid,ms\na,1\n\nb,2\n",
        "id;ms\na;1\nb;2\n",
        "id\tms\na\t1\nb\t2\n",
        "\ufeffid,ms\na,1\nb,2\n",
        "".join(json.dumps(row) + "\n" for row in ROWS),
        json.dumps(ROWS),
        json.dumps(ROWS, indent=2),
        "id,ms\na,1\nb,2\n".encode("utf-16"),
        gzip.compress(b"id,ms\na,1\nb,2\n", mtime=0),
    ],
)
def test_the_same_rows_whatever_they_are_written_as(write: Write, content: str | bytes) -> None:
    table = read(write(content))
    assert table.names == ("id", "ms")
    assert table.columns == {"id": ["a", "b"], "ms": ["1", "2"]}


def test_rows_know_their_lines_even_where_a_cell_holds_several(write: Write) -> None:
    table = read(write('id,text\na,"one\ntwo"\nb,x\n'))
    assert table.lines == [2, 4]
    assert table.columns["text"] == ["one\ntwo", "x"]


def test_objects_may_have_other_names_in_each_row(write: Write) -> None:
    table = read(write('{"a": 1}\n{"b": true, "a": null}\n{"c": [1]}\n'))
    assert table.columns == {"a": [1, None, None], "b": [None, True, None], "c": [None, None, "…"]}


def test_a_column_without_a_name_is_the_number_of_the_row(write: Write) -> None:
    assert read(write(",ms\n0,5\n1,6\n")).columns == {"ms": ["5", "6"]}


def test_only_wanted_columns_are_kept_and_all_are_named(write: Write) -> None:
    table = read_table(write("id,ms\na,1\n"), lambda name: name == "ms")
    assert isinstance(table, Table)
    assert table.names == ("id", "ms")
    assert table.columns == {"ms": ["1"]}


def test_a_file_that_is_one_object_is_given_as_it_is(write: Write) -> None:
    assert read_table(write('{\n "a": {"b": 1}\n}\n'), lambda name: True) == {"a": {"b": 1}}


def test_long_text_is_cut_and_still_tells_cells_apart(write: Write) -> None:
    long = "x" * 5_000
    first, second = read(write(f"id\n{long}a\n{long}b\n")).columns["id"]
    assert first != second
    assert len(first) < 1_100


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "a.csv: is empty"),
        ("id,ms\n", "a.csv: has a header but no rows"),
        ("id,ms\na,1,2\n", "a.csv:2: has 3 cells, but the header names 2"),
        ("id,id\na,1\n", "a.csv:1: the header names 'id' twice"),
        ("1,2\n3,4\n", "a.csv:1: a header"),
        ('id,ms\na,1\n"b,2\n', "a.csv:3: is not a CSV row"),
        (
            b"id,ms\n" + b"a,1\n" * 9_000 + b"a,\xe9\n",
            "a.csv:9002: is not UTF-8 text (byte 0xe9 at position 3 of line 9,002); save it as",
        ),
        (b"\xff\xfea", "a.csv: begins like UTF-16 text, but is not; save it as UTF-8"),
        ("id,ms\na,\x00\n", "a.csv:2: is not text"),
        ('{"a": 1}\nnothing\n', "a.csv:2: is not a JSON object"),
        ('{"a": 1}\n[1]\n', "a.csv:2: a JSON object is expected"),
        ("[1]", "a.csv: element 1"),
        ("[]", "a.csv: is an empty list"),
        ("[{", "a.csv:1: is not JSON"),
        ("[" * 100_000, "a.csv: is not JSON"),
        (gzip.compress(b"id\n" + b"x" * 1000, mtime=0)[:-12], "a.csv: cannot be read"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    write: Write, content: str | bytes, said: str
) -> None:
    with pytest.raises(UsageError) as error:
        read(write(content))
    assert said in str(error.value)


def test_sizes_are_bounded_once_unpacked(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_file, "MOST_CHARACTERS", 1_000)
    with pytest.raises(UsageError, match="larger than 1,000 characters"):
        read(write(gzip.compress(b"id\n" + b"x\n" * 1_000)))
    monkeypatch.setattr(table_file, "MOST_ROWS", 3)
    with pytest.raises(UsageError, match=":5: more than 3 rows"):
        read(write("id\n1\n2\n3\n4\n"))
    monkeypatch.setattr(table_file, "LONGEST_LINE", 100)
    with pytest.raises(UsageError, match=":2: is longer than 100 characters"):
        read(write("id\n" + "x" * 101))


@pytest.mark.parametrize("content", ["[NUMBER]", '[{"ms": NUMBER}]', '{"ms": 1}\n{"ms": NUMBER}\n'])
def test_a_number_of_thousands_of_digits_is_refused_in_plain_words(
    write: Write, content: str
) -> None:
    with pytest.raises(UsageError, match="a whole number of more than 4,300 digits") as error:
        read(write(content.replace("NUMBER", "9" * 5_000), "a.json"))
    assert "sys." not in str(error.value)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="not a regular file"):
        read(tmp_path / "pipe")
    with pytest.raises(UsageError, match="no such file"):
        read(tmp_path / "none")


@given(st.binary(max_size=200))
def test_any_bytes_are_a_table_an_object_or_a_usage_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(content)
    try:
        found: Table | dict[str, Any] = read_table(path, lambda name: True)
    except UsageError:
        return
    if isinstance(found, Table):
        assert all(len(column) == len(found) for column in found.columns.values())
