"""One HTTP/1.1 connection: bytes in, callbacks out, one exchange after another.

The hot path of the load worker: no task, no future and no clock call beyond one a packet. The
receive time is taken before the parser (httptools) sees the bytes, which may be later (`inbox`).

Two things that come again and again are read without the parser, and only where the bytes show that
it would find the same: a whole answer in one packet whose head is, byte for byte, that of an answer
which was parsed before, and a packet that is exactly one chunk of a body.
"""

from __future__ import annotations

import asyncio
import ssl
from itertools import islice
from typing import Protocol, cast

from httptools import (
    HttpParserCallbackError,
    HttpParserError,
    HttpParserUpgrade,
    HttpResponseParser,
)

from agentbench_tui.http.exchange import (
    Exchange,
    Head,
    KnownHeads,
    Packet,
    fault_of,
    is_event_stream,
)
from agentbench_tui.http.failures import (
    broken_body,
    closed_early,
    closed_in_body,
    closed_in_head,
    head_too_long,
    not_http,
)
from agentbench_tui.http.framing import MAX_HEAD_BYTES, AnswerFraming, Bounds
from agentbench_tui.http.inbox import MOST_KEPT, MOST_KEPT_BYTES, Inbox
from agentbench_tui.model.answer import AgentFailure
from agentbench_tui.model.clock import perf_counter_ns

RESENT_WITHIN_NS = 1_000_000_000
"""Of sending on a reused connection: when it is lost later than this, it was not dead by then, but
the server took the request and gave no answer."""

_EVENT_END = b"\n\n\r\n"
"""Of a packet that ends with an event and its chunk. A chunked message never ends so: the last
chunk's line ends with CR LF, and another CR LF follows (RFC 9112 §7.1)."""

_HEAD_END = b"\r\n\r\n"
_LINE_END = b"\r\n"


class Owner(Bounds, Protocol):
    """The pool, as its connections see it."""

    received_bytes: int
    inbox: Inbox
    heads: KnownHeads

    def made(self) -> None:
        """Handle an opened transport."""

    def release(self, connection: Connection, *, reusable: bool) -> None:
        """Free the connection after a complete answer, before its exchange is notified."""

    def failed(self, connection: Connection, failure: AgentFailure, at_ns: int) -> None:
        """Close the connection and notify its exchange, if there still is one."""

    def resend(self, connection: Connection) -> None:
        """Send again on a new connection, once: the reused connection was lost soon, before any
        byte.
        """

    def gone(self, connection: Connection) -> None:
        """Remove the connection: the transport is closed."""


