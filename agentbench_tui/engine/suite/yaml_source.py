"""Parses YAML 1.2 text into plain data and positions, from parser events.

Building from events rather than by a loader keeps three promises: nothing but text, numbers,
true/false, null, lists and maps can come out; size and depth are checked before anything is
built; every key and item keeps its place. Plain scalars follow the YAML 1.2 core schema, so `no`
is text, `012` is twelve and a date is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import StringIO
from typing import Any

import msgspec

from agentbench_tui.engine.suite.position import (
    KeyPath,
    NodeLimit,
    Position,
    Positions,
    SourceFault,
)

_NULL = re.compile(r"~|null|Null|NULL|")
_TRUE = re.compile(r"true|True|TRUE")
_FALSE = re.compile(r"false|False|FALSE")
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_TAG_PREFIX = "tag:yaml.org,2002:"
_MERGE = "<<"


def parse_yaml(text: str) -> tuple[Any, Positions]:
    """Return the one document in `text`. Raises SourceFault."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.reader import ReaderError

    builder = _Builder(iter(YAML(typ="safe", pure=True).parse(StringIO(text))))
    try:
        return builder.document(), builder.positions
    except MarkedYAMLError as error:
        mark = error.problem_mark
        place = Position(mark.line + 1, mark.column + 1) if mark else None
        raise SourceFault(_explain(error.problem or str(error)), place) from None
    except ReaderError as error:
        raise SourceFault(
            "a control character that YAML does not allow", _place(text, error.position)
        ) from None
    except (YAMLError, ValueError) as error:
        raise SourceFault(f"not valid YAML: {str(error).splitlines()[0]}") from None


def _explain(problem: str) -> str:
    if r"'\t'" in problem:
        return "a tab where YAML allows only spaces; indent with spaces"
    if problem == "mapping values are not allowed here":
        return "not valid YAML: a second `:` on one line; put the text in quotes"
    return f"not valid YAML: {problem}"


def _place(text: str, offset: int) -> Position:
    before = text[:offset]
    return Position(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)


class _Anchor(msgspec.Struct):
    value: Any
    nodes: int
    height: int


