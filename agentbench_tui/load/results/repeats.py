"""The repeats of a load execution in the store: one is there whole, or it is measured anew.

Each function runs inside a transaction of the writer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.load.results.window import Window

if TYPE_CHECKING:
    import sqlite3


def is_measured(connection: sqlite3.Connection, execution_key: int, repeat: int) -> bool:
    """Whether the whole repeat was measured before the run was resumed."""
    found = connection.execute(
        "SELECT document FROM load_windows WHERE execution_key=? AND repeat=?",
        (execution_key, repeat),
    ).fetchone()
    return found is not None and not msgspec.json.decode(found[0], type=Window).stopped


def forget(connection: sqlite3.Connection, execution_key: int, repeat: int) -> None:
    """Remove what is there of a repeat that was cut off or stopped."""
    place = (execution_key, repeat)
    connection.execute(
        "UPDATE benchmark_executions SET planned=planned-(SELECT COALESCE(SUM(observed), 0)"
        " FROM iterations WHERE execution_key=?1 AND repeat=?2) WHERE key=?1",
        place,
    )
    for table in ("iterations", "sample_chunks", "load_windows", "ticks", "failures"):
        connection.execute(
            f"DELETE FROM {table} WHERE execution_key=? AND repeat=?",  # noqa: S608  # ours
            place,
        )


def keep(
    connection: sqlite3.Connection, execution_key: int, repeat: int, window: Window, requests: int
) -> None:
    """Write what is known of a repeat that has been measured, of so many requests."""
    connection.execute(
        "INSERT OR REPLACE INTO load_windows (execution_key, repeat, run_key, document)"
        " SELECT key, ?, run_key, ? FROM benchmark_executions WHERE key=?",
        (repeat, msgspec.json.encode(window).decode(), execution_key),
    )
    connection.execute(
        "UPDATE benchmark_executions SET planned=planned+? WHERE key=?", (requests, execution_key)
    )


def replace(
    connection: sqlite3.Connection, execution_key: int, repeat: int, window: Window
) -> None:
    """Write what is known of a repeat by now."""
    connection.execute(
        "UPDATE load_windows SET document=? WHERE execution_key=? AND repeat=?",
        (msgspec.json.encode(window).decode(), execution_key, repeat),
    )
