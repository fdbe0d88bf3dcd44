"""Chooses a run if none is named: the newest that is running, or can be resumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.store.locking import is_leased
from agentbench_tui.store.queries.runs import newest_run_ids

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

_LOOKED_AT = 20
"""Runs stored as running, among which one is looked for whose process lives."""


def live_run(connection: sqlite3.Connection, database: Path) -> str | None:
    """Return the newest run whose process lives; None without any."""
    running = newest_run_ids(connection, _LOOKED_AT, "running")
    return next((run_id for run_id in running if is_leased(database, run_id)), None)


def resumable_run(connection: sqlite3.Connection, database: Path) -> str | None:
    """Return the newest run that was stopped or killed; None without any."""
    killed = [
        run_id
        for run_id in newest_run_ids(connection, _LOOKED_AT, "running")
        if not is_leased(database, run_id)
    ]
    interrupted = newest_run_ids(connection, 1, "interrupted")
    # Ids begin with the time.
    return max([*killed, *interrupted], default=None)


def run_to_watch(connection: sqlite3.Connection, database: Path) -> str | None:
    """Return the newest running run, else the newest run; None without any."""
    found = live_run(connection, database)
    return found or next(iter(newest_run_ids(connection, 1)), None)
