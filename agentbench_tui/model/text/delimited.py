"""CSV as people write it: commas, semicolons or tabs, long fields, and decimal commas.

Spreadsheets in regions with a decimal comma separate fields by semicolons. A field such as `1.234`
can then be read in two ways, so the other numbers of its column decide how it is read.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator
from typing import Protocol

import msgspec

LONGEST_FIELD = 16 << 20
"""Characters of one field; the default of the csv module is 131,072."""
DELIMITERS = (",", ";", "\t")
_NAMED = re.compile(r'"?sep=(?P<delimiter>[^\w\s"]|\t)"?(?P=delimiter)*\s*', re.IGNORECASE)
"""A first line that names the delimiter. Excel reads it and some programs write it for Excel."""
_QUOTED = re.compile(r'"[^"]*"?')
_WITH_COMMA = re.compile(
    r"[+-]?(?:(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+),\d*|,\d+)(?:[eE][+-]?\d+)?", re.ASCII
)
"""A number with a decimal comma, thousands separated by points or not at all."""
_EITHER = re.compile(r"[+-]?(?:\d+(?:[eE][+-]?\d+)?|[1-9]\d{0,2}(?:\.\d{3})+)", re.ASCII)
"""A number that is valid with either notation:

`7`, and `1.234`, which is 1234 with decimal commas.
"""
_WITH_POINT = re.compile(
    r"[+-]?(?:\d+\.\d*|\.\d+|\d{1,3}(?:,\d{3})+\.\d*)(?:[eE][+-]?\d+)?", re.ASCII
)
_LARGEST_EXACT = 2**53
"""Larger whole numbers may differ between readers of JSON."""


class Rows(Protocol):
    """The rows of a CSV file, with the number of the last line read."""

    @property
    def line_num(self) -> int: ...
    def __iter__(self) -> Iterator[list[str]]: ...
    def __next__(self) -> list[str]: ...


def find_delimiter(header: str) -> str:
    """Return the most frequent delimiter of a header outside quotes; a comma if there is none."""
    bare = _QUOTED.sub("", header)
    return max(DELIMITERS, key=bare.count)


def named_delimiter(line: str) -> str | None:
    """Return the delimiter that a first line such as `sep=;` names; None for any other line."""
    match = _NAMED.fullmatch(line)
    return None if match is None else match["delimiter"]


def read_rows(lines: Iterable[str], delimiter: str) -> Rows:
    """Read the rows of a CSV file strictly. Iterating raises csv.Error."""
    csv.field_size_limit(LONGEST_FIELD)
    return csv.reader(lines, delimiter=delimiter, strict=True)


class NumberColumn(msgspec.Struct):
    """Number notation of one column, as far as its fields determine it."""

    comma: tuple[int, str] | None = None
    """Line and text of the first number with a decimal comma."""
    point: tuple[int, str] | None = None
    """Line and text of the first number that only a decimal point explains."""
    has_text: bool = False
    """Whether some field is neither empty nor a number."""

    def add(self, line: int, field: str) -> None:
        """Add a field of the column, from that line of the file."""
        text = field.strip()
        if _WITH_COMMA.fullmatch(text):
            self.comma = self.comma or (line, text)
        elif not _EITHER.fullmatch(text):
            if _WITH_POINT.fullmatch(text):
                self.point = self.point or (line, text)
            elif text:
                self.has_text = True

    @property
    def has_decimal_commas(self) -> bool:
        """Return whether the column's numbers have decimal commas."""
        return self.comma is not None and self.point is None

    def conflict(self) -> tuple[int, str] | None:
        """Return the line of a number that contradicts an earlier one, and the problem."""
        if self.comma is None or self.point is None:
            return None
        marks = {self.comma: "comma", self.point: "point"}
        first, second = sorted(marks)
        return second[0], (
            f"'{second[1][:40]}' has a decimal {marks[second]}, but '{first[1][:40]}' in line "
            f"{first[0]} a decimal {marks[first]}; write all numbers of a column in one way"
        )


class NumberText(str):
    """A number of a column with decimal commas, written with a point: `1234.5` for `1.234,5`.

    It is text like any other field, but whoever compares it knows how it is read.
    """

    __slots__ = ("written",)

    written: str
    """Text of the file."""

    @classmethod
    def read(cls, written: str) -> NumberText:
        """Return the number in a field that holds one."""
        number = cls(written.strip().replace(".", "").replace(",", "."))
        number.written = written
        return number

    @property
    def value(self) -> str | int | float:
        """Return the number; plain text if JSON readers could differ on it."""
        number = float(self)
        if not math.isfinite(number) or abs(number) > _LARGEST_EXACT:
            return str(self)
        return int(number) if number.is_integer() else number


def with_decimal_point(field: str) -> str:
    """Return a number of a column with decimal commas as NumberText, any other field unchanged."""
    text = field.strip()
    if _WITH_COMMA.fullmatch(text) or _EITHER.fullmatch(text):
        return NumberText.read(field)
    return field
