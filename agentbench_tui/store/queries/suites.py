"""Suites and benchmarks as they were run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3


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
    """The kind of a benchmark; None where it is not kept."""
    row = connection.execute(
        "SELECT kind FROM benchmarks WHERE suite_hash=? AND benchmark_id=?",
        (suite_hash, benchmark_id),
    ).fetchone()
    return None if row is None else str(row[0])


def kind_of_execution(connection: sqlite3.Connection, execution_key: int) -> str | None:
    """The kind of an execution's benchmark; None where it is not kept."""
    row = connection.execute(
        "SELECT b.kind FROM benchmark_executions e JOIN benchmarks b"
        " ON b.suite_hash=e.suite_hash AND b.benchmark_id=e.benchmark_id WHERE e.key=?",
        (execution_key,),
    ).fetchone()
    return None if row is None else str(row[0])


def suite_categories(connection: sqlite3.Connection) -> dict[str, str]:
    """Hash of a suite → its category."""
    rows = connection.execute("SELECT hash, category FROM benchmark_suites")
    return dict(map(tuple, rows.fetchall()))


def suite_document(connection: sqlite3.Connection, suite_hash: str) -> str:
    """Return the suite as it was run, as JSON."""
    (document,) = connection.execute(
        "SELECT document FROM benchmark_suites WHERE hash=?", (suite_hash,)
    ).fetchone()
    return str(document)


def suite_weights(connection: sqlite3.Connection, suite_hash: str) -> dict[str, float]:
    """The weights of the dimensions in a suite's overall score; none of an unknown suite."""
    row = connection.execute(
        "SELECT json_extract(document, '$.weights') FROM benchmark_suites WHERE hash=?",
        (suite_hash,),
    ).fetchone()
    weights: dict[str, float] = {} if row is None else json.loads(row[0] or "{}")
    return weights


def metrics_measured(
    connection: sqlite3.Connection, suite_hash: str, benchmark_id: str
) -> list[str]:
    """The metrics that the suite's author says the benchmark measures."""
    rows = connection.execute(
        "SELECT m.value FROM benchmark_suites s, json_each(s.document, '$.benchmarks') b,"
        " json_each(b.value, '$.metrics_measured') m"
        " WHERE s.hash=? AND json_extract(b.value, '$.benchmark_id')=?",
        (suite_hash, benchmark_id),
    ).fetchall()
    return [row[0] for row in rows]


def output_dir_of_suite(connection: sqlite3.Connection, suite_hash: str) -> str | None:
    """The folder that a suite names for what its experiments leave; None where it names none."""
    (folder,) = connection.execute(
        "SELECT json_extract(document, '$.output_dir') FROM benchmark_suites WHERE hash=?",
        (suite_hash,),
    ).fetchone()
    return None if folder is None else str(folder)


def scoring_rubric(connection: sqlite3.Connection, execution_id: str) -> str | None:
    """The scoring rubric of an execution's benchmark, JSON; None where it has none."""
    row = connection.execute(
        "SELECT b.value -> '$.scoring_rubric' FROM benchmark_executions e"
        " JOIN benchmark_suites s ON s.hash=e.suite_hash"
        " JOIN json_each(s.document, '$.benchmarks') b"
        "  ON b.value ->> '$.benchmark_id' = e.benchmark_id WHERE e.id=?",
        (execution_id,),
    ).fetchone()
    return None if row is None else row[0]
