"""The last words of a run: how executions and the run itself ended, and what it went by."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.model.clock import utc_now
from agentbench_tui.model.text.untrusted import one_line, redact

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from agentbench_tui.engine.run.context import StopSignal
    from agentbench_tui.engine.run.stopping import Progress
    from agentbench_tui.instruments.overhead import Overhead
    from agentbench_tui.instruments.sampler import SamplerCost
    from agentbench_tui.scoring.prices import UsedPrice


START_EXECUTION = (
    "UPDATE benchmark_executions SET status='running', start_time=COALESCE(start_time, ?)"
    " WHERE key=?"
)
"""Takes the time and the execution's key."""
LONGEST_ERROR = 1000
VERDICTS = ("clean", "noisy", "generator-limited")
"""From the best to the worst."""


def end_executions(connection: sqlite3.Connection, keys: Iterable[int]) -> None:
    """Write when executions ended: now. Until `close_execution` each counts as running, so that a
    run that is killed before the metrics are written finishes it when it is resumed."""
    now = utc_now()
    connection.executemany(
        "UPDATE benchmark_executions SET end_time=?,"
        " total_duration_ms=CAST(86400000 * (julianday(?) - julianday(start_time)) AS INTEGER)"
        " WHERE key=?",
        [(now, now, key) for key in keys],
    )


def close_execution(
    connection: sqlite3.Connection, key: int, progress: Progress, stop: StopSignal
) -> None:
    """Write how an execution ended, in the transaction that writes its metrics.

    An early stop, also by a spent budget, is `complete` with a stop_reason.
    """
    planned, observed = connection.execute(
        "SELECT e.planned, (SELECT COUNT(*) FROM answers WHERE execution_key=e.key)"
        " + (SELECT CAST(TOTAL(rows) AS INTEGER) FROM sample_chunks WHERE execution_key=e.key)"
        " FROM benchmark_executions e WHERE e.key=?",
        (key,),
    ).fetchone()
    status, reason = "complete", progress.stop_reason
    if progress.broken is not None:
        status, reason = "incomplete", progress.broken
    elif (observed < planned or progress.cut_short) and reason is None:
        reason = stop.reason
        if stop.interrupted:
            status = "interrupted"
        elif reason is None or not observed:
            status = "incomplete"
    connection.execute(
        "UPDATE benchmark_executions SET status=?, stop_reason=?, error_details=? WHERE key=?",
        (status, reason, progress.broken, key),
    )
    connection.execute("DELETE FROM live WHERE execution_key=?", (key,))


def close_run(
    connection: sqlite3.Connection,
    run_key: int,
    stop: StopSignal,
    error: str | None,
    overhead: Overhead | None,
    gauges: SamplerCost | None,
) -> str:
    """Write how the run ended; its status.

    The harness's overhead is stored with what the gauges took of it.
    """
    document = None if overhead is None else {**msgspec.structs.asdict(overhead), "gauges": gauges}
    statuses = Counter(
        row[0]
        for row in connection.execute(
            "SELECT status FROM benchmark_executions WHERE run_key=?", (run_key,)
        )
    )
    if stop.interrupted:
        status = "interrupted"
    elif error is not None or statuses.total() > statuses["complete"]:
        status = "incomplete"
    else:
        status = "complete"
    connection.execute(
        "UPDATE benchmark_executions SET status=?, stop_reason=COALESCE(stop_reason, ?)"
        " WHERE run_key=? AND status IN ('planned', 'running')",
        ("interrupted" if stop.interrupted else "incomplete", stop.reason, run_key),
    )
    connection.execute(
        "UPDATE runs SET status=?, stop_reason=?, error=?, overhead=?, verdict=?, ended_at=?"
        " WHERE key=?",
        (
            status,
            stop.reason,
            None if error is None else one_line(redact(error), LONGEST_ERROR),
            None if document is None else msgspec.json.encode(document).decode(),
            _verdict(connection, run_key, overhead),
            utc_now(),
            run_key,
        ),
    )
    return status


def _verdict(connection: sqlite3.Connection, run_key: int, overhead: Overhead | None) -> str | None:
    """The worst verdict on any part of the run.

    What loads measured was measured by their own workers, so that our process counts only where
    something else was measured as well.
    """
    verdicts = {
        row[0]
        for row in connection.execute(
            "SELECT verdict FROM load_summaries WHERE run_key=?", (run_key,)
        )
    }
    (others,) = connection.execute(
        "SELECT COUNT(*) FROM benchmark_executions e WHERE run_key=? AND NOT EXISTS"
        " (SELECT 1 FROM load_summaries WHERE execution_key=e.key)",
        (run_key,),
    ).fetchone()
    if overhead is not None and others:
        verdicts.add(overhead.verdict)
    return max(verdicts, key=VERDICTS.index, default=None)


def captured_environment() -> tuple[str, str, str]:
    """Facts on the machine as JSON, their fingerprint, and the version of the code as JSON."""
    from agentbench_tui.instruments.environment import capture_environment, fingerprint
    from agentbench_tui.instruments.version_control import capture_vcs

    environment = capture_environment(Path.cwd())
    vcs = capture_vcs(Path.cwd())
    return (
        msgspec.json.encode(environment).decode(),
        fingerprint(environment),
        msgspec.json.encode(vcs).decode(),
    )


def write_environment(
    connection: sqlite3.Connection, run_key: int, document: str, fingerprint: str, vcs: str | None
) -> None:
    """Keep what machine the run was on, and the state of the code beside it."""
    digest = hashlib.sha256(document.encode()).hexdigest()
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


def write_prices(connection: sqlite3.Connection, run_key: int, prices: Iterable[UsedPrice]) -> None:
    """Keep the prices that were applied, so that costs can be checked later."""
    connection.executemany(
        "INSERT OR REPLACE INTO prices (run_key, model, input_usd_per_mtok, output_usd_per_mtok,"
        " cached_input_usd_per_mtok, cache_write_usd_per_mtok, cache_write_1h_usd_per_mtok, source,"
        " price_date) VALUES (?,?,?,?,?,?,?,?,?)",
        [
            (
                run_key,
                one_line(redact(price.model)),
                price.input,
                price.output,
                price.cached_input,
                price.cache_write,
                price.cache_write_1h,
                price.source,
                price.date,
            )
            for price in prices
        ],
    )
