"""Suites and benchmarks as they were run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agentbench_tui.model.kinds import BUILT_IN, Kind, kind_named

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable


def benchmark_document(
    connection: sqlite3.Connection, suite_hash: str, benchmark_id: str
) -> str | None:
    """Return the definition of a benchmark as JSON; None if it is not stored."""
    row = connection.execute(
        "SELECT b.value FROM benchmark_suites s, json_each(s.document, '$.benchmarks') b"
        " WHERE s.hash=? AND json_extract(b.value, '$.benchmark_id')=?",
        (suite_hash, benchmark_id),
    ).fetchone()
    return None if row is None else str(row[0])


def benchmark_kind(
    connection: sqlite3.Connection, suite_hash: str, benchmark_id: str
) -> str | None:
    """Return the kind of a benchmark; None if it is not stored."""
    row = connection.execute(
        "SELECT kind FROM benchmarks WHERE suite_hash=? AND benchmark_id=?",
        (suite_hash, benchmark_id),
    ).fetchone()
    return None if row is None else str(row[0])


def kind_of_execution(connection: sqlite3.Connection, execution_key: int) -> str | None:
    """Return the kind of an execution's benchmark; None if it is not stored."""
    row = connection.execute(
        "SELECT b.kind FROM benchmark_executions e JOIN benchmarks b"
        " ON b.suite_hash=e.suite_hash AND b.benchmark_id=e.benchmark_id WHERE e.key=?",
        (execution_key,),
    ).fetchone()
    return None if row is None else str(row[0])


def suite_categories(connection: sqlite3.Connection) -> dict[str, str]:
    """Return the category of each suite, by hash."""
    rows = connection.execute("SELECT hash, category FROM benchmark_suites")
    return dict(map(tuple, rows.fetchall()))


def suite_document(connection: sqlite3.Connection, suite_hash: str) -> str:
    """Return the suite as it was run, as JSON."""
    (document,) = connection.execute(
        "SELECT document FROM benchmark_suites WHERE hash=?", (suite_hash,)
    ).fetchone()
    return str(document)


def suite_weights(connection: sqlite3.Connection, suite_hash: str) -> dict[str, float]:
    """Return the weights of the dimensions in a suite's overall score; empty for an unknown
    suite.
    """
    row = connection.execute(
        "SELECT json_extract(document, '$.weights') FROM benchmark_suites WHERE hash=?",
        (suite_hash,),
    ).fetchone()
    weights: dict[str, float] = {} if row is None else json.loads(row[0] or "{}")
    return weights


def metrics_measured(
    connection: sqlite3.Connection, suite_hash: str, benchmark_id: str
) -> list[str]:
    """Return the metrics that a benchmark measures according to the suite's author."""
    rows = connection.execute(
        "SELECT m.value FROM benchmark_suites s, json_each(s.document, '$.benchmarks') b,"
        " json_each(b.value, '$.metrics_measured') m"
        " WHERE s.hash=? AND json_extract(b.value, '$.benchmark_id')=?",
        (suite_hash, benchmark_id),
    ).fetchall()
    return [row[0] for row in rows]


def output_dir_of_suite(connection: sqlite3.Connection, suite_hash: str) -> str | None:
    """Return the folder that a suite names for the files of its experiments; None if it
    names none.
    """
    (folder,) = connection.execute(
        "SELECT json_extract(document, '$.output_dir') FROM benchmark_suites WHERE hash=?",
        (suite_hash,),
    ).fetchone()
    return None if folder is None else str(folder)


def scoring_rubric(connection: sqlite3.Connection, execution_id: str) -> str | None:
    """Return the scoring rubric of an execution's benchmark as JSON; None if it has none."""
    row = connection.execute(
        "SELECT b.value -> '$.scoring_rubric' FROM benchmark_executions e"
        " JOIN benchmark_suites s ON s.hash=e.suite_hash"
        " JOIN json_each(s.document, '$.benchmarks') b"
        "  ON b.value ->> '$.benchmark_id' = e.benchmark_id WHERE e.id=?",
        (execution_id,),
    ).fetchone()
    return None if row is None else row[0]


def is_of_kind(connection: sqlite3.Connection, has: Callable[[Kind], bool]) -> str:
    """Return the SQL condition that the kind of execution `e` has a trait."""
    return (
        "EXISTS (SELECT 1 FROM benchmarks b WHERE b.suite_hash=e.suite_hash"  # noqa: S608  # quoted
        f" AND b.benchmark_id=e.benchmark_id AND b.kind IN {kinds_with(connection, has)})"
    )


def kinds_with(connection: sqlite3.Connection, has: Callable[[Kind], bool]) -> str:
    """Return the built-in and stored kinds with a trait, as the right side of SQL's `IN`."""
    rows = connection.execute("SELECT DISTINCT kind FROM benchmarks ORDER BY 1").fetchall()
    known = {*BUILT_IN, *(name for (name,) in map(tuple, rows))}
    names = [name for name in sorted(known) if has(kind_named(name))]
    quoted = [f"'{name.replace(chr(39), chr(39) * 2)}'" for name in names]
    return f"({', '.join(quoted)})"


def executions_in_run(
    connection: sqlite3.Connection, run_key: int, has: Callable[[Kind], bool]
) -> list[int]:
    """Return the key of one execution per benchmark of a run whose kind has a trait."""
    rows = connection.execute(
        "SELECT e.key FROM benchmark_executions e JOIN benchmarks b ON b.suite_hash=e.suite_hash"  # noqa: S608  # quoted
        " AND b.benchmark_id=e.benchmark_id WHERE e.run_key=?"
        f" AND b.kind IN {kinds_with(connection, has)} GROUP BY e.suite_hash, e.benchmark_id",
        (run_key,),
    )
    return [row[0] for row in rows.fetchall()]


def newest_executions(
    connection: sqlite3.Connection, agent: str, has: Callable[[Kind], bool]
) -> list[int]:
    """Return the key of an agent's newest complete execution of each benchmark whose kind has a
    trait, in ascending order.
    """
    # From the few benchmarks to their executions: an agent may have thousands of others.
    rows = connection.execute(
        "SELECT MAX(e.key) FROM benchmarks b JOIN benchmark_suites s ON s.hash=b.suite_hash"  # noqa: S608  # quoted
        " CROSS JOIN benchmark_executions e ON e.suite_id=s.suite_id"
        " AND e.benchmark_id=b.benchmark_id AND e.suite_hash=b.suite_hash"
        f" WHERE e.agent_id=? AND e.status='complete' AND b.kind IN {kinds_with(connection, has)}"
        " GROUP BY e.benchmark_id ORDER BY 1",
        (agent,),
    )
    return [row[0] for row in rows.fetchall()]
