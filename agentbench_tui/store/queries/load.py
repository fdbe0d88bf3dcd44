"""Requests of loads, stored as compressed chunks of samples."""

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
    """Number of stored requests of an execution."""

    whole: int
    """Requests of finished repeats."""
    cut_off: int


def sample_chunks(connection: sqlite3.Connection, execution_key: int) -> Iterator[SampleChunk]:
    """Yield the chunks of an execution one at a time, by repeat."""
    rows = connection.execute(
        "SELECT repeat, worker, samples, gaps, rows FROM sample_chunks WHERE execution_key=?"
        " ORDER BY repeat, seq",
        (execution_key,),
    )
    return map(SampleChunk._make, rows)


def stored_requests(connection: sqlite3.Connection, execution_key: int) -> StoredRequests:
    """Return the number of stored requests of an execution, by kind."""
    whole, cut_off = connection.execute(
        "SELECT TOTAL(rows * is_whole), TOTAL(rows * NOT is_whole) FROM (SELECT c.rows, EXISTS"
        " (SELECT 1 FROM load_windows w WHERE w.execution_key=c.execution_key"
        "  AND w.repeat=c.repeat) AS is_whole FROM sample_chunks c WHERE c.execution_key=?)",
        (execution_key,),
    ).fetchone()
    return StoredRequests(int(whole), int(cut_off))


def count_requests(connection: sqlite3.Connection, execution_key: int) -> int:
    """Return the number of stored requests of an execution."""
    (count,) = connection.execute(
        "SELECT TOTAL(rows) FROM sample_chunks WHERE execution_key=?", (execution_key,)
    ).fetchone()
    return int(count)


def has_samples(connection: sqlite3.Connection, execution_key: int) -> bool:
    """Return whether any request of an execution is stored."""
    found = connection.execute(
        "SELECT 1 FROM sample_chunks WHERE execution_key=? LIMIT 1", (execution_key,)
    ).fetchone()
    return found is not None


def finished_chunks(connection: sqlite3.Connection, execution_key: int) -> list[SampleChunk]:
    """Return the chunks of the finished repeats of an execution."""
    rows = connection.execute(
        "SELECT c.repeat, c.worker, c.samples, c.gaps, c.rows FROM sample_chunks c"
        " JOIN load_windows w ON w.execution_key=c.execution_key AND w.repeat=c.repeat"
        " WHERE c.execution_key=? ORDER BY c.repeat, c.seq",
        (execution_key,),
    )
    return [*map(SampleChunk._make, rows.fetchall())]


def chunks_of_repeat(
    connection: sqlite3.Connection, execution_key: int, repeat: int
) -> list[SampleChunk]:
    """Return the chunks of one repeat of an execution."""
    rows = connection.execute(
        "SELECT repeat, worker, samples, gaps, rows FROM sample_chunks"
        " WHERE execution_key=? AND repeat=? ORDER BY seq",
        (execution_key, repeat),
    )
    return [*map(SampleChunk._make, rows.fetchall())]


def stored_repeats(connection: sqlite3.Connection, execution_key: int) -> list[int]:
    """Return the repeats with stored data of an execution, finished or cut off."""
    rows = connection.execute(
        "SELECT repeat FROM load_windows WHERE execution_key=?1"
        " UNION SELECT repeat FROM sample_chunks WHERE execution_key=?1",
        (execution_key,),
    )
    return [row[0] for row in rows.fetchall()]


def window_documents(connection: sqlite3.Connection, execution_key: int) -> dict[int, str]:
    """Return the window as JSON of each finished repeat."""
    rows = connection.execute(
        "SELECT repeat, document FROM load_windows WHERE execution_key=? ORDER BY repeat",
        (execution_key,),
    )
    return dict(map(tuple, rows.fetchall()))


def has_calibrations(connection: sqlite3.Connection) -> bool:
    """Return whether any calibration is stored, of any machine."""
    return connection.execute("SELECT 1 FROM calibrations LIMIT 1").fetchone() is not None


def newest_calibration(
    connection: sqlite3.Connection, fingerprint: str, *, streamed: bool | None = None
) -> str | None:
    """Return the newest calibration of a machine, as JSON; for streamed or unstreamed answers if
    `streamed` is given.
    """
    row = connection.execute(
        "SELECT document FROM calibrations WHERE fingerprint=?1"
        " AND (?2 IS NULL OR json_extract(document, '$.streamed') = ?2) ORDER BY seq DESC LIMIT 1",
        (fingerprint, streamed),
    ).fetchone()
    return None if row is None else str(row[0])
