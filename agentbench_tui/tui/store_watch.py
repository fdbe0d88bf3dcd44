"""Detects commits to the store since the last check."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.store.database import connect_to_read, data_version

if TYPE_CHECKING:
    from pathlib import Path


class StoreWatch:
    """One reading connection whose data version is checked, which takes microseconds."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._version = -1
        self._is_closed = False

    def changed(self) -> bool:
        """Return whether the data changed, or the file was replaced, created or removed.

        A timer that looks once more after `close` opens nothing.
        """
        if self._is_closed:
            return False
        try:
            inode = os.stat(self._database).st_ino  # noqa: PTH116  # several times a second
        except OSError:
            was_there = self._connection is not None
            self._drop()
            return was_there
        try:
            if self._connection is None or inode != self._inode:
                self._drop()
                self._connection, self._inode = connect_to_read(self._database), inode
            newest = data_version(self._connection)
        except (AgentbenchError, sqlite3.Error):
            self._drop()
            return False
        before, self._version = self._version, newest
        return newest != before

    def forget(self) -> None:
        """Treat the current content as new at the next check, because another reader found nothing.

        The file may be back before the check, which would then never see a change.
        """
        self._version = -1

    def close(self) -> None:
        """Stop checking. Idempotent."""
        self._is_closed = True
        self._drop()

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self._version = None, -1
