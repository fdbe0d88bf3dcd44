"""One direction of a connection: passes bytes on, later or fewer of them where faults
require it.

Without a fault bytes go straight through. What is held is bounded: the source is not read while
the sink takes nothing or too much is held.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from agentbench_tui.model.clock import perf_counter_ns
from agentbench_tui.stress.faults.fault import (
    Bandwidth,
    BlackHole,
    Cut,
    Jitter,
    Latency,
    SlowHeaders,
    Stall,
)

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

    from agentbench_tui.load.schedule.agenda import Agenda
    from agentbench_tui.stress.faults.timetable import RunningFault

MOST_HELD_BYTES = 1 << 20
"""Buffer limit of one direction of one connection; a single read may exceed it by 256 KiB."""
MOST_HELD_IN_ALL = 256 << 20
"""Total buffer size above which each direction holds at most `ENOUGH_HELD_BYTES`."""
ENOUGH_HELD_BYTES = 64 << 10
"""Reading resumes when less is held."""
MOST_HELD_ITEMS = 4096
"""However small they are."""
PIECE_NS = 5_000_000
"""A connection of limited bandwidth passes at once what it can carry in this time."""
_LATE_NS = 50_000_000
"""Delay of a late wake-up that a connection of limited bandwidth may catch up."""

End = Literal["half", "close", "reset"]
"""How it ends: this direction alone; the whole connection in an orderly way; by RST."""


class Owner(Protocol):
    """The connection, as seen by its pipes."""

    agenda: Agenda
    held_in_all: HeldBytes

    def end(self, pipe: Pipe, end: End, /) -> None:
        """Handle the end: everything before it has been handed to the sink."""

    def hold_back(self, pipe: Pipe, held: bool, /) -> None:  # a switch's position
        """Pause or resume reading the pipe's source."""

    def lost_bytes(self) -> None:
        """Handle bytes swallowed by a black hole."""


class HeldBytes:
    """Buffered bytes of all connections together."""

    def __init__(self) -> None:
        self.bytes = 0


@dataclass(slots=True)
class _Item:
    data: memoryview | bytes
    arrived_ns: int
    delays: tuple[tuple[RunningFault, int], ...]
    end: End | None = None
    slow: RunningFault | None = None
    turn_ns: int = 0
    """Time of the next byte, if it is slow."""

    def due_ns(self) -> int:
        return self.arrived_ns + sum(delay for fault, delay in self.delays if fault.on)


