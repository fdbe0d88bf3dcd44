"""Connections to one origin: reuses the most recently used idle one, else opens a new one.

There are no timers per request. One periodic check covers in-flight requests, oldest first; one
timer closes connections that have been idle for too long.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from itertools import chain

from agentbench_tui.http.client import KEEP_ALIVE_S, Timeouts, timed_out
from agentbench_tui.http.connection import Connection
from agentbench_tui.http.exchange import Exchange, KnownHeads
from agentbench_tui.http.failures import cannot_connect, no_such_host, tls_failed
from agentbench_tui.http.inbox import Inbox
from agentbench_tui.http.wire import Origin
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.model.clock import perf_counter_ns

_SWEEPS_PER_LIMIT = 20
_SWEEP_S = (0.005, 0.25)
"""Least and most time between two sweeps: a time limit is late by at most this and a 20th."""
_NEXT_ADDRESS_S = 1.0
"""Time limit for an address if the host has others (such as unreachable IPv6)."""

_LOOPS_HANDSHAKE_S = 86_400.0
"""The event loop's own limit, which must not precede `Timeouts.connect`."""


class Pool:
    """Sends requests to one origin and calls back their exchanges.

    Everything happens on the loop's thread. A request whose *reused* connection is lost within a
    second of sending, before any byte of the answer, is sent once more on a new one, a POST too:
    most likely the server had closed an idle connection, and so never saw the request. One that
    takes a request and dies within that second gets it twice; `resent` counts both. Nothing else
    is ever sent twice.
    """

    def __init__(
        self,
        origin: Origin,
        loop: asyncio.AbstractEventLoop,
        *,
        timeouts: Timeouts,
        max_body_bytes: int,
        tls: ssl.SSLContext | None = None,
        keep_alive_s: float = KEEP_ALIVE_S,
        on_resent: Callable[[Exchange], None] | None = None,
    ) -> None:
        """`tls` verifies https origins; by default the system's trust store. `on_resent` is called
        with each exchange whose request is sent again.
        """
        self.origin = origin
        self.place = origin.place
        self.url = origin.url
        self.max_body_bytes = max_body_bytes
        self.opened = 0
        """Connections opened so far."""
        self.resent = 0
        """Requests that were sent again because a reused connection was lost at once."""
        self.received_bytes = 0
        self.sent_bytes = 0
        self.inbox = Inbox(loop)
        self.heads = KnownHeads()
        self._loop = loop
        self._timeouts = timeouts
        self._limits = _Limits(timeouts)
        self._keep_alive_ns = int(keep_alive_s * 1e9)
        self._tls = tls
        self._on_resent = on_resent
        self._addresses: asyncio.Task[list[str] | OSError] | None = None
        self._in_flight: dict[Exchange, Connection] = {}
        self._idle: dict[Connection, None] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._sweeping: asyncio.TimerHandle | None = None
        self._reaping: asyncio.TimerHandle | None = None
        self._open = 0
        self._all_gone: asyncio.Future[None] | None = None

    @property
    def in_flight(self) -> int:
        """Return the number of exchanges that have neither ended nor failed."""
        return len(self._in_flight)

    def send(self, wire: bytes, exchange: Exchange, *, can_wait: bool = False) -> bool:
        """Send a whole request (`http.wire`) and return immediately; `exchange` is called back.

        `exchange` must not be in flight already. True when a connection is opened for it.
        From within a callback of another exchange, it goes out when what was received is read.
        `can_wait`: what is received is passed on in the loop's next turn, and parts of a body that
        is streamed in events up to about half a second later (`inbox.KEPT_NS`), several at once,
        all with the times at which they were received.
        """
        now_ns = perf_counter_ns()
        self.sent_bytes += len(wire)
        if self._sweeping is None and self._limits.shortest_ns is not None:
            self._sweeping = self._loop.call_later(self._limits.sweep_s, self._sweep)
        if self._idle:
            connection, _ = self._idle.popitem()
            if now_ns - connection.received_ns < self._keep_alive_ns:
                self._in_flight[exchange] = connection
                connection.begin(exchange, wire, now_ns, can_wait=can_wait)
                return False
            connection.abandon()
        self._connect(exchange, wire, now_ns, can_wait=can_wait)
        return True

    def cancel(self, exchange: Exchange) -> None:
        """Close the connection of an exchange without calling it back."""
        connection = self._in_flight.pop(exchange, None)
        if connection is not None:
            connection.abandon()

    def close(self) -> None:
        """Close every connection and drop in-flight requests, without callbacks."""
        for connection in chain(self._in_flight.values(), self._idle):
            connection.abandon()
        self._in_flight.clear()
        self._idle.clear()
        self.inbox.close()
        for timer in (self._sweeping, self._reaping):
            if timer is not None:
                timer.cancel()
        self._sweeping = self._reaping = None
        if self._addresses is not None:
            self._addresses.cancel()
            self._addresses = None

    async def wait_closed(self) -> None:
        """Wait, after `close`, until the sockets are closed too."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._open:
            self._all_gone = self._loop.create_future()
            await self._all_gone

    # What connections call.

    def release(self, connection: Connection, *, reusable: bool) -> None:
        """See `Owner.release`."""
        exchange = connection.exchange
        if exchange is None:
            return
        del self._in_flight[exchange]
        if reusable:
            connection.exchange = None
            self._idle[connection] = None
            if self._reaping is None:
                self._reaping = self._loop.call_later(self._keep_alive_ns / 1e9, self._reap)
        else:
            connection.abandon()

    def failed(self, connection: Connection, failure: AgentFailure, at_ns: int) -> None:
        """See `Owner.failed`."""
        exchange = connection.exchange
        if exchange is None:
            return
        del self._in_flight[exchange]
        connection.abandon()
        exchange.on_failure(failure, at_ns)

    def resend(self, connection: Connection) -> None:
        """See `Owner.resend`."""
        exchange = connection.exchange
        assert exchange is not None, "only what is in flight is sent again"
        self.resent += 1
        self.sent_bytes += len(connection.wire)
        connection.exchange = None
        if self._on_resent is not None:
            self._on_resent(exchange)
        self._connect(exchange, connection.wire, connection.sent_ns, can_wait=connection.can_wait)

    def made(self) -> None:
        """See `Owner.made`."""
        self.opened += 1
        self._open += 1

    def gone(self, connection: Connection) -> None:
        """See `Owner.gone`."""
        self._idle.pop(connection, None)
        self._open -= 1
        if self._all_gone is not None and not self._open and not self._all_gone.done():
            self._all_gone.set_result(None)

    # Opening.

    def _connect(self, exchange: Exchange, wire: bytes, sent_ns: int, *, can_wait: bool) -> None:
        connection = Connection(self, exchange, wire, sent_ns, can_wait=can_wait)
        self._in_flight[exchange] = connection
        task = connection.opening = self._loop.create_task(self._opening(connection))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _opening(self, connection: Connection) -> None:
        failure: AgentFailure
        try:
            await self._open_to_host(connection)
            return
        except socket.gaierror:
            failure = no_such_host(self.place)
        except ssl.SSLError as error:
            failure = tls_failed(self.place, error)
        except OSError as error:
            failure = cannot_connect(self.place, error)
        except Exception as error:
            # Not foreseen: whoever waits must not wait for ever, and the loop reports the fault.
            fault = f"{type(error).__name__} while connecting to {self.place}"
            self.failed(connection, AgentFailure(FailureKind.HARNESS, fault), perf_counter_ns())
            raise
        finally:
            connection.opening = None
        self.failed(connection, failure, perf_counter_ns())

    async def _open_to_host(self, connection: Connection) -> None:
        """Connect to the first address that answers; the next connection tries it first."""
        if self._addresses is None:
            self._addresses = self._loop.create_task(self._resolve())
        resolving = self._addresses
        await asyncio.wait((resolving,))
        addresses = resolving.result()
        if isinstance(addresses, OSError):
            self._addresses = None
            # A new one: a variable of its own traceback would hold it in a cycle.
            raise type(addresses)(*addresses.args)
        *others, last = addresses
        for address in others:
            with suppress(OSError):  # a TimeoutError is one
                async with asyncio.timeout(_NEXT_ADDRESS_S):
                    reached = await self._reach(address, connection)
                break
        else:
            address = last
            try:
                reached = await self._reach(address, connection)
            except OSError:
                self._addresses = None
                raise
        addresses.sort(key=lambda one: one != address)
        if reached is not None:
            await self._shake_hands(reached, connection)

    async def _reach(self, address: str, connection: Connection) -> socket.socket | None:
        """Connect to an address; for TLS, a bare socket, since the duration of a handshake is no
        reason to try another address.
        """
        port = self.origin.port
        if self.origin.scheme == "http":
            await self._loop.create_connection(lambda: connection, address, port)
            return None
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        reached = socket.socket(family, socket.SOCK_STREAM)
        try:
            reached.setblocking(False)
            await self._loop.sock_connect(reached, (address, port))
        except BaseException:
            reached.close()
            raise
        return reached

    async def _shake_hands(self, reached: socket.socket, connection: Connection) -> None:
        if self._tls is None:
            self._tls = ssl.create_default_context()
        try:
            await self._loop.create_connection(
                lambda: connection,
                sock=reached,
                ssl=self._tls,
                server_hostname=self.origin.host,
                ssl_handshake_timeout=_LOOPS_HANDSHAKE_S,
            )
        except BaseException as error:
            with suppress(OSError):  # the loop may have closed it
                reached.close()
            if isinstance(error, ConnectionError):  # its text is empty
                raise ssl.SSLError(0, "the connection was closed in the handshake") from None
            raise

    async def _resolve(self) -> list[str] | OSError:
        """Return addresses of the host in the system's order of preference, or the error.

        The error is given rather than raised: several connections wait for one look-up.
        """
        host, port = self.origin.host, self.origin.port
        if _is_address(host):
            return [host]
        try:
            found = await self._loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            return error
        except UnicodeError as error:  # a label that is empty or too long
            return OSError(f"{host[:80]!r} is not a host name: {error}")
        return list(dict.fromkeys(str(address[0]) for *_, address in found))

    # Timers.

    def _sweep(self) -> None:
        """Fail requests over a limit; continue while anything is in flight."""
        self._sweeping = None
        shortest_ns = self._limits.shortest_ns
        if not self._in_flight or shortest_ns is None:
            return
        now_ns = perf_counter_ns()
        overdue = []
        for connection in self._in_flight.values():
            if now_ns - connection.sent_ns < shortest_ns:
                break  # in the order of sending: none of the later ones is over a limit either
            if self._limits.passed(connection, now_ns) is not None:
                overdue.append(connection)
        for connection in overdue:
            connection.read_kept()  # which may end it, and begin the next
            which = None if connection.exchange is None else self._limits.passed(connection, now_ns)
            if which is not None:
                self.failed(connection, timed_out(*which, self.url), now_ns)
        if self._in_flight and self._sweeping is None:
            self._sweeping = self._loop.call_later(self._limits.sweep_s, self._sweep)

    def _reap(self) -> None:
        """Close connections that have been idle for too long; continue while any is idle."""
        self._reaping = None
        oldest_allowed = perf_counter_ns() - self._keep_alive_ns
        expired = [each for each in self._idle if each.received_ns <= oldest_allowed]
        for connection in expired:
            del self._idle[connection]
            connection.abandon()
        if self._idle:
            first = min(each.received_ns for each in self._idle)
            wait_s = max(0.0, (first - oldest_allowed) / 1e9)
            self._reaping = self._loop.call_later(wait_s, self._reap)


def _is_address(host: str) -> bool:
    """Return whether no lookup is needed, which would start a thread."""
    with suppress(OSError):
        return bool(socket.inet_pton(socket.AF_INET6 if ":" in host else socket.AF_INET, host))
    return False


class _Limits:
    """Time limits in nanoseconds, and the interval for checking them."""

    __slots__ = ("_limits", "shortest_ns", "sweep_s")

    def __init__(self, timeouts: Timeouts) -> None:
        self._limits = timeouts
        given = (timeouts.connect, timeouts.first_byte, timeouts.idle, timeouts.total)
        shortest = min((limit for limit in given if limit is not None), default=None)
        self.shortest_ns = None if shortest is None else int(shortest * 1e9)
        least, most = _SWEEP_S
        self.sweep_s = min(most, max(least, (shortest or most) / _SWEEPS_PER_LIMIT))

    def passed(self, connection: Connection, now_ns: int) -> tuple[str, float] | None:
        """Return name and seconds of the limit that the connection exceeded first; None if none."""
        limits = self._limits
        since_ns = connection.sent_ns
        if connection.transport is None:
            name, limit = "connect", limits.connect
        elif not connection.head_done:
            name, limit = "first byte", limits.first_byte
        else:
            name, limit = "idle", limits.idle
            since_ns = connection.received_ns
        total = limits.total
        over = None if limit is None else now_ns - since_ns - int(limit * 1e9)
        over_total = None if total is None else now_ns - connection.sent_ns - int(total * 1e9)
        if total is not None and over_total is not None and over_total >= max(0, over or 0):
            return "total", total
        return (name, limit) if limit is not None and over is not None and over >= 0 else None
