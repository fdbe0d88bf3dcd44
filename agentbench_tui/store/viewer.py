"""Follows a run while it is running, or replays it afterwards with the same rows.

A viewer polls `PRAGMA data_version` and, after a commit, reads rows newer than the last it read. It
holds no transaction and no unfinished cursor, so it blocks no writer. A replay returns the same
rows at the times when they happened.
"""

from __future__ import annotations

import asyncio
import math
import os
import sqlite3
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import aiosqlite

from agentbench_tui.model.clock import monotonic, unix_time
from agentbench_tui.model.errors import StoreError
from agentbench_tui.store.database import read_uri
from agentbench_tui.store.playhead import Playhead

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path

Row = dict[str, Any]

POLL_S = 0.05
PAGE_ROWS = 200
"""Maximum rows of one table in one update: a viewer that connects late reads earlier rows in
steps.
"""
EXECUTIONS_EVERY_S = 1.0
WISHES_SHOWN = 50
_FOLLOWED = ("failures", "gauges", "ticks", "iterations")


@dataclass(slots=True)
class Update:
    """New rows since the last update, and the current state."""

    run: Row
    executions: list[Row]
    live: dict[int, Row]
    """Execution key → its live row; empty in a replay, since live rows are overwritten."""
    new: dict[str, list[Row]] = field(default_factory=dict)
    """Followed table → new rows, in order."""
    wishes: list[Row] = field(default_factory=list)
    """The newest control requests of viewers with their answers, oldest first, up to this time."""
    restarted: bool = False
    """Whether `new` starts again at the beginning of the run: discard earlier rows."""
    at: float = 0.0
    """The moment that is shown, in seconds since 1970."""
    is_replay: bool = False
    """Whether that time is before the last stored row."""
    is_behind: bool = False
    """Whether more rows of this time follow immediately."""


