"""Data that viewers follow during a run: live rows, ticks and gauges."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agentbench_tui.store.writes.rows import insert_into

if TYPE_CHECKING:
    from agentbench_tui.store.writes.rows import RowWriter


class LiveRow(NamedTuple):
    """The current state of an execution; `updated_at` in seconds since 1970."""

    execution_key: int
    run_key: int
    updated_at: float
    state: str
    """JSON."""


class TickRow(NamedTuple):
    """Observations of an execution since its last tick; `at` in seconds since 1970."""

    run_key: int
    execution_key: int
    at: float
    observed: int
    answered: int
    correct: int
    tokens: int
    cost_usd: float
    e2e_histogram: bytes
    ttft_histogram: bytes | None
    """None if nothing was streamed."""


class GaugeRow(NamedTuple):
    """One reading of the gauges of a scope; `at` in seconds since 1970."""

    run_key: int
    at: float
    scope: str
    reading: str
    """JSON."""


_LIVE = (
    insert_into("live", LiveRow)
    + " ON CONFLICT (execution_key) DO UPDATE SET updated_at=excluded.updated_at,"
    " state=excluded.state"
)
_TICK = insert_into("ticks", TickRow)
_GAUGE = insert_into("gauges", GaugeRow)


def set_live(writer: RowWriter, row: LiveRow) -> None:
    """Queue the state of an execution, replacing the previous one."""
    writer.add(_LIVE, row)


def add_tick(writer: RowWriter, row: TickRow) -> None:
    """Queue a tick."""
    writer.add(_TICK, row)


def add_gauge(writer: RowWriter, row: GaugeRow) -> None:
    """Queue a reading."""
    writer.add(_GAUGE, row)
