"""Answers that are computed from the store, kept until the store changes, and then computed again
before the next request.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from agentbench_tui.api.problems import busy
from agentbench_tui.api.reading_connections import ReadingConnections
from agentbench_tui.model.clock import monotonic, process_time
from agentbench_tui.model.errors import AgentbenchError, StoreError
from agentbench_tui.process.freed_memory import return_freed_memory
from agentbench_tui.store.database import connect_to_read, data_version
from agentbench_tui.store.faults import faults_named
from agentbench_tui.store.queries.history import stamp_of_history

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from pathlib import Path

Value = TypeVar("Value")
_MOST_BYTES = 16 << 20
"""Of all kept answers."""
_MOST_WAITING = 64
"""Answers that wait to be computed."""
LONGEST_KEPT_S = 60.0
"""Answers depend on the time of day too, as a leaderboard of the last 30 days does."""
FOLLOWED_S = 600.0
"""An answer is computed again in the background for this long after the last request for it."""
_MOST_FOLLOWED = 64
_WATCH_S = 0.25
_PAUSE = 10
"""Pause after a look at the store, as a multiple of the CPU time it took: at most a tenth of a core
is taken from a benchmark that runs on the same machine.
"""


@dataclass(frozen=True, slots=True)
class _Kept:
    version: tuple[int, int]
    stamp: tuple[object, ...] | None
    """Of the ended executions, for answers that depend on these alone."""
    until: float
    body: bytes

    def is_valid(self, left_s: float = 0.0) -> bool:
        """Return whether the answer may be sent for at least that many seconds."""
        return monotonic() + left_s < self.until


@dataclass(frozen=True, slots=True)
class _FollowedAnswer:
    """An answer that is computed again when it is outdated, requested or not."""

    compute: Callable[[sqlite3.Connection], bytes]
    asked_at: float


class StoreReader:
    """Reads one database for many requests.

    An answer is kept with the database's `data_version`, which changes with every commit of another
    connection, so that a kept answer is never older than the newest commit.
    """

    def __init__(self, database: Path, readers: int) -> None:
        self.database = database
        self._connections = ReadingConnections(database)
        self._turn = asyncio.Semaphore(readers)
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._kept_bytes = 0
        self._followed: OrderedDict[Hashable, _FollowedAnswer] = OrderedDict()
        """The most recently requested last. Each is kept, or is being computed."""
        self._computing: dict[tuple[Hashable, tuple[int, int]], asyncio.Task[bytes]] = {}
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._has_computed = False
        """Whether an answer was computed, and left freed memory, since that was last returned."""

    def close(self) -> None:
        """Close the connections to the database."""
        self._connections.close()
        self._stop_watching()

    def _stop_watching(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def answer(
        self,
        key: Hashable,
        compute: Callable[[sqlite3.Connection], bytes],
        *,
        of_history: bool = False,
    ) -> bytes:
        """Return a kept answer that is still true, else compute it in a thread.

        An answer `of_history` depends only on executions that have ended and on baselines, so that
        the commits of a running run do not outdate it. Requests for the same answer wait for one
        computation. Raises ServiceError if too many wait, and what `compute` raises.
        """
        if of_history:
            self._followed[key] = _FollowedAnswer(compute, monotonic())
            self._followed.move_to_end(key)
            if len(self._followed) > _MOST_FOLLOWED:
                self._followed.popitem(last=False)
        return await self._current(key, self._version(), compute, of_history=of_history)

    async def keep_current(self) -> None:
        """Compute answers of the history again as soon as an execution has ended, without end.

        Answers are those requested within `FOLLOWED_S`; the most recently requested first.
        """
        while True:
            began = process_time()
            await self._renew()
            if self._has_computed:
                self._has_computed = False
                return_freed_memory()
            await asyncio.sleep(max(_WATCH_S, _PAUSE * (process_time() - began)))

    async def _renew(self) -> None:
        """Compute what is outdated."""
        try:
            version = self._version()
        except (StoreError, OSError, sqlite3.Error):
            return  # the next request reports what is wrong with the file
        for key, followed in reversed([*self._followed.items()]):
            kept = self._kept.get(key)
            if key not in self._followed:
                continue  # no longer followed since the computation of another answer
            if monotonic() - followed.asked_at > FOLLOWED_S:
                del self._followed[key]
            elif kept is None or kept.version != version or not kept.is_valid(2 * _WATCH_S):
                work = self._current(
                    key, version, followed.compute, of_history=True, left_s=2 * _WATCH_S
                )
                (found,) = await asyncio.gather(work, return_exceptions=True)
                if isinstance(found, BaseException):  # the next request reports it
                    self._followed.pop(key, None)

    async def _current(
        self,
        key: Hashable,
        version: tuple[int, int],
        compute: Callable[[sqlite3.Connection], bytes],
        *,
        of_history: bool,
        left_s: float = 0.0,
    ) -> bytes:
        kept = self._kept.get(key)
        if kept is not None and kept.version == version and kept.is_valid(left_s):
            self._kept.move_to_end(key)
            return kept.body
        place = (key, version)
        task = self._computing.get(place)
        if task is None:
            work = self._compute(key, version, compute, of_history=of_history, left_s=left_s)
            task = asyncio.create_task(work)
            self._computing[place] = task
            task.add_done_callback(lambda _: self._computing.pop(place, None))
        # A client that leaves must not end the computation that others wait for.
        return await asyncio.shield(task)

    async def read(self, compute: Callable[[sqlite3.Connection], Value]) -> Value:
        """Compute something in a thread, and keep nothing."""
        if len(self._computing) > _MOST_WAITING:
            raise busy("too many answers are being computed; try again")
        async with self._turn:
            self._has_computed = True
            return await asyncio.to_thread(self._read, compute)

    def _read(self, compute: Callable[[sqlite3.Connection], Value]) -> Value:
        """Compute, once more without damaged runs if a row does not hold what it should."""
        try:
            return self._connections.read(compute)
        except (AgentbenchError, OSError, MemoryError):
            raise
        except Exception:
            if not _excludes_damage():
                raise
        self._connections.close()  # they read the damaged runs, too
        return self._connections.read(compute)

    async def _compute(
        self,
        key: Hashable,
        version: tuple[int, int],
        compute: Callable[[sqlite3.Connection], bytes],
        *,
        of_history: bool,
        left_s: float,
    ) -> bytes:
        kept = self._kept.get(key)
        if not of_history:
            body = await self.read(compute)
            self._keep(key, _Kept(version, None, monotonic() + LONGEST_KEPT_S, body))
            return body
        known = kept.stamp if kept is not None and kept.is_valid(left_s) else None

        def unless_known(connection: sqlite3.Connection) -> tuple[tuple[object, ...], bytes | None]:
            stamp = stamp_of_history(connection)
            return stamp, None if stamp == known else compute(connection)

        stamp, found = await self.read(unless_known)
        if found is None:
            assert kept is not None
            self._keep(key, replace(kept, version=version))
            return kept.body
        self._keep(key, _Kept(version, stamp, monotonic() + LONGEST_KEPT_S, found))
        return found

    def _keep(self, key: Hashable, kept: _Kept) -> None:
        """Keep an answer, and drop the oldest ones if all are too large together.

        What is not kept is not followed either: it would be computed again in every look.
        """
        if (old := self._kept.pop(key, None)) is not None:
            self._kept_bytes -= len(old.body)
        if len(kept.body) > _MOST_BYTES:
            self._followed.pop(key, None)
            return
        self._kept[key] = kept
        self._kept_bytes += len(kept.body)
        while self._kept_bytes > _MOST_BYTES:
            dropped, oldest = self._kept.popitem(last=False)
            self._kept_bytes -= len(oldest.body)
            self._followed.pop(dropped, None)

    def _version(self) -> tuple[int, int]:
        """Return what changes with every commit, and when another file takes the path."""
        try:
            inode = os.stat(self.database).st_ino  # noqa: PTH116  # for every request
        except FileNotFoundError:
            raise StoreError(f"{self.database}: the database is gone") from None
        if self._connection is None or inode != self._inode:
            self._stop_watching()
            self._connection, self._inode = connect_to_read(self.database), inode
        with faults_named(self.database):
            return inode, data_version(self._connection)


def _excludes_damage() -> bool:
    from agentbench_tui.model.text.untrusted import visible
    from agentbench_tui.store.damage import exclude_damaged
    from agentbench_tui.verdicts.evidence.stored_documents import stored_soundness

    lines = exclude_damaged(stored_soundness())
    with suppress(OSError):
        for line in lines:
            sys.stderr.write(visible(f"agentbench: {line}") + "\n")
    return bool(lines)
