"""The latest executions at every place, for leaderboards of stores with many runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3

Row = dict[str, Any]

_PLACE = "agent_id, agent_version, simulated, suite_id, benchmark_id, parameters"
_SAME_PLACE = " AND ".join(f"e.{column}=n.{column}" for column in _PLACE.split(", "))


def latest_executions(
    connection: sqlite3.Connection,
    *,
    agent: str | None = None,
    version: str | None = None,
    suite: str | None = None,
    since: str | None = None,
    benchmark: str | None = None,
    run_key: int | None = None,
) -> list[Row]:
    """Return, for each version of an agent on each benchmark and point, the complete executions of
    the latest run that has any; oldest first.

    Rows as of `selection.executions_where`. `since`: made after this time (UTC, ISO 8601) only;
    `run_key`: only those of this run.
    """
    values = {
        "agent_id": agent, "agent_version": version, "suite_id": suite,
        "benchmark_id": benchmark, "run_key": run_key, "since": since,
    }  # fmt: skip
    cursor = connection.execute(_statement(values), values)
    names = [column[0] for column in cursor.description]
    rows = [dict(zip(names, tuple(row), strict=True)) for row in cursor.fetchall()]
    for row in rows:
        row["parameters"] = json.loads(row["parameters"])
    return rows


def _statement(values: dict[str, Any]) -> str:
    """Return SQL with only the given conditions, so that SQLite uses its indexes for them."""
    given = ["status='complete'"]
    given += [
        f"{name}=:{name}" for name, value in values.items() if value is not None and name != "since"
    ]
    if values["since"] is not None:
        given.append("created_at>:since")
    conditions = " AND ".join(given)
    newest = (
        f"SELECT {_PLACE}, MAX(created_at) AS newest FROM benchmark_executions"  # noqa: S608  # ours
        f" WHERE {conditions} GROUP BY {_PLACE}"
    )
    # Two runs may have begun in the same millisecond: then the one stored last is the latest.
    last = (
        f"SELECT n.*, (SELECT MAX(+e.key) FROM benchmark_executions e"  # noqa: S608  # ours
        f" WHERE e.status='complete' AND {_SAME_PLACE} AND e.created_at=n.newest) AS last"
        f" FROM ({newest}) n"
    )
    # CROSS and + keep SQLite to this order, and to what the index of places tells.
    return (
        f"SELECT e.*, v.fingerprint, r.id AS run_id FROM ({last}) n"  # noqa: S608  # ours
        " CROSS JOIN benchmark_executions l ON l.key=n.last"
        f" CROSS JOIN benchmark_executions e ON e.status='complete' AND {_SAME_PLACE}"
        " AND +e.run_key=l.run_key"
        " JOIN runs r ON r.key=e.run_key LEFT JOIN environments v ON v.hash=r.environment_hash"
        " ORDER BY e.created_at, e.key"
    )
