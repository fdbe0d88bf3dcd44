"""One HTTP/1.1 connection: bytes in, callbacks out, one exchange after the other.

The hot path of the load worker: no task, no future and no clock call beyond one a packet. The
receive time is taken before the parser (httptools) sees the bytes, which may be later (`held`).
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable
from typing import Protocol, cast

from httptools import (
    HttpParserCallbackError,
    HttpParserError,
    HttpParserUpgrade,
    HttpResponseParser,
)

from agentbench_tui.http.client import too_long
from agentbench_tui.http.failures import (
    broken_body,
    closed_early,
    closed_in_body,
    closed_in_head,
    compressed,
    head_too_long,
    not_http,
)
from agentbench_tui.http.held import MOST_HELD, MOST_HELD_BYTES, Overdue
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.model.clock import perf_counter_ns

MAX_HEAD_BYTES = 64 * 1024
_HEAD_IN_PACKET = 16 * 1024
"""Packets longer than this may hide a head over the bound, so its fields are added up."""
RESENT_WITHIN_NS = 1_000_000_000
"""Of sending on a reused connection: when it is lost later than this, it was not dead by then, but
the server took the request and gave no answer."""

_EVENT_END = b"\n\n\r\n"
"""Of a packet that ends with an event and its chunk. A chunked message never ends so: the last
chunk's line ends with CR LF, and another CR LF follows (RFC 9112 §7.1)."""

Headers = list[tuple[bytes, bytes]]


class Exchange(Protocol):
    """What the sender of one request is told, on the loop, times by `perf_counter_ns`.

    `on_head` comes once, `on_body` any number of times, and then exactly one of `on_end` and
    `on_failure`; `on_failure` may come at any time before. An `AgentFailure` raised by `on_head`
    or `on_body` closes the connection and comes back as `on_failure`. Exchanges are told apart
    by identity and must be hashable; one may be sent again once it has ended.
    """

    def on_head(self, status: int, headers: Headers, received_ns: int, /) -> None:
        """Status and fields, names as the server wrote them, of the final answer (not 1xx)."""

    def on_body(self, part: bytes, received_ns: int, /) -> None:
        """A part of the body, never empty, with the time of the packet that it came in."""

    def on_end(self, received_ns: int, /) -> None:
        """The answer is complete, with the time of its last byte; its connection is free again, so
        the next may be sent."""

    def on_failure(self, failure: AgentFailure, received_ns: int, /) -> None:
        """There will be no complete answer; the connection is gone."""


class Owner(Protocol):
    """The pool, as its connections see it."""

    place: str
    url: str
    max_body_bytes: int
    received_bytes: int
    overdue: Overdue

    def made(self) -> None:
        """A transport was opened."""

    def ended(self, connection: Connection, *, reusable: bool) -> None:
        """The answer is complete: free the connection, then tell its exchange."""

    def failed(self, connection: Connection, failure: AgentFailure, at_ns: int) -> None:
        """Close the connection and tell its exchange, if there is still one."""

    def resend(self, connection: Connection) -> None:
        """The reused connection was lost soon, before any byte: try once on a new one."""

    def gone(self, connection: Connection) -> None:
        """The transport is closed for good."""


