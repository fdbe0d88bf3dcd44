"""Finds complete executions by agent, run, tag or benchmark."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.store.locking import is_leased
from agentbench_tui.store.queries.runs import file_of
from agentbench_tui.store.reruns import NOT_REPLACED

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection

Row = dict[str, Any]

_MOST = 100_000


def executions_where(
    connection: sqlite3.Connection,
    *,
    agent: str | None = None,
    version: str | None = None,
    run_key: int | None = None,
    keys: Collection[int] | None = None,
    tag: str | None = None,
    suite: str | None = None,
    benchmark: str | None = None,
) -> list[Row]:
    """Return the complete executions that match all given values, oldest first; `keys` are their
    own.

    Rows of `benchmark_executions`, `parameters` decoded, with the `fingerprint` of the machine
    (None where it is not known) and the `run_id`. The newest 100,000 at most.
    """
    of_keys = None if keys is None else json.dumps(sorted(keys))
    given = {
        condition: value
        for condition, value in (
            ("e.agent_id=?", agent),
            ("e.agent_version=?", version),
            ("e.run_key=?", run_key),
            ("e.key IN (SELECT value FROM json_each(?))", of_keys),
            ("EXISTS (SELECT 1 FROM json_each(r.tags) WHERE value=?)", tag),
            ("e.suite_id=?", suite),
            ("e.benchmark_id=?", benchmark),
        )
        if value is not None
    }
    # Only what is given, so that SQLite looks for it in its indexes.
    conditions = " AND ".join(["e.status='complete'", *given])
    if run_key is None and keys is None:
        conditions += f" AND {NOT_REPLACED}"
    cursor = connection.execute(
        "SELECT e.*, v.fingerprint, r.id AS run_id FROM benchmark_executions e"  # noqa: S608  # ours
        " JOIN runs r ON r.key=e.run_key LEFT JOIN environments v ON v.hash=r.environment_hash"
        f" WHERE {conditions} ORDER BY e.created_at DESC, e.key DESC LIMIT {_MOST}",
        (*given.values(),),
    )
    names = [column[0] for column in cursor.description]
    rows = [dict(zip(names, tuple(row), strict=True)) for row in cursor.fetchall()]
    for row in rows:
        text = row["parameters"]
        row["parameters"] = {} if text == "{}" else json.loads(text)
    return rows[::-1]


def newest_at_each_place(
    connection: sqlite3.Connection, agent: str, most: int, version: str | None = None
) -> set[int]:
    """Return the keys of an agent's complete executions in the newest runs of each benchmark and
    point, at most `most`; up to the newest run of a version, if one is given.
    """
    rows = connection.execute(
        "WITH known AS (SELECT key, suite_id, benchmark_id, parameters, agent_version, created_at"  # noqa: S608  # ours
        "  FROM benchmark_executions e WHERE agent_id=:agent AND status='complete'"
        f"  AND {NOT_REPLACED}),"
        " ends AS (SELECT suite_id, benchmark_id, parameters, MAX(created_at) AS newest FROM known"
        "  WHERE :version IS NULL OR agent_version=:version GROUP BY 1, 2, 3)"
        " SELECT key FROM (SELECT key, DENSE_RANK() OVER ("
        "   PARTITION BY suite_id, benchmark_id, parameters ORDER BY created_at DESC) AS age"
        "  FROM known JOIN ends USING (suite_id, benchmark_id, parameters)"
        "  WHERE created_at<=newest) WHERE age<=:most",
        {"agent": agent, "version": version, "most": most},
    )
    return {key for (key,) in map(tuple, rows.fetchall())}


def keys_of(
    connection: sqlite3.Connection,
    agent: str,
    *,
    version: str | None = None,
    run: str | None = None,
    tag: str | None = None,
) -> set[int]:
    """Return keys of an agent's complete executions of a version, in a run (its id) or with
    a tag.
    """
    rows = connection.execute(
        "SELECT e.key FROM benchmark_executions e JOIN runs r ON r.key=e.run_key"  # noqa: S608  # ours
        " WHERE e.agent_id=:agent AND e.status='complete'"
        " AND (:version IS NULL OR e.agent_version=:version)"
        f" AND (r.id=:run OR (:run IS NULL AND {NOT_REPLACED}))"
        " AND (:tag IS NULL OR EXISTS (SELECT 1 FROM json_each(r.tags) WHERE value=:tag))",
        {"agent": agent, "version": version, "run": run, "tag": tag},
    )
    return {key for (key,) in map(tuple, rows.fetchall())}


def versions_of(connection: sqlite3.Connection, agent: str) -> list[str]:
    """Return the versions of an agent with complete executions, sorted by name."""
    rows = connection.execute(
        "SELECT DISTINCT agent_version FROM benchmark_executions"
        " WHERE agent_id=? AND status='complete' ORDER BY 1",
        (agent,),
    )
    return [str(row[0]) for row in rows]


def agent_ids(connection: sqlite3.Connection) -> list[str]:
    """Return every agent that was ever measured."""
    return [str(row[0]) for row in connection.execute("SELECT id FROM agents ORDER BY id")]


def tags(connection: sqlite3.Connection) -> list[str]:
    """Return every tag of a run."""
    found = connection.execute(
        "SELECT DISTINCT t.value FROM runs r, json_each(r.tags) t ORDER BY 1"
    )
    return [str(row[0]) for row in found]


def newest_specifications(connection: sqlite3.Connection, limit: int = 100) -> list[AgentSpec]:
    """Return the last stored version of each agent, the latest agents first."""
    rows = connection.execute(
        "SELECT specification, MAX(created_at) AS latest FROM agent_versions GROUP BY agent_id"
        " ORDER BY latest DESC, agent_id LIMIT ?",
        (limit,),
    )
    return [msgspec.json.decode(row[0], type=AgentSpec) for row in rows]


def specification_of(connection: sqlite3.Connection, row: Row) -> AgentSpec:
    """Return the agent as it was configured for an execution."""
    (found,) = connection.execute(
        "SELECT specification FROM agent_versions WHERE agent_id=? AND version=?",
        (row["agent_id"], row["agent_version"]),
    ).fetchone()
    return msgspec.json.decode(found, type=AgentSpec)


def unfinished(connection: sqlite3.Connection, agent: str, version: str) -> int:
    """Return how many executions of a version ended before they were complete."""
    row = connection.execute(
        "SELECT COUNT(*) FROM benchmark_executions WHERE agent_id=? AND agent_version=?"
        " AND status IN ('incomplete', 'interrupted') AND attempts_after IS NULL",
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
    """Return the id of the newest run, after a time (UTC), that the agent did not finish.

    Includes killed runs, even if they are not marked yet; excludes running ones.
    """
    rows = connection.execute(
        "SELECT r.id, r.status FROM benchmark_executions e JOIN runs r ON r.key=e.run_key"
        " WHERE e.agent_id=:agent AND e.created_at>:since AND e.status!='complete'"
        " AND e.attempts_after IS NULL"
        " AND (:version IS NULL OR e.agent_version=:version)"
        " AND (:suite IS NULL OR e.suite_id=:suite)"
        " AND (:benchmark IS NULL OR e.benchmark_id=:benchmark)"
        " ORDER BY e.created_at DESC, e.key DESC",
        {
            "agent": agent, "since": since, "version": version, "suite": suite,
            "benchmark": benchmark,
        },
    )  # fmt: skip
    database = file_of(connection)
    ended = (
        str(run) for run, status in rows if status != "running" or not is_leased(database, run)
    )
    return next(ended, None)


def category_of_suite(connection: sqlite3.Connection, suite_hash: str) -> str:
    """Return the category of a suite that has been run."""
    row = connection.execute(
        "SELECT category FROM benchmark_suites WHERE hash=?", (suite_hash,)
    ).fetchone()
    return str(row[0])


class Selectable(NamedTuple):
    """A possible selector, from complete executions."""

    agent_id: str
    version: str
    """Empty for an agent with all its versions."""
    name: str | None
    """The run or tag; None for agents and versions."""
    versions: int
    """How many versions of the agent it holds."""
    runs: int
    last: str
    """When its last execution was made, UTC."""
    simulated: int


def selectable_agents(connection: sqlite3.Connection, most: int) -> list[Selectable]:
    """Return the agents, newest first."""
    return _selectable(
        connection,
        "SELECT agent_id, '' AS version, NULL AS name,"
        " COUNT(DISTINCT agent_version) AS versions, COUNT(DISTINCT run_key) AS runs,"
        " MAX(created_at) AS last, MAX(simulated) AS simulated"
        " FROM benchmark_executions WHERE status='complete'"
        " GROUP BY agent_id ORDER BY last DESC LIMIT :most",
        most,
    )


def selectable_versions(connection: sqlite3.Connection, most: int) -> list[Selectable]:
    """Return the versions of agents that have several, newest first."""
    return _selectable(
        connection,
        "SELECT agent_id, agent_version AS version, NULL AS name,"
        " 1 AS versions, COUNT(DISTINCT run_key) AS runs, MAX(created_at) AS last,"
        " MAX(simulated) AS simulated FROM benchmark_executions WHERE status='complete'"
        " AND agent_id IN (SELECT agent_id FROM benchmark_executions WHERE status='complete'"
        "  GROUP BY agent_id HAVING COUNT(DISTINCT agent_version) > 1)"
        " GROUP BY agent_id, agent_version ORDER BY last DESC LIMIT :most",
        most,
    )


def selectable_runs(connection: sqlite3.Connection, most: int) -> list[Selectable]:
    """Return each version in the newest `most` runs, newest first."""
    return _selectable(
        connection,
        "SELECT e.agent_id, e.agent_version AS version, r.id AS name,"
        " COUNT(*) OVER (PARTITION BY r.id, e.agent_id) AS versions, 1 AS runs,"
        " MAX(e.created_at) AS last, MAX(e.simulated) AS simulated"
        " FROM (SELECT key, id FROM runs ORDER BY key DESC LIMIT :most) r"
        " JOIN benchmark_executions e ON e.run_key=r.key WHERE e.status='complete'"
        " GROUP BY r.id, e.agent_id, e.agent_version ORDER BY last DESC LIMIT :most",
        most,
    )


def selectable_tags(connection: sqlite3.Connection, most: int) -> list[Selectable]:
    """Return each version under the tags of the newest `most` tagged runs, newest first."""
    return _selectable(
        connection,
        "SELECT e.agent_id, e.agent_version AS version, t.value AS name,"
        " COUNT(*) OVER (PARTITION BY t.value, e.agent_id) AS versions,"
        " COUNT(DISTINCT e.run_key) AS runs, MAX(e.created_at) AS last,"
        " MAX(e.simulated) AS simulated"
        " FROM (SELECT key, tags FROM runs WHERE tags != '[]' ORDER BY key DESC LIMIT :most) r"
        " JOIN json_each(r.tags) t JOIN benchmark_executions e ON e.run_key=r.key"
        " WHERE e.status='complete'"
        " GROUP BY t.value, e.agent_id, e.agent_version ORDER BY last DESC LIMIT :most",
        most,
    )


def _selectable(connection: sqlite3.Connection, statement: str, most: int) -> list[Selectable]:
    rows = connection.execute(statement, {"most": most})
    return [*map(Selectable._make, rows.fetchall())]


def newest_specification(connection: sqlite3.Connection, agent_id: str) -> AgentSpec | None:
    """Return the last stored version of an agent; None if it was never measured."""
    row = connection.execute(
        "SELECT specification FROM agent_versions WHERE agent_id=?"
        " ORDER BY created_at DESC LIMIT 1",
        (agent_id,),
    ).fetchone()
    return None if row is None else msgspec.json.decode(row[0], type=AgentSpec)


def newest_executions(
    connection: sqlite3.Connection,
    agent: str,
    *,
    suite: str | None,
    since: str | None,
    limit: int,
) -> tuple[list[Row], int]:
    """Return an agent's complete executions, the newest first, and the number of further ones.

    Rows of `benchmark_executions`, `parameters` decoded, with the `run_id`. `since`: made after
    this time only (UTC, ISO 8601).
    """
    given = {"agent": agent, "suite": suite, "since": since, "limit": limit}
    where = (
        "e.agent_id=:agent AND e.status='complete' AND (:suite IS NULL OR e.suite_id=:suite)"
        " AND (:since IS NULL OR e.created_at>:since)"
    )
    cursor = connection.execute(
        "SELECT e.*, r.id AS run_id FROM benchmark_executions e"  # noqa: S608  # ours
        f" JOIN runs r ON r.key=e.run_key WHERE {where}"
        " ORDER BY e.created_at DESC, e.key DESC LIMIT :limit",
        given,
    )
    names = [column[0] for column in cursor.description]
    rows = [dict(zip(names, tuple(row), strict=True)) for row in cursor.fetchall()]
    for row in rows:
        row["parameters"] = json.loads(row["parameters"])
    (count,) = connection.execute(
        f"SELECT COUNT(*) FROM benchmark_executions e WHERE {where}",  # noqa: S608  # ours
        given,
    ).fetchone()
    return rows, count - len(rows)
