"""Control requests of viewers to a run, and their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.model.clock import unix_time

if TYPE_CHECKING:
    import sqlite3


def add_control_request(
    connection: sqlite3.Connection,
    run_key: int,
    wish: str,
    argument: str | None = None,
    at: float | None = None,
) -> int:
    """Add a request to a run: stop, pause, resume, concurrency, …; return its number.

    `at`: when, in seconds since 1970; now where it is not given.
    """
    row = connection.execute(
        "INSERT INTO wishes (run_key, at, wish, argument) VALUES (?,?,?,?)",
        (run_key, unix_time() if at is None else at, wish, argument),
    )
    return row.lastrowid or 0


def answer_control_request(connection: sqlite3.Connection, seq: int, answer: str) -> None:
    """Record the outcome of a control request."""
    connection.execute(
        "UPDATE wishes SET answered_at=?, answer=? WHERE seq=?", (unix_time(), answer, seq)
    )
