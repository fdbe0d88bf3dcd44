"""Which executions are meant: the complete ones that fit an agent, a run, a tag, a benchmark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.store.locking import is_leased

if TYPE_CHECKING:
    import sqlite3

Row = dict[str, Any]

_MOST = 100_000


def executions_where(
    connection: sqlite3.Connection,
    *,
    agent: str | None = None,
    version: str | None = None,
    run_key: int | None = None,
    tag: str | None = None,
    suite: str | None = None,
    benchmark: str | None = None,
) -> list[Row]:
    """The complete executions that fit all that is given, the oldest first.

    Rows of `benchmark_executions`, `parameters` decoded, with the `fingerprint` of the machine
    (None where it is not known) and the `run_id`. The newest 100,000 at most.
    """
    cursor = connection.execute(
        "SELECT e.*, v.fingerprint, r.id AS run_id FROM benchmark_executions e"
        " JOIN runs r ON r.key=e.run_key LEFT JOIN environments v ON v.hash=r.environment_hash"
        " WHERE e.status='complete'"
        " AND (:agent IS NULL OR e.agent_id=:agent)"
        " AND (:version IS NULL OR e.agent_version=:version)"
        " AND (:run_key IS NULL OR e.run_key=:run_key)"
        " AND (:tag IS NULL OR EXISTS (SELECT 1 FROM json_each(r.tags) WHERE value=:tag))"
        " AND (:suite IS NULL OR e.suite_id=:suite)"
        " AND (:benchmark IS NULL OR e.benchmark_id=:benchmark)"
        " ORDER BY e.created_at DESC, e.key DESC LIMIT :most",
        {
            "agent": agent, "version": version, "run_key": run_key, "tag": tag, "suite": suite,
            "benchmark": benchmark, "most": _MOST,
        },
    )  # fmt: skip
    names = [column[0] for column in cursor.description]
    rows = [dict(zip(names, tuple(row), strict=True)) for row in cursor.fetchall()]
    for row in rows:
        text = row["parameters"]
        row["parameters"] = {} if text == "{}" else json.loads(text)
    return rows[::-1]


def agent_ids(connection: sqlite3.Connection) -> list[str]:
    """Every agent that was ever measured."""
    return [str(row[0]) for row in connection.execute("SELECT id FROM agents ORDER BY id")]


def tags(connection: sqlite3.Connection) -> list[str]:
    """Every tag of a run."""
    found = connection.execute(
        "SELECT DISTINCT t.value FROM runs r, json_each(r.tags) t ORDER BY 1"
    )
    return [str(row[0]) for row in found]


def newest_specifications(connection: sqlite3.Connection, limit: int = 100) -> list[AgentSpec]:
    """Of each agent the version that was stored last, the latest agents first."""
    rows = connection.execute(
        "SELECT specification, MAX(created_at) AS latest FROM agent_versions GROUP BY agent_id"
        " ORDER BY latest DESC, agent_id LIMIT ?",
        (limit,),
    )
    return [msgspec.json.decode(row[0], type=AgentSpec) for row in rows]


def specification_of(connection: sqlite3.Connection, row: Row) -> AgentSpec:
    """The agent of an execution, as it was."""
    (found,) = connection.execute(
        "SELECT specification FROM agent_versions WHERE agent_id=? AND version=?",
        (row["agent_id"], row["agent_version"]),
    ).fetchone()
    return msgspec.json.decode(found, type=AgentSpec)


def unfinished(connection: sqlite3.Connection, agent: str, version: str) -> int:
    """How many executions of a version ended before they were complete."""
    row = connection.execute(
        "SELECT COUNT(*) FROM benchmark_executions WHERE agent_id=? AND agent_version=?"
        " AND status IN ('incomplete', 'interrupted')",
        (agent, version),
    ).fetchone()
    return int(row[0])


def interrupted_since(
    connection: sqlite3.Connection,
    agent: str,
    since: str,
    *,
    version: str | None = None,
    suite: str | None = None,
    benchmark: str | None = None,
) -> str | None:
    """The newest run, after a time (UTC), in which the agent did not come to its end; its id.

    A run that was killed is one, also before anyone has marked it so; one that goes on is none.
    """
    rows = connection.execute(
        "SELECT r.id, r.status FROM benchmark_executions e JOIN runs r ON r.key=e.run_key"
        " WHERE e.agent_id=:agent AND e.created_at>:since AND e.status!='complete'"
        " AND (:version IS NULL OR e.agent_version=:version)"
        " AND (:suite IS NULL OR e.suite_id=:suite)"
        " AND (:benchmark IS NULL OR e.benchmark_id=:benchmark)"
        " ORDER BY e.created_at DESC, e.key DESC",
        {
            "agent": agent, "since": since, "version": version, "suite": suite,
            "benchmark": benchmark,
        },
    )  # fmt: skip
    database = Path(connection.execute("PRAGMA database_list").fetchone()[2])
    ended = (
        str(run) for run, status in rows if status != "running" or not is_leased(database, run)
    )
    return next(ended, None)
