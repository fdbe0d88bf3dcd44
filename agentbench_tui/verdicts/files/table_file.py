"""Reads rows of a user's file: CSV with a header, JSON lines, a JSON list; also gzipped.

The format is detected from the content, not from the name. Sizes are bounded, and every error names
the file and line.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.text.delimited import (
    LONGEST_FIELD,
    NumberColumn,
    find_delimiter,
    named_delimiter,
    read_rows,
)
from agentbench_tui.model.text.not_json import why_not_json
from agentbench_tui.model.text.utf8 import NOT_UTF8, find_bad_byte
from agentbench_tui.verdicts.files.sample_cells import text_of

if TYPE_CHECKING:
    from pathlib import Path

MOST_CHARACTERS = 1 << 28
"""Size limit of a file once it is unpacked."""
LONGEST_LINE = LONGEST_FIELD
MOST_ROWS = 1_000_000
MOST_NAMES = 2_000
MOST_GROUPS = 20
_MOST_GROUPINGS = 50
"""Unwanted columns that are watched for groups; memory is bounded by it."""
_WATCHED = 200
"""Rows after which a column whose cells hardly recur is no longer watched."""
_LONGEST_TEXT = 1_000
"""Characters of a cell that are kept, and a hash of longer ones: enough to name a case."""
_PACKED = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of equal length. Cells are text, numbers, booleans, or None if empty."""

    path: Path
    names: tuple[str, ...]
    """Names of all columns, in order of appearance."""
    columns: dict[str, list[Any]]
    """The requested columns."""
    lines: list[int]
    """Line in which each row begins, from 1; for a JSON list, its index."""
    notations: Mapping[str, NumberColumn] = field(default_factory=dict)
    """Number notation of each requested column, if semicolons separate the fields and numbers may
    have a decimal comma.
    """
    labels: Mapping[str, list[Any]] = field(default_factory=dict)
    """Other columns whose cells recur, so that they group the rows."""

    @property
    def groups(self) -> dict[str, list[Any]]:
        """Return those of `labels` that have at most `MOST_GROUPS` different values."""
        return {name: cells for name, cells in self.labels.items() if len({*cells}) <= MOST_GROUPS}

    def __len__(self) -> int:
        return len(self.lines)

    def has_decimal_commas(self, name: str) -> bool:
        """Return whether the numbers of a column have decimal commas.

        Raises UsageError with file and line for a column in which others have decimal points.
        """
        notation = self.notations.get(name)
        if notation is None:
            return False
        if conflict := notation.conflict():
            raise UsageError(f"{self.path}:{conflict[0]}: {name}: {conflict[1]}")
        return notation.has_decimal_commas

    def rows(self, kept: Sequence[int]) -> Table:
        """Return the table with these rows only."""
        return replace(
            self,
            columns={name: [cells[row] for row in kept] for name, cells in self.columns.items()},
            lines=[self.lines[row] for row in kept],
            labels={name: [cells[row] for row in kept] for name, cells in self.labels.items()},
        )


def read_table(path: Path, wanted: Callable[[str], bool]) -> Table | dict[str, Any]:
    """Read the requested columns of a file, or its content if all of it is one JSON object.

    Raises UsageError with file and line.
    """
    with _text(path) as stream:
        lines = _Lines(path, stream)
        first = next((line for line in lines if line.strip()), None)
        if first is None:
            raise UsageError(f"{path}: is empty")
        beginning = first.lstrip()[:1]
        if beginning == "[":
            return _of_list(path, _whole(path, first, lines), wanted)
        if beginning == "{":
            return _of_objects(path, first, lines, wanted)
        return _of_csv(path, first, lines, wanted)


@contextmanager
def _text(path: Path) -> Iterator[io.TextIOWrapper]:
    """Read the file as unpacked text. A pipe or a device, which may never end, is not read."""
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UsageError(f"{path}: is not a regular file")
            packed = file.peek(2)[:2] == _PACKED
            raw: io.BufferedReader | gzip.GzipFile = gzip.GzipFile(fileobj=file) if packed else file
            begins = raw.peek(4)[:2]
            encoding = "utf-16" if begins in {b"\xff\xfe", b"\xfe\xff"} else "utf-8-sig"
            # Line ends stay as they are: a quoted cell of a CSV may hold some.
            with io.TextIOWrapper(raw, encoding, newline="") as stream:
                try:
                    yield stream
                except UnicodeDecodeError as error:
                    raise _not_text(path, cast("BinaryIO", raw), error) from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{path}: cannot be read: {reason.lower()}") from None