class _Builder(msgspec.Struct):
    events: Iterator[Any]
    positions: Positions = msgspec.field(default_factory=Positions)
    budget: NodeLimit = msgspec.field(default_factory=NodeLimit)
    anchors: dict[str, _Anchor | None] = msgspec.field(default_factory=dict)
    """None while the anchored node is still being read."""
    deepest: int = 0
    """Depth of the deepest node since it was last reset."""

    def document(self) -> Any:
        event = next(self.events)
        while _kind(event) in {"StreamStart", "DocumentStart"}:
            event = next(self.events)
        if _kind(event) == "StreamEnd":
            raise SourceFault("the file is empty", Position(1, 1))
        value = self.node(event, (), 0)
        next(self.events)  # the document's end
        event = next(self.events)
        if _kind(event) == "DocumentStart":
            raise SourceFault(
                "several documents in one file; a suite is one document", _start(event)
            )
        return value

    def node(self, event: Any, path: KeyPath, depth: int) -> Any:
        place = _start(event)
        self.positions.values[path] = place
        self.deepest = max(self.deepest, depth)
        kind = _kind(event)
        if kind == "Alias":
            return self.alias(event.anchor, place, depth)
        self.budget.spend(depth, place)
        if event.anchor is None:
            return self.content(event, kind, path, depth)
        before, outer = self.budget.nodes, self.deepest
        self.anchors[event.anchor] = None
        self.deepest = depth
        value = self.content(event, kind, path, depth)
        self.anchors[event.anchor] = _Anchor(
            value, self.budget.nodes - before + 1, self.deepest - depth
        )
        self.deepest = max(outer, self.deepest)
        return value

    def content(self, event: Any, kind: str, path: KeyPath, depth: int) -> Any:
        if kind == "Scalar":
            return _scalar(event)
        _check_tag(event, "seq" if kind == "SequenceStart" else "map")
        if kind == "SequenceStart":
            return self.sequence(path, depth)
        return self.mapping(path, depth)

    def alias(self, name: str, place: Position, depth: int) -> Any:
        if name not in self.anchors:
            raise SourceFault(f"the alias *{name} has no anchor &{name} before it", place)
        anchor = self.anchors[name]
        if anchor is None:
            raise SourceFault(f"the alias *{name} refers to a value that contains it", place)
        self.budget.spend(depth + anchor.height, place, anchor.nodes)
        self.deepest = max(self.deepest, depth + anchor.height)
        return anchor.value

    def sequence(self, path: KeyPath, depth: int) -> list[Any]:
        items: list[Any] = []
        while _kind(event := next(self.events)) != "SequenceEnd":
            items.append(self.node(event, (*path, len(items)), depth + 1))
        return items

    def mapping(self, path: KeyPath, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        while _kind(event := next(self.events)) != "MappingEnd":
            place = _start(event)
            key = self.key(event, place)
            key_path = (*path, key)
            if key in result:
                raise SourceFault(f'the key "{key}" is given twice', place, key_path)
            value = self.node(next(self.events), key_path, depth + 1)
            if key == _MERGE and event.style is None:
                merged |= _merge(value, place)
                continue
            self.positions.keys[key_path] = place
            result[key] = value
        return {**{key: merged[key] for key in merged if key not in result}, **result}

    def key(self, event: Any, place: Position) -> str:
        value = _scalar(event) if _kind(event) == "Scalar" else None
        if not isinstance(value, str):
            written = f"`{event.value}`" if _kind(event) == "Scalar" else "a list or map"
            raise SourceFault(f"a key must be text, not {written}; put it in quotes", place)
        self.budget.spend(0, place)
        return value


def _kind(event: Any) -> str:
    return type(event).__name__.removesuffix("Event")


def _start(event: Any) -> Position:
    return Position(event.start_mark.line + 1, event.start_mark.column + 1)


def _merge(value: Any, place: Position) -> dict[str, Any]:
    """Return the merged maps of `<<:`: earlier ones take precedence."""
    maps = value if isinstance(value, list) else [value]
    result: dict[str, Any] = {}
    for one in reversed(maps):
        if not isinstance(one, dict):
            raise SourceFault("`<<` merges maps only", place)
        result |= one
    return result


def _check_tag(event: Any, *allowed: str) -> str | None:
    """Return the short name of an explicit tag. Raises SourceFault for one that is not
    plain data.
    """
    if event.tag is None or event.tag == "!":
        return None
    name = str(event.tag).removeprefix(_TAG_PREFIX)
    if name not in allowed:
        raise SourceFault(
            f"the tag `{event.tag}` is not allowed; only plain data is", _start(event)
        )
    return name


def _scalar(event: Any) -> Any:
    tag = _check_tag(event, "str", "int", "float", "bool", "null")
    text: str = event.value
    if tag == "str" or (tag is None and (event.style is not None or event.tag == "!")):
        return text
    value = _resolve(text, _start(event))
    wanted = {"int": int, "float": (int, float), "bool": bool, "null": type(None)}
    if tag is not None and not isinstance(value, wanted[tag]):  # type: ignore[arg-type]  # tuples too
        raise SourceFault(f"`{text}` is not of the type !!{tag}", _start(event))
    return value


def _resolve(text: str, place: Position) -> Any:
    """Resolve a plain scalar by the YAML 1.2 core schema."""
    if _NULL.fullmatch(text):
        return None
    if _TRUE.fullmatch(text):
        return True
    if _FALSE.fullmatch(text):
        return False
    if _INTEGER.fullmatch(text):
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        return int(text, base) if len(text) <= 40 else _too_large(text, place)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _NOT_FINITE.fullmatch(text):
        raise SourceFault(f"`{text}` is not a finite number", place)
    return text


def _too_large(text: str, place: Position) -> int:
    raise SourceFault(f"the number {text[:12]}… is too large", place)
