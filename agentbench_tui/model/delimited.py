"""CSV as people write it: commas, semicolons or tabs, and long fields.

Spreadsheets in regions with a decimal comma separate fields by semicolons.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from typing import Protocol

LONGEST_FIELD = 16 << 20
"""Characters of one field; the default of the csv module is 131,072."""
DELIMITERS = (",", ";", "\t")
_QUOTED = re.compile(r'"[^"]*"?')
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+(?:[eE][+-]?\d+)?\s*")


class Rows(Protocol):
    """The rows of a CSV file, and the number of the line that was read last."""

    @property
    def line_num(self) -> int: ...
    def __iter__(self) -> Iterator[list[str]]: ...
    def __next__(self) -> list[str]: ...


def find_delimiter(header: str) -> str:
    """Return the delimiter that is most frequent in a header outside quotes; a comma if none is."""
    bare = _QUOTED.sub("", header)
    return max(DELIMITERS, key=bare.count)


def read_rows(lines: Iterable[str], delimiter: str) -> Rows:
    """Read the rows of a CSV file strictly. Iterating raises csv.Error."""
    csv.field_size_limit(LONGEST_FIELD)
    return csv.reader(lines, delimiter=delimiter, strict=True)


def with_decimal_point(field: str) -> str:
    """Return `0.85` for `0,85`, and any field that is no number with a decimal comma unchanged.

    For files in which semicolons separate the fields.
    """
    return field.replace(",", ".") if _DECIMAL_COMMA.fullmatch(field) else field
