"""The one writer of a process: a thread that commits rows in batches and small changes in order.

The event loop only appends to a deque. The thread commits what is there every `INTERVAL_S`, or
as soon as a batch is full, so a finished case is on disk within 500 ms. Transactions are small
(about 10 ms), each under the write lock, and a busy database is waited for, counted and retried
while rows gather in memory up to a bound; past it, `room()` makes the producers wait.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections import deque
from concurrent.futures import Future
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from agentbench_tui.model.errors import StoreError
from agentbench_tui.model.identity import new_id
from agentbench_tui.store.database import BUSY_TIMEOUT_S
from agentbench_tui.store.faults import faults_named
from agentbench_tui.store.transaction import in_transaction, open_to_write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

Result = TypeVar("Result")

INTERVAL_S = 0.25
"""Longest time a row waits before its commit begins."""
BATCH_ROWS = 1000
"""Most rows in one transaction."""
BOUND_ROWS = 5_000
"""Number of waiting rows at which producers are asked to wait."""
CHECKPOINT_BYTES = 4 << 20
"""Size of the write-ahead log at which it is checkpointed."""


class Writer:
    """Commits rows and changes to one database, in the order they were given."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.busy_retries = 0
        """How often a transaction had to be retried."""
        self._rows: deque[tuple[str, Sequence[Any]]] = deque()
        self._changes: deque[tuple[Callable[[sqlite3.Connection], Any], Future[Any]]] = deque()
        self._wake = threading.Event()
        self._closing = False
        self._failure: BaseException | None = None
        self._connection, self._lock = open_to_write(path)
        self._inode = _inode(path)
        self._thread = threading.Thread(target=self._work, name="agentbench-writer", daemon=True)
        self._thread.start()

    def add(self, statement: str, row: Sequence[Any]) -> None:
        """Queue one row for the `INSERT` statement. Never blocks."""
        # SQLite binds a plain tuple in two thirds of the time of a named one, and the garbage
        # collector soon stops looking at it.
        self._rows.append((statement, tuple(row)))
        if len(self._rows) >= BATCH_ROWS and not self._wake.is_set():
            self._wake.set()

    @property
    def is_full(self) -> bool:
        """Return whether producers should `await room()` before they add more."""
        return len(self._rows) >= BOUND_ROWS

    async def room(self) -> None:
        """Wait until the queue is below its bound. Raises StoreError if writing failed."""
        while self.is_full:
            self.check()
            await asyncio.wrap_future(self.submit(lambda _: None))

    def submit(self, change: Callable[[sqlite3.Connection], Result]) -> Future[Result]:
        """Queue a change: it runs in a separate transaction, after every row added so far.

        Its future fails with the change's exception; the transaction is then rolled back.
        """
        self.check()
        future: Future[Result] = Future()
        self._changes.append((change, future))
        self._wake.set()
        if self._failure is not None:  # since we checked: the thread may have gone already
            self._fail_waiting()
        return future

    async def apply(self, change: Callable[[sqlite3.Connection], Result]) -> Result:
        """Submit a change and wait: on return the change and all rows before it are committed."""
        return await asyncio.wrap_future(self.submit(change))

    async def flush(self) -> None:
        """Wait until everything added so far is committed."""
        await self.apply(lambda _: None)

    def check(self) -> None:
        """Raise StoreError if the writer could not write."""
        if self._failure is not None:
            raise self._as_fault() from self._failure

    def _as_fault(self) -> StoreError:
        if isinstance(self._failure, StoreError):
            return self._failure
        return StoreError(f"{self.path}: cannot write: {self._failure}")

    def close(self) -> None:
        """Commit the queue, checkpoint, and close.

        Idempotent. Raises StoreError if the checkpoint fails; committed data are in the log then.
        """
        if self._closing:
            return
        self._closing = True
        self._wake.set()
        self._thread.join()
        try:
            if self._failure is None:
                with faults_named(self.path):
                    self._checkpoint("TRUNCATE")
        finally:
            self._connection.close()
            self._lock.close()

    def _work(self) -> None:
        while True:
            self._wake.wait(INTERVAL_S)
            self._wake.clear()
            # Read before draining: what was queued before the flag was set is still committed.
            closing = self._closing
            try:
                self._drain()
            except BaseException as failure:  # noqa: BLE001  # kept, and raised by check()
                self._failure = failure
                self._fail_waiting()
                return
            if closing:
                return

    def _drain(self) -> None:
        # Changes queued at this moment wait for the rows queued before them; rows are appended
        # by the loop that also queues changes, so counting changes first keeps the order.
        changes = len(self._changes)
        self._commit_waiting()
        for _ in range(changes):
            change, future = self._changes.popleft()
            # What was asked for is done, also for somebody who no longer waits for it.
            awaited = future.set_running_or_notify_cancel()
            try:
                result = self._in_transaction(change)
            # The error is raised to the caller that waits for the change: also a NameError of
            # `Exception`, after user code has removed that.
            except BaseException as error:  # noqa: BLE001
                if awaited:
                    future.set_exception(error)
            else:
                if awaited:
                    future.set_result(result)
        self._check_in_place()
        if self._wal_bytes() > CHECKPOINT_BYTES:
            self._checkpoint("PASSIVE")
        if self._changes:
            self._wake.set()

    def _commit_waiting(self) -> None:
        while self._rows:
            self._commit_rows([self._rows.popleft() for _ in range(self._batch_size())])

    def _check_in_place(self) -> None:
        """Save the data, and end, if the file no longer has its name: otherwise writing would
        continue into a removed or replaced file that cannot be found.
        """
        if _inode(self.path) == self._inode:
            return
        self._commit_waiting()
        saved = self.path.with_name(f"{self.path.stem}-saved-{new_id()}.db")
        with faults_named(saved), closing(sqlite3.connect(saved)) as copy:
            self._connection.backup(copy)
        raise StoreError(
            f"{self.path}: was removed or replaced by another file during the run; "
            f"everything up to then is in {saved}"
        )

    def _batch_size(self) -> int:
        return min(BATCH_ROWS, len(self._rows))

    def _commit_rows(self, batch: list[tuple[str, Sequence[Any]]]) -> None:
        by_statement: dict[str, list[Sequence[Any]]] = {}
        for statement, row in batch:
            by_statement.setdefault(statement, []).append(row)

        def insert(connection: sqlite3.Connection) -> None:
            for statement, rows in by_statement.items():
                connection.executemany(statement, rows)

        self._in_transaction(insert)

    def _in_transaction(self, change: Callable[[sqlite3.Connection], Result]) -> Result:
        return in_transaction(self._connection, self._lock, change, self._count_retry)

    def _count_retry(self) -> None:
        self.busy_retries += 1

    def _wal_bytes(self) -> int:
        try:
            return os.stat(f"{self.path}-wal").st_size  # noqa: PTH116  # on every drain
        except FileNotFoundError:
            return 0

    def _checkpoint(self, mode: str) -> None:
        # A reader in the way is no fault: the log is checkpointed at the next occasion.
        with self._lock.held():
            self._connection.execute("PRAGMA busy_timeout=0")
            self._connection.execute(f"PRAGMA wal_checkpoint({mode})")
            self._connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_S * 1000:.0f}")

    def _fail_waiting(self) -> None:
        with suppress(IndexError):  # both threads may empty it
            while True:
                future = self._changes.popleft()[1]
                if future.set_running_or_notify_cancel():
                    future.set_exception(self._as_fault())


def _inode(path: Path) -> int | None:
    try:
        return os.stat(path).st_ino  # noqa: PTH116  # on every drain
    except OSError:
        return None
