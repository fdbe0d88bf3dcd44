"""Reads recorded requests from a file: one timestamp a line, a CSV with a header, or JSON lines.

Which of them shows in the first line that is neither blank nor a comment (`# …`): an object is
JSON lines, one timestamp is a plain list, anything else is the header of a CSV. Compressed by gzip
or not. A CSV and JSON lines may say how long each request and its answer were, in tokens, under
the names of the published traces (Mooncake, Azure 2023 and 2024, BurstGPT). Read by the
coordinator, which hands offsets and lengths to the load workers.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any, Literal

import msgspec

from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.text.delimited import find_delimiter, named_delimiter, read_rows
from agentbench_tui.model.text.not_json import NOT_JSON, why_not_json
from agentbench_tui.model.text.plain_number import counted, plain
from agentbench_tui.model.text.utf8 import NOT_UTF8, find_bad_byte

Unit = Literal["s", "ms", "us", "ns"]

NAMES = ("timestamp", "time", "ts", "arrival", "arrived_at")
"""Columns and keys that hold the time of an arrival, in any case; the first one there counts."""
INPUT_NAMES = (
    "input_length", "input_tokens", "contexttokens", "context_tokens", "request_tokens",
    "prompt_tokens",
)  # fmt: skip
OUTPUT_NAMES = (
    "output_length", "output_tokens", "generatedtokens", "generated_tokens", "response_tokens",
    "completion_tokens",
)  # fmt: skip
"""Columns and keys that hold lengths in tokens; any case, and a space for `_`."""
BLOCKS_NAME = "hash_ids"
"""Key of the ids of a request's blocks of `BLOCK_TOKENS` tokens; equal ids are equal text."""
BLOCK_TOKENS = 512
MOST_TOKENS = 2_000_000
"""Maximum tokens of one request or answer."""
MOST_ARRIVALS = 2_000_000
MOST_SECONDS = 1_000_000_000
"""Maximum time from the first arrival to the last: 31 years."""
MAX_CHARACTERS = 1 << 30
"""Maximum characters of the text, after decompression."""
MAX_LINE = 1 << 22
"""Maximum characters of a line, which may hold a whole prompt besides its time."""

_PER_SECOND: dict[Unit, int] = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_GZIP = b"\x1f\x8b"
_FLOATS_EXACT_BELOW = 1 << 53
"""Larger whole numbers may have more digits than a float."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_NO_LENGTHS = f"tokens in and out must be whole numbers from 1 to {MOST_TOKENS:,}"
_SHOWN = 40
"""Characters of an invalid value shown in messages."""

_Stamp = int | float


@dataclass(frozen=True, slots=True)
class RecordedTrace:
    """The usable requests of a trace, by the time of their arrival."""

    offsets_s: tuple[float, ...]
    """Seconds after the earliest arrival, ascending, so the first is 0."""
    unit: str
    """Unit of its timestamps: `s`, `ms`, `us`, `ns`, or `ISO 8601`."""
    input_tokens: tuple[int, ...] = ()
    """Input tokens of each request; empty if the trace has no lengths."""
    output_tokens: tuple[int, ...] = ()
    blocks: tuple[tuple[int, ...], ...] = ()
    """Block ids of each request; empty if the trace has none."""
    skipped: int = 0
    """Rows without a length from 1 to `MOST_TOKENS` tokens in and out."""

    @property
    def has_lengths(self) -> bool:
        """Return whether it has the lengths of requests and answers."""
        return bool(self.input_tokens)

    def words(self, speed: float = 1.0, requests: int | None = None) -> str:
        """Describe its number of requests, its duration, and their lengths."""
        count = len(self.offsets_s) if requests is None else min(requests, len(self.offsets_s))
        seconds = plain(self.offsets_s[count - 1] / speed, 4)
        words = [f"{counted(count, 'request')} over {seconds} s (timestamps in {self.unit})"]
        if self.has_lengths:
            means = [math.fsum(lengths[:count]) / count for lengths in self._lengths()]
            words.append(
                f"{plain(means[0], 3)} input and {plain(means[1], 3)} output tokens on average"
            )
        if self.skipped:
            words.append(f"{counted(self.skipped, 'row')} skipped: {_NO_LENGTHS}")
        return "; ".join(words)

    def _lengths(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return self.input_tokens, self.output_tokens


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of a trace."""

    stamp: Any
    lengths: tuple[int, int] | None = None
    """Input and output tokens; 0 for an invalid number."""
    blocks: tuple[int, ...] = ()
    default_unit: Unit = "s"


