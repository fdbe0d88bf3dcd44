"""Baselines of an agent, and the start of its current history."""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass, fields
from typing import TYPE_CHECKING, Literal

from agentbench_tui.store.writer import write_once

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Sequence
    from pathlib import Path

DEFAULT = "default"
"""Name of the baseline that is used by default."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A version, run or tag that later executions of an agent are compared with."""

    agent_id: str
    name: str
    suite_id: str
    """Empty for every suite."""
    benchmark_id: str
    """Empty for every benchmark."""
    kind: Literal["version", "run", "tag"]
    target: str
    """The version, the run's id, or the tag."""
    created_at: str

    def is_of_run(self, run_ids: Collection[str]) -> bool:
        """Return whether it names one of these runs, and is exported and deleted with it."""
        return self.kind == "run" and self.target in run_ids


@dataclass(frozen=True, slots=True)
class AcceptedChange:
    """A change of level that a person accepted: earlier runs are no longer used for comparison."""

    agent_id: str
    suite_id: str
    benchmark_id: str
    parameters: str
    """JSON as in `benchmark_executions`."""
    metric: str
    since: str
    """`created_at` of the first execution that certainly has the new level."""
    run_id: str
    """Its run."""
    before: float
    """The level before, in the metric's unit."""
    after: float
    created_at: str


def baselines_of(connection: sqlite3.Connection, agent: str | None = None) -> list[Baseline]:
    """The baselines of an agent, or of all; those of single benchmarks first."""
    names = ", ".join(field.name for field in fields(Baseline))
    rows = connection.execute(
        f"SELECT {names} FROM baselines WHERE ?1 IS NULL OR agent_id=?1"  # noqa: S608
        " ORDER BY agent_id, name, benchmark_id DESC, suite_id DESC",
        (agent,),
    )
    return [Baseline(*row) for row in rows.fetchall()]


def accepted_changes(
    connection: sqlite3.Connection, agent: str | None = None
) -> list[AcceptedChange]:
    """The accepted changes of an agent, or of all, the oldest first."""
    names = ", ".join(field.name for field in fields(AcceptedChange))
    rows = connection.execute(
        f"SELECT {names} FROM accepted_changes WHERE ?1 IS NULL OR agent_id=?1"  # noqa: S608
        " ORDER BY agent_id, since, suite_id, benchmark_id, metric",
        (agent,),
    )
    return [AcceptedChange(*row) for row in rows.fetchall()]


def keep_baseline(database: Path, baseline: Baseline) -> None:
    """Set a baseline, in place of the one of that name and place."""
    _insert(database, "baselines", [baseline])


def keep_accepted(database: Path, changes: Sequence[AcceptedChange]) -> None:
    """Accept changes of level; accepting one again changes nothing but the date."""
    _insert(database, "accepted_changes", changes)


def remove_baseline(database: Path, agent: str, name: str) -> int:
    """Remove a baseline with all its places; how many there were."""
    return _delete(database, "DELETE FROM baselines WHERE agent_id=? AND name=?", (agent, name))


def remove_accepted(database: Path, changes: Sequence[AcceptedChange]) -> None:
    """Take back that these changes are accepted."""
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
