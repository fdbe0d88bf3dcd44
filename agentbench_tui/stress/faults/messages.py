"""Boundaries of HTTP/1.1 messages in a stream of bytes that is passed on unchanged.

Framing by RFC 9112, section 6; heads are parsed with httptools. The returned parts, joined, are the
input. From the first byte that is not plain HTTP/1.1, the stream is passed on without parsing.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from functools import lru_cache
from typing import NamedTuple

from httptools import (
    HttpParserError,
    HttpParserUpgrade,
    HttpRequestParser,
    HttpResponseParser,
)

MOST_HEAD_BYTES = 64 << 10
_MOST_KNOWN_BYTES = 4 << 10
"""Size up to which a head is cached: clients and servers repeat their heads."""
_MOST_LINE_BYTES = 4 << 10
"""Maximum size of a chunk-size line with its extensions, or of a trailer field."""
_HEAD_END = b"\r\n\r\n"
_LINE_END = b"\r\n"


class Head(NamedTuple):
    """Head of a request (`method`) or of an answer (`status`)."""

    method: bytes = b""
    status: int = 0
    keep_alive: bool = True


class Part(NamedTuple):
    """Bytes of one message: its whole head, or part of its body."""

    data: bytes
    head: Head | None = None
    """None for a part of a body, and for bytes that are passed on unread."""
    last: bool = False
    """Whether it completes the message."""


_NO_PART = Part(b"")


class _Where(Enum):
    HEAD = auto()
    SIZED = auto()
    """In a body, or a chunk with its line end, of which `_left` bytes are to come."""
    CHUNK_LINE = auto()
    TRAILER = auto()
    UNREAD = auto()


class Messages:
    """One direction of a connection: takes bytes, returns parts."""

    def __init__(self, *, are_requests: bool, bodyless: Callable[[], bool]) -> None:
        self._are_requests = are_requests
        self._bodyless = bodyless
        self._where = _Where.HEAD
        self._left = 0
        self._chunked = False
        self._held = b""
        """Bytes of an incomplete head, or a copy of an incomplete line inside a body."""
        self._reader: _HeadReader | None = None

    @property
    def unread(self) -> bool:
        """Return whether bytes are passed on without parsing, to the end of the connection."""
        return self._where is _Where.UNREAD

    def feed(self, data: bytes, *, apart: bool = True) -> list[Part]:
        """Return the parts that `data` completes; an incomplete head is held back.

        Unless heads are wanted `apart`, a head is returned with the part of its body that follows.
        """
        parts: list[Part] = []
        at = 0
        while at < len(data):
            if self._where is _Where.HEAD:
                at = self._feed_head(data, at, parts)
                if apart or at == len(data) or self._is_at_head():
                    continue
            end = self._body_end(data, at)
            head_data, head, _ = parts.pop() if parts and not apart else _NO_PART
            parts.append(Part(head_data + data[at:end], head, self._is_at_head()))
            at = end
        return parts

    def stop_reading(self) -> list[Part]:
        """Pass on everything without parsing from here on; return the bytes held back."""
        held = self._held if self._where is _Where.HEAD else b""
        self._where = _Where.UNREAD
        self._held = b""
        self._reader = None
        return [Part(held)] if held else []

    def _is_at_head(self) -> bool:
        return self._where is _Where.HEAD

    def _feed_head(self, data: bytes, at: int, parts: list[Part]) -> int:
        """Parse a head, or the available part of it; return the position after it."""
        before = len(self._held)
        whole = self._held + data[at:] if before or at else data
        found = whole.find(_HEAD_END, max(before - 3, 0))
        end = found + len(_HEAD_END) if found >= 0 else len(whole)
        if end > MOST_HEAD_BYTES:
            framing = None
        elif found >= 0 and not before and end <= _MOST_KNOWN_BYTES:
            framing = _known_framing(whole[:end], self._are_requests)
        else:
            if self._reader is None:
                self._reader = _HeadReader(is_request=self._are_requests)
            reads = self._reader.feed(whole[before:end])
            if reads and found < 0 and not self._reader.complete:
                self._held = whole
                return len(data)
            # One that is complete where no end is found has line ends of its own.
            framing = self._reader.framing() if reads and found >= 0 else None
        self._held = b"" if framing is not None else whole[:end]
        if framing is None:
            parts += self.stop_reading()
        else:
            self._reader = None
            self._begin_body(framing)
            parts.append(Part(whole[:end], framing.head, self._is_at_head()))
        return at + end - before

    def _begin_body(self, framing: _Framing) -> None:
        if framing.other_protocol:
            self._where = _Where.UNREAD
        elif self._bodyless_answer(framing.head):
            return
        elif framing.coding:
            self._chunked = framing.coding.endswith(b"chunked")
            self._where = _Where.CHUNK_LINE if self._chunked else _Where.UNREAD
        elif framing.length is not None:
            self._chunked = False
            self._left = framing.length
            if self._left:
                self._where = _Where.SIZED
        elif framing.head.status:
            self._where = _Where.UNREAD  # to the end of the connection

    def _bodyless_answer(self, head: Head) -> bool:
        status = head.status
        return status != 0 and (status < 200 or status in {204, 304} or self._bodyless())

    def _body_end(self, data: bytes, at: int) -> int:
        """Return the end of the body in the data; may end the body, or give up parsing."""
        if self._where is _Where.UNREAD:
            return len(data)
        while at < len(data):
            if self._where is _Where.SIZED:
                taken = min(self._left, len(data) - at)
                at += taken
                self._left -= taken
                if not self._left:
                    self._where = _Where.CHUNK_LINE if self._chunked else _Where.HEAD
            else:
                if not self._held and self._where is _Where.CHUNK_LINE:
                    at = _after_chunks(data, at)
                if at < len(data):
                    at = self._feed_line(data, at)
            if self._where is _Where.HEAD or self._where is _Where.UNREAD:
                break
        return at

    def _feed_line(self, data: bytes, at: int) -> int:
        """Parse a line of the chunked framing; return the position after it."""
        before = len(self._held)
        stop = data.find(b"\n", at)
        end = stop + 1 if stop >= 0 else len(data)
        line = self._held + data[at:end]
        if stop < 0 and before + end - at <= _MOST_LINE_BYTES:
            self._held = line
            return end
        self._held = b""
        if stop < 0 or not line.endswith(_LINE_END):
            self._where = _Where.UNREAD
        elif self._where is _Where.TRAILER:
            if line == _LINE_END:
                self._where = _Where.HEAD
        else:
            self._begin_chunk(line)
        return end

    def _begin_chunk(self, line: bytes) -> None:
        digits = line.split(b";", 1)[0].strip()
        try:
            size = int(digits, 16) if digits.isalnum() else -1
        except ValueError:
            size = -1
        if size < 0:
            self._where = _Where.UNREAD
        elif size == 0:
            self._where = _Where.TRAILER
        else:
            self._where = _Where.SIZED
            self._left = size + len(_LINE_END)


def _after_chunks(data: bytes, at: int) -> int:
    """Return the position after the chunks that are complete in the data, plain and not empty."""
    while True:
        stop = data.find(_LINE_END, at, at + 18)
        digits = data[at:stop] if stop >= 0 else b""
        if not digits.isalnum():
            return at
        try:
            end = stop + int(digits, 16) + 4
        except ValueError:
            return at
        if end == stop + 4 or end > len(data):
            return at
        at = end


class _Framing(NamedTuple):
    """Framing of the body, according to the head."""

    head: Head
    length: int | None
    coding: bytes
    other_protocol: bool
    """Whether the following bytes are not HTTP/1.1 any more."""


class _HeadReader:
    """Reads one head with httptools, piece by piece."""

    def __init__(self, *, is_request: bool) -> None:
        self.complete = False
        self._keep_alive = True
        self._other_protocol = False
        self._length: int | None = None
        self._coding = b""
        self._parser = HttpRequestParser(self) if is_request else HttpResponseParser(self)

    def feed(self, data: bytes) -> bool:
        """Return whether the bytes are a valid head so far."""
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:
            self._other_protocol = True
        except HttpParserError:
            return False
        return True

    def framing(self) -> _Framing | None:
        """Return the framing of a complete head; None if it is invalid."""
        if not self.complete:
            return None
        parser = self._parser
        if isinstance(parser, HttpRequestParser):
            head = Head(method=parser.get_method(), keep_alive=self._keep_alive)
        else:
            head = Head(status=parser.get_status_code())
        other = self._other_protocol or head.status == 101
        return _Framing(head, self._length, self._coding, other)

    def on_header(self, name: bytes, value: bytes) -> None:
        """See httptools."""
        length = len(name)
        if length == 14 and name.lower() == b"content-length":
            self._length = int(value)
        elif length == 17 and name.lower() == b"transfer-encoding":
            self._coding = value.strip().lower()

    def on_headers_complete(self) -> None:
        """See httptools."""
        self.complete = True
        # Not later: the parser forgets it with the end of the message.
        self._keep_alive = self._parser.should_keep_alive()


@lru_cache(maxsize=512)
def _known_framing(head: bytes, is_request: bool) -> _Framing | None:
    """Return the framing of a whole head; None if it is invalid."""
    reader = _HeadReader(is_request=is_request)
    return reader.framing() if reader.feed(head) else None


def requests() -> Messages:
    """Parser of a client's data."""
    return Messages(are_requests=True, bodyless=lambda: False)


def answers(bodyless: Callable[[], bool]) -> Messages:
    """Parser of a server's data; `bodyless` says whether the next answer is one to HEAD."""
    return Messages(are_requests=False, bodyless=bodyless)
