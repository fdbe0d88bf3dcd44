"""The end of a run: status of executions and of the run, and its environment."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.model.clock import utc_now
from agentbench_tui.model.text.secrets import redact
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.store.queries.executions import (
    execution_statuses,
    has_other_than_load,
    load_verdicts,
    planned_and_observed,
)
from agentbench_tui.store.queries.runs import find_fingerprint
from agentbench_tui.store.reruns import ending_of_continued
from agentbench_tui.store.writes import executions, runs
from agentbench_tui.store.writes.runs import PriceRow, RunEnd

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from agentbench_tui.engine.run.context import StopSignal
    from agentbench_tui.engine.run.stopping import Progress
    from agentbench_tui.instruments.overhead import Overhead
    from agentbench_tui.instruments.sampler import SamplerCost
    from agentbench_tui.scoring.prices import UsedPrice


LONGEST_ERROR = 1000
FURTHER_ATTEMPTS = "further attempts only"
"""Why an execution of a rerun is not complete, although everything that was to be asked was."""
VERDICTS = ("clean", "noisy", "generator-limited")
"""From the best to the worst."""


def end_executions(connection: sqlite3.Connection, keys: Iterable[int]) -> None:
    """Write when executions ended: now. Until `close_execution` each counts as running, so that a
    run that is killed before the metrics are written finishes it when it is resumed."""
    executions.set_end_times(connection, keys, utc_now())


def close_execution(
    connection: sqlite3.Connection, key: int, progress: Progress, stop: StopSignal
) -> None:
    """Write how an execution ended, in the transaction that writes its metrics.

    An early stop, also by a spent budget, is `complete` with a stop_reason.
    """
    planned, observed = planned_and_observed(connection, key)
    status, reason = "complete", progress.stop_reason
    if progress.broken is not None:
        status, reason = "incomplete", progress.broken
    elif (observed < planned or progress.cut_short) and reason is None:
        reason = stop.reason
        if stop.interrupted:
            status = "interrupted"
        elif reason is None or not observed:
            status = "incomplete"
    if status == "complete":
        only_further, stopped_before = ending_of_continued(connection, key)
        reason = reason or stopped_before
        if only_further:  # so that nothing takes it for a result of its benchmark
            status, reason = "incomplete", FURTHER_ATTEMPTS
    executions.set_execution_end(connection, key, status, reason, progress.broken)


def close_run(
    connection: sqlite3.Connection,
    run_key: int,
    stop: StopSignal,
    error: str | None,
    overhead: Overhead | None,
    gauges: SamplerCost | None,
) -> str:
    """Store how the run ended, with the harness's overhead and the gauges' share of it; return
    the status.
    """
    document = None if overhead is None else {**msgspec.structs.asdict(overhead), "gauges": gauges}
    statuses = execution_statuses(connection, run_key)
    if stop.interrupted:
        status = "interrupted"
    elif error is not None or statuses.total() > statuses["complete"]:
        status = "incomplete"
    else:
        status = "complete"
    executions.close_open_executions(
        connection, run_key, "interrupted" if stop.interrupted else "incomplete", stop.reason
    )
    end = RunEnd(
        status,
        stop.reason,
        None if error is None else one_line(redact(error), LONGEST_ERROR),
        None if document is None else msgspec.json.encode(document).decode(),
        _verdict(connection, run_key, overhead),
        utc_now(),
    )
    runs.end_run(connection, run_key, end)
    return status


def _verdict(connection: sqlite3.Connection, run_key: int, overhead: Overhead | None) -> str | None:
    """The worst verdict on any part of the run.

    What loads measured was measured by their own workers, so that our process counts only where
    something else was measured as well.
    """
    verdicts = load_verdicts(connection, run_key)
    if overhead is not None and has_other_than_load(connection, run_key):
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
    connection: sqlite3.Connection,
    run_key: int,
    document: str,
    fingerprint: str,
    vcs: str | None,
    earlier_run: str = "",
) -> None:
    """Store the run's machine, and the state of the code.

    A rerun of `earlier_run` on another machine gets a fingerprint that no run on one machine has,
    so that its times, which are of both, are not compared.
    """
    before = find_fingerprint(connection, earlier_run) if earlier_run else None
    if before not in {None, fingerprint}:
        fingerprint = f"{before}, then {fingerprint}"
        document = msgspec.json.encode({**msgspec.json.decode(document), "before": before}).decode()
    digest = hashlib.sha256(document.encode()).hexdigest()
    runs.insert_environment(connection, run_key, digest, fingerprint, document, vcs)


def write_prices(connection: sqlite3.Connection, run_key: int, prices: Iterable[UsedPrice]) -> None:
    """Keep the prices that were applied, so that costs can be checked later."""
    rows = [
        PriceRow(
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
    ]
    runs.insert_prices(connection, run_key, rows)
