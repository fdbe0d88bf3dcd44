"""Messages to and from a seat: plain data that can be sent to a process."""

from __future__ import annotations

from typing import Any

import msgspec

from agentbench_tui.model.agent import AgentSpec


class Instrument(msgspec.Struct, frozen=True):
    """An instrument that a suite requests."""

    name: str
    options: dict[str, Any] = msgspec.field(default_factory=dict)


class Order(msgspec.Struct, frozen=True):
    """One variant of an experiment in one repeat."""

    slug: str
    folder: str
    """Base of a relative `python:file.py:Class`."""
    values: dict[str, Any]
    """The parameters, as they were written."""
    variant: str
    run_id: str
    output_dir: str
    run_dir: str
    seed: int
    repeat: int
    agent: AgentSpec | None = None
    around: tuple[Instrument, ...] = ()
    """Instruments around every measured iteration, the first outermost."""


class Opened(msgspec.Struct, frozen=True):
    """Reply after set-up."""

    effective: dict[str, Any]
    error: str | None = None
    otherwise: dict[str, bool] = msgspec.field(default_factory=dict)
    """Parameter → whether the active value differs from the requested one."""
    better: dict[str, str] = msgspec.field(default_factory=dict)
    """Name of a metric that it returns → which way is better, as its class says."""


class Warmed(msgspec.Struct, frozen=True):
    """Reply after the warm-up."""

    loops: int
    """Calls in each measured iteration from now on."""
    seconds: float
    calls: int
    errors: tuple[str, ...] = ()
    timer_cost_ns: float = 0.0
    timer_resolution_ns: int = 1


class Reading(msgspec.Struct, frozen=True):
    """One measured iteration."""

    began_ns: int
    """On the clock of `time.perf_counter_ns`, of this machine's processes alike on Linux."""
    ms: float | None
    """Time of one call; None if it failed."""
    loops: int
    metrics: dict[str, Any] = msgspec.field(default_factory=dict)
    """Metrics returned by the experiment."""
    instruments: dict[str, Any] = msgspec.field(default_factory=dict)
    """Values that instruments wrote into the context."""
    instruments_ms: float = 0.0
    """Time of the instruments around it; not part of `ms`."""
    cpu_seconds: float = 0.0
    error: str | None = None
    by_instrument: bool = False
    """Whether an instrument failed."""
    unread: tuple[str, ...] = ()
    """Parameters that nothing read until the first call was done; see `noted`."""


class Profiled(msgspec.Struct, frozen=True):
    """One pass of a profiler."""

    instrument: str
    files: tuple[str, ...] = ()
    """Its files, in the variant's folder."""
    ms: float | None = None
    """Time of the call under the profiler, including the profiler's cost."""
    summary: dict[str, Any] = msgspec.field(default_factory=dict)
    error: str | None = None
