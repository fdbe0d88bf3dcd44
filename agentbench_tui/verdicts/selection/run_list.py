"""The list of runs, independent of modules that judge them so that it loads quickly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentbench_tui.store.locking import is_leased
from agentbench_tui.store.queries.runs import list_runs

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

RUNS_SCHEMA = "agentbench.runs/1"

Document = dict[str, Any]


def runs_document(
    connection: sqlite3.Connection, database: Path, limit: int, tag: str | None = None
) -> Document:
    """Return what `agentbench runs list --format json` prints.

    A run whose process is gone is shown as interrupted, also before anyone has marked it so.
    """
    runs = list_runs(connection, limit, tag)
    for run in runs:
        if run["status"] == "running" and not is_leased(database, run["id"]):
            run["status"] = "interrupted"
    return {"schema": RUNS_SCHEMA, "runs": runs}
