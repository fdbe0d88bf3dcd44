"""Requests of loads, as they were stored: compressed chunks of samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator


class SampleChunk(NamedTuple):
    """Requests of one worker in a quarter of a second."""

    repeat: int
    worker: int
    samples: bytes
    gaps: bytes
    rows: int


class StoredRequests(NamedTuple):
    """How many requests are stored of an execution."""

    whole: int
    """Of repeats that came to their end."""
    cut_off: int


def sample_chunks(connection: sqlite3.Connection, execution_key: int) -> Iterator[SampleChunk]:
    """The chunks of an execution, repeat after repeat, one at a time."""
    rows = connection.execute(
        "SELECT repeat, worker, samples, gaps, rows FROM sample_chunks WHERE execution_key=?"
        " ORDER BY repeat, seq",
        (execution_key,),
    )
    return map(SampleChunk._make, rows)


def stored_requests(connection: sqlite3.Connection, execution_key: int) -> StoredRequests:
    """How many requests are stored of an execution."""
    whole, cut_off = connection.execute(
        "SELECT TOTAL(rows * is_whole), TOTAL(rows * NOT is_whole) FROM (SELECT c.rows, EXISTS"
        " (SELECT 1 FROM load_windows w WHERE w.execution_key=c.execution_key"
        "  AND w.repeat=c.repeat) AS is_whole FROM sample_chunks c WHERE c.execution_key=?)",
        (execution_key,),
    ).fetchone()
    return StoredRequests(int(whole), int(cut_off))


def count_requests(connection: sqlite3.Connection, execution_key: int) -> int:
    """How many requests are stored of an execution."""
    (count,) = connection.execute(
        "SELECT TOTAL(rows) FROM sample_chunks WHERE execution_key=?", (execution_key,)
    ).fetchone()
    return int(count)
