"""Lists of runs and agents, independent of modules that judge them so that they load quickly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from agentbench_tui.contracts.listings import AgentsDocument, ListedAgent
from agentbench_tui.contracts.runs import RunsDocument, RunSummary
from agentbench_tui.store.locking import is_leased
from agentbench_tui.store.queries.runs import list_agents, list_runs

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path


def runs_document(
    connection: sqlite3.Connection, database: Path, limit: int, tag: str | None = None
) -> RunsDocument:
    """Return the newest runs.

    A run whose process is gone is shown as interrupted, also before anyone has marked it so.
    """
    runs = msgspec.convert(list_runs(connection, limit, tag), list[RunSummary])
    return RunsDocument(
        runs=tuple(
            replace(run, status="interrupted")
            if run.status == "running" and not is_leased(database, run.id)
            else run
            for run in runs
        )
    )


def agents_document(connection: sqlite3.Connection) -> AgentsDocument:
    """Return the agents that were measured, the most recent first."""
    agents = msgspec.convert(list_agents(connection), list[ListedAgent])
    return AgentsDocument(agents=tuple(agents))
