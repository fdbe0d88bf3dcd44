"""Start and end of an answer, from the parser (httptools) and the head."""

from __future__ import annotations

from typing import Protocol

from httptools import HttpParserError, HttpResponseParser

from agentbench_tui.http.client import too_long
from agentbench_tui.http.exchange import Exchange, Headers
from agentbench_tui.http.failures import compressed, head_too_long, not_http

MAX_HEAD_BYTES = 64 * 1024
_HEAD_IN_PACKET = 16 * 1024
"""Packets longer than this may hide a head over the bound, so its fields are added up."""


class Bounds(Protocol):
    """Server of the answers, and their maximum length."""

    place: str
    url: str
    max_body_bytes: int


class AnswerFraming:
    """The current answer on a connection, as far as it is parsed."""

    __slots__ = (
        "_bare_bytes",
        "_between_chunks",
        "_bounds",
        "_chunked",
        "_complete",
        "_delimited",
        "_headers",
        "_left",
        "_may_keep",
        "_parser",
        "_reusable",
        "_status",
        "_unsaid",
        "exchange",
        "head_done",
        "received_ns",
        "wire",
    )

    exchange: Exchange | None
    """Receives notifications; None without a receiver."""
    received_ns: int
    """When the packet was received that is read."""
    wire: bytes
    """The request."""
    _parser: HttpResponseParser

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._forget_answer()

    def _forget_answer(self) -> None:
        """Discard what the parser found in the last answer."""
        self._headers: Headers = []
        self.head_done = False
        self._status = 0
        """Status of the head, once it is valid."""
        self._unsaid: list[bytes] | None = None
        """Body of an answer that may be complete in its first packet, before its exchange is
        notified. None if it is notified of each part immediately.
        """
        self._complete = False
        self._reusable = False
        self._delimited = False
        self._chunked = False
        self._may_keep = False
        """Whether packets that cannot be the end may wait: in chunked bodies."""
        self._between_chunks = False
        self._bare_bytes = 0
        """Received since the last part of the body: the head, or a trailer that must end too."""
        self._left = self._bounds.max_body_bytes

    # What the parser calls.

    def on_message_begin(self) -> None:
        """Begin a head: an interim one, the answer's, or an unexpected one."""
        if self._complete:
            raise HttpParserError
        self._headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        """Handle one field of the head, or of the trailer, which is ignored."""
        if not self.head_done:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Check and pass on the head, unless it is an interim one (1xx)."""
        status = self._parser.get_status_code()
        if status < 200:
            if status < 100:
                raise not_http(self._bounds.place)
            return
        self.head_done = True
        headers = self._headers
        if self._bare_bytes > _HEAD_IN_PACKET:
            self._check_size(headers)
        self._status = status
        if self._unsaid is None:
            exchange = self.exchange
            assert exchange is not None, "bytes are only parsed for an exchange"
            exchange.on_head(status, headers, self.received_ns)
        if self.wire.startswith(b"HEAD "):
            # The parser would wait for the body; this connection ends here.
            self._complete = True
        elif status not in {204, 304}:
            self._check_body(headers)
            self._may_keep = self._chunked

    def on_body(self, part: bytes) -> None:
        """Pass on a part of the body; the exchange may have been canceled in this packet."""
        exchange = self.exchange
        if exchange is None:
            return
        self._left -= len(part)
        if self._left < 0:
            raise too_long(self._bounds.max_body_bytes, self._bounds.url)
        self._bare_bytes = 0
        if self._unsaid is None:
            exchange.on_body(part, self.received_ns)
        else:
            self._unsaid.append(part)

    def on_chunk_header(self) -> None:
        """A chunk begins, or the end of the body."""
        self._between_chunks = False

    def on_chunk_complete(self) -> None:
        """End a chunk, or the body, which `on_message_complete` confirms next."""
        self._between_chunks = True

    def on_message_complete(self) -> None:
        """Mark the end; it is handled when the whole packet is parsed."""
        if self.head_done:
            self._complete = True
            self._may_keep = self._between_chunks = False
            self._reusable = self._parser.should_keep_alive()

    def _check_size(self, headers: Headers) -> None:
        if sum(len(name) + len(value) + 4 for name, value in headers) > MAX_HEAD_BYTES:
            raise head_too_long(self._bounds.place)

    def _check_body(self, headers: Headers) -> None:
        """Read the body's framing from the head: its coding, length and end."""
        for name, value in headers:
            # Comparing lengths first spares most fields the lower-casing.
            length = len(name)
            if length == 14 and name.lower() == b"content-length":
                self._delimited = True
                if int(value) > self._bounds.max_body_bytes:
                    raise too_long(self._bounds.max_body_bytes, self._bounds.url)
            elif length == 16 and name.lower() == b"content-encoding":
                self._check_coding(value)
            elif length == 17 and name.lower() == b"transfer-encoding":
                self._delimited = self._chunked = value.lower().rstrip().endswith(b"chunked")
                self._check_coding(value.lower().removesuffix(b"chunked").rstrip(b", \t"))

    def _check_coding(self, value: bytes) -> None:
        coding = value.strip().lower()
        if coding not in {b"", b"identity"}:
            raise compressed(self._bounds.place, coding.decode("latin-1"))
