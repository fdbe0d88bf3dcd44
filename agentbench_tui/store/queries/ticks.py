"""Ticks: what executions observed in each second."""

from __future__ import annotations

import math
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator


class ObservedTick(NamedTuple):
    """Observations of an execution since its last tick."""

    seq: int
    execution_key: int
    at: float
    """In seconds since 1970."""
    observed: int
    answered: int
    cost_usd: float
    e2e_histogram: bytes


class OutcomeTick(NamedTuple):
    """Outcomes of an execution since its last tick; `sent` is 0 except for loads."""

    seq: int
    execution_key: int
    at: float
    """In seconds since 1970."""
    observed: int
    answered: int
    sent: int
    failed: int
    e2e_histogram: bytes
    ttft_histogram: bytes | None


class TickHistograms(NamedTuple):
    """Encoded histograms of times (ms) of one tick; None or empty for none."""

    e2e_histogram: bytes | None
    ttft_histogram: bytes | None
    itl_histogram: bytes | None
    queue_histogram: bytes | None


class RequestTick(NamedTuple):
    """Requests of one second; `at` in seconds since 1970."""

    at: float
    repeat: int
    sent: int
    answered: int
    failed: int


def ticks_after(
    connection: sqlite3.Connection, run_key: int, after: int, until: float = math.inf
) -> Iterator[ObservedTick]:
    """Yield the ticks of a run numbered above `after`, in order, up to the first one later than
    `until` (seconds since 1970).
    """
    rows = connection.execute(
        "SELECT seq, execution_key, at, observed, answered, cost_usd, e2e_histogram"
        " FROM ticks WHERE run_key=? AND seq>? ORDER BY seq",
        (run_key, after),
    )
    return takewhile(lambda tick: tick.at <= until, map(ObservedTick._make, rows))


def outcome_ticks_after(
    connection: sqlite3.Connection, run_key: int, after: int
) -> Iterator[OutcomeTick]:
    """Yield the ticks of a run numbered above `after`, in order."""
    rows = connection.execute(
        f"SELECT {', '.join(OutcomeTick._fields)} FROM ticks"  # noqa: S608  # our own names
        " WHERE run_key=? AND seq>? ORDER BY seq",
        (run_key, after),
    )
    return map(OutcomeTick._make, rows)


def tick_histograms(connection: sqlite3.Connection, execution_key: int) -> Iterator[TickHistograms]:
    """Yield the histograms of every tick of an execution."""
    rows = connection.execute(
        f"SELECT {', '.join(TickHistograms._fields)} FROM ticks"  # noqa: S608  # our own names
        " WHERE execution_key=?",
        (execution_key,),
    )
    return map(TickHistograms._make, rows)


def request_ticks(connection: sqlite3.Connection, execution_id: str) -> list[RequestTick]:
    """Return the ticks of an execution, by its id, in order."""
    rows = connection.execute(
        "SELECT t.at, t.repeat, t.sent, t.answered, t.failed FROM ticks t"
        " JOIN benchmark_executions e ON e.key=t.execution_key WHERE e.id=? ORDER BY t.seq",
        (execution_id,),
    )
    return [*map(RequestTick._make, rows.fetchall())]


def told_of_open_loads(connection: sqlite3.Connection, run_id: str) -> tuple[int, int]:
    """Return (observed, answered) by the ticks of a run's loads without figures: running or
    killed ones.
    """
    observed, answered = connection.execute(
        "SELECT COALESCE(SUM(t.observed), 0), COALESCE(SUM(t.answered), 0) FROM runs r"
        " JOIN benchmark_executions e ON e.run_key=r.key JOIN ticks t ON t.execution_key=e.key"
        " WHERE r.id=? AND e.observed=0"
        " AND EXISTS (SELECT 1 FROM sample_chunks c WHERE c.execution_key=e.key)",
        (run_id,),
    ).fetchone()
    return observed, answered


def sent_so_far(connection: sqlite3.Connection, run_id: str) -> tuple[int, int]:
    """Return (sent, answered) by all ticks of a run."""
    sent, answered = connection.execute(
        "SELECT COALESCE(SUM(sent), 0), COALESCE(SUM(answered), 0) FROM ticks"
        " WHERE run_key=(SELECT key FROM runs WHERE id=?)",
        (run_id,),
    ).fetchone()
    return sent, answered


def answered_ticks(
    connection: sqlite3.Connection, run_key: int
) -> Iterator[tuple[str, float, int]]:
    """Agent, time (seconds since 1970) and answers since the tick before, in order of time."""
    rows = connection.execute(
        "SELECT e.agent_id, t.at, t.answered FROM ticks t"
        " JOIN benchmark_executions e ON e.key=t.execution_key WHERE t.run_key=? ORDER BY t.at",
        (run_key,),
    )
    return iter(rows)
