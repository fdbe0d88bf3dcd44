"""A file of recorded answers: finds records by number and by text.

Memory holds where records begin and 64-bit hashes of their first few text fields, some 50 bytes
a record; texts stay in the file. Files that are packed or are one JSON array are first written
out to an unnamed temporary file, one record a line.
"""

from __future__ import annotations

import gzip
import os
import tempfile
import zlib
from array import array
from collections.abc import Iterator
from contextlib import closing
from importlib import resources
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from agentbench_tui.model.text.not_json import NOT_JSON
from agentbench_tui.model.text.utf8 import bad_byte_of

MAX_RECORD_BYTES = 16 * 1024 * 1024
MAX_UNPACKED_BYTES = 2 * 1024 * 1024 * 1024
MAX_ARRAY_BYTES = 256 * 1024 * 1024
"""Maximum size of a file with one JSON array, which is read at once."""
INDEXED_FIELDS = 4
"""Number of a record's first text fields that can be matched by default."""

_PACKAGE = "package:"
_HASH_BITS = (1 << 64) - 1
_decode = msgspec.json.Decoder().decode


class RecordingFault(Exception):
    """Raised with the reason when a file of recorded answers cannot be read."""


class Recording:
    """The records of one file. Close it when done."""

    def __init__(
        self, source: str, base_dir: str, fields: tuple[str, ...] = (), *, unmatched: str = ""
    ) -> None:
        """Read the file once. `fields` are the top-level fields to match; by default the first four
        text fields of each record other than `unmatched`. Raises RecordingFault.

        `source` is a path, relative to `base_dir`, or `package:MODULE/PATH`.
        """
        self._file = open_lines(source, base_dir)
        self._starts = array("Q")
        self._lengths = array("I")
        self._index = _HashIndex()
        self._fields: dict[str, None] = dict.fromkeys(fields)
        wanted = frozenset(fields)
        try:
            for start, line in _lines(self._file):
                record = _record(line, len(self._starts) + 1)
                for field, text in _texts(record, wanted, unmatched):
                    self._fields[field] = None
                    self._index.add(hash((field, text)) & _HASH_BITS, len(self._starts))
                self._starts.append(start)
                self._lengths.append(len(line))
        except BaseException:
            self._file.close()
            raise

    def __len__(self) -> int:
        return len(self._starts)

    def __getitem__(self, number: int) -> dict[str, Any]:
        line = os.pread(self._file.fileno(), self._lengths[number], self._starts[number])
        return _record(line, number + 1)

    def find(self, text: str, fields: tuple[str, ...] = ()) -> int | None:
        """Return the number of the first record with a matched field equal to `text`, or None."""
        for field in fields or self._fields:
            number = self._index.get(hash((field, text)) & _HASH_BITS)
            if number is not None and _text(self[number].get(field)) == text:
                return number
        return None

    def find_inside(self, text: str) -> tuple[str, str] | None:
        """Return the text before and after the longest matched field within `text`.

        Reads the whole file: use it to learn a prompt's form, not for every case.
        """
        longest = ""
        for number in range(len(self)):
            record = self[number]
            for field in self._fields:
                found = record.get(field)
                if isinstance(found, str) and len(found) > len(longest) and found in text:
                    longest = found
        if len(longest) < _MIN_INSIDE:
            return None
        before, _, after = text.partition(longest)
        return before, after

    def close(self) -> None:
        """Close the file."""
        self._file.close()


_MIN_INSIDE = 12
"""Shorter texts occur in others by chance."""


def look_up(record: Any, path: str) -> Any:
    """Return the value at a dotted path, with list items by 0-based number. Raises LookupError."""
    for part in path.split("."):
        record = record[int(part)] if isinstance(record, list) and part.isdigit() else record[part]
    return record


def first_record(source: str, base_dir: str) -> dict[str, Any]:
    """Return the first record of a file. Raises RecordingFault."""
    with closing(open_lines(source, base_dir)) as file:
        for _, line in _lines(file):
            return _record(line, 1)
    raise RecordingFault("holds no record")


def open_lines(source: str, base_dir: str) -> BinaryIO:
    """Open a file of the source's records, one JSON object per line. Raises RecordingFault."""
    try:
        file, name = _open(source, base_dir)
        if name.endswith(".gz"):
            file, name = _unpacked(file), name.removesuffix(".gz")
        head = file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip()
        file.seek(0)
        return _spread(file) if head.startswith(b"[") else file
    except (OSError, EOFError, zlib.error) as error:
        raise RecordingFault(f"cannot be read: {error}") from None