def _not_text(path: Path, raw: BinaryIO, error: UnicodeDecodeError) -> UsageError:
    if error.encoding.startswith("utf-16"):
        return UsageError(f"{path}: begins like UTF-16 text, but is not; save it as UTF-8")
    raw.seek(0)
    bad = find_bad_byte(raw)
    return UsageError(f"{path}:{bad.line}: is {bad}" if bad else f"{path}: is {NOT_UTF8}")


class _Lines:
    """Lines with their ends, counted and bounded."""

    def __init__(self, path: Path, stream: io.TextIOWrapper) -> None:
        self._path = path
        self._stream = stream
        self._characters = 0
        self.number = 0
        """Number of the line that was read last, from 1."""

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._stream.readline(LONGEST_LINE + 1)
        if not line:
            raise StopIteration
        self.number += 1
        self._characters += len(line)
        if len(line) > LONGEST_LINE:
            raise UsageError(
                f"{self._path}:{self.number}: is longer than {LONGEST_LINE:,} characters"
            )
        if self._characters > MOST_CHARACTERS:
            raise UsageError(f"{self._path}: is larger than {MOST_CHARACTERS:,} characters")
        if "\0" in line:
            raise UsageError(f"{self._path}:{self.number}: is not text")
        return line


class _Columns:
    """Grows columns row by row; names may differ between objects."""

    def __init__(self, path: Path, wanted: Callable[[str], bool]) -> None:
        self._path = path
        self._wanted = wanted
        self._names: dict[str, bool] = {}
        """Name → whether it is wanted."""
        self._columns: dict[str, list[Any]] = {}
        self._lines: list[int] = []
        self._labels: dict[str, list[Any]] = {}
        self._values: dict[str, set[Any]] = {}
        """Distinct values of each column in `_labels`."""

    def add(self, line: int, cells: Iterable[tuple[str, Any]]) -> None:
        if len(self._lines) >= MOST_ROWS:
            raise UsageError(f"{self._path}:{line}: more than {MOST_ROWS:,} rows")
        for name, cell in cells:
            if name not in self._names:
                self._begin(line, name)
            if self._names[name]:
                column = self._columns[name]
                column.extend([None] * (len(self._lines) - len(column)))
                column.append(_scalar(cell))
            elif name in self._labels:
                self._label(name, _scalar(cell))
        self._lines.append(line)

    def _label(self, name: str, cell: Any) -> None:
        values = self._values[name]
        values.add(cell)
        rows = len(self._lines)
        if rows >= _WATCHED and len(values) > MOST_GROUPS and 4 * len(values) > 3 * rows:
            del self._labels[name], self._values[name]
            return
        column = self._labels[name]
        column.extend([None] * (len(self._lines) - len(column)))
        column.append(cell)

    def table(self, *, may_have_commas: bool = False) -> Table:
        for column in (*self._columns.values(), *self._labels.values()):
            column.extend([None] * (len(self._lines) - len(column)))
        return Table(
            self._path,
            tuple(self._names),
            self._columns,
            self._lines,
            self._notations() if may_have_commas else {},
            self._labels,
        )

    def _notations(self) -> dict[str, NumberColumn]:
        notations = {}
        for name, cells in self._columns.items():
            notations[name] = NumberColumn()
            for line, cell in zip(self._lines, cells, strict=True):
                notations[name].add(line, text_of(cell).removesuffix("%"))
        return notations

    def _begin(self, line: int, name: str) -> None:
        if len(self._names) >= MOST_NAMES:
            raise UsageError(f"{self._path}:{line}: more than {MOST_NAMES:,} columns")
        self._names[name] = self._wanted(name)
        if self._names[name]:
            self._columns[name] = []
        elif len(self._labels) < _MOST_GROUPINGS:
            self._labels[name], self._values[name] = [], set()


