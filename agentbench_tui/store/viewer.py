"""Following a run while it goes on, or again after it ended: the same rows either way.

A viewer polls `PRAGMA data_version` and, when something was committed, asks for what is newer
than the last it saw. It holds no transaction and no unfinished cursor, so it is in nobody's way.
"""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import aiosqlite

from agentbench_tui.model.errors import StoreError
from agentbench_tui.store.database import read_uri

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

Row = dict[str, Any]

POLL_S = 0.05
PAGE_ROWS = 1000
_FOLLOWED = ("failures", "gauges", "ticks", "iterations")


@dataclass(slots=True)
class Update:
    """What is new since the last update, and the state as it is now."""

    run: Row
    executions: list[Row]
    live: dict[int, Row]
    """Execution key → its live row."""
    new: dict[str, list[Row]] = field(default_factory=dict)
    """Followed table → rows not seen before, in order."""


class Viewer:
    """One reader of one run; open it with `async with`, then follow `updates()`."""

    def __init__(self, path: Path, run_id: str) -> None:
        self._path = path
        self._run_id = run_id
        self._last = dict.fromkeys(_FOLLOWED, 0)
        self._connection: aiosqlite.Connection | None = None
        self._inode = 0

    async def __aenter__(self) -> Viewer:
        await self._open()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._connection is not None:
            await self._connection.close()

    async def _open(self) -> None:
        self._inode = os.stat(self._path).st_ino  # noqa: PTH116  # polled
        self._connection = await aiosqlite.connect(
            read_uri(self._path), uri=True, isolation_level=None
        )
        self._connection.row_factory = aiosqlite.Row

    async def _rows(self, statement: str, values: tuple[Any, ...] = ()) -> list[Row]:
        assert self._connection is not None
        rows = await self._connection.execute_fetchall(statement, values)
        return [dict(row) for row in rows]

    async def updates(self, interval_s: float = 0.25) -> AsyncIterator[Update]:
        """An update at once, then one whenever something changed, at most every `interval_s`.

        Ends after the run has ended and everything has been told.
        """
        version = -1
        while True:
            await self._reopen_if_replaced()
            newest = (await self._rows("PRAGMA data_version"))[0]["data_version"]
            if newest != version:
                version = newest
                update = await self._update()
                yield update
                if update.run["status"] != "running" and not any(update.new.values()):
                    return
                if update.run["status"] != "running":
                    version = -1  # once more, for pages that were not told yet
                    continue
                await asyncio.sleep(interval_s)
            else:
                await asyncio.sleep(POLL_S)

    async def _reopen_if_replaced(self) -> None:
        """Another file may have taken the path: a viewer of the old one would wait for ever."""
        try:
            inode = os.stat(self._path).st_ino  # noqa: PTH116
        except FileNotFoundError as error:
            raise StoreError(f"{self._path}: the database is gone") from error
        if inode != self._inode:
            assert self._connection is not None
            await self._connection.close()
            await self._open()

    async def _update(self) -> Update:
        runs = await self._rows("SELECT * FROM runs WHERE id=?", (self._run_id,))
        if not runs:
            raise StoreError(f"{self._path}: run {self._run_id} is not there any more")
        key = runs[0]["key"]
        executions = await self._rows(
            "SELECT * FROM benchmark_executions WHERE run_key=? ORDER BY ordinal", (key,)
        )
        live = await self._rows("SELECT * FROM live WHERE run_key=?", (key,))
        update = Update(runs[0], executions, {row["execution_key"]: row for row in live})
        for table in _FOLLOWED:
            rows = await self._rows(
                f"SELECT * FROM {table} WHERE run_key=? AND seq>? ORDER BY seq LIMIT ?",  # noqa: S608
                (key, self._last[table], PAGE_ROWS),
            )
            if rows:
                self._last[table] = rows[-1]["seq"]
            update.new[table] = rows
        return update


def wish_row(run_key: int, wish: str, argument: str | None = None) -> tuple[str, tuple[Any, ...]]:
    """(statement, values) that append a viewer's wish: stop, pause, resume, concurrency, …"""
    return (
        "INSERT INTO wishes (run_key, at, wish, argument) VALUES (?,?,?,?)",
        (run_key, time.time(), wish, argument),
    )
