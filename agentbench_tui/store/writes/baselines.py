"""Baselines and accepted changes, each written in its own transaction."""

from __future__ import annotations

from dataclasses import asdict, astuple, fields
from typing import TYPE_CHECKING

from agentbench_tui.store.transaction import write_once

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from pathlib import Path

    from agentbench_tui.store.queries.baselines import AcceptedChange, Baseline


def keep_baseline(database: Path, baseline: Baseline) -> None:
    """Set a baseline, replacing the one with that name and place."""
    _insert(database, "baselines", [baseline])


def keep_accepted(database: Path, changes: Sequence[AcceptedChange]) -> None:
    """Accept changes of level; accepting one again updates only the date."""
    _insert(database, "accepted_changes", changes)


def remove_baseline(database: Path, agent: str, name: str) -> int:
    """Remove a baseline with all its places; return how many there were."""
    return _delete(database, "DELETE FROM baselines WHERE agent_id=? AND name=?", (agent, name))


def remove_accepted(database: Path, changes: Sequence[AcceptedChange]) -> None:
    """Remove the acceptance of these changes."""
    keys = ("agent_id", "suite_id", "benchmark_id", "parameters", "metric", "since")
    where = " AND ".join(f"{name}=:{name}" for name in keys)
    statement = f"DELETE FROM accepted_changes WHERE {where}"  # noqa: S608  # our own names
    write_once(database, [lambda c: c.executemany(statement, [asdict(one) for one in changes])])


def _insert(
    database: Path, table: str, rows: Sequence[Baseline] | Sequence[AcceptedChange]
) -> None:
    marks = ", ".join("?" * len(fields(rows[0])))
    statement = f"INSERT OR REPLACE INTO {table} VALUES ({marks})"  # noqa: S608  # our own names
    write_once(database, [lambda c: c.executemany(statement, [astuple(row) for row in rows])])


def _delete(database: Path, statement: str, values: tuple[str, ...]) -> int:
    removed = 0

    def change(connection: sqlite3.Connection) -> None:
        nonlocal removed
        removed = connection.execute(statement, values).rowcount

    write_once(database, [change])
    return removed