def _open(source: str, base_dir: str) -> tuple[BinaryIO, str]:
    if source.startswith(_PACKAGE):
        module, _, inside = source.removeprefix(_PACKAGE).partition("/")
        try:
            found = resources.files(module).joinpath(inside)
        except ModuleNotFoundError:
            raise RecordingFault(f"the package `{module}` is not installed") from None
        if not found.is_file():
            raise RecordingFault(f"the package `{module}` has no file `{inside}`")
        with resources.as_file(found) as path:
            return path.open("rb"), path.name
    path = Path(base_dir, source)
    if not path.is_file():
        raise RecordingFault(f"no file `{path}`")
    return path.open("rb"), path.name


def _unpacked(file: BinaryIO) -> BinaryIO:
    spool = tempfile.TemporaryFile()  # noqa: SIM115 (the caller closes it)
    try:
        with file, gzip.open(file) as unpacked:
            while chunk := unpacked.read(1 << 20):
                spool.write(chunk)
                if spool.tell() > MAX_UNPACKED_BYTES:
                    raise RecordingFault(f"unpacks to more than {MAX_UNPACKED_BYTES:,} bytes")
        spool.seek(0)
    except BaseException:
        spool.close()
        raise
    return spool


def _spread(file: BinaryIO) -> BinaryIO:
    """Write the items of one JSON array, one per line."""
    with file:
        content = file.read(MAX_ARRAY_BYTES + 1)
    if len(content) > MAX_ARRAY_BYTES:
        raise RecordingFault(
            f"is a JSON array of more than {MAX_ARRAY_BYTES:,} bytes; give one object a line"
        )
    try:
        items = _decode(content.removeprefix(b"\xef\xbb\xbf"))
    except NOT_JSON as error:
        raise RecordingFault(f"is {bad_byte_of(content) or f'not JSON: {error}'}") from None
    spool = tempfile.TemporaryFile()  # noqa: SIM115 (the caller closes it)
    spool.write(msgspec.json.Encoder().encode_lines(items))
    spool.seek(0)
    return spool


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield offset and content of each line that is not blank."""
    start = 0
    file.seek(0)
    while line := file.readline(MAX_RECORD_BYTES + 1):
        if len(line) > MAX_RECORD_BYTES:
            raise RecordingFault(f"has a line of more than {MAX_RECORD_BYTES:,} bytes")
        mark = 3 if start == 0 and line.startswith(b"\xef\xbb\xbf") else 0
        if line.strip():
            yield start + mark, line[mark:]
        start += len(line)


def _record(line: bytes, number: int) -> dict[str, Any]:
    try:
        record = _decode(line)
    except NOT_JSON as error:
        bad = bad_byte_of(line)
        reason = bad.words("its line") if bad else f"not JSON on one line: {error}"
        raise RecordingFault(f"record {number} is {reason}") from None
    if not isinstance(record, dict):
        raise RecordingFault(f"record {number} is not a JSON object")
    return record


def _texts(
    record: dict[str, Any], wanted: frozenset[str], unmatched: str
) -> Iterator[tuple[str, str]]:
    count = 0
    for field, value in record.items():
        if not wanted and count == INDEXED_FIELDS:
            return
        text = _text(value)
        if text is not None and (field in wanted if wanted else field != unmatched):
            count += 1
            yield field, text


def _text(value: Any) -> str | None:
    """Return text, or a number as text: ids are either."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


class _HashIndex:
    """Map from a 64-bit hash to the first number added for it; 12 bytes per slot.

    A dict of the same would take ten times as much.
    """

    def __init__(self) -> None:
        self._hashes = array("Q", bytes(8 * 1024))
        self._numbers = array("I", bytes(array("I").itemsize * 1024))
        self._count = 0

    def add(self, key: int, number: int) -> None:
        place = self._place(key)
        if self._numbers[place]:
            return
        self._hashes[place] = key
        self._numbers[place] = number + 1
        self._count += 1
        if self._count * 4 > len(self._hashes) * 3:
            self._grow()

    def get(self, key: int) -> int | None:
        number = self._numbers[self._place(key)]
        return number - 1 if number else None

    def _place(self, key: int) -> int:
        """Return the position of the key, or where it would be inserted."""
        mask = len(self._hashes) - 1
        place = key & mask
        while self._numbers[place] and self._hashes[place] != key:
            place = (place + 1) & mask
        return place

    def _grow(self) -> None:
        hashes, numbers = self._hashes, self._numbers
        self._hashes = array("Q", bytes(hashes.itemsize * len(hashes) * 2))
        self._numbers = array(numbers.typecode, bytes(numbers.itemsize * len(numbers) * 2))
        for key, number in zip(hashes, numbers, strict=True):
            if number:
                place = self._place(key)
                self._hashes[place], self._numbers[place] = key, number
