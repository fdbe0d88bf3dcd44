"""One connection to the practice server: requests in, bytes out, with send times."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from typing import NamedTuple, Protocol, cast

import httptools

from agentbench_tui.model.clock import perf_counter_ns

MOST_BODY_BYTES = 64 << 20
_REASONS = {
    200: b"OK",
    400: b"Bad Request",
    404: b"Not Found",
    405: b"Method Not Allowed",
    413: b"Content Too Large",
    429: b"Too Many Requests",
    500: b"Internal Server Error",
}


class HttpRequest(NamedTuple):
    """A complete request."""

    method: str
    path: str
    body: bytes
    arrived_ns: int
    keep_alive: bool
    version: str
    """`1.1` or `1.0`."""


class Handler(Protocol):
    """Receives the requests of a connection."""

    def connected(self, connection: Connection) -> None:
        """Handle a new connection."""

    def requested(self, connection: Connection, request: HttpRequest) -> None:
        """Handle a request; the next one arrives after `Connection.finish`."""

    def lost(self, connection: Connection) -> None:
        """Handle the end of a connection, even one with unanswered requests."""


class Connection(asyncio.Protocol):
    """Parses incoming data and passes one request at a time to the handler."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._transport: asyncio.Transport | None = None
        self._parser: httptools.HttpRequestParser | None = None
        self._fd = -1
        self._url = b""
        self._body: list[bytes] = []
        self._body_bytes = 0
        self._waiting: deque[HttpRequest] = deque()
        self._busy = False
        self._head_alone = False
        """Whether the current request asks for no body."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        self._transport = cast(asyncio.Transport, transport)
        self._fd = transport.get_extra_info("socket").fileno()
        self._parser = httptools.HttpRequestParser(self)
        self._handler.connected(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # the protocol's signature
        """See `asyncio.Protocol`."""
        self._handler.lost(self)
        self._waiting.clear()
        self._transport = self._parser = None

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        if self._parser is None:
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._refuse(400, b"no protocol is spoken here but HTTP/1.1")
        except httptools.HttpParserError:
            self._refuse(400, b"not an HTTP request")

    def on_message_begin(self) -> None:
        """See httptools."""
        self._url = b""
        self._body = []
        self._body_bytes = 0

    def on_url(self, url: bytes) -> None:
        """See httptools."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """See httptools."""
        if len(name) == 6 and name.lower() == b"expect" and value.lower() == b"100-continue":
            self.send(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        """See httptools."""
        self._body_bytes += len(body)
        if self._body_bytes <= MOST_BODY_BYTES:
            self._body.append(body)

    def on_message_complete(self) -> None:
        """See httptools."""
        now_ns = perf_counter_ns()
        if self._parser is None:
            return
        if self._body_bytes > MOST_BODY_BYTES:
            self._refuse(413, b"the request is too long")
            return
        request = HttpRequest(
            self._parser.get_method().decode("ascii", "replace"),
            self._url.partition(b"?")[0].decode("ascii", "replace"),
            self._body[0] if len(self._body) == 1 else b"".join(self._body),
            now_ns,
            self._parser.should_keep_alive(),
            self._parser.get_http_version(),
        )
        if self._busy:
            self._waiting.append(request)
        else:
            self._busy = True
            self._hand_over(request)

    def send(self, data: bytes) -> int:
        """Hand bytes to the socket, immediately if it accepts them; return the time afterwards."""
        transport = self._transport
        if transport is not None and not transport.is_closing():
            sent = 0
            if not transport.get_write_buffer_size():
                # An event loop may put off what its transport is given to the end of the turn,
                # behind all else that is due.
                try:
                    sent = os.write(self._fd, data)
                except BlockingIOError:
                    pass
                except OSError:  # the other end is gone, as `lost` will say
                    sent = len(data)
            if sent < len(data):
                transport.write(data[sent:])
        return perf_counter_ns()

    def respond(
        self, status: int, body: bytes, *, keep_alive: bool = True, headers: bytes = b""
    ) -> int:
        """Send a whole JSON answer, or its head for HEAD; return the time afterwards."""
        head = json_head(status, len(body), keep_alive=keep_alive, more=headers)
        return self.send(head if self._head_alone else head + body)

    def finish(self, *, keep_alive: bool) -> None:
        """Mark the answer as complete; continue with the next request, or close."""
        self._busy = False
        if not keep_alive:
            self.close()
        elif self._waiting:
            self._busy = True
            asyncio.get_running_loop().call_soon(self._go_on)

    def _go_on(self) -> None:
        """Continue with the next pipelined request, which counts as arriving now."""
        if self._waiting:
            request = self._waiting.popleft()
            self._hand_over(request._replace(arrived_ns=perf_counter_ns()))

    def _hand_over(self, request: HttpRequest) -> None:
        self._head_alone = request.method == "HEAD"
        self._handler.requested(self, request)

    def close(self) -> None:
        """Close the connection; buffered data are still sent."""
        self._waiting.clear()
        if self._transport is not None:
            self._transport.close()

    def _refuse(self, status: int, reason: bytes) -> None:
        body = b'{"error":{"message":"%b","type":"invalid_request_error"}}' % reason
        self.respond(status, body, keep_alive=False)
        self._parser = None
        self.close()


def json_head(status: int, length: int, *, keep_alive: bool, more: bytes = b"") -> bytes:
    """Return the head of an answer in one piece; `more` are whole header lines."""
    return b"HTTP/1.1 %d %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n%b%b\r\n" % (
        status,
        _REASONS[status],
        length,
        more,
        connection_header(keep_alive=keep_alive),
    )


def stream_head(*, keep_alive: bool, chunked: bool) -> bytes:
    """Return the head of an event stream."""
    return (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
        b"cache-control: no-cache\r\n"
        + (b"transfer-encoding: chunked\r\n" if chunked else b"")
        + connection_header(keep_alive=keep_alive)
        + b"\r\n"
    )


def connection_header(*, keep_alive: bool) -> bytes:
    """Return the `connection` header; empty if the connection stays open."""
    return b"" if keep_alive else b"connection: close\r\n"