class Pipe:
    """Passes bytes from one end of a connection to the other."""

    def __init__(self, owner: Owner, direction: Literal["to_target", "to_client"]) -> None:
        self.direction: Literal["to_target", "to_client"] = direction
        self.passed_bytes = 0
        self.ended = False
        """Nothing passes any more."""
        self._owner = owner
        self._sink: asyncio.Transport | None = None
        self._full = False
        self._holding_back = False
        self._queue: deque[_Item] = deque()
        self._held_bytes = 0
        self._direct = True
        """Whether bytes may pass without buffering, when none are held."""
        self._delays: list[RunningFault] = []
        self._lines: list[RunningFault] = []
        self._cuts: list[RunningFault] = []
        self._cut_left: dict[RunningFault, int] = {}
        self._stalled = False
        self._swallowing = False
        self._reserved: tuple[int, int] | None = None
        """Bytes of the next piece, and when the lines have carried it."""
        self._armed_ns = 0
        """The next wake-up, 0 for none."""

    def open(self, sink: asyncio.Transport) -> None:
        """Connect the destination."""
        self._sink = sink
        self._go_on()

    def set_faults(self, faults: Sequence[RunningFault]) -> None:
        """Set the active faults that affect this connection."""
        here = [fault for fault in faults if _is_for(fault, self.direction)]
        lines = [fault for fault in here if isinstance(fault.kind, Bandwidth)]
        if lines != self._lines:
            self._lines, self._reserved = lines, None
        self._delays = [fault for fault in here if isinstance(fault.kind, Latency | Jitter)]
        self._cuts = [fault for fault in here if isinstance(fault.kind, Cut)]
        self._stalled = any(isinstance(fault.kind, Stall) for fault in here)
        self._swallowing = any(isinstance(fault.kind, BlackHole) for fault in here)
        self._direct = not here
        self._go_on()

    def put(self, data: bytes, slow: RunningFault | None = None) -> None:
        """Add bytes to pass, one at a time if `slow`."""
        if self.ended:
            return
        if self._direct and not self._queue and slow is None and self._sink is not None:
            self.passed_bytes += len(data)
            self._sink.write(data)
            return
        self._hold(_Item(memoryview(data), perf_counter_ns(), self._drawn(), slow=slow))

    def put_end(self, end: End) -> None:
        """Pass the buffered bytes, then the end."""
        if not self.ended:
            self._hold(_Item(b"", perf_counter_ns(), self._drawn(), end))

    def fill(self) -> None:
        """Stop passing because the destination is full."""
        self._full = True
        self._balance()

    def drain(self) -> None:
        """Resume: the sink accepts more."""
        self._full = False
        self._go_on()

    def drop(self) -> None:
        """Discard buffered bytes and everything that follows."""
        self.ended = True
        self._queue.clear()
        self._add_held(-self._held_bytes)
        self._full = False
        self._balance()

    def _drawn(self) -> tuple[tuple[RunningFault, int], ...]:
        return tuple((fault, _delay_ns(fault)) for fault in self._delays)

    def _hold(self, item: _Item) -> None:
        self._queue.append(item)
        self._add_held(len(item.data))
        if len(self._queue) == 1:
            self._go_on()
        else:
            self._balance()

    def _add_held(self, count: int) -> None:
        self._held_bytes += count
        self._owner.held_in_all.bytes += count

    def _go_on(self) -> None:
        """Pass what may pass now, and schedule the rest."""
        if self._swallowing and self._queue:
            self.drop()
            self._owner.lost_bytes()
            return
        while self._queue and self._sink is not None and not self._full and not self._stalled:
            now_ns = perf_counter_ns()
            due_ns = self._pass_some(self._queue[0], now_ns)
            if due_ns > now_ns:
                self._arm(due_ns)
                break
        self._balance()

    def _pass_some(self, item: _Item, now_ns: int) -> int:
        """Pass as much of the item as is allowed; return the time to continue, 0 for
        immediately.
        """
        due_ns = item.due_ns()
        if due_ns > now_ns:
            return due_ns
        size = len(item.data)
        if item.slow is not None and item.slow.on:
            if item.turn_ns > now_ns:
                return item.turn_ns
            kind = item.slow.kind
            assert isinstance(kind, SlowHeaders)
            item.turn_ns = (item.turn_ns or now_ns) + round(kind.byte_every_ms * 1e6)
            size = 1
        elif self._lines and size:
            if self._reserved is None:
                self._reserved = self._reserve(size, item.arrived_ns, now_ns)
            size, due_ns = self._reserved
            if due_ns > now_ns:
                return due_ns
            self._reserved = None
        self._pass(item, size)
        return 0

    def _pass(self, item: _Item, size: int) -> None:
        data, item.data = item.data[:size], item.data[size:]
        self._add_held(-size)
        if not item.data:
            self._queue.popleft()
        if data:
            self._write(data)
        if item.end is not None and not self.ended:
            self.ended = True
            self._owner.end(self, item.end)

    def _write(self, data: memoryview | bytes) -> None:
        assert self._sink is not None
        cutting: RunningFault | None = None
        for cut in self._cuts:
            kind = cut.kind
            assert isinstance(kind, Cut)
            left = self._cut_left.get(cut, kind.after_bytes)
            if len(data) >= left:
                data, cutting = data[:left], cut
            self._cut_left[cut] = left - len(data)
        self.passed_bytes += len(data)
        self._sink.write(data)
        if cutting is not None:
            assert isinstance(cutting.kind, Cut)
            cutting.applied += 1
            self.drop()
            self._owner.end(self, cutting.kind.end)

    def _reserve(self, size: int, arrived_ns: int, now_ns: int) -> tuple[int, int]:
        """Return the size of the next piece, and when all lines will have carried it."""
        rates = []
        for line in self._lines:
            assert isinstance(line.kind, Bandwidth)
            rates.append(line.kind.bytes_per_s)
        size = min(size, max(1, int(min(rates) * PIECE_NS / 1e9)))
        due_ns = 0
        for line, rate in zip(self._lines, rates, strict=True):
            begin_ns = max(line.free_ns[self.direction], arrived_ns, now_ns - _LATE_NS)
            begin_ns = max(begin_ns, line.began_ns or 0)
            line.free_ns[self.direction] = begin_ns + round(size / rate * 1e9)
            due_ns = max(due_ns, line.free_ns[self.direction])
        return size, due_ns

    def _arm(self, due_ns: int) -> None:
        if not self._armed_ns or due_ns < self._armed_ns:
            self._armed_ns = due_ns
            self._owner.agenda.at(due_ns, self._wake)

    def _wake(self, due_ns: int) -> None:
        if due_ns == self._armed_ns:
            self._armed_ns = 0
            self._go_on()

    def _balance(self) -> None:
        """Start or stop reading the source, depending on the buffer."""
        if self._holding_back:
            many = len(self._queue) > MOST_HELD_ITEMS // 2
            hold_back = self._full or many or self._held_bytes > ENOUGH_HELD_BYTES
        else:
            scarce = self._owner.held_in_all.bytes > MOST_HELD_IN_ALL
            most = ENOUGH_HELD_BYTES if scarce else MOST_HELD_BYTES
            hold_back = self._full or self._held_bytes > most or len(self._queue) > MOST_HELD_ITEMS
        if hold_back != self._holding_back:
            self._holding_back = hold_back
            self._owner.hold_back(self, hold_back)


def _is_for(fault: RunningFault, direction: str) -> bool:
    kind = fault.kind
    if isinstance(kind, Latency | Jitter | Bandwidth | Cut | Stall):
        return kind.direction in {"both", direction}
    return isinstance(kind, BlackHole)


def _delay_ns(fault: RunningFault) -> int:
    kind = fault.kind
    if isinstance(kind, Jitter):
        return round(kind.most_ms * 1e6 * fault.draw())
    assert isinstance(kind, Latency)
    return round(kind.ms * 1e6)
