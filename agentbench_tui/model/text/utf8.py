"""Locates the first byte of a file that is not UTF-8.

What decodes a stream reads ahead of the line that it returns, so a position that it reports is one
in its buffer. The place in the file is found by looking again.
"""

from __future__ import annotations

import io
from typing import Protocol

import msgspec

_CHUNK = 1 << 16
_CUT = "unexpected end of data"
"""Python's message for an incomplete character."""
_MARKS_OF_UTF16 = (b"\xff\xfe", b"\xfe\xff")


NOT_UTF8 = "not UTF-8 text; save it as UTF-8"
"""Message if the byte is unknown."""


class _Readable(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...


class BadByte(msgspec.Struct, frozen=True):
    """The first byte that is not UTF-8."""

    line: int
    """1-based."""
    position: int
    """In bytes from the beginning of the line, 1-based."""
    value: int
    is_utf16: bool = False
    """Whether the content begins like UTF-16 text."""

    def __str__(self) -> str:
        if self.is_utf16:
            return "not UTF-8 but UTF-16 text; save it as UTF-8"
        return self.words(f"line {self.line:,}")

    def words(self, line: str) -> str:
        """Describe the problem; `line` overrides the line number."""
        place = f"byte 0x{self.value:02x} at position {self.position:,} of {line}"
        return f"not UTF-8 text ({place}); save it as UTF-8"


def bad_byte_of(content: bytes, line: int = 1) -> BadByte | None:
    """Return the first byte of a content that is not UTF-8; the content begins in that line."""
    return find_bad_byte(io.BytesIO(content), line)


def find_bad_byte(file: _Readable, line: int = 1) -> BadByte | None:
    """Return the first byte of a file that is not UTF-8, reading in parts from the current
    position.
    """
    before, pending, fault = 0, b"", None
    while chunk := file.read(_CHUNK):
        content = pending + chunk
        end = len(content)
        try:
            content.decode()
        except UnicodeDecodeError as error:
            end = error.start
            # A character that the part cuts in two may go on in the next one.
            fault = None if error.reason == _CUT else error
        text = content[:end]
        lines = text.count(b"\n")
        line += lines
        before = len(text) - text.rfind(b"\n") - 1 if lines else before + len(text)
        pending = content[end:]
        if fault is not None:
            break
    if not pending:
        return None
    is_utf16 = (line, before) == (1, 0) and pending[:2] in _MARKS_OF_UTF16
    return BadByte(line, before + 1, pending[0], is_utf16)