class Connection(asyncio.Protocol):
    """A transport, its parser, and the exchange that is under way on it, if any."""

    __slots__ = (
        "_bare_bytes",
        "_chunked",
        "_complete",
        "_delimited",
        "_headers",
        "_held",
        "_left",
        "_owner",
        "_parser",
        "_reusable",
        "can_wait",
        "exchange",
        "head_done",
        "opening",
        "received_ns",
        "reused",
        "sent_ns",
        "transport",
        "wire",
    )

    exchange: Exchange | None

    def __init__(
        self, owner: Owner, exchange: Exchange, wire: bytes, sent_ns: int, *, can_wait: bool
    ) -> None:
        """`wire` goes out as soon as there is a transport; `can_wait`: see `Pool.send`."""
        self._owner = owner
        self.transport: asyncio.Transport | None = None
        self.opening: asyncio.Task[None] | None = None
        self.reused = False
        self._headers: Headers = []
        self._held: list[tuple[int, bytes]] | None = None
        """Packets received and not read yet, with their times; None when none may be held."""
        self._expect(exchange, wire, sent_ns, can_wait=can_wait)

    def begin(self, exchange: Exchange, wire: bytes, sent_ns: int, *, can_wait: bool) -> None:
        """Send the next request on a connection that is idle."""
        assert self.transport is not None, "an idle connection is open"
        self.reused = True
        self._expect(exchange, wire, sent_ns, can_wait=can_wait)
        self.transport.write(wire)

    def abandon(self) -> None:
        """Close at once; no exchange is told."""
        self.exchange = None
        if self._held:
            self._owner.overdue.read(self)
        self._held = None
        if self.transport is not None:
            self.transport.abort()
        elif self.opening is not None:
            self.opening.cancel()

    def read_held(self) -> None:
        """Read the packets that were received and are held, if there are any."""
        held = self._held
        if not held:
            return
        self._owner.overdue.read(self)
        self._held = []
        self._read(held)

    def _expect(self, exchange: Exchange, wire: bytes, sent_ns: int, *, can_wait: bool) -> None:
        self.exchange = exchange
        self.can_wait = can_wait
        self._held = None
        self.wire = wire
        self.sent_ns = sent_ns
        self.received_ns = sent_ns
        self.head_done = False
        self._complete = False
        self._reusable = False
        self._delimited = False
        self._chunked = False
        self._bare_bytes = 0
        """Received since the last part of the body: the head, or a trailer that must end too."""
        self._left = self._owner.max_body_bytes

    # What the loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        made = cast(asyncio.Transport, transport)
        if self.exchange is None:
            # Given up while it was opened. Not told to the owner: uvloop never says that such a
            # one is lost, and whoever waits for the last to go would wait for ever.
            made.abort()
            return
        self.transport = made
        # Not before: it holds our methods, a cycle that only `connection_lost` breaks.
        self._parser = HttpResponseParser(self)
        # A recipient has to accept blanks after a chunk's size (RFC 9112 §7.1.1).
        self._parser.set_dangerous_leniencies(lenient_spaces_after_chunk_size=True)
        self._owner.made()
        made.write(self.wire)

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        now_ns = perf_counter_ns()
        held = self._held
        if held is not None:
            if data.endswith(_EVENT_END) and len(held) < MOST_HELD and len(data) <= MOST_HELD_BYTES:
                if not held:
                    self._owner.overdue.holds(self, now_ns)
                held.append((now_ns, data))
                self.received_ns = now_ns
                return
            if held:
                held.append((now_ns, data))
                self.read_held()
                return
        self._read(((now_ns, data),))

    def _read(self, packets: Iterable[tuple[int, bytes]]) -> None:
        """Parse packets and act on them, up to one that ends the exchange."""
        owner = self._owner
        feed = self._parser.feed_data
        left = iter(packets)
        for now_ns, data in left:
            owner.received_bytes += len(data)
            if self.exchange is None:
                # Nobody asked: the rest of a cancelled answer, or a server's farewell.
                self.abandon()
                return
            self.received_ns = now_ns
            self._bare_bytes += len(data)
            try:
                feed(data)
            except (HttpParserError, HttpParserUpgrade) as error:
                self._broken(error)
                return
            if self._complete:
                is_last = next(left, None) is None
                owner.ended(self, reusable=is_last and self._reusable and self._is_sent())
                return
            if self._bare_bytes > MAX_HEAD_BYTES:
                what = broken_body if self.head_done else head_too_long
                owner.failed(self, what(owner.place), now_ns)
                return

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        if self.transport is None:
            return  # the handshake failed: whoever opens the connection is told by an exception
        owner = self._owner
        now_ns = perf_counter_ns()
        self.read_held()
        if self.exchange is not None:
            if self.head_done and exc is None and not self._delimited and self._is_closed_whole():
                owner.ended(self, reusable=False)
            elif self.head_done:
                owner.failed(self, closed_in_body(owner.place), now_ns)
            elif self._bare_bytes:
                owner.failed(self, closed_in_head(owner.place), now_ns)
            elif self.reused and now_ns - self.sent_ns < RESENT_WITHIN_NS:
                owner.resend(self)
            else:
                owner.failed(self, closed_early(owner.place), now_ns)
        # Without this, a cycle for the collector, which may be off.
        del self._parser
        owner.gone(self)

    # What the parser calls.

    def on_message_begin(self) -> None:
        """Begin a head: an interim one, the answer's, or one that nobody asked for."""
        if self._complete:
            raise HttpParserError
        self._headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        """One field of the head, or of the trailer, which is ignored."""
        if not self.head_done:
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Check and pass on the head, unless it is an interim one (1xx)."""
        status = self._parser.get_status_code()
        if status < 200:
            if status < 100:
                raise not_http(self._owner.place)
            return
        self.head_done = True
        headers = self._headers
        if self._bare_bytes > _HEAD_IN_PACKET:
            self._check_size(headers)
        exchange = self.exchange
        assert exchange is not None, "bytes are only parsed for an exchange"
        exchange.on_head(status, headers, self.received_ns)
        if self.wire.startswith(b"HEAD "):
            # The parser would wait for the body; this connection ends here.
            self._complete = True
        elif status not in {204, 304}:
            self._check_body(headers)
            if self.can_wait and self._chunked and self.exchange is exchange:
                self._held = []

    def on_body(self, part: bytes) -> None:
        """Pass on a part of the body; the exchange may have been cancelled in this packet."""
        exchange = self.exchange
        if exchange is None:
            return
        self._left -= len(part)
        if self._left < 0:
            raise too_long(self._owner.max_body_bytes, self._owner.url)
        self._bare_bytes = 0
        exchange.on_body(part, self.received_ns)

    def on_message_complete(self) -> None:
        """Note the end; it is acted on when the whole packet is parsed."""
        if self.head_done:
            self._complete = True
            self._held = None
            self._reusable = self._parser.should_keep_alive()

    def _is_closed_whole(self) -> bool:
        """Whether the end of the connection ends the body: over TLS not without a closure alert."""
        assert self.transport is not None, "what is lost was made"
        tls = self.transport.get_extra_info("ssl_object")
        if tls is None:
            return True
        try:
            tls.read(1)
        except ssl.SSLZeroReturnError:
            return True
        except ssl.SSLError:
            return False
        return True

    def _is_sent(self) -> bool:
        """Whether the request is out: a server may refuse one that it has not read to its end."""
        return self.transport is not None and not self.transport.get_write_buffer_size()

    def _check_size(self, headers: Headers) -> None:
        if sum(len(name) + len(value) + 4 for name, value in headers) > MAX_HEAD_BYTES:
            raise head_too_long(self._owner.place)

    def _check_body(self, headers: Headers) -> None:
        """What the head says of the body: its coding, its length, and how its end is known."""
        for name, value in headers:
            # Comparing lengths first spares most fields the lower-casing.
            length = len(name)
            if length == 14 and name.lower() == b"content-length":
                self._delimited = True
                if int(value) > self._owner.max_body_bytes:
                    raise too_long(self._owner.max_body_bytes, self._owner.url)
            elif length == 16 and name.lower() == b"content-encoding":
                self._check_coding(value)
            elif length == 17 and name.lower() == b"transfer-encoding":
                self._delimited = self._chunked = value.lower().rstrip().endswith(b"chunked")
                self._check_coding(value.lower().removesuffix(b"chunked").rstrip(b", \t"))

    def _check_coding(self, value: bytes) -> None:
        coding = value.strip().lower()
        if coding not in {b"", b"identity"}:
            raise compressed(self._owner.place, coding.decode("latin-1"))

    def _broken(self, error: Exception) -> None:
        """What an error of the parser, or of what it called, means."""
        owner = self._owner
        cause = error.__context__
        if isinstance(cause, AgentFailure):
            owner.failed(self, cause, self.received_ns)
        elif self._complete:
            # Bytes after the end: the answer is whole, but the connection is of no more use.
            owner.ended(self, reusable=False)
        elif isinstance(error, HttpParserCallbackError) and cause is not None:
            fault = f"{type(cause).__name__} while an answer was taken in"
            owner.failed(self, AgentFailure(FailureKind.HARNESS, fault), self.received_ns)
            raise cause
        elif self.head_done:
            owner.failed(self, broken_body(owner.place), self.received_ns)
        else:
            owner.failed(self, not_http(owner.place), self.received_ns)
