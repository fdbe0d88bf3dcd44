"""Control requests of viewers to a running run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3

_PAGE = 100


class ControlRequest(NamedTuple):
    """One request of a viewer; `at` in seconds since 1970."""

    seq: int
    at: float
    wish: str
    argument: str | None


def open_control_requests(
    connection: sqlite3.Connection, run_key: int, after: int
) -> list[ControlRequest]:
    """Return the unanswered requests to a run numbered above `after`, the oldest first."""
    rows = connection.execute(
        "SELECT seq, at, wish, argument FROM wishes"
        " WHERE run_key=? AND seq>? AND answered_at IS NULL ORDER BY seq LIMIT ?",
        (run_key, after, _PAGE),
    )
    return [*map(ControlRequest._make, rows.fetchall())]