class Connection(AnswerFraming, asyncio.Protocol):
    """A transport, its parser, and the current exchange, if any."""

    __slots__ = (
        "_is_urgent",
        "_owner",
        "_packets",
        "can_wait",
        "opening",
        "reused",
        "sent_ns",
        "transport",
    )

    def __init__(
        self, owner: Owner, exchange: Exchange, wire: bytes, sent_ns: int, *, can_wait: bool
    ) -> None:
        """`wire` is sent as soon as there is a transport; `can_wait`: see `Pool.send`."""
        super().__init__(owner)
        self._owner = owner
        self.transport: asyncio.Transport | None = None
        self.opening: asyncio.Task[None] | None = None
        self.reused = False
        self._packets: list[Packet] = []
        """Received and not parsed yet."""
        self._is_urgent = False
        """Whether they are parsed in the next turn."""
        self.exchange = exchange
        self.can_wait = can_wait
        self.wire = wire
        self.sent_ns = self.received_ns = sent_ns

    def begin(self, exchange: Exchange, wire: bytes, sent_ns: int, *, can_wait: bool) -> None:
        """Send the next request on a connection that is idle."""
        assert self.transport is not None, "an idle connection is open"
        self.reused = True
        if self.head_done:  # else the last answer was read without the parser
            self._forget_answer()
        self.exchange = exchange
        self.can_wait = can_wait
        self.wire = wire
        self.sent_ns = self.received_ns = sent_ns
        writers = self._owner.inbox.writers
        if writers is None:
            self.transport.write(wire)
        else:
            writers.append(self)

    def write_request(self) -> None:
        """Write the request that had to wait until all packets were read."""
        exchange, transport = self.exchange, self.transport
        if exchange is not None and transport is not None:
            self.sent_ns = self.received_ns = now_ns = perf_counter_ns()
            exchange.on_sent(now_ns)
            transport.write(self.wire)

    def abandon(self) -> None:
        """Close immediately without notifying an exchange."""
        self.exchange = None
        if self._packets:
            self._owner.inbox.forget(self)
            self._packets = []
        if self.transport is not None:
            self.transport.abort()
        elif self.opening is not None:
            self.opening.cancel()

    def read_kept(self) -> None:
        """Parse the packets that were received and not parsed yet, if any."""
        packets = self._packets
        if not packets:
            return
        self._is_urgent = False
        if self.head_done:
            self._owner.inbox.forget(self)
        elif len(packets) == 1 and not self._bare_bytes:
            # It may be a whole answer whose head is known.
            received_ns, data = packets[0]
            written, _, body = data.partition(_HEAD_END)
            owner = self._owner
            head = owner.heads.get(written)
            if head is not None and len(body) == head.body_bytes:
                packets.clear()
                owner.received_bytes += len(data)
                exchange = self.exchange
                assert exchange is not None, "bytes are only read for an exchange"
                owner.release(self, reusable=head.keeps_alive and self._is_sent())
                exchange.on_answer(head, body, received_ns)
                return
        self._packets = []
        self._read(packets)

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
        if self.exchange is None:
            # Nobody asked: the rest of a canceled answer, or a server's farewell.
            self._owner.received_bytes += len(data)
            self.abandon()
            return
        self.received_ns = now_ns
        if not self.can_wait:
            self._read([(now_ns, data)])
            return
        packets = self._packets
        packets.append((now_ns, data))
        if self._is_urgent:
            return
        if self._may_keep and data.endswith(_EVENT_END) and len(data) <= MOST_KEPT_BYTES:
            count = len(packets)
            if count == 1:
                self._owner.inbox.keep(self, now_ns)
            elif count == MOST_KEPT:
                self._owner.inbox.read_soon(self)
            return
        self._is_urgent = True
        self._owner.inbox.read_next(self)

    def _read(self, packets: list[Packet]) -> None:
        """Read packets and act on them, up to one that ends the exchange."""
        is_fresh = self.can_wait and not (self.head_done or self._bare_bytes)
        place = self._read_chunks(packets) if self._between_chunks and self.can_wait else 0
        owner = self._owner
        feed = self._parser.feed_data
        self._unsaid = [] if is_fresh else None
        for now_ns, data in islice(packets, place, None):
            if self.exchange is None:
                return  # canceled by what was read before
            place += 1
            owner.received_bytes += len(data)
            self.received_ns = now_ns
            self._bare_bytes += len(data)
            try:
                feed(data)
            except (HttpParserError, HttpParserUpgrade) as error:
                self._broken(error)
                return
            if self._complete:
                reusable = place == len(packets) and self._reusable and self._is_sent()
                if self._unsaid is None:
                    self._end(reusable=reusable)
                else:
                    self._end_at_once(data, self._unsaid, reusable=reusable)
                return
            if self._unsaid is not None and not self._say():
                return
            if self._bare_bytes > MAX_HEAD_BYTES:
                what = broken_body if self.head_done else head_too_long
                owner.failed(self, what(owner.place), now_ns)
                return
            if self._between_chunks and not data.endswith(_LINE_END):
                self._between_chunks = False  # the parser has begun with the next chunk's size

    def _end_at_once(self, data: bytes, parts: list[bytes], *, reusable: bool) -> None:
        """Handle an answer that is complete in its first packet. Its head is kept if only a body of
        known length follows.
        """
        self._unsaid = None
        body = parts[0] if len(parts) == 1 else b"".join(parts)
        fields = self._headers
        head = Head(self._status, fields, len(body), self._reusable, is_event_stream(fields))
        if not self._chunked and not self.wire.startswith(b"HEAD "):
            written, _, rest = data.partition(_HEAD_END)
            if len(rest) == len(body):  # as long as what the parser saw at the packet's end
                self._owner.heads.keep(written, head)
        exchange = self.exchange
        assert exchange is not None, "nobody could have canceled it"
        self._owner.release(self, reusable=reusable)
        exchange.on_answer(head, body, self.received_ns)

    def _say(self) -> bool:
        """Notify the exchange of a first packet that was not the whole answer; return whether
        the exchange continues.
        """
        exchange, parts, received_ns = self.exchange, self._unsaid, self.received_ns
        self._unsaid = None
        if exchange is None or not self._status:
            return exchange is not None
        try:
            exchange.on_head(self._status, self._headers, received_ns)
            for part in parts or ():
                if self.exchange is exchange:
                    exchange.on_body(part, received_ns)
        except AgentFailure as failure:
            self._owner.failed(self, failure, received_ns)
        except Exception as error:
            self._owner.failed(self, fault_of(error), received_ns)
            raise
        return self.exchange is exchange

    def _read_chunks(self, packets: list[Packet]) -> int:
        """Pass on packets up to the first that is not exactly one chunk; return their number.

        The parser is between two chunks, and so it stays.
        """
        parts: list[Packet] = []
        size, left = 0, self._left
        for received_ns, data in packets:
            written, _, rest = data.partition(_LINE_END)
            length = len(rest) - 2
            if not 0 < length <= left or written != b"%x" % length or rest[-2:] != _LINE_END:
                break
            parts.append((received_ns, rest[:-2]))
            left -= length
            size += len(data)
        count = len(parts)
        exchange = self.exchange
        assert exchange is not None, "bytes are only read for an exchange"
        self._owner.received_bytes += size
        self._left = left
        self._bare_bytes = place = 0
        try:
            while place < count and self.exchange is exchange:
                place = exchange.take(parts, place)
                if place < count:
                    self.received_ns, part = parts[place]
                    exchange.on_body(part, self.received_ns)
                    place += 1
        except AgentFailure as failure:
            self._owner.failed(self, failure, self.received_ns)
        except Exception as error:
            self._owner.failed(self, fault_of(error), self.received_ns)
            raise
        return count

    def _end(self, *, reusable: bool) -> None:
        """Handle the complete answer."""
        exchange, received_ns = self.exchange, self.received_ns
        if exchange is not None:
            self._owner.release(self, reusable=reusable)
            exchange.on_end(received_ns)

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        if self.transport is None:
            return  # the handshake failed: whoever opens the connection is told by an exception
        owner = self._owner
        now_ns = perf_counter_ns()
        self.read_kept()
        if self.exchange is not None:
            if self.head_done and exc is None and not self._delimited and self._is_closed_whole():
                self._end(reusable=False)
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

    def _is_closed_whole(self) -> bool:
        """Return whether the end of the connection ends the body: over TLS only with a closure
        alert.
        """
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
        """Return whether the request was sent completely: a server may refuse one before reading
        it.
        """
        return self.transport is not None and not self.transport.get_write_buffer_size()

    def _broken(self, error: Exception) -> None:
        """Return the failure for an error of the parser, or of its callbacks."""
        if self._unsaid is not None and not self._say():
            return
        owner = self._owner
        cause = error.__context__
        if isinstance(cause, AgentFailure):
            owner.failed(self, cause, self.received_ns)
        elif self._complete:
            # Bytes after the end: the answer is whole, but the connection is of no more use.
            self._end(reusable=False)
        elif isinstance(error, HttpParserCallbackError) and cause is not None:
            owner.failed(self, fault_of(cause), self.received_ns)
            raise cause
        elif self.head_done:
            owner.failed(self, broken_body(owner.place), self.received_ns)
        else:
            owner.failed(self, not_http(owner.place), self.received_ns)
