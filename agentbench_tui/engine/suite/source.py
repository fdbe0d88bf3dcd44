"""Reads a suite file safely into plain data and the position of every key.

Only regular files of at most 1 MiB are read. What comes out holds nothing but text, finite
numbers of 64 bits, true/false, null, lists and maps, and is bounded in size and depth.
"""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from agentbench_tui.engine.suite.json_source import parse_json
from agentbench_tui.engine.suite.position import (
    MAX_BYTES,
    KeyPath,
    Position,
    Positions,
    SourceFault,
    path_text,
)
from agentbench_tui.engine.suite.toml_source import parse_toml
from agentbench_tui.engine.suite.yaml_source import parse_yaml
from agentbench_tui.model.errors import Problem, SuiteError
from agentbench_tui.model.text.utf8 import bad_byte_of

SUFFIXES = (".yaml", ".yml", ".json", ".toml")
_BOMS = ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))
_PARSERS: dict[str, Callable[[str], tuple[Any, Positions]]] = {
    ".json": parse_json,
    ".toml": parse_toml,
}


class Source(msgspec.Struct, frozen=True):
    """Content of a suite file before validation."""

    path: Path
    text: str
    data: dict[str, Any]
    positions: Positions


_DATA = frozenset({".csv", ".tsv", ".jsonl", ".ndjson", ".parquet"})
"""Suffixes of files that hold questions; no suite has one of them."""


def read_source(path: Path) -> Source:
    """Read `path` by its suffix (unknown suffixes as YAML, a superset of JSON).

    Raises SuiteError with the place of the first thing that cannot be read.
    """
    if path.suffix.lower() in _DATA and path.is_file():
        raise _error(
            path,
            "is data, not a suite; make a suite for it with "
            f"`agentbench suites new {path.stem}.yaml --from {path}`",
        )
    text = _decode(read_bytes(path, MAX_BYTES, "a suite"), path)
    parse = _PARSERS.get(path.suffix.lower(), parse_yaml)
    try:
        data, positions = parse(text)
        _check(data, positions)
    except SourceFault as fault:
        raise _error(path, fault.message, fault.position, fault.path) from None
    if not isinstance(data, dict):
        found = "a list" if isinstance(data, list) else "a single value"
        raise _error(path, f"expected a map of keys, found {found}", Position(1, 1))
    return Source(path, text, data, positions)


def open_regular(path: Path) -> int:
    """Open `path`, which must be a regular file; return a descriptor. Raises SuiteError.

    Opened without waiting, so that a pipe without a writer cannot block.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise _error(path, f"is {_what(path.stat().st_mode)}, not a file")
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise _error(path, "changed while it was opened")
    except FileNotFoundError:
        broken = " (a link that leads nowhere)" if path.is_symlink() else ""
        raise _error(path, f"no such file{broken}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise _error(path, f"cannot be opened: {reason.lower()}") from None
    return descriptor


def read_bytes(path: Path, limit: int, what: str) -> bytes:
    """Return all bytes of a regular file of at most `limit` bytes. Raises SuiteError."""
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            content = file.read(limit + 1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise _error(path, f"cannot be read: {reason}") from None
    if len(content) > limit:
        raise _error(path, f"larger than {limit:,} bytes, the limit of {what}")
    return content


def _decode(content: bytes, path: Path) -> str:
    for mark, name in _BOMS:
        if content.startswith(mark):
            raise _error(path, f"is {name}; save it as UTF-8", Position(1, 1))
    if b"\0" in content:
        before = content[: content.index(b"\0")]
        place = Position(before.count(b"\n") + 1, len(before) - before.rfind(b"\n"))
        raise _error(path, "holds a NUL byte; a suite is UTF-8 text", place)
    if (bad := bad_byte_of(content)) is not None:
        raise _error(path, f"is {bad}", Position(bad.line, bad.position))
    return content.decode("utf-8-sig").replace("\r\n", "\n")


def _check(value: Any, positions: Positions, path: KeyPath = ()) -> None:
    """Reject what JSON and SQLite cannot hold: infinite numbers, more than 64 bits, lone
    surrogates.
    """
    if isinstance(value, dict):
        for key, item in value.items():
            _check_text(key, positions, (*path, key))
            _check(item, positions, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _check(item, positions, (*path, index))
    elif isinstance(value, str):
        _check_text(value, positions, path)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise SourceFault("not a finite number", positions.find(path), path)
    elif isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise SourceFault("a whole number beyond 64 bits", positions.find(path), path)


def _check_text(text: str, positions: Positions, path: KeyPath) -> None:
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise SourceFault("text with half a surrogate pair", positions.find(path), path)


def _what(mode: int) -> str:
    kinds = (
        (stat.S_ISDIR, "a folder"),
        (stat.S_ISFIFO, "a pipe"),
        (stat.S_ISSOCK, "a socket"),
    )
    return next((name for test, name in kinds if test(mode)), "a device")


def _error(
    path: Path, message: str, position: Position | None = None, key_path: KeyPath = ()
) -> SuiteError:
    return SuiteError(
        [
            Problem(
                message,
                path=path_text(key_path),
                file=str(path),
                line=position.line if position else None,
                column=position.column if position else None,
            )
        ]
    )
