"""Live events of a run, for any number of listeners from one reader.

One task per followed run looks at the database four times a second while somebody listens, reads
what is new once, and hands the same bytes to every listener. The run does not notice listeners.

The id of an event is the position in the followed tables after it, so a listener that comes back
with `Last-Event-ID` continues without a gap, also after a restart of the service.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.api.problems import busy
from agentbench_tui.contracts.document import Json, Part
from agentbench_tui.contracts.service import (
    ExecutionState,
    FailureEvent,
    GaugeEvent,
    IterationEvent,
    RunState,
    TickEvent,
)
from agentbench_tui.store.database import connect_to_read, data_version
from agentbench_tui.store.locking import is_leased
from agentbench_tui.store.queries.progress import EventPosition, event_rows_after, state_of_run

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncIterator
    from pathlib import Path

POLL_S = 0.25
HEARTBEAT_S = 15.0
"""Seconds without an event after which a comment shows that the connection works."""
RETRY_MS = 2000
"""Milliseconds after which a browser connects again."""
_PAGE = 500
"""Rows of a table that are read at once."""
_MOST_BATCHES = 64
"""Batches that wait for a slow listener; it is then cut off, and can come back with its id."""
_ID = re.compile(r"([0-9]{1,18})-([0-9]{1,18})-([0-9]{1,18})-([0-9]{1,18})")
_EVENTS: dict[str, tuple[str, type[Part]]] = {
    "failures": ("failure", FailureEvent),
    "gauges": ("gauge", GaugeEvent),
    "ticks": ("tick", TickEvent),
    "iterations": ("iteration", IterationEvent),
}
"""Followed table → name and type of its events."""
_encode = msgspec.json.Encoder().encode


def position_of(event_id: str) -> EventPosition | None:
    """Read the id of an event; None for what is none."""
    match = _ID.fullmatch(event_id)
    return None if match is None else EventPosition(*map(int, match.groups()))


@dataclass(frozen=True, slots=True)
class Batch:
    """Events from one read of the store, encoded for sending."""

    events: tuple[tuple[int, int, bytes], ...]
    """Table (its place in a position), `seq` of the row, and the event."""
    state: bytes
    """The event of the state that follows them; empty where it has not changed."""
    body: bytes
    """All of it."""
    is_last: bool = False
    """Whether the run has ended and nothing follows."""
    is_full: bool = False
    """Whether there may be more rows now."""

    def after(self, seen: EventPosition) -> bytes:
        """Return what a listener that has seen a position does not know yet."""
        new = [event for table, seq, event in self.events if seq > seen[table]]
        return self.body if len(new) == len(self.events) else b"".join((*new, self.state))


class EventReader:
    """Reads the new events of one run from its own position on."""

    def __init__(self, database: Path, run_key: int, run_id: str, after: EventPosition) -> None:
        self.position = after
        self._database = database
        self._run_key = run_key
        self._run_id = run_id
        self._state: RunState | None = None

    def read(self, connection: sqlite3.Connection) -> Batch:
        """Return what is new: rows, the state if it differs from the last one, and the end."""
        run, executions = state_of_run(connection, self._run_key)
        rows = event_rows_after(connection, self._run_key, self.position, _PAGE)
        events = []
        for place, (table, found) in enumerate(rows.items()):
            name, kind = _EVENTS[table]
            for row in found:
                self.position = self.position._replace(**{table: row["seq"]})
                events.append((place, row["seq"], _event(name, _data(kind, row), self.position)))
        is_full = any(len(found) == _PAGE for found in rows.values())
        if run["status"] == "running" and not is_leased(self._database, self._run_id):
            run["status"] = "interrupted"
        state = RunState(**run, executions=tuple(ExecutionState(**one) for one in executions))
        is_last = state.status != "running" and not is_full
        told = b""
        if state != self._state and not is_full:
            self._state = state
            told = _event("end" if is_last else "state", state, self.position)
        body = b"".join((*(event for _, _, event in events), told))
        return Batch(tuple(events), told, body, is_last, is_full)


def _data(kind: type[Part], row: dict[str, Any]) -> Part:
    fields = {name: value for name, value in row.items() if name != "seq"}
    if kind is GaugeEvent:
        fields["reading"] = _reading(fields["reading"])
    elif kind is IterationEvent:
        fields["warmup"] = bool(fields["warmup"])
    return kind(**fields)


def _reading(text: str) -> dict[str, Json]:
    try:
        return msgspec.json.decode(text, type=dict[str, Json])
    except msgspec.MsgspecError:
        return {}


def _event(name: str, data: Part, position: EventPosition) -> bytes:
    place = "-".join(map(str, position))
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (place.encode(), name.encode(), _encode(data))


@dataclass(eq=False, slots=True)
class _Feed:
    """One followed run and the queues of its listeners."""

    task: asyncio.Task[None] | None = None
    queues: set[asyncio.Queue[Batch | None]] = field(default_factory=set)


class EventHub:
    """The followed runs of the service."""

    def __init__(self, database: Path, most_listeners: int) -> None:
        self._database = database
        self._most_listeners = most_listeners
        self._feeds: dict[int, _Feed] = {}
        self._is_closed = asyncio.Event()
        self.listeners = 0
        """Open event streams."""

    async def close(self) -> None:
        """End every stream and every reader."""
        self._is_closed.set()
        tasks = [feed.task for feed in self._feeds.values() if feed.task is not None]
        for feed in self._feeds.values():
            for queue in feed.queues:
                _put(queue, None)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def check_room(self) -> None:
        """Raise ServiceError if as many listen as may."""
        if self.listeners >= self._most_listeners:
            raise busy(f"{self._most_listeners} clients follow events already", 5)

    async def is_over(self, run_key: int, run_id: str, after: EventPosition) -> bool:
        """Return whether the run has ended and nothing comes after the position."""
        batch = await asyncio.to_thread(
            self._read_once, EventReader(self._database, run_key, run_id, after)
        )
        return batch.is_last and not batch.events

    async def follow(self, run_key: int, run_id: str, after: EventPosition) -> AsyncIterator[bytes]:
        """Yield the events of a run after a position, until it ends.

        What the database holds already is read for this listener alone, page by page; what comes
        later is shared by all.
        """
        self.listeners += 1
        queue: asyncio.Queue[Batch | None] = asyncio.Queue(_MOST_BATCHES)
        feed = self._feeds.setdefault(run_key, _Feed())
        try:
            yield b"retry: %d\n\n" % RETRY_MS
            reader = EventReader(self._database, run_key, run_id, after)
            feed.queues.add(queue)  # first, so that nothing is missed in between
            async for batch in self._until_now(reader):
                yield batch.body
                if batch.is_last:
                    return
            if feed.task is None or feed.task.done():
                shared = EventReader(self._database, run_key, run_id, reader.position)
                feed.task = asyncio.create_task(self._feed(feed, shared, run_id))
            async for body in _shared(queue, reader.position):
                yield body
        finally:
            self.listeners -= 1
            feed.queues.discard(queue)
            if not feed.queues:
                self._feeds.pop(run_key, None)
                if feed.task is not None:
                    feed.task.cancel()

    async def _until_now(self, reader: EventReader) -> AsyncIterator[Batch]:
        while not self._is_closed.is_set():
            batch = await asyncio.to_thread(self._read_once, reader)
            yield batch
            if not batch.is_full:
                return

    def _read_once(self, reader: EventReader) -> Batch:
        with closing(connect_to_read(self._database)) as connection:
            return reader.read(connection)

    async def _feed(self, feed: _Feed, reader: EventReader, run_id: str) -> None:
        """Read what is new and hand it to every listener, until the run ends."""
        try:
            with closing(await asyncio.to_thread(connect_to_read, self._database)) as connection:
                async for batch in self._batches(reader, connection, run_id):
                    for queue in feed.queues:
                        _put(queue, batch)
        finally:  # also after an error: who listens comes back, or learns of it
            for queue in feed.queues:
                _put(queue, None)

    async def _batches(
        self, reader: EventReader, connection: sqlite3.Connection, run_id: str
    ) -> AsyncIterator[Batch]:
        version = -1
        while True:
            newest = data_version(connection)
            # A run that was killed commits nothing more: only its lease tells.
            if newest == version and is_leased(self._database, run_id):
                await asyncio.sleep(POLL_S)
                continue
            version = newest
            batch = await asyncio.to_thread(reader.read, connection)
            if batch.body or batch.is_last:
                yield batch
            if batch.is_last:
                return
            if batch.is_full:
                version = -1
            else:
                await asyncio.sleep(POLL_S)


def _put(queue: asyncio.Queue[Batch | None], batch: Batch | None) -> None:
    """Hand over a batch; a listener whose queue is full is cut off."""
    try:
        queue.put_nowait(batch)
    except asyncio.QueueFull:
        while not queue.empty():
            queue.get_nowait()
        queue.put_nowait(None)


async def _shared(queue: asyncio.Queue[Batch | None], seen: EventPosition) -> AsyncIterator[bytes]:
    """Yield what the feed hands over, without what the listener has seen, and heartbeats."""
    while True:
        try:
            batch = await asyncio.wait_for(queue.get(), HEARTBEAT_S)
        except TimeoutError:
            yield b": nothing new\n\n"
            continue
        if batch is None:
            return
        if new := batch.after(seen):
            yield new
        if batch.is_last:
            return
