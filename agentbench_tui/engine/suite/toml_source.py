"""Parses TOML 1.0 text into plain data and positions.

The standard library's reader keeps no places, so keys are found again by their lines: exact for
headers and for keys that begin a line; what stands inside an inline table or a long array is
placed at the key in front of it.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

from agentbench_tui.engine.suite.position import (
    KeyPath,
    NodeLimit,
    Position,
    Positions,
    SourceFault,
    has,
)

_HEADER = re.compile(r"\s*(\[\[?)([^\[\]]+)\]\]?\s*(?:#.*)?")
_KEY = re.compile(r"\s*((?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*[A-Za-z0-9_-]+)*)\s*=\s*")
_PART = re.compile(r"\"([^\"]*)\"|'([^']*)'|([A-Za-z0-9_-]+)")
_WHERE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def parse_toml(text: str) -> tuple[dict[str, Any], Positions]:
    """Return the table in `text`; dates and times as text. Raises SourceFault."""
    import tomllib  # here, since few suites are TOML

    if not text.strip():
        raise SourceFault("the file is empty", Position(1, 1))
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        where = _WHERE.search(message)
        place = Position(text.count("\n") + 1, 1)
        if where and where[1]:
            place = Position(int(where[1]), int(where[2]))
        raise SourceFault(f"not valid TOML: {_WHERE.sub('', message)}", place) from None
    except RecursionError:
        raise SourceFault("nested too deeply") from None
    except ValueError as error:
        raise SourceFault(f"not valid TOML: {error}") from None
    positions = _positions(text, table)
    return _plain(table, (), 0, NodeLimit(), positions), positions


def _plain(value: Any, path: KeyPath, depth: int, budget: NodeLimit, positions: Positions) -> Any:
    place = positions.find(path) or Position(1, 1)
    budget.spend(depth, place)
    if isinstance(value, dict):
        return {
            key: _plain(item, (*path, key), depth + 1, budget, positions)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [
            _plain(item, (*path, index), depth + 1, budget, positions)
            for index, item in enumerate(value)
        ]
    if isinstance(value, dt.datetime | dt.date | dt.time):
        return value.isoformat()
    return value


def _positions(text: str, table: dict[str, Any]) -> Positions:
    positions = Positions(values={(): Position(1, 1)})
    counts: dict[KeyPath, int] = {}
    prefix: KeyPath = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.fullmatch(line):
            prefix = _resolve(_parts(header[2]), counts)
            if header[1] == "[[":
                counts[prefix] = counts.get(prefix, -1) + 1
                prefix = (*prefix, counts[prefix])
            place = Position(number, header.start(1) + 1)
            if _exists(table, prefix):
                positions.values.setdefault(prefix, place)
                positions.keys.setdefault(prefix, place)
        elif key := _KEY.match(line):
            path = (*prefix, *_parts(key[1]))
            if _exists(table, path):
                positions.keys.setdefault(path, Position(number, key.start(1) + 1))
                positions.values.setdefault(path, Position(number, key.end() + 1))
    return positions


def _parts(text: str) -> KeyPath:
    return tuple(next(filter(None, groups), "") for groups in _PART.findall(text))


def _resolve(parts: KeyPath, counts: dict[KeyPath, int]) -> KeyPath:
    """Convert `benchmarks.dataset` below `[[benchmarks]]` to `benchmarks.0.dataset`."""
    path: KeyPath = ()
    for index, part in enumerate(parts):
        path = (*path, part)
        if path in counts and index < len(parts) - 1:
            path = (*path, counts[path])
    return path


def _exists(table: Any, path: KeyPath) -> bool:
    for part in path:
        if not has(table, part):
            return False
        table = table[part]
    return True