class _Fault(Exception):
    """Raised for an invalid line, the one that was read last."""


def read_trace(path: Path, *, unit: Unit | None = None) -> RecordedTrace:
    """Read a trace. Lines may be in any order.

    Timestamps are numbers in `unit` since any time, or ISO 8601 (UTC by default), which needs no
    unit. Without a `unit` they are seconds, or milliseconds if rows have `hash_ids`, as in the
    Mooncake traces. Raises UsageError with file and line.
    """
    number = 0
    try:
        with _opened(path) as file:
            lines = _Lines(file)
            try:
                trace = _read(lines, unit)
            finally:
                number = lines.number
    except _Fault as fault:
        raise UsageError(f"trace {path}:{number}: {fault}") from None
    except UnicodeDecodeError:
        raise UsageError(f"trace {path} cannot be read: it is {_bad_byte(path)}") from None
    except (OSError, EOFError, ValueError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"trace {path} cannot be read: {reason.lower()}") from None
    if trace.offsets_s and trace.offsets_s[-1] > MOST_SECONDS:
        raise UsageError(
            f"trace {path}: its arrivals span more than {MOST_SECONDS:,} s; if its timestamps are"
            f" not in {trace.unit}, give their unit with --trace-unit"
        )
    if not trace.offsets_s:
        rows = counted(trace.skipped, "row")
        skipped = f"; {rows} skipped: {_NO_LENGTHS}" if trace.skipped else ""
        raise UsageError(f"trace {path} has no arrivals{skipped}")
    return trace


class _Lines:
    """The lines of a text, bounded, with the number of the last one returned."""

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


def _bad_byte(path: Path) -> str:
    # The file may be damaged further on, or changed in the meantime.
    with suppress(OSError, EOFError, zlib.error), _unpacked(path) as content:
        return str(find_bad_byte(content) or NOT_UTF8)
    return NOT_UTF8


@contextmanager
def _opened(path: Path) -> Iterator[io.TextIOWrapper]:
    with (
        _unpacked(path) as content,
        io.TextIOWrapper(content, encoding="utf-8-sig", newline="") as text,
    ):
        yield text


@contextmanager
def _unpacked(path: Path) -> Iterator[io.BufferedReader | gzip.GzipFile]:
    """Return the content of a regular file.

    A pipe or a device, which may never end, is not read.
    """
    # Without waiting for the other end of a pipe.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UsageError(f"trace {path} cannot be read: it is not a regular file")
    with os.fdopen(descriptor, "rb") as raw:
        packed = raw.peek(len(_GZIP)).startswith(_GZIP)
        yield gzip.GzipFile(fileobj=raw) if packed else raw


def _read(lines: _Lines, unit: Unit | None) -> RecordedTrace:
    rows: list[tuple[_Stamp, _Row]] = []
    read: Callable[[Any], _Stamp] | None = None
    first: _Row | None = None
    skipped = 0
    for row in _rows(iter(lines)):
        first, value = first or row, row.stamp
        if read is None:
            read = _moment if isinstance(value, str) and not _is_a(_number, value) else _number
        try:
            stamp = read(value)
        except (ValueError, TypeError, OverflowError):
            what = "a number" if read is _number else "a date and time as in ISO 8601"
            raise _Fault(f"{_shown(value)} is not {what}") from None
        if row.lengths is not None and 0 in row.lengths:
            skipped += 1
            continue
        rows.append((stamp, row))
        if len(rows) > MOST_ARRIVALS:
            raise _Fault(f"there are more than {MOST_ARRIVALS:,} arrivals; give a part of them")
    rows.sort(key=lambda one: one[0])
    named = unit or (first.default_unit if first else "s")
    per_second = _PER_SECOND["us" if read is _moment else named]
    begin = rows[0][0] if rows else 0
    has_lengths = first is not None and first.lengths is not None
    return RecordedTrace(
        # Long whole numbers are subtracted as such: nanoseconds since 1970 exceed a float's digits.
        tuple([(stamp - begin) / per_second for stamp, _ in rows]),
        "ISO 8601" if read is _moment else named,
        tuple([row.lengths[0] for _, row in rows if row.lengths]) if has_lengths else (),
        tuple([row.lengths[1] for _, row in rows if row.lengths]) if has_lengths else (),
        tuple([row.blocks for _, row in rows]) if any(row.blocks for _, row in rows) else (),
        skipped,
    )


