"""The latest executions at every place, for leaderboards of stores with many runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

Row = dict[str, Any]
NEWER_PARTIAL = "newer_partial"
"""Key of a row: the `PartialRun` that it stands for; absent if it is of the latest run."""

_PLACE = "agent_id, agent_version, simulated, suite_id, benchmark_id, parameters"
_SAME_PLACE = " AND ".join(f"e.{column}=n.{column}" for column in _PLACE.split(", "))


class PartialRun(NamedTuple):
    """A run in which a version was asked fewer cases than in an earlier one of the same suite."""

    run_id: str
    cases: int
    whole: int
    """Cases of the earlier run."""


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

    A run that asked only some of the cases (`--limit`, `--case`) does not stand for an earlier run
    of the same version and suite that asked more; rows of that earlier run have `NEWER_PARTIAL`.
    Rows as of `selection.executions_where`. `since`: made after this time (UTC, ISO 8601) only;
    `run_key`: only those of this run.
    """
    values = {
        "agent_id": agent, "agent_version": version, "suite_id": suite,
        "benchmark_id": benchmark, "run_key": run_key, "since": since,
    }  # fmt: skip
    rows = _rows(connection, _statement(values), values)
    if run_key is None:
        rows = _with_whole_runs(connection, rows, since)
    for row in rows:
        row["parameters"] = json.loads(row["parameters"])
    return rows


def whole_runs_instead(
    connection: sqlite3.Connection, keys: Iterable[int], since: str | None = None
) -> list[int]:
    """Return these keys of executions, with those of partial runs replaced as in
    `latest_executions`.
    """
    keys = list(keys)
    partial = _partial(connection, keys, since)
    if not partial:
        return keys
    marks = json.dumps([*partial])
    kept = [key for key in keys if key not in partial]
    rows = _rows(connection, _OF_KEYS, {"keys": marks})
    whole = _with_whole_runs(connection, rows, since)
    return kept + [row["key"] for row in whole]


def _rows(connection: sqlite3.Connection, statement: str, values: dict[str, Any]) -> list[Row]:
    cursor = connection.execute(statement, values)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, tuple(row), strict=True)) for row in cursor.fetchall()]


def _with_whole_runs(
    connection: sqlite3.Connection, rows: Sequence[Row], since: str | None
) -> list[Row]:
    """Replace rows of partial runs by those of the latest whole run of the same place."""
    partial = _partial(connection, (row["key"] for row in rows), since)
    if not partial:
        return list(rows)
    found = [row for row in rows if row["key"] not in partial]
    done: set[tuple[Any, ...]] = set()
    for row in rows:
        place = tuple(row[column] for column in _PLACE.split(", "))
        if row["key"] not in partial or place in done:
            continue
        done.add(place)
        cases, whole = partial[row["key"]]
        known = {column: row[column] for column in (*_PLACE.split(", "), "suite_hash")}
        whole_rows = _rows(connection, _WHOLE, known | {"whole": whole, "since": since or ""})
        passed_over = {NEWER_PARTIAL: PartialRun(row["run_id"], cases, whole)}
        found += [earlier | passed_over for earlier in whole_rows]
    return sorted(found, key=lambda row: (row["created_at"], row["key"]))


def _partial(
    connection: sqlite3.Connection, keys: Iterable[int], since: str | None
) -> dict[int, tuple[int, int]]:
    """Key → cases that were asked, and the most that an earlier run asked, where that is more."""
    rows = connection.execute(_SIZES, {"keys": json.dumps([*keys]), "since": since or ""})
    return {key: (cases, whole) for key, cases, whole in map(tuple, rows) if whole > cases}


_AT = " AND ".join(f"o.{column}=e.{column}" for column in (*_PLACE.split(", "), "suite_hash"))
_SIZES = (
    "SELECT e.key, own.cases, (SELECT MAX(d.cases) FROM benchmark_executions o"  # noqa: S608  # ours
    f" JOIN datasets d ON d.key=o.dataset_key WHERE o.status='complete' AND {_AT}"
    " AND o.created_at>:since)"
    " FROM json_each(:keys) k JOIN benchmark_executions e ON e.key=k.value"
    " JOIN datasets own ON own.key=e.dataset_key"
)
_GIVEN = " AND ".join(f"e.{column}=:{column}" for column in (*_PLACE.split(", "), "suite_hash"))
_OF_WHOLE = (
    "FROM benchmark_executions e JOIN datasets d ON d.key=e.dataset_key"
    f" WHERE e.status='complete' AND {_GIVEN} AND d.cases=:whole AND e.created_at>:since"
)
_WHOLE = (
    "SELECT e.*, v.fingerprint, r.id AS run_id FROM benchmark_executions e"  # noqa: S608  # ours
    " JOIN runs r ON r.key=e.run_key LEFT JOIN environments v ON v.hash=r.environment_hash"
    f" WHERE e.status='complete' AND {_GIVEN} AND e.run_key=(SELECT e.run_key {_OF_WHOLE}"
    " ORDER BY e.created_at DESC, e.key DESC LIMIT 1)"
)
"""Executions of the latest run that asked so many cases at a place."""

_OF_KEYS = (
    "SELECT e.*, r.id AS run_id FROM json_each(:keys) k"
    " JOIN benchmark_executions e ON e.key=k.value JOIN runs r ON r.key=e.run_key"
)


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
