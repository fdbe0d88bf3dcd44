"""What could be a side of a comparison: every selector that means something in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentbench_tui.store.queries.runs import find_run
from agentbench_tui.store.queries.selection import executions_where
from agentbench_tui.verdicts.selection.selector import parse_selector

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

Document = dict[str, Any]

MOST = 200
"""Of each kind, the newest."""

_AGENTS = (
    "SELECT agent_id, '' AS version, NULL AS name,"
    " COUNT(DISTINCT agent_version) AS versions, COUNT(DISTINCT run_key) AS runs,"
    " MAX(created_at) AS last, MAX(simulated) AS simulated"
    " FROM benchmark_executions WHERE status='complete'"
    " GROUP BY agent_id ORDER BY last DESC LIMIT :most"
)
_VERSIONS = (
    "SELECT agent_id, agent_version AS version, NULL AS name,"
    " 1 AS versions, COUNT(DISTINCT run_key) AS runs, MAX(created_at) AS last,"
    " MAX(simulated) AS simulated FROM benchmark_executions WHERE status='complete'"
    " AND agent_id IN (SELECT agent_id FROM benchmark_executions WHERE status='complete'"
    "  GROUP BY agent_id HAVING COUNT(DISTINCT agent_version) > 1)"
    " GROUP BY agent_id, agent_version ORDER BY last DESC LIMIT :most"
)
_RUNS = (
    "SELECT e.agent_id, e.agent_version AS version, r.id AS name,"
    " COUNT(*) OVER (PARTITION BY r.id, e.agent_id) AS versions, 1 AS runs,"
    " MAX(e.created_at) AS last, MAX(e.simulated) AS simulated"
    " FROM (SELECT key, id FROM runs ORDER BY key DESC LIMIT :most) r"
    " JOIN benchmark_executions e ON e.run_key=r.key WHERE e.status='complete'"
    " GROUP BY r.id, e.agent_id, e.agent_version ORDER BY last DESC LIMIT :most"
)
_TAGS = (
    "SELECT e.agent_id, e.agent_version AS version, t.value AS name,"
    " COUNT(*) OVER (PARTITION BY t.value, e.agent_id) AS versions,"
    " COUNT(DISTINCT e.run_key) AS runs, MAX(e.created_at) AS last, MAX(e.simulated) AS simulated"
    " FROM (SELECT key, tags FROM runs WHERE tags != '[]' ORDER BY key DESC LIMIT :most) r"
    " JOIN json_each(r.tags) t JOIN benchmark_executions e ON e.run_key=r.key"
    " WHERE e.status='complete'"
    " GROUP BY t.value, e.agent_id, e.agent_version ORDER BY last DESC LIMIT :most"
)
_KINDS = (("agent", _AGENTS), ("version", _VERSIONS), ("run", _RUNS), ("tag", _TAGS))


def selectable(connection: sqlite3.Connection, most: int = MOST) -> list[Document]:
    """Agents, versions (of agents that have several), runs and tags, the newest of each first.

    Each has its `selector` (see `verdicts.selection.selector`), `kind`, `agent_id`, number of
    `runs`, when its `last` execution was made (UTC), and whether it is `simulated`. Of runs and
    tags the newest `most` runs are looked at.
    """
    found = []
    for kind, query in _KINDS:
        cursor = connection.execute(query, {"most": most})
        names = [column[0] for column in cursor.description]
        for values in cursor.fetchall():
            row = dict(zip(names, tuple(values), strict=True))
            found.append(
                {
                    "selector": _selector(kind, row),
                    "kind": kind,
                    "agent_id": row["agent_id"],
                    "runs": row["runs"],
                    "last": row["last"],
                    "simulated": bool(row["simulated"]),
                }
            )
    return found


def _selector(kind: str, row: Document) -> str:
    agent: str = row["agent_id"]
    if kind == "agent":
        return agent
    versioned = f"{agent}@{row['version']}"
    if kind == "version":
        return versioned
    return f"{kind}:{row['name']}/{agent if row['versions'] == 1 else versioned}"


def spelled_out(connection: sqlite3.Connection, selectors: Iterable[str]) -> list[str]:
    """The same selectors, but of a run or tag that holds several agents one for each of them.
    UsageError for what is no selector, or a run that is not there."""
    found: dict[str, None] = {}
    for text in selectors:
        found.update(dict.fromkeys(_each_agent(connection, text)))
    return [*found]


def _each_agent(connection: sqlite3.Connection, text: str) -> list[str]:
    selector = parse_selector(text)
    if selector.kind not in {"run", "tag"} or selector.agent is not None or selector.point:
        return [text]
    run = find_run(connection, selector.name) if selector.kind == "run" else None
    rows = executions_where(
        connection,
        run_key=None if run is None else run["key"],
        tag=None if run is not None else selector.name,
    )
    agents = sorted({row["agent_id"] for row in rows})
    return [f"{text}/{agent}" for agent in agents] if len(agents) > 1 else [text]
