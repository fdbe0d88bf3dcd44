"""Excludes runs with invalid rows from what commands read, so that they affect no other run.

Checking every row takes long, so nothing is checked until a command has failed over what it read.
In SQLite a temporary view hides the table of the same name; readers then see all other runs.
"""

from __future__ import annotations

from contextlib import closing, suppress
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import StoreError

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from agentbench_tui.store.soundness import Soundness

_opened: set[Path] = set()
"""Databases that this process has read."""
_excluded: dict[Path, set[int]] = {}
"""Keys of the runs that are excluded, by database."""
_BY_RUN = ("benchmark_executions", "ticks", "gauges")
"""Tables that are read without the table of runs."""


def note_opened(path: Path, connection: sqlite3.Connection) -> None:
    """Remember that a database is read, and exclude damaged runs from the connection."""
    _opened.add(path)
    keys = ", ".join(map(str, sorted(_excluded.get(path, ()))))
    if not keys:
        return
    views = connection.execute(
        "SELECT sql FROM main.sqlite_master WHERE type='view' ORDER BY rowid"
    ).fetchall()
    connection.execute(
        f"CREATE TEMP VIEW runs AS SELECT * FROM main.runs WHERE key NOT IN ({keys})"  # noqa: S608
    )
    for table in _BY_RUN:
        connection.execute(
            f"CREATE TEMP VIEW {table} AS"  # noqa: S608
            f" SELECT * FROM main.{table} WHERE run_key NOT IN ({keys})"
        )
    # Views of the main schema read the tables of the main schema, so they are made again.
    for (statement,) in views:
        connection.execute(statement.replace("CREATE VIEW", "CREATE TEMP VIEW", 1))


def exclude_damaged(soundness: Soundness) -> list[str]:
    """Find and exclude the damaged runs of every opened database; return a line for each
    new one.
    """
    from agentbench_tui.store.database import connect_to_read

    lines = []
    for path in sorted(_opened):
        known = _excluded.setdefault(path, set())
        with suppress(StoreError), closing(connect_to_read(path)) as connection:
            for key, (run_id, problem) in soundness.damaged(connection).items():
                known.add(key)
                lines.append(f"{path}: run {run_id} is damaged and excluded: {problem}")
    return lines
