"""Recorded arrivals from a file: one timestamp a line, a CSV column, or JSON lines.

Which of them shows in the first line that is neither blank nor a comment (`# …`): an object is
JSON lines, one timestamp is a plain list, anything else is the header of a CSV. Compressed by gzip
or not. Read by the coordinator, which hands the offsets to the load workers.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import msgspec

from agentbench_tui.model.delimited import find_delimiter, read_rows
from agentbench_tui.model.errors import UsageError

Unit = Literal["s", "ms", "us", "ns"]

NAMES = ("timestamp", "time", "ts", "arrival", "arrived_at")
"""Columns and keys that hold the time of an arrival, in any case; the first one there counts."""
MOST_ARRIVALS = 2_000_000
MAX_CHARACTERS = 1 << 30
"""Of the text, after decompression."""
MAX_LINE = 1 << 22
"""Characters; a line may hold a whole prompt beside its time."""

_PER_SECOND: dict[Unit, int] = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_GZIP = b"\x1f\x8b"
_FLOATS_EXACT_BELOW = 1 << 53
"""Whole numbers from here on may have more digits than a float."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SHOWN = 40
"""How much of a value that cannot be read is repeated to the user."""

_Stamp = int | float


class _Fault(Exception):
    """What is wrong with the line read last."""


def read_trace(path: Path, *, unit: Unit = "s") -> tuple[float, ...]:
    """Seconds after the earliest arrival, ascending, so the first is 0. Lines may be in any order.

    Timestamps are numbers in `unit` since any moment, or ISO 8601 (UTC where they don't say), which
    needs no unit. Raises UsageError with file and line.
    """
    number = 0
    try:
        with _opened(path) as file:
            lines = _Lines(file)
            try:
                stamps, per_second = _read(lines, _PER_SECOND[unit])
            finally:
                number = lines.number
    except _Fault as fault:
        raise UsageError(f"trace {path}:{number}: {fault}") from None
    except UnicodeDecodeError:
        raise UsageError(f"trace {path} cannot be read: it is not UTF-8 text") from None
    except (OSError, EOFError, ValueError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"trace {path} cannot be read: {reason.lower()}") from None
    if not stamps:
        raise UsageError(f"trace {path} has no arrivals")
    stamps.sort()
    first = stamps[0]
    # Long whole numbers are subtracted as such: nanoseconds since 1970 exceed a float's digits.
    return tuple([(stamp - first) / per_second for stamp in stamps])


class _Lines:
    """The lines of a text, bounded, and the number of the one given last."""

    def __init__(self, file: io.TextIOWrapper) -> None:
        self._file = file
        self._room = MAX_CHARACTERS
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        while line := self._file.readline(MAX_LINE + 1):
            self.number += 1
            self._room -= len(line)
            if len(line) > MAX_LINE:
                raise _Fault(f"the line is longer than {MAX_LINE:,} characters")
            if self._room < 0:
                raise _Fault(f"the text is longer than {MAX_CHARACTERS:,} characters")
            yield line


@contextmanager
def _opened(path: Path) -> Iterator[io.TextIOWrapper]:
    """The text of a regular file. A pipe or a device, which may never end, is not read."""
    # Without waiting for the other end of a pipe.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UsageError(f"trace {path} cannot be read: it is not a regular file")
    with os.fdopen(descriptor, "rb") as raw:
        packed = raw.peek(len(_GZIP)).startswith(_GZIP)
        content = gzip.GzipFile(fileobj=raw) if packed else raw
        with io.TextIOWrapper(content, encoding="utf-8-sig", newline="") as text:
            yield text


def _read(lines: _Lines, per_second: int) -> tuple[list[_Stamp], int]:
    """All timestamps, and how many of their unit make a second."""
    stamps: list[_Stamp] = []
    read: Callable[[Any], _Stamp] | None = None
    for value in _values(iter(lines)):
        if read is None:
            read = _moment if isinstance(value, str) and not _is_a(_number, value) else _number
        try:
            stamps.append(read(value))
        except (ValueError, TypeError, OverflowError):
            what = "a number" if read is _number else "a date and time as in ISO 8601"
            raise _Fault(f"{_shown(value)} is not {what}") from None
        if len(stamps) > MOST_ARRIVALS:
            raise _Fault(f"there are more than {MOST_ARRIVALS:,} arrivals; give a part of them")
    return stamps, _PER_SECOND["us"] if read is _moment else per_second


def _values(lines: Iterator[str]) -> Iterator[Any]:
    """What stands where a timestamp should, line by line."""
    told = (line for line in lines if line.strip() and not line.lstrip().startswith("#"))
    first = next(told, "")
    if first.lstrip().startswith("{"):
        return _of_json(chain([first], told))
    if not first or _is_a(_number, first) or _is_a(_moment, first):
        return chain([first] if first else [], told)
    return _of_csv(first, lines)


def _of_json(lines: Iterable[str]) -> Iterator[Any]:
    name = None
    for line in lines:
        try:
            record = msgspec.json.decode(line, type=dict[str, Any])
        except msgspec.DecodeError as error:
            raise _Fault(f"not a JSON object: {error}") from None
        if name is None:
            name = _named(record, "key")
        if name not in record:
            raise _Fault(f"there is no key {_shown(name)}, which the first line has")
        yield record[name]


def _of_csv(header: str, lines: Iterator[str]) -> Iterator[Any]:
    rows = read_rows(chain([header], lines), find_delimiter(header))
    try:
        names = [name.strip() for name in next(rows)]
        column = names.index(_named(names, "column"))
        for row in rows:
            if not any(row):
                continue
            if len(row) <= column:
                raise _Fault(f"there is no column {column + 1}, the {_shown(names[column])}")
            yield row[column]
    except csv.Error as error:
        raise _Fault(f"not a CSV: {error}") from None


def _named(names: Iterable[str], what: str) -> str:
    """The one of the names that holds the time."""
    there = list(names)
    by_lower = {name.lower(): name for name in reversed(there)}
    for name in NAMES:
        if name in by_lower:
            return by_lower[name]
    found = ", ".join(_shown(name) for name in there[:10]) or "none"
    raise _Fault(f"no {what} is called {', '.join(NAMES[:-1])} or {NAMES[-1]}; found: {found}")


def _is_a(read: Callable[[Any], _Stamp], value: str) -> bool:
    try:
        read(value)
    except (ValueError, OverflowError):
        return False
    return True


def _number(value: Any) -> _Stamp:
    if isinstance(value, bool):
        raise TypeError
    exact = float(value)
    if not math.isfinite(exact):
        raise ValueError
    if abs(exact) < _FLOATS_EXACT_BELOW:
        return exact
    try:
        return int(value)
    except ValueError:
        return exact


def _moment(value: Any) -> _Stamp:
    """Microseconds since 1970."""
    moment = datetime.fromisoformat(value.strip())
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MICROSECOND


def _shown(value: object) -> str:
    text = value.strip() if isinstance(value, str) else str(value)
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")
