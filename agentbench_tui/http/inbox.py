"""Orders reads and writes of connections: each turn first times everything received, then reads,
then writes.

An answer is as old as its packet when the loop hands it over. A loop that reads each packet at once
gives the last of 200 streams, whose tokens come in the same moment, a time that is late by the
reading of the other 199. So a connection notes the time of a packet and keeps it, and the loop
reads what is kept between two looks at the sockets, for at most `TURN_NS` at a time.

A token a packet is also the worst there is for a sender: what reading one takes, with all of it
gone from the processor's caches since the one before, is several times what it takes amid others.
So packets that cannot be the end of an answer are kept until the stream's next packet that may be,
until there are `MOST_KEPT`, or for `KEPT_NS`.

Requests that are sent while packets are read go out when the reading is over, one right after the
other. Their answers then find the loop waiting for them, and a server that sleeps is woken once:
on a virtual machine that takes as long as everything else there is to do for a small request.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

from agentbench_tui.model.clock import perf_counter_ns

MOST_KEPT = 32
"""Maximum packets per stream that are parsed together: enough for most of the gain, and short
enough (less than a tenth of a millisecond) not to delay other streams.
"""
MOST_KEPT_BYTES = 4096
"""A longer packet is read in the next turn."""
KEPT_NS = 500_000_000
TURN_NS = 50_000
"""Maximum parsing time per turn; then sending and receiving come first."""
_LEAST_WAIT_S = 0.05
"""Interval between checks for overdue packets, which may wait that much longer."""


class Reader(Protocol):
    """A connection that keeps packets; must be hashable by identity."""

    def read_kept(self) -> None:
        """Parse kept packets, if any, after `Inbox.forget`."""


class Writer(Protocol):
    """A connection with a request to send."""

    def write_request(self) -> None:
        """Write the request now."""


class Inbox:
    """Makes connections parse waiting packets: ends of answers first, tokens when there is time."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._kept_since_ns: dict[Reader, int] = {}
        """When the first packet of each was received, in that order."""
        self._urgent: deque[Reader] = deque()
        self._full: deque[Reader] = deque()
        """Readers with many tokens, and overdue ones, without urgency."""
        self._next_turn: asyncio.Handle | None = None
        self.writers: deque[Writer] | None = None
        """While packets are parsed, the writers that follow; else None."""
        self._timer: asyncio.TimerHandle | None = None

    def keep(self, reader: Reader, since_ns: int) -> None:
        """Register a reader's first kept packet, received at that time, which may wait."""
        self._kept_since_ns[reader] = since_ns
        if self._timer is None:
            self._timer = self._loop.call_later(KEPT_NS / 1e9, self._take_overdue)

    def read_next(self, reader: Reader) -> None:
        """Make it parse in the next turn, before everything that may wait."""
        self._urgent.append(reader)
        if self._next_turn is None:
            self._next_turn = self._loop.call_soon(self._read)

    def read_soon(self, reader: Reader) -> None:
        """Make it read as soon as nothing else is pending."""
        self._full.append(reader)
        if self._next_turn is None:
            self._next_turn = self._loop.call_soon(self._read)

    def forget(self, reader: Reader) -> None:
        """Remove a reader that keeps nothing any more."""
        self._kept_since_ns.pop(reader, None)

    def close(self) -> None:
        """Stop all reading."""
        self._kept_since_ns.clear()
        self._urgent.clear()
        self._full.clear()
        for handle in (self._timer, self._next_turn):
            if handle is not None:
                handle.cancel()
        self._timer = self._next_turn = None

    def _read(self) -> None:
        urgent, full = self._urgent, self._full
        writers = self.writers = deque()
        until_ns = perf_counter_ns() + TURN_NS
        try:
            while urgent:
                urgent.popleft().read_kept()
                if perf_counter_ns() > until_ns:
                    break
            # At least one: what a stream keeps must not grow while ends of others come and come.
            while full:
                full.popleft().read_kept()
                if perf_counter_ns() > until_ns:
                    break
        except Exception as error:  # noqa: BLE001  # one stream's fault is not the others'
            # As it is told where a packet is read at once.
            self._loop.call_exception_handler(
                {"message": "while a packet that was kept was read", "exception": error}
            )
        finally:
            self.writers = None
            more = urgent or full
            # Before anything is written: whatever that raises must not stop the reading for good.
            self._next_turn = self._loop.call_soon(self._read) if more else None
            while writers:
                writers.popleft().write_request()

    def _take_overdue(self) -> None:
        self._timer = None
        oldest_ns = perf_counter_ns() - KEPT_NS
        for reader, since_ns in list(self._kept_since_ns.items()):
            if since_ns > oldest_ns:
                wait_s = max((since_ns - oldest_ns) / 1e9, _LEAST_WAIT_S)
                self._timer = self._loop.call_later(wait_s, self._take_overdue)
                break
            self.forget(reader)
            self.read_soon(reader)
