"""What runs refer to: suites with their benchmarks, and agents with their versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence


class SuiteRow(NamedTuple):
    """One suite, by the hash of its document."""

    hash: str
    suite_id: str
    name: str
    category: str
    version: str
    description: str
    document: str
    """JSON."""
    source: str
    created_at: str


class BenchmarkRow(NamedTuple):
    """One benchmark of a suite."""

    suite_hash: str
    benchmark_id: str
    name: str
    description: str
    kind: str
    test_type: str


def write_suite(
    connection: sqlite3.Connection, suite: SuiteRow, benchmarks: Sequence[BenchmarkRow]
) -> None:
    """Write the suite's rows, replacing those of the same hash: those of an imported run only claim
    to be of it.
    """
    connection.execute(
        "INSERT INTO benchmark_suites (hash, suite_id, name, category, version,"
        " description, document, source, created_at) VALUES (?,?,?,?,?,?,?,?,?)"
        " ON CONFLICT (hash) DO UPDATE SET suite_id=excluded.suite_id, name=excluded.name,"
        " category=excluded.category, version=excluded.version,"
        " description=excluded.description, document=excluded.document",
        suite,
    )
    connection.executemany(
        "INSERT INTO benchmarks (suite_hash, benchmark_id, name, description, kind, test_type)"
        " VALUES (?,?,?,?,?,?) ON CONFLICT (suite_hash, benchmark_id) DO UPDATE SET"
        " name=excluded.name, description=excluded.description, kind=excluded.kind,"
        " test_type=excluded.test_type",
        benchmarks,
    )


def write_agent(
    connection: sqlite3.Connection,
    agent_id: str,
    name: str,
    version: str,
    specification: str,
    now: str,
) -> None:
    """Write an agent under its newest name, and the version if it is new."""
    connection.execute(
        "INSERT INTO agents (id, name, created_at) VALUES (?,?,?)"
        " ON CONFLICT (id) DO UPDATE SET name=excluded.name",
        (agent_id, name, now),
    )
    connection.execute(
        "INSERT OR IGNORE INTO agent_versions (agent_id, version, specification, created_at)"
        " VALUES (?,?,?,?)",
        (agent_id, version, specification, now),
    )
