"""One connection of a client, and the matching connection to the target."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Protocol, cast

from agentbench_tui.model.clock import perf_counter_ns
from agentbench_tui.stress.faults.exchanges import Exchanges
from agentbench_tui.stress.faults.fault import BlackHole, Cut, Refuse, RequestKind, Reset
from agentbench_tui.stress.faults.pipe import End, HeldBytes, Pipe

if TYPE_CHECKING:
    from agentbench_tui.load.schedule.agenda import Agenda
    from agentbench_tui.stress.faults.timetable import RunningFault, Timetable

_NO_LINGER = struct.pack("ii", 1, 0)
_SENT_AFTER_NS = 1_000_000
"""Until the first look whether everything before a reset has left; the wait doubles."""
_SENT_AT_LAST_NS = 100_000_000


class Proxy(Protocol):
    """State shared by all connections."""

    agenda: Agenda
    held_in_all: HeldBytes
    timetable: Timetable
    http: bool

    async def connect(self, target: asyncio.Protocol, /) -> None:
        """Connect the side to the target. Raises OSError, TimeoutError."""

    def over(self, relay: Relay, /) -> None:
        """Remove the connection: both ends are closed."""


class Relay:
    """Both sides and the pipes between them; `open` connects them."""

    def __init__(self, proxy: Proxy) -> None:
        self.agenda = proxy.agenda
        self.held_in_all = proxy.held_in_all
        self._proxy = proxy
        self._hit: dict[RunningFault, bool] = {}
        self.to_target = Pipe(self, "to_target")
        self.to_client = Pipe(self, "to_client")
        self._client = Side(self, self.to_target, self.to_client)
        self._target = Side(self, self.to_client, self.to_target)
        self._silent = False
        """A black hole took something."""
        self._connecting: asyncio.Future[None] | None = None
        self._exchanges: Exchanges | None = None
        if proxy.http:
            exchanges = self._exchanges = Exchanges(
                proxy.timetable, self.to_target, self.to_client, self._client.hold
            )
            self._client.feed = exchanges.from_client
            self._client.feed_end = exchanges.end_of_client
            self._target.feed = exchanges.from_target
            self._target.feed_end = exchanges.end_of_target

    @property
    def requests(self) -> int:
        """Number of request heads seen."""
        return 0 if self._exchanges is None else self._exchanges.requests

    async def open(self, accepted: socket.socket) -> bool:
        """Connect the client to the target; return False if the target accepts no connection."""
        loop = asyncio.get_running_loop()
        try:
            if self._client.unwanted:  # a reset came first
                set_reset(accepted)
                accepted.close()
                return True
            with suppress(OSError):  # it has left already
                await loop.connect_accepted_socket(lambda: self._client, accepted)
            if self._silent or not self._client.is_open():
                return True
            self._connecting = asyncio.ensure_future(self._proxy.connect(self._target))
            await self._connecting
        except (OSError, TimeoutError):
            self.reset()
            return False
        except asyncio.CancelledError:  # nobody needs it any more
            self._target.give_up()
        finally:
            self._client.end_unless_made()
            self._target.end_unless_made()
        return True

    def begin(self) -> bool:
        """Apply the active faults, before `open`; return False if a reset has ended it."""
        if self._is_hit_by(Reset):
            return False
        self.refresh()
        if self._is_hit_by(BlackHole):
            self.lost_bytes()
        return True

    def refresh(self) -> None:
        """Apply a change of the active faults."""
        hitting = [running for running in self._proxy.timetable.on if self._is_hit(running)]
        if any(isinstance(running.kind, Reset) for running in hitting):
            self.reset()
            return
        self.to_target.set_faults(hitting)
        self.to_client.set_faults(hitting)

    def reset(self) -> None:
        """End both sides with RST immediately."""
        self._stop()
        self._client.reset()
        self._target.reset()

    def close(self) -> None:
        """Close both sides in an orderly way; buffered data are still sent."""
        self._stop()
        self._client.close()
        self._target.close()

    # What the pipes call.

    def end(self, pipe: Pipe, end: End, /) -> None:
        """See `pipe.Owner`."""
        if end == "close":
            self.close()
        elif end == "reset":
            self._drop()
            self._reset_when_sent(self._sink(pipe))
        else:
            self._sink(pipe).end()
            if self.to_target.ended and self.to_client.ended:
                self.close()

    def hold_back(self, pipe: Pipe, held: bool, /) -> None:  # a switch's position
        """See `pipe.Owner`."""
        source = self._client if pipe is self.to_target else self._target
        source.hold(held, pipe)

    def lost_bytes(self) -> None:
        """See `pipe.Owner`: nothing passes until the connection ends."""
        self._silent = True
        self._drop()
        for side in (self._client, self._target):
            side.feed = _ignore
        self._client.feed_end = self.close
        self._target.feed_end = _nothing

    # What the sides call.

    def lost(self, side: Side, error: Exception | None) -> None:
        """The side is closed, by a connection error or by the proxy."""
        other = self._target if side is self._client else self._client
        if self._connecting is not None and side is self._client:
            self._connecting.cancel()
        if error is None or self._silent:
            if side is self._client:
                other.close()
        elif side.out.ended:
            self.reset()
        else:
            side.into.drop()
            side.out.put_end("reset")
        if self._client.gone and self._target.gone:
            self._drop()
            self._proxy.over(self)

    def _sink(self, pipe: Pipe) -> Side:
        return self._target if pipe is self.to_target else self._client

    def _stop(self) -> None:
        self._drop()
        if self._connecting is not None:
            self._connecting.cancel()

    def _drop(self) -> None:
        self.to_target.drop()
        self.to_client.drop()

    def _reset_when_sent(self, sink: Side, wait_ns: int = _SENT_AFTER_NS) -> None:
        """Reset once all data are sent, since a reset would discard them."""

        def look(_due_ns: int) -> None:
            if sink.has_sent_all():
                self.reset()
            else:
                self._reset_when_sent(sink, min(2 * wait_ns, _SENT_AT_LAST_NS))

        self.agenda.at(perf_counter_ns() + wait_ns, look)

    def _is_hit_by(self, kind: type[BlackHole | Reset]) -> bool:
        return any(
            isinstance(running.kind, kind) and self._is_hit(running)
            for running in self._proxy.timetable.on
        )

    def _is_hit(self, running: RunningFault) -> bool:
        """Return whether the fault affects this connection: drawn once for each; request faults
        affect none.
        """
        hit = self._hit.get(running)
        if hit is None:
            is_of_connections = not isinstance(running.kind, RequestKind | Refuse)
            hit = self._hit[running] = is_of_connections and running.hits()
            if hit and not isinstance(running.kind, Cut):
                running.applied += 1
        return hit


class Side(asyncio.Protocol):
    """The connection to the client, or to the target."""

    def __init__(self, relay: Relay, out: Pipe, into: Pipe) -> None:
        self.out = out
        """Takes what comes from this side."""
        self.into = into
        self.gone = False
        self.feed: Callable[[bytes], None] = out.put
        self.feed_end: Callable[[], None] = partial(out.put_end, "half")
        self._relay = relay
        self._transport: asyncio.Transport | None = None
        self._holders: set[Pipe | None] = set()
        self.unwanted = False
        """It was ended before it was made."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        self._transport = cast("asyncio.Transport", transport)
        if self.unwanted:
            # Not at once: uvloop would not say that it is lost.
            asyncio.get_running_loop().call_soon(self.reset)
            return
        if self._holders:
            self._transport.pause_reading()
        self.into.open(self._transport)

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        self.feed(data)

    def eof_received(self) -> bool:
        """See `asyncio.Protocol`: the other direction continues."""
        self.feed_end()
        return True

    def pause_writing(self) -> None:
        """See `asyncio.Protocol`."""
        self.into.fill()

    def resume_writing(self) -> None:
        """See `asyncio.Protocol`."""
        self.into.drain()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        if not self.gone:
            self.gone = True
            self._relay.lost(self, exc)

    def is_open(self) -> bool:
        """Return whether it is connected and not being closed."""
        return self._transport is not None and not self.gone and not self.unwanted

    def give_up(self) -> None:
        """Close the connection if the task that opened it was canceled: uvloop then closes a new
        connection without reporting its loss.
        """
        if self._transport is None:
            self.unwanted = True
        elif not self.gone:
            self._transport.abort()
            self.connection_lost(None)

    def end_unless_made(self) -> None:
        """Cancel the connection if it is not established yet."""
        if self._transport is None and not self.gone:
            self.connection_lost(None)

    def hold(self, held: bool, holder: Pipe | None = None) -> None:  # a switch
        """Pause reading, or resume when no other holder remains."""
        was_held = bool(self._holders)
        (self._holders.add if held else self._holders.discard)(holder)
        transport = self._transport
        if transport is None or transport.is_closing() or was_held == bool(self._holders):
            return
        if self._holders:
            transport.pause_reading()
        else:
            transport.resume_reading()

    def end(self) -> None:
        """Stop sending; incoming data are still read."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write_eof()

    def has_sent_all(self) -> bool:
        """Return whether everything has been sent, as far as can be observed here."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return True
        return not transport.get_write_buffer_size()

    def close(self) -> None:
        """Close in an orderly way, after everything that was written."""
        if self._transport is None:
            self.unwanted = True
        elif not self._transport.is_closing():
            self._transport.close()

    def reset(self) -> None:
        """Reset with RST immediately, even if it was closing and has unsent data."""
        if self._transport is None:
            self.unwanted = True
        elif not self.gone:
            # A transport may have closed already, and say so only in a later turn of the loop;
            # uvloop's has no socket any more by then.
            connection = self._transport.get_extra_info("socket")
            if connection is not None:
                with suppress(OSError, ValueError):
                    set_reset(connection)
            self._transport.abort()


def set_reset(connection: socket.socket) -> None:
    """Make the connection close with RST."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)


def _ignore(_data: bytes) -> None:
    """Discard incoming data."""


def _nothing() -> None:
    """Ignore the end of incoming data."""
