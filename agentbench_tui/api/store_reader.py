"""Answers that are computed from the store, and kept until the store changes."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from agentbench_tui.api.problems import busy
from agentbench_tui.model.clock import monotonic
from agentbench_tui.model.errors import AgentbenchError, StoreError
from agentbench_tui.store.database import connect_to_read, data_version, reading
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


@dataclass(frozen=True, slots=True)
class _Kept:
    version: tuple[int, int]
    stamp: tuple[Any, ...] | None
    """Of the ended executions, for answers that depend on these alone."""
    until: float
    body: bytes


class StoreReader:
    """Reads one database for many requests.

    An answer is kept with the database's `data_version`, which changes with every commit of another
    connection, so that a kept answer is never older than the newest commit.
    """

    def __init__(self, database: Path, readers: int) -> None:
        self.database = database
        self._turn = asyncio.Semaphore(readers)
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._kept_bytes = 0
        self._computing: dict[tuple[Hashable, tuple[int, int]], asyncio.Task[bytes]] = {}
        self._connection: sqlite3.Connection | None = None
        self._inode = 0

    def close(self) -> None:
        """Close the connection that watches the database."""
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
        version = self._version()
        kept = self._kept.get(key)
        if kept is not None and kept.version == version and monotonic() < kept.until:
            self._kept.move_to_end(key)
            return kept.body
        place = (key, version)
        task = self._computing.get(place)
        if task is None:
            work = self._compute(key, version, compute, of_history=of_history)
            task = asyncio.create_task(work)
            self._computing[place] = task
            task.add_done_callback(lambda _: self._computing.pop(place, None))
        # A client that leaves must not end the computation that others wait for.
        return await asyncio.shield(task)

    async def read(self, compute: Callable[[sqlite3.Connection], Value]) -> Value:
        """Compute something in a thread, and keep nothing."""
        if len(self._computing) > _MOST_WAITING:
            raise busy("too many answers are being computed; try again")
        return await self._in_turn(compute)

    async def _in_turn(self, compute: Callable[[sqlite3.Connection], Value]) -> Value:
        async with self._turn:
            return await asyncio.to_thread(_read, self.database, compute)

    async def _compute(
        self,
        key: Hashable,
        version: tuple[int, int],
        compute: Callable[[sqlite3.Connection], bytes],
        *,
        of_history: bool,
    ) -> bytes:
        kept = self._kept.get(key)
        stamp: tuple[Any, ...] | None = None
        if of_history:
            stamp = await self._in_turn(stamp_of_history)
            if kept is not None and kept.stamp == stamp and monotonic() < kept.until:
                self._keep(key, replace(kept, version=version))
                return kept.body
        body = await self.read(compute)
        self._keep(key, _Kept(version, stamp, monotonic() + LONGEST_KEPT_S, body))
        return body

    def _keep(self, key: Hashable, kept: _Kept) -> None:
        if (old := self._kept.pop(key, None)) is not None:
            self._kept_bytes -= len(old.body)
        self._kept[key] = kept
        self._kept_bytes += len(kept.body)
        while self._kept_bytes > _MOST_BYTES:
            _, oldest = self._kept.popitem(last=False)
            self._kept_bytes -= len(oldest.body)

    def _version(self) -> tuple[int, int]:
        """Return what changes with every commit, and when another file takes the path."""
        try:
            inode = os.stat(self.database).st_ino  # noqa: PTH116  # for every request
        except FileNotFoundError:
            raise StoreError(f"{self.database}: the database is gone") from None
        if self._connection is None or inode != self._inode:
            self.close()
            self._connection, self._inode = connect_to_read(self.database), inode
        return inode, data_version(self._connection)


def _read(database: Path, compute: Callable[[sqlite3.Connection], Value]) -> Value:
    """Compute, once more without damaged runs if a row does not hold what it should."""
    try:
        with reading(database) as connection:
            return compute(connection)
    except (AgentbenchError, OSError, MemoryError):
        raise
    except Exception:
        if not _excludes_damage():
            raise
    with reading(database) as connection:
        return compute(connection)


def _excludes_damage() -> bool:
    from agentbench_tui.model.text.untrusted import visible
    from agentbench_tui.store.damage import exclude_damaged
    from agentbench_tui.verdicts.evidence.stored_documents import stored_soundness

    lines = exclude_damaged(stored_soundness())
    with suppress(OSError):
        for line in lines:
            sys.stderr.write(visible(f"agentbench: {line}") + "\n")
    return bool(lines)
