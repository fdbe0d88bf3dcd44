"""Stored repeats of a load execution: each is complete or measured again.

Each function runs inside a transaction of the writer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.load.results.window import Window
from agentbench_tui.store.queries.load import window_documents
from agentbench_tui.store.writes.load import keep_window, replace_window

if TYPE_CHECKING:
    import sqlite3


def is_measured(connection: sqlite3.Connection, execution_key: int, repeat: int) -> bool:
    """Return whether the whole repeat was measured before the run was resumed."""
    found = window_documents(connection, execution_key).get(repeat)
    return found is not None and not msgspec.json.decode(found, type=Window).stopped


def keep(
    connection: sqlite3.Connection, execution_key: int, repeat: int, window: Window, requests: int
) -> None:
    """Store a finished repeat with this number of requests."""
    document = msgspec.json.encode(window).decode()
    keep_window(connection, execution_key, repeat, document, requests)


def replace(
    connection: sqlite3.Connection, execution_key: int, repeat: int, window: Window
) -> None:
    """Store the current state of a repeat."""
    document = msgspec.json.encode(window).decode()
    replace_window(connection, execution_key, repeat, document)
