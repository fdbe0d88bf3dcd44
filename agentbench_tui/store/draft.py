"""Changes to the stored answers of a run that are invisible to others until all are committed.

A draft holds private copies of the tables that change, on a connection that only reads. In SQLite
a temporary table hides the table of the same name, so the queries that aggregate a run read the
draft. `commit` makes the same changes in the database in one transaction: a process that is killed
before it leaves the run as it was.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any, Self

from agentbench_tui.store.database import connect_to_read
from agentbench_tui.store.faults import faults_named
from agentbench_tui.store.transaction import write_once

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


class Draft:
    """A private copy of a run's rows of some tables, for changes. Requires the run's lease."""

    def __init__(self, database: Path, run_key: int, tables: Sequence[str]) -> None:
        """Raises StoreError. Needs space for the rows in SQLite's temporary storage."""
        self._database = database
        self._changes: list[tuple[str, Sequence[Any]]] = []
        self.connection = connect_to_read(database)
        """Reads the draft if it has a table, else the database."""
        try:
            for table in tables:
                self._copy(table, run_key)
        except BaseException:
            self.connection.close()
            raise

    def add(self, statement: str, row: Sequence[Any]) -> None:
        """Change the draft by a statement, and repeat it on the database at commit."""
        with faults_named(self._database):
            self.connection.execute(statement, row)
        self._changes.append((statement, row))

    def commit(self, finish: Callable[[sqlite3.Connection], None]) -> None:
        """Make all changes and call `finish` in one transaction of the database.

        10,000 answers take about a tenth of a second. Raises StoreError; then nothing changes.
        """

        def change(connection: sqlite3.Connection) -> None:
            for statement, row in self._changes:
                connection.execute(statement, row)
            finish(connection)

        write_once(self._database, [change])

    def _copy(self, table: str, run_key: int) -> None:
        with faults_named(self._database), closing(self.connection.cursor()) as cursor:
            names = [row["name"] for row in cursor.execute(f"PRAGMA main.table_info({table})")]
            columns = ", ".join("seq INTEGER PRIMARY KEY" if n == "seq" else n for n in names)
            cursor.execute(f"CREATE TEMP TABLE {table} ({columns})")
            cursor.execute(
                f"INSERT INTO temp.{table} SELECT * FROM main.{table} WHERE run_key=?",  # noqa: S608
                (run_key,),
            )
            cursor.execute(f"CREATE INDEX temp.{table}_execution ON {table} (execution_key)")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()