class Viewer:
    """One reader of one run; open it with `async with`, then follow `updates()`.

    It reads from the beginning to the newest row as fast as possible, then follows the run: this is
    used for attaching and opening. `seek` and `play` make it a replay; a replay that reaches the
    newest row of a running run is live again.
    """

    def __init__(
        self,
        path: Path,
        run_id: str,
        *,
        from_seq: Mapping[str, int] | None = None,
        speed: float = math.inf,
    ) -> None:
        """`from_seq`: followed table → the last known `seq`. `speed`: multiple of real time, from
        the beginning.
        """
        self._path = path
        self._run_id = run_id
        self._from_seq = dict.fromkeys(_FOLLOWED, 0) | dict(from_seq or {})
        self._last = dict(self._from_seq)
        self._ahead: dict[str, deque[Row]] = {table: deque() for table in _FOLLOWED}
        """Rows that were read and are not due yet."""
        self._more: set[str] = set()
        """Tables that may have more rows than were read."""
        self._connection: aiosqlite.Connection | None = None
        self._inode = 0
        self._run: Row = {}
        self._executions: list[Row] = []
        self._executions_at = -math.inf
        self._restarted = False
        self._head = Playhead(0.0, speed, monotonic())
        self._moved = asyncio.Event()
        self.began_at = 0.0
        """When the run began, in seconds since 1970; known from the first update on."""
        self.newest_at = 0.0
        """Time of its last stored row."""
        self._reached_s = 0.0
        """Time up to which rows were returned."""

    async def __aenter__(self) -> Viewer:
        await self._open()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._connection is not None:
            await self._connection.close()

    @property
    def speed(self) -> float:
        """Return the multiple of real time; infinite for as fast as possible."""
        return self._head.speed

    @property
    def is_playing(self) -> bool:
        """Return whether the shown time advances."""
        return self._head.is_playing

    @property
    def length_s(self) -> float:
        """Return the seconds from the beginning to the newest stored row."""
        return max(0.0, self.newest_at - self.began_at)

    def play(self, speed: float = math.inf) -> None:
        """Play from the current time; an infinite speed jumps to the newest row, and stays
        there.
        """
        self._head.play(speed, monotonic(), reached_s=self._reached_s)
        self._moved.set()

    def pause(self) -> None:
        """Stay at the current time. The run itself continues."""
        self._head.pause(monotonic(), reached_s=self._reached_s)
        self._moved.set()

    def seek(self, at_s: float) -> None:
        """Show the time this many seconds after the beginning, and continue from there as
        before; a viewer of the newest row stays there.
        """
        if math.isinf(self._head.speed) and self._head.is_playing:
            self._head.pause(monotonic(), reached_s=self._reached_s)
        if at_s < self._reached_s:
            self._restart()
        self._head.seek(min(at_s, self.length_s), monotonic())
        self._moved.set()

    async def updates(
        self, interval_s: float = 0.25, *, stay: bool = False
    ) -> AsyncIterator[Update]:
        """Yield an update immediately, then one whenever there is something new, at most every
        `interval_s`. Ends after the run has ended and everything was returned, unless it is to
        `stay` for replays.
        """
        version = -1
        while True:
            if await self._reopen_if_replaced():
                version = -1  # each connection counts its own
            newest = (await self._rows("PRAGMA data_version"))[0]["data_version"]
            if newest == version and not self._is_moving():
                await self._wait(POLL_S)
                continue
            version = newest
            update = await self._update()
            yield update
            if update.is_behind:
                version = -1  # once more, for what was not told yet
                await asyncio.sleep(0)
            elif update.run["status"] != "running" and not update.is_replay and not stay:
                return
            else:
                await self._wait(interval_s)

    def _restart(self) -> None:
        """Return everything again from the beginning of the run."""
        self._last = dict.fromkeys(_FOLLOWED, 0)
        self._restarted = True
        self._reached_s = 0.0
        for rows in self._ahead.values():
            rows.clear()

    def _is_moving(self) -> bool:
        """Return whether time alone, or a pending jump, changes what is to be shown."""
        if self._restarted or self._moved.is_set():
            self._moved.clear()
            return True
        at_s = self._head.at(monotonic())
        return self._head.is_playing and self._reached_s < min(at_s, self.length_s)

    async def _wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._moved.wait(), seconds)
        except TimeoutError:
            return

    async def _open(self) -> None:
        self._inode = self._inode_now()
        self._connection = await _connected(self._path)
        self._connection.row_factory = aiosqlite.Row

    async def _rows(self, statement: str, values: tuple[Any, ...] = ()) -> list[Row]:
        assert self._connection is not None
        rows = await self._connection.execute_fetchall(statement, values)
        return [dict(row) for row in rows]

    async def _reopen_if_replaced(self) -> bool:
        """Reopen if another file has taken the path, since the old one would never change, and
        return whether it did.
        """
        if self._inode_now() == self._inode:
            return False
        assert self._connection is not None
        await self._connection.close()
        await self._open()
        self._run, self._executions_at = {}, -math.inf
        self._restart()
        return True

    def _inode_now(self) -> int:
        try:
            return os.stat(self._path).st_ino  # noqa: PTH116  # polled
        except FileNotFoundError as error:
            raise StoreError(f"{self._path}: the database is gone") from error

    async def _update(self) -> Update:
        key = await self._read_run()
        until = self.began_at + self._head.at(monotonic())
        restarted, self._restarted = self._restarted, False
        new = {table: await self._new(table, key, until) for table in _FOLLOWED}
        behind = any(new[table] and not self._ahead[table] for table in self._more)
        is_replay = until < self.newest_at or any(self._ahead.values())
        live = [] if is_replay else await self._rows("SELECT * FROM live WHERE run_key=?", (key,))
        at = min(until, unix_time() if self._run["status"] == "running" else self.newest_at)
        if not behind:
            self._reached_s = min(at, self.newest_at) - self.began_at
        wishes = await self._rows(
            "SELECT * FROM wishes WHERE run_key=? AND at<=? ORDER BY seq DESC LIMIT ?",
            (key, at if is_replay else math.inf, WISHES_SHOWN),
        )
        return Update(
            self._run,
            self._executions,
            {row["execution_key"]: row for row in live},
            new,
            wishes[::-1],
            restarted,
            at,
            is_replay,
            behind,
        )

    async def _read_run(self) -> int:
        """Read the current run, and the extent of its rows.

        Its plan, which is large and constant, and its executions, which rarely change, are not read
        each time.
        """
        if not self._run:
            runs = await self._rows("SELECT * FROM runs WHERE id=?", (self._run_id,))
        else:
            runs = await self._rows(
                "SELECT key, status, stop_reason, verdict, overhead, ended_at, error FROM runs"
                " WHERE id=?",
                (self._run_id,),
            )
        if not runs:
            raise StoreError(f"{self._path}: run {self._run_id} is not there any more")
        ended = bool(self._run) and self._run["status"] != runs[0]["status"]
        self._run = self._run | runs[0]
        key: int = self._run["key"]
        self.began_at = seconds_of(self._run["started_at"])
        ended_at = self._run["ended_at"]
        self.newest_at = seconds_of(ended_at) if ended_at else await self._newest(key)
        now = monotonic()
        if ended or now - self._executions_at >= EXECUTIONS_EVERY_S:
            self._executions_at = now
            self._executions = await self._rows(
                "SELECT * FROM benchmark_executions WHERE run_key=? ORDER BY ordinal", (key,)
            )
        return key

    async def _newest(self, key: int) -> float:
        found = await self._rows(
            "SELECT MAX((SELECT COALESCE(MAX(at), 0) FROM (SELECT at FROM ticks WHERE run_key=?1"
            " ORDER BY seq DESC LIMIT 1)), (SELECT COALESCE(MAX(at), 0) FROM (SELECT at FROM gauges"
            " WHERE run_key=?1 ORDER BY seq DESC LIMIT 1))) AS at",
            (key,),
        )
        return max(self.began_at, float(found[0]["at"]))

    async def _new(self, table: str, key: int, until: float) -> list[Row]:
        """Return rows of a table that are due by then and were not returned yet, at most a page."""
        ahead = self._ahead[table]
        if not ahead:
            rows = await self._rows(
                f"SELECT * FROM {table} WHERE run_key=? AND seq>? ORDER BY seq LIMIT ?",  # noqa: S608
                (key, self._last[table], PAGE_ROWS),
            )
            if rows:
                self._last[table] = rows[-1]["seq"]
            ahead.extend(rows)
            full = len(rows) == PAGE_ROWS
            (self._more.add if full else self._more.discard)(table)
        if math.isinf(until):
            due = [*ahead]
            ahead.clear()
            return due
        due = []
        while ahead and _moment(table, ahead[0]) <= until:
            due.append(ahead.popleft())
        return due


def seconds_of(stored: str) -> float:
    """Convert a stored time to seconds since 1970."""
    return datetime.fromisoformat(stored).timestamp()


def _moment(table: str, row: Row) -> float:
    """Return when a row happened: an iteration when it ended."""
    if table == "iterations":
        return seconds_of(row["started_at"]) + float(row["asking_s"])
    at: str | float = row["at"]
    return seconds_of(at) if isinstance(at, str) else float(at)


async def _connected(path: Path) -> aiosqlite.Connection:
    """Return a reading connection.

    If its opening is canceled, it is closed here; aiosqlite would leave that to the garbage
    collector.
    """
    made: list[sqlite3.Connection] = []
    is_given_up = False

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            read_uri(path), uri=True, isolation_level=None, check_same_thread=False
        )
        made.append(connection)
        if is_given_up:  # while it was made; what was made before, the other side closes
            connection.close()
        return connection

    try:
        return await aiosqlite.Connection(connect, iter_chunk_size=64)
    except BaseException:
        is_given_up = True
        for connection in made:
            connection.close()
        raise
