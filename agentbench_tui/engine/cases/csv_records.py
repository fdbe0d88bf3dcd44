"""Records of CSV files, including those written by spreadsheets."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from itertools import chain
from typing import Any

from agentbench_tui.engine.cases.record import Record, TooLarge
from agentbench_tui.model.text.delimited import (
    LONGEST_FIELD,
    NumberColumn,
    find_delimiter,
    named_delimiter,
    read_rows,
    with_decimal_point,
)
from agentbench_tui.model.text.untrusted import one_line

Opening = Callable[[], AbstractContextManager[io.BufferedReader]]


def csv_records(file: io.BufferedReader, again: Opening, delimiter: str = "") -> Iterator[Record]:
    """Yield the rows under a header. A first line such as `sep=;` names the delimiter and overrides
    a given one; without either the header decides.

    `again` opens the file once more: where semicolons separate the fields, all of a column decides
    how its numbers are read, so the file is read twice.
    """
    with io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
        yield from _rows(text, again, delimiter)


def _rows(text: io.TextIOWrapper, again: Opening, delimiter: str) -> Iterator[Record]:
    lines = _bounded(text)
    line = 1
    try:
        header, named = _header(lines)
        delimiter = named or delimiter or find_delimiter(header)
        skipped = 1 if named else 0
        rows = read_rows(chain([header], lines), delimiter)
        names = next(rows, [])
        if doubled := sorted({name for name in names if names.count(name) > 1}):
            yield Record(None, skipped + 1, f"the header names {', '.join(doubled)} twice")
            return
        commas = frozenset[str]()
        if delimiter == ";":
            columns = _number_columns(names, again)
            for name, column in columns.items():
                # Of a column with other text as well, `1.2` may be no number: it is no fault.
                if (conflict := column.conflict()) and not column.has_text:
                    yield Record(None, conflict[0], f'column "{one_line(name, 60)}": {conflict[1]}')
                    return
            commas = frozenset(name for name, one in columns.items() if one.has_decimal_commas)
        line = skipped + rows.line_num + 1
        for row in rows:
            if len(row) == len(names):
                fields: dict[str, Any] = dict(zip(names, row, strict=True))
                for name in commas:
                    fields[name] = with_decimal_point(fields[name])
                yield Record(fields, line)
            elif row:
                yield Record(None, line, f"{len(row)} fields where the header has {len(names)}")
            line = skipped + rows.line_num + 1
    except csv.Error as error:
        yield Record(None, line, f"not valid CSV: {error}")


def _number_columns(names: list[str], again: Opening) -> dict[str, NumberColumn]:
    """Return the number notation of each column, up to the row that cannot be read."""
    columns = {name: NumberColumn() for name in names}
    # The pass that yields the records meets the same fault and reports it with its line.
    with (
        suppress(csv.Error, UnicodeError, EOFError, gzip.BadGzipFile, zlib.error, TooLarge),
        again() as file,
        io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text,
    ):
        lines = _bounded(text)
        header, named = _header(lines)
        skipped = 1 if named else 0
        rows = read_rows(chain([header], lines), ";")
        next(rows, None)
        line = skipped + rows.line_num + 1
        for row in rows:
            if len(row) == len(names):
                for name, field in zip(names, row, strict=True):
                    columns[name].add(line, field)
            line = skipped + rows.line_num + 1
    return columns


def _header(lines: Iterator[str]) -> tuple[str, str | None]:
    """Return the header of a CSV file, and the delimiter if a line before it names one."""
    first = next(lines, "")
    named = named_delimiter(first)
    return (first if named is None else next(lines, "")), named


def _bounded(text: io.TextIOWrapper) -> Iterator[str]:
    while line := text.readline(LONGEST_FIELD + 1):
        if len(line) > LONGEST_FIELD:
            raise csv.Error(f"a line of more than {LONGEST_FIELD:,} characters")
        yield line