def _rows(lines: Iterator[str]) -> Iterator[_Row]:
    """Return the content of each line."""
    told = (line for line in lines if line.strip() and not line.lstrip().startswith("#"))
    first = next(told, "")
    if first.lstrip().startswith("{"):
        return _of_json(chain([first], told))
    if not first or _is_a(_number, first) or _is_a(_moment, first):
        return map(_Row, chain([first] if first else [], told))
    return _of_csv(first, lines)


def _of_json(lines: Iterable[str]) -> Iterator[_Row]:
    names: _Names | None = None
    for line in lines:
        try:
            record = msgspec.json.decode(line, type=dict[str, Any])
        except NOT_JSON as error:
            raise _Fault(f"not a JSON object: {why_not_json(error)}") from None
        names = names or _Names.of(record, "key")
        if names.time not in record:
            raise _Fault(f"there is no key {_shown(names.time)}, which the first line has")
        yield names.row(record)


def _of_csv(header: str, lines: Iterator[str]) -> Iterator[_Row]:
    named = named_delimiter(header)
    if named is not None:
        header = next(lines, "")
    rows = read_rows(chain([header], lines), named or find_delimiter(header))
    try:
        columns = [name.strip() for name in next(rows, [])]
        names = _Names.of(columns, "column")
        place = columns.index(names.time)
        for row in rows:
            if not any(row):
                continue
            if len(row) <= place:
                raise _Fault(f"there is no column {place + 1}, the {_shown(names.time)}")
            yield names.row(dict(zip(columns, row, strict=False)))
    except csv.Error as error:
        raise _Fault(f"not a CSV: {error}") from None


@dataclass(frozen=True, slots=True)
class _Names:
    """The column or key of each value."""

    time: str
    lengths: tuple[str, str] | None
    """Columns of the input and output tokens; None unless both exist."""
    default_unit: Unit

    @classmethod
    def of(cls, there: Iterable[str], what: str) -> _Names:
        """Choose the columns. Raises _Fault if no column holds the time."""
        names = list(there)
        tokens_in, tokens_out = _first_of(INPUT_NAMES, names), _first_of(OUTPUT_NAMES, names)
        lengths = (tokens_in, tokens_out) if tokens_in and tokens_out else None
        return cls(_named(names, what), lengths, "ms" if BLOCKS_NAME in names else "s")

    def row(self, record: Mapping[str, Any]) -> _Row:
        lengths = self.lengths and tuple(_tokens(record.get(name)) for name in self.lengths)
        blocks = record.get(BLOCKS_NAME)
        ids = tuple(blocks) if isinstance(blocks, list) and all(map(_is_id, blocks)) else ()
        return _Row(
            record[self.time],
            (lengths[0], lengths[1]) if lengths else None,
            ids,
            self.default_unit,
        )


def _tokens(value: Any) -> int:
    """Return a number of tokens; 0 if it cannot be sent."""
    try:
        number = float(value)
    except (ValueError, TypeError, OverflowError):
        return 0
    return int(number) if 1 <= number <= MOST_TOKENS and number.is_integer() else 0


def _is_id(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _first_of(wanted: Iterable[str], there: Iterable[str]) -> str | None:
    by_plain = {"_".join(name.lower().split()): name for name in reversed(list(there))}
    return next((by_plain[name] for name in wanted if name in by_plain), None)


def _named(names: Iterable[str], what: str) -> str:
    """Return the name that holds the time."""
    there = list(names)
    if (name := _first_of(NAMES, there)) is not None:
        return name
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
    """Parse a time into microseconds since 1970."""
    moment = datetime.fromisoformat(value.strip())
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MICROSECOND


def _shown(value: object) -> str:
    text = value.strip() if isinstance(value, str) else str(value)
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")
