"""The report of a stress scenario, rewritten while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3


def keep_report(connection: sqlite3.Connection, execution_key: int, document: str) -> None:
    """Replace the stored report (JSON) of an execution."""
    connection.execute(
        "INSERT OR REPLACE INTO stress_reports (execution_key, run_key, document)"
        " SELECT key, run_key, ? FROM benchmark_executions WHERE key=?",
        (document, execution_key),
    )


def remove_report(connection: sqlite3.Connection, execution_key: int) -> None:
    """Remove the report of an execution, if it has one."""
    connection.execute("DELETE FROM stress_reports WHERE execution_key=?", (execution_key,))
