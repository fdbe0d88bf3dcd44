"""Position of every key and value of a suite file, and the size limits of a file."""

from __future__ import annotations

from typing import Any

import msgspec

MAX_BYTES = 1 << 20
MAX_NODES = 100_000
"""Keys, values and items, with aliases counted as if they were written out."""
MAX_DEPTH = 64

KeyPath = tuple[str | int, ...]


class Position(msgspec.Struct, frozen=True):
    """A position in a text, both numbers 1-based."""

    line: int
    column: int


class SourceFault(Exception):
    """Raised for unreadable text; `engine.suite.source` adds the file."""

    def __init__(self, message: str, position: Position | None = None, path: KeyPath = ()) -> None:
        super().__init__(message)
        self.message = message
        self.position = position
        self.path = path


class Positions(msgspec.Struct):
    """Map from key path to position, for values and for their keys."""

    values: dict[KeyPath, Position] = msgspec.field(default_factory=dict)
    keys: dict[KeyPath, Position] = msgspec.field(default_factory=dict)

    def find(self, path: KeyPath, *, key: bool = False) -> Position | None:
        """Return the position of the value at `path` (or of its key), else of the nearest enclosing
        one.

        A map or list that begins below its key is placed at the key.
        """
        for length in range(len(path), -1, -1):
            before, value = self.keys.get(path[:length]), self.values.get(path[:length])
            if before and ((key and length == len(path)) or not value or value.line > before.line):
                return before
            if value:
                return value
        return None


class NodeLimit(msgspec.Struct):
    """Counts nodes and depth while a file is read."""

    nodes: int = 0

    def spend(self, depth: int, position: Position, nodes: int = 1) -> None:
        """Count nodes. Raises SourceFault if the file has too many or is nested too deeply."""
        self.nodes += nodes
        if depth > MAX_DEPTH:
            raise SourceFault(f"nested more than {MAX_DEPTH} levels deep", position)
        if self.nodes > MAX_NODES:
            raise SourceFault(
                f"more than {MAX_NODES:,} keys and values (aliases written out); "
                "keep the cases in a data file of their own",
                position,
            )


def path_text(path: KeyPath) -> str:
    """Format a path such as `benchmarks.0.dataset.size`."""
    return ".".join(map(str, path))


def has(data: Any, part: str | int) -> bool:
    """Return whether the map or list `data` has an item at `part`."""
    if isinstance(data, dict):
        return part in data
    return isinstance(data, list) and isinstance(part, int) and part < len(data)
