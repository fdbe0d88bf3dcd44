"""Write transactions under the lock that all writers of a database share.

Apart from `writer`, whose event loop takes longer to import than most commands take to read.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any, TypeVar

from agentbench_tui.model.clock import monotonic
from agentbench_tui.store.database import connect_to_write
from agentbench_tui.store.faults import faults_named
from agentbench_tui.store.locking import WriteLock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

Result = TypeVar("Result")


def in_transaction(
    connection: sqlite3.Connection,
    lock: WriteLock,
    change: Callable[[sqlite3.Connection], Result],
    on_busy: Callable[[], None] = lambda: None,
    patience_s: float = 60.0,
) -> Result:
    """Run `change` in one write transaction under the lock; retry while the database is busy.

    Raises what `change` raises, rolled back, and StoreError when the file cannot be written or is
    still busy after `patience_s` (another program that ignores our lock).
    """
    deadline = monotonic() + patience_s
    while True:
        with faults_named(lock.database), lock.held():
            try:
                connection.execute("BEGIN IMMEDIATE")
                result = change(connection)
                connection.execute("COMMIT")
            except sqlite3.OperationalError as error:
                _roll_back(connection)
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
                if monotonic() > deadline:
                    raise
            except BaseException:
                _roll_back(connection)
                raise
            else:
                return result
        on_busy()


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def open_to_write(path: Path) -> tuple[sqlite3.Connection, WriteLock]:
    """Return a writing connection and the lock for its transactions. Raises StoreError."""
    connection = connect_to_write(path)
    try:
        return connection, WriteLock(path)
    except BaseException:
        connection.close()
        raise


def write_once(path: Path, changes: Iterable[Callable[[sqlite3.Connection], Any]]) -> None:
    """Apply changes in one transaction each, from a process without a Writer."""
    connection, lock = open_to_write(path)
    try:
        for change in changes:
            in_transaction(connection, lock, change)
    finally:
        connection.close()
        lock.close()
