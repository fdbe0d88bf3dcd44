"""Read-only connections that requests use one after the other."""

from __future__ import annotations

import os
from contextlib import suppress
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from agentbench_tui.store.database import connect_to_read, is_immutable, keep_few_pages
from agentbench_tui.store.faults import faults_named

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

Value = TypeVar("Value")
_MOST_IDLE = 1
"""Connections that wait for the next request. As most answers are kept, several are rarely computed
at once.
"""


class _OpenConnection(NamedTuple):
    inode: int
    connection: sqlite3.Connection


class ReadingConnections:
    """Connections to one database, for functions that run in threads.

    A reused connection has the schema, its statements and pages of the file in memory. Reading
    them takes longer than computing many of the answers.
    """

    def __init__(self, database: Path) -> None:
        self._database = database
        self._idle: list[_OpenConnection] = []
        self._lock = Lock()

    def read(self, compute: Callable[[sqlite3.Connection], Value]) -> Value:
        """Return what a function computes from a connection. Raises StoreError, and its errors."""
        with faults_named(self._database):
            opened = self._take()
            try:
                found = compute(opened.connection)
            except BaseException:
                opened.connection.close()
                raise
        self._give_back(opened)
        return found

    def close(self) -> None:
        """Close the idle connections; a later call opens new ones."""
        with self._lock:
            idle, self._idle = self._idle, []
        for one in idle:
            one.connection.close()

    def _take(self) -> _OpenConnection:
        """Return an idle connection to the file that the path names now, or a new one."""
        inode = 0
        with suppress(FileNotFoundError):  # a new connection reports what is missing
            inode = os.stat(self._database).st_ino  # noqa: PTH116  # for every request
        with self._lock:
            idle = self._idle.pop() if self._idle else None
        if idle is not None:
            if idle.inode == inode:
                return idle
            idle.connection.close()
        connection = connect_to_read(self._database)
        keep_few_pages(connection)
        return _OpenConnection(inode, connection)

    def _give_back(self, opened: _OpenConnection) -> None:
        # A connection to an immutable file would never see what another program adds to it.
        if not is_immutable(self._database):
            with self._lock:
                if len(self._idle) < _MOST_IDLE:
                    self._idle.append(opened)
                    return
        opened.connection.close()
