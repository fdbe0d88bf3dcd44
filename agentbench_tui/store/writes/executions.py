"""The row of an execution from plan to scores, with its metrics and gauges."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agentbench_tui.store.queries.history import RESULTS_WRITTEN

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from agentbench_tui.store.queries.gauges import GaugeSummaryRow
    from agentbench_tui.store.writes.rows import RowWriter


class ExecutionRow(NamedTuple):
    """A planned execution."""

    id: str
    run_key: int
    ordinal: int
    suite_hash: str
    suite_id: str
    benchmark_id: str
    agent_id: str
    agent_version: str
    workspace_id: str
    parameters: str
    """JSON."""
    seed: int
    simulated: bool
    model_configuration: str
    """The agent's specification, JSON."""
    created_at: str
    replaces: str | None = None
    """Id of the execution of an earlier run whose answers this one has."""
    attempts_after: str | None = None
    """Id of the execution of an earlier run that this one adds attempts to."""


class MetricRow(NamedTuple):
    """One metric of an execution."""

    execution_key: int
    name: str
    value: float | None
    unit: str
    low: float | None
    high: float | None
    n: int
    reason: str | None
    direction: str | None
    """Of a metric that a benchmark defines; None for agentbench's own."""


class ExecutionResultRow(NamedTuple):
    """Result of an execution: scores (0..1), totals and counts."""

    accuracy_score: float | None
    speed_score: float | None
    efficiency_score: float | None
    cost_score: float | None
    reliability_score: float | None
    overall_score: float | None
    overall_low: float | None
    overall_high: float | None
    tokens_used: int | None
    api_calls_made: int | None
    memory_peak_mb: float | None
    cpu_usage_percent: float | None
    cost_usd: float | None
    output_correctness: float | None
    output_completeness: float | None
    output_relevance: float | None
    observed: int
    answered: int
    correct: int
    asking_s: float
    cpu_seconds: float | None


class Rank(NamedTuple):
    """Rank of an execution among others."""

    percentile_rank: float | None
    deviation_from_baseline: float | None
    execution_key: int


def plan_execution(connection: sqlite3.Connection, execution: ExecutionRow) -> int:
    """Insert an execution with the status `planned`; return its key."""
    (key,) = connection.execute(
        "INSERT INTO benchmark_executions (id, run_key, ordinal, suite_hash, suite_id,"
        " benchmark_id, agent_id, agent_version, workspace_id, parameters, seed, simulated,"
        " model_configuration, created_at, replaces, attempts_after, status)"
        " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,'planned')"
        " RETURNING key",
        execution,
    ).fetchone()
    return int(key)


def start_execution(writer: RowWriter, execution_key: int, now: str) -> None:
    """Queue the start of an execution; a resumed one keeps its earlier start."""
    writer.add(
        "UPDATE benchmark_executions SET status='running', start_time=COALESCE(start_time, ?)"
        " WHERE key=?",
        (now, execution_key),
    )


def set_end_times(connection: sqlite3.Connection, keys: Iterable[int], now: str) -> None:
    """Write when executions ended."""
    connection.executemany(
        "UPDATE benchmark_executions SET end_time=?,"
        " total_duration_ms=CAST(86400000 * (julianday(?) - julianday(start_time)) AS INTEGER)"
        " WHERE key=?",
        [(now, now, key) for key in keys],
    )


def set_execution_end(
    connection: sqlite3.Connection,
    execution_key: int,
    status: str,
    stop_reason: str | None,
    error: str | None,
) -> None:
    """Write how an execution ended and remove its live row."""
    connection.execute(
        "UPDATE benchmark_executions SET status=?, stop_reason=?, error_details=? WHERE key=?",
        (status, stop_reason, error, execution_key),
    )
    connection.execute("DELETE FROM live WHERE execution_key=?", (execution_key,))


def close_open_executions(
    connection: sqlite3.Connection, run_key: int, status: str, stop_reason: str | None
) -> None:
    """Write how unfinished executions of a run ended."""
    connection.execute(
        "UPDATE benchmark_executions SET status=?, stop_reason=COALESCE(stop_reason, ?)"
        " WHERE run_key=? AND status IN ('planned', 'running')",
        (status, stop_reason, run_key),
    )


def write_result(
    connection: sqlite3.Connection, execution_key: int, result: ExecutionResultRow
) -> None:
    """Write the result of an execution."""
    columns = ", ".join(f"{name}=?" for name in ExecutionResultRow._fields)
    connection.execute(
        f"UPDATE benchmark_executions SET {columns} WHERE key=?",  # noqa: S608  # our own names
        (*result, execution_key),
    )


def write_ranks(connection: sqlite3.Connection, ranks: Iterable[Rank]) -> None:
    """Write the ranks of executions."""
    connection.executemany(
        "UPDATE benchmark_executions SET percentile_rank=?, deviation_from_baseline=? WHERE key=?",
        ranks,
    )


def write_metrics(
    connection: sqlite3.Connection, execution_key: int, metrics: Iterable[MetricRow]
) -> None:
    """Replace the metrics of an execution."""
    _count_results(connection)
    connection.execute("DELETE FROM metrics WHERE execution_key=?", (execution_key,))
    connection.executemany(
        "INSERT INTO metrics (execution_key, name, value, unit, low, high, n, reason, direction)"
        " VALUES (?,?,?,?,?,?,?,?,?)",
        metrics,
    )


def _count_results(connection: sqlite3.Connection) -> None:
    """Count a change of results, which viewers could not see from the number of executions."""
    connection.execute(
        "INSERT INTO meta (key, value) VALUES (?, '1')"
        " ON CONFLICT (key) DO UPDATE SET value=CAST(value AS INTEGER) + 1",
        (RESULTS_WRITTEN,),
    )


def write_gauges(
    connection: sqlite3.Connection, execution_key: int, gauges: Iterable[GaugeSummaryRow]
) -> None:
    """Replace the gauges of an execution."""
    connection.execute("DELETE FROM gauge_summaries WHERE execution_key=?", (execution_key,))
    connection.executemany(
        "INSERT INTO gauge_summaries (execution_key, scope, field, low, mean, high, n)"
        " VALUES (?,?,?,?,?,?,?)",
        gauges,
    )


def add_stopped_iteration(
    connection: sqlite3.Connection,
    place: tuple[int, int, int, int],
    started_at: str,
    asking_s: float,
    counts: tuple[int, int, int],
) -> None:
    """Write an iteration that a killed process could not close. `place` is (run, execution,
    repeat, iteration), `counts` (observed, answered, correct)."""
    connection.execute(
        "INSERT INTO iterations (run_key, execution_key, repeat, iteration, warmup, status,"
        " started_at, asking_s, observed, answered, correct)"
        " VALUES (?,?,?,?,0,'stopped',?,?,?,?,?)",
        (*place, started_at, asking_s, *counts),
    )
