"""Packets of streams that are received now and read later, many of one stream in one go.

A token a packet is the worst there is for a sender: what reading one takes, with all of it gone
from the processor's caches since the one before, is several times what it takes amid others. So
packets that cannot be the end of an answer are kept, each with the time it was received, until the
stream's next packet that may be, until there are `MOST_HELD`, or for `HELD_NS`.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from agentbench_tui.model.clock import perf_counter_ns

MOST_HELD = 32
"""Packets of a stream: most of what there is to gain, and reading them, which takes less than a
tenth of a millisecond, keeps nobody for long."""
MOST_HELD_BYTES = 4096
"""A longer packet is read at once."""
HELD_NS = 500_000_000
_TURN_NS = 300_000
"""Reading what is overdue goes on for so long; then what is to be sent or received comes first."""
_PAUSE_S = 0.001
_LEAST_WAIT_S = 0.05
"""Between looks at what is overdue: packets are held for up to so much longer."""


class Holder(Protocol):
    """A connection that holds packets; must be hashable by identity."""

    def read_held(self) -> None:
        """Read them, and tell `Overdue` that they are read."""


class Overdue:
    """Sees to it that no packet is held for longer than it may, by one timer for all streams."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._since_ns: dict[Holder, int] = {}
        """When the first packet of each was received, in that order."""
        self._timer: asyncio.TimerHandle | None = None

    def holds(self, holder: Holder, since_ns: int) -> None:
        """It holds its first packet, received then."""
        self._since_ns[holder] = since_ns
        if self._timer is None:
            self._timer = self._loop.call_later(HELD_NS / 1e9, self._read)

    def read(self, holder: Holder) -> None:
        """It holds nothing any more."""
        self._since_ns.pop(holder, None)

    def close(self) -> None:
        """Let nobody read anything from now on."""
        self._since_ns.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _read(self) -> None:
        self._timer = None
        began_ns = perf_counter_ns()
        wait_s: float | None = None
        while self._since_ns and wait_s is None:
            holder, since_ns = next(iter(self._since_ns.items()))
            left_ns = since_ns + HELD_NS - began_ns
            if left_ns > 0:
                wait_s = max(left_ns / 1e9, _LEAST_WAIT_S)
            elif perf_counter_ns() - began_ns > _TURN_NS:
                wait_s = _PAUSE_S
            else:
                self._read_one(holder)
        if wait_s is not None and self._timer is None:
            self._timer = self._loop.call_later(wait_s, self._read)

    def _read_one(self, holder: Holder) -> None:
        self.read(holder)
        try:
            holder.read_held()
        except Exception as error:  # noqa: BLE001  # one stream's fault is not the others'
            # As it is told where a packet is read at once.
            self._loop.call_exception_handler(
                {"message": "while a packet that was held was read", "exception": error}
            )
