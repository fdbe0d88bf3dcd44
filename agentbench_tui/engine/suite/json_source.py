"""Parses JSON text (RFC 8259) into plain data and positions."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import Any, NoReturn

from agentbench_tui.engine.suite.position import (
    KeyPath,
    NodeLimit,
    Position,
    Positions,
    SourceFault,
)

_BLANK = re.compile(r"[ \t\r\n]*")
_MAX_DIGITS = 400


def parse_json(text: str) -> tuple[Any, Positions]:
    """Return the one value in `text`. Raises SourceFault."""
    reader = _Reader(text)
    return reader.document(), reader.positions


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.positions = Positions()
        self.budget = NodeLimit()
        self.lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self.decoder = json.JSONDecoder(parse_constant=self.constant, parse_int=self.integer)

    def document(self) -> Any:
        self.blank()
        if self.at == len(self.text):
            self.fault("the file is empty")
        value = self.value((), 0)
        self.blank()
        if self.at != len(self.text):
            self.fault("not valid JSON: something follows the end of the value")
        return value

    def value(self, path: KeyPath, depth: int) -> Any:
        place = self.place(self.at)
        self.positions.values[path] = place
        self.budget.spend(depth, place)
        opening = self.text[self.at : self.at + 1]
        if opening == "{":
            return self.object(path, depth)
        if opening == "[":
            return self.array(path, depth)
        return self.scalar()

    def object(self, path: KeyPath, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        self.step()
        while not self.closes("}", first=not result):
            start = self.at
            if self.text[start : start + 1] != '"':
                self.fault('not valid JSON: expected a key in "quotes"')
            key = str(self.scalar())
            place, key_path = self.place(start), (*path, key)
            self.budget.spend(depth, place)
            if key in result:
                raise SourceFault(f'the key "{key}" is given twice', place, key_path)
            self.positions.keys[key_path] = place
            self.blank()
            if self.text[self.at : self.at + 1] != ":":
                self.fault("not valid JSON: expected `:` after the key")
            self.step()
            result[key] = self.value(key_path, depth + 1)
        return result

    def array(self, path: KeyPath, depth: int) -> list[Any]:
        items: list[Any] = []
        self.step()
        while not self.closes("]", first=not items):
            items.append(self.value((*path, len(items)), depth + 1))
        return items

    def closes(self, bracket: str, *, first: bool) -> bool:
        """Skip the closing bracket and return True, or skip the comma before the next item."""
        self.blank()
        found = self.text[self.at : self.at + 1]
        if found == bracket:
            self.at += 1
            return True
        if not first:
            if found != ",":
                self.fault(f"not valid JSON: expected `,` or `{bracket}`")
            self.step()
        return False

    def scalar(self) -> Any:
        try:
            value, self.at = self.decoder.raw_decode(self.text, self.at)
        except json.JSONDecodeError as error:
            self.at = error.pos
            self.fault(f"not valid JSON: {error.msg[:1].lower()}{error.msg[1:]}")
        return value

    def constant(self, text: str) -> NoReturn:
        self.fault(f"`{text}` is not a finite number")

    def integer(self, text: str) -> int:
        if len(text) > _MAX_DIGITS:
            self.fault(f"the number {text[:12]}… is too large")
        return int(text)

    def step(self) -> None:
        self.at += 1
        self.blank()

    def blank(self) -> None:
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def place(self, offset: int) -> Position:
        line = bisect_right(self.lines, offset)
        return Position(line, offset - self.lines[line - 1] + 1)

    def fault(self, message: str) -> NoReturn:
        raise SourceFault(message, self.place(self.at))