def _scalar(cell: Any) -> Any:
    """Return the cell if it is a plain value; for long text, its beginning and a hash."""
    if isinstance(cell, str) and len(cell) > _LONGEST_TEXT:
        digest = hashlib.blake2b(cell.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        return f"{cell[:_LONGEST_TEXT]}#{digest}"
    if cell is None or isinstance(cell, str | int | float):
        return cell
    return "…"  # something is there, such as the details of an error


def _of_csv(path: Path, first: str, lines: _Lines, wanted: Callable[[str], bool]) -> Table:
    named = named_delimiter(first)
    if named is not None:
        first = next(lines, "")
    delimiter = named or find_delimiter(first)
    header_line = lines.number

    def text() -> Iterator[str]:
        yield first
        yield from lines

    reader = read_rows(text(), delimiter)
    begin = header_line
    try:
        names = [name.strip() for name in next(reader, [])]
        _check_header(path, header_line, names)
        columns = _Columns(path, wanted)
        begin = lines.number + 1
        empty: list[int] = []
        for cells in reader:
            if len(cells) > len(names):
                raise UsageError(
                    f"{path}:{begin}: has {len(cells)} cells, but the header names {len(names)}"
                )
            if cells:
                # Of a single column an empty line is a row without a value, but at the end.
                for line in empty:
                    columns.add(line, ((name, "") for name in names))
                empty.clear()
                # Without a name it is the row's number, as pandas writes it.
                columns.add(begin, ((n, c) for n, c in zip(names, cells, strict=False) if n))
            elif len(names) == 1:
                empty.append(begin)
            begin = lines.number + 1
    except csv.Error as error:
        raise UsageError(f"{path}:{begin}: is not a CSV row: {error}") from None
    table = columns.table(may_have_commas=delimiter == ";")
    if not len(table):
        raise UsageError(f"{path}: has a header but no rows")
    return table


def _check_header(path: Path, line: int, names: list[str]) -> None:
    given = [name for name in names if name]
    twice = sorted({name for name in given if given.count(name) > 1})
    if twice:
        raise UsageError(f"{path}:{line}: the header names '{twice[0]}' twice")
    if given and all(_is_number(name) for name in given):
        raise UsageError(f"{path}:{line}: a header with the columns' names is expected")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _of_objects(
    path: Path, first: str, lines: _Lines, wanted: Callable[[str], bool]
) -> Table | dict[str, Any]:
    """Read JSON lines, or one object over several lines."""
    begin = lines.number
    try:
        row = json.loads(first)
    except (ValueError, RecursionError):
        row = None
    second = next((line for line in lines if line.strip()), None)
    if row is None or second is None:
        whole = row if row is not None else _whole(path, first + (second or ""), lines)
        if not isinstance(whole, dict):
            raise UsageError(f"{path}:{begin}: a JSON object is expected")
        return whole
    columns = _Columns(path, wanted)
    columns.add(begin, row.items())
    columns.add(lines.number, _object(path, lines.number, second).items())
    for line in lines:
        if line.strip():
            columns.add(lines.number, _object(path, lines.number, line).items())
    return columns.table()


def _object(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}:{number}: is not a JSON object: {why_not_json(error)}") from None
    if not isinstance(row, dict):
        raise UsageError(f"{path}:{number}: a JSON object is expected")
    return row


def _whole(path: Path, first: str, lines: _Lines) -> Any:
    try:
        return json.loads(first + "".join(lines))
    except json.JSONDecodeError as error:
        raise UsageError(f"{path}:{error.lineno}: is not JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: is not JSON: {why_not_json(error)}") from None


def _of_list(path: Path, whole: Any, wanted: Callable[[str], bool]) -> Table:
    columns = _Columns(path, wanted)
    for place, row in enumerate(whole, 1):
        if not isinstance(row, dict):
            raise UsageError(f"{path}: element {place} of the list is not a JSON object")
        columns.add(place, row.items())
    table = columns.table()
    if not len(table):
        raise UsageError(f"{path}: is an empty list")
    return table


def table_of_object(path: Path, row: dict[str, Any], wanted: Callable[[str], bool]) -> Table:
    """Return a file of a single JSON object as a table of one row."""
    columns = _Columns(path, wanted)
    columns.add(1, row.items())
    return columns.table()
