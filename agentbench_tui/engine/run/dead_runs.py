"""Runs whose process is gone: found by their lease, marked as interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.model.clock import utc_now
from agentbench_tui.store.locking import Lease
from agentbench_tui.store.queries.executions import running_runs
from agentbench_tui.store.writes import runs

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

PROCESS_ENDED = "its process ended"
"""Why a run stopped that could not say so itself."""


def mark_dead_runs(connection: sqlite3.Connection, database: Path) -> list[str]:
    """Mark as interrupted every `running` run whose process is gone; return their ids.

    Only the holder of a run's lease may do so, and the run's own process never releases it.
    """
    marked = []
    for key, run_id in running_runs(connection):
        lease = Lease.take(database, run_id)
        if lease is None:
            continue
        runs.interrupt_run(connection, key, PROCESS_ENDED, utc_now())
        lease.release()
        marked.append(run_id)
    return marked
