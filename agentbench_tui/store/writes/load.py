"""Writes of loads: samples, ticks, finished repeats, calibrations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agentbench_tui.store.writes.rows import insert_into

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.store.writes.rows import RowWriter


class SampleChunkRow(NamedTuple):
    """Requests of one worker in a quarter of a second, compressed."""

    run_key: int
    execution_key: int
    repeat: int
    worker: int
    rows: int
    samples: bytes
    gaps: bytes


class LoadTickRow(NamedTuple):
    """Activity of a load since its last tick; `at` in seconds since 1970. Its answers are not
    scored, and its costs are known at the end.
    """

    run_key: int
    execution_key: int
    at: float
    observed: int
    answered: int
    tokens: int
    e2e_histogram: bytes
    sent: int
    failed: int
    ttft_histogram: bytes
    repeat: int
    itl_histogram: bytes | None
    queue_histogram: bytes | None
    correct: int = 0
    cost_usd: float = 0


_CHUNK = insert_into("sample_chunks", SampleChunkRow)
_TICK = insert_into("ticks", LoadTickRow)


def add_sample_chunk(writer: RowWriter, row: SampleChunkRow) -> None:
    """Queue a chunk of samples."""
    writer.add(_CHUNK, row)


def add_load_tick(writer: RowWriter, row: LoadTickRow) -> None:
    """Queue a tick."""
    writer.add(_TICK, row)


def forget_repeat(connection: sqlite3.Connection, execution_key: int, repeat: int) -> None:
    """Remove the data of a repeat that was cut off or stopped."""
    place = (execution_key, repeat)
    connection.execute(
        "UPDATE benchmark_executions SET planned=planned-(SELECT COALESCE(SUM(observed), 0)"
        " FROM iterations WHERE execution_key=?1 AND repeat=?2) WHERE key=?1",
        place,
    )
    for table in ("iterations", "sample_chunks", "load_windows", "ticks", "failures"):
        connection.execute(
            f"DELETE FROM {table} WHERE execution_key=? AND repeat=?",  # noqa: S608  # ours
            place,
        )


def keep_window(
    connection: sqlite3.Connection, execution_key: int, repeat: int, document: str, requests: int
) -> None:
    """Write the window (JSON) of a measured repeat with this number of requests."""
    connection.execute(
        "INSERT OR REPLACE INTO load_windows (execution_key, repeat, run_key, document)"
        " SELECT key, ?, run_key, ? FROM benchmark_executions WHERE key=?",
        (repeat, document, execution_key),
    )
    connection.execute(
        "UPDATE benchmark_executions SET planned=planned+? WHERE key=?", (requests, execution_key)
    )


def replace_window(
    connection: sqlite3.Connection, execution_key: int, repeat: int, document: str
) -> None:
    """Replace the window (JSON) of a repeat."""
    connection.execute(
        "UPDATE load_windows SET document=? WHERE execution_key=? AND repeat=?",
        (document, execution_key, repeat),
    )


def write_load_summary(
    connection: sqlite3.Connection, execution_key: int, verdict: str, document: str
) -> None:
    """Write the summary (JSON) of an execution that has none."""
    connection.execute(
        "INSERT INTO load_summaries (execution_key, run_key, verdict, document)"
        " SELECT key, run_key, ?, ? FROM benchmark_executions WHERE key=?",
        (verdict, document, execution_key),
    )


def remove_load_summary(connection: sqlite3.Connection, execution_key: int) -> None:
    """Remove the summary of an execution, if it has one."""
    connection.execute("DELETE FROM load_summaries WHERE execution_key=?", (execution_key,))


def keep_calibration(
    connection: sqlite3.Connection, run_key: int | None, fingerprint: str, document: str
) -> None:
    """Store the workers' capacity (JSON) on the machine with that fingerprint."""
    connection.execute(
        "INSERT INTO calibrations (run_key, fingerprint, document) VALUES (?,?,?)",
        (run_key, fingerprint, document),
    )
