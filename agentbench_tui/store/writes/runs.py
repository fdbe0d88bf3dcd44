"""The row of a run from beginning to end, with its environment and prices."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable


class RunRow(NamedTuple):
    """A new run."""

    id: str
    workspace_id: str
    suite_ids: str
    """JSON."""
    plan: str
    """JSON."""
    command: str | None
    seed: int
    repeats: int
    tags: str
    """JSON."""
    notes: str
    tool_version: str
    lease: str
    """Its holder, JSON."""
    started_at: str


class RunEnd(NamedTuple):
    """How a run ended."""

    status: str
    stop_reason: str | None
    error: str | None
    overhead: str | None
    """JSON."""
    verdict: str | None
    ended_at: str


class PriceRow(NamedTuple):
    """An applied price, in dollars per million tokens."""

    model: str
    input_usd_per_mtok: float | None
    output_usd_per_mtok: float | None
    cached_input_usd_per_mtok: float | None
    cache_write_usd_per_mtok: float | None
    cache_write_1h_usd_per_mtok: float | None
    source: str
    price_date: str | None


def begin_run(connection: sqlite3.Connection, run: RunRow) -> int:
    """Write a run as running; return its key."""
    (key,) = connection.execute(
        "INSERT INTO runs (id, workspace_id, status, suite_ids, plan, command, seed, repeats,"
        " tags, notes, tool_version, lease, started_at)"
        " VALUES (?,?,'running',?,?,?,?,?,?,?,?,?,?) RETURNING key",
        run,
    ).fetchone()
    return int(key)


def set_running_again(connection: sqlite3.Connection, run_id: str, lease: str) -> int:
    """Mark a run as running again, and its incomplete executions as planned; return its key."""
    (key,) = connection.execute(
        "UPDATE runs SET status='running', stop_reason=NULL, ended_at=NULL, error=NULL, lease=?"
        " WHERE id=? RETURNING key",
        (lease, run_id),
    ).fetchone()
    connection.execute(
        "UPDATE benchmark_executions SET status='planned', stop_reason=NULL, error_details=NULL"
        " WHERE run_key=? AND status != 'complete'",
        (key,),
    )
    return int(key)


def interrupt_run(connection: sqlite3.Connection, run_key: int, reason: str, now: str) -> None:
    """Mark a running run and its open executions as interrupted."""
    connection.execute(
        "UPDATE runs SET status='interrupted', stop_reason=?, ended_at=?"
        " WHERE key=? AND status='running'",
        (reason, now, run_key),
    )
    connection.execute(
        "UPDATE benchmark_executions SET status='interrupted'"
        " WHERE run_key=? AND status IN ('running', 'planned')",
        (run_key,),
    )
    connection.execute("DELETE FROM live WHERE run_key=?", (run_key,))


def end_run(connection: sqlite3.Connection, run_key: int, end: RunEnd) -> None:
    """Write how a run ended."""
    connection.execute(
        "UPDATE runs SET status=?, stop_reason=?, error=?, overhead=?, verdict=?, ended_at=?"
        " WHERE key=?",
        (*end, run_key),
    )


def insert_environment(
    connection: sqlite3.Connection,
    run_key: int,
    digest: str,
    fingerprint: str,
    document: str,
    vcs: str | None,
) -> None:
    """Store the machine of a run under the hash of its facts, and the state of the code."""
    connection.execute(
        "INSERT OR IGNORE INTO environments (hash, fingerprint, document) VALUES (?,?,?)",
        (digest, fingerprint, document),
    )
    connection.execute(
        "UPDATE runs SET environment_hash=?, vcs=? WHERE key=?", (digest, vcs, run_key)
    )
    connection.execute(
        "UPDATE benchmark_executions SET execution_environment=? WHERE run_key=?",
        (digest, run_key),
    )


def insert_prices(connection: sqlite3.Connection, run_key: int, prices: Iterable[PriceRow]) -> None:
    """Store the applied prices of a run, replacing those of the same models."""
    connection.executemany(
        "INSERT OR REPLACE INTO prices (run_key, model, input_usd_per_mtok, output_usd_per_mtok,"
        " cached_input_usd_per_mtok, cache_write_usd_per_mtok, cache_write_1h_usd_per_mtok, source,"
        " price_date) VALUES (?,?,?,?,?,?,?,?,?)",
        [(run_key, *price) for price in prices],
    )
