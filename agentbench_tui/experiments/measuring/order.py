"""What is asked of a seat and what it answers: plain data that crosses to a process and back."""

from __future__ import annotations

from typing import Any

import msgspec

from agentbench_tui.model.agent import AgentSpec


class Instrument(msgspec.Struct, frozen=True):
    """An instrument that a suite asks for."""

    name: str
    options: dict[str, Any] = msgspec.field(default_factory=dict)


class Order(msgspec.Struct, frozen=True):
    """One variant of an experiment in one repeat."""

    slug: str
    folder: str
    """What a `python:file.py:Class` is relative to."""
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
    """After set-up."""

    effective: dict[str, Any]
    error: str | None = None
    otherwise: dict[str, bool] = msgspec.field(default_factory=dict)
    """Parameter → whether what is in force is not what was asked for."""
    better: dict[str, str] = msgspec.field(default_factory=dict)
    """Name of a metric that it returns → which way is better, as its class says."""


class Warmed(msgspec.Struct, frozen=True):
    """After the warm-up."""

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
    """Of one call; None where it failed."""
    loops: int
    metrics: dict[str, Any] = msgspec.field(default_factory=dict)
    """What the experiment returned."""
    instruments: dict[str, Any] = msgspec.field(default_factory=dict)
    """What instruments wrote into the context."""
    instruments_ms: float = 0.0
    """What the instruments took around it; not part of `ms`."""
    cpu_seconds: float = 0.0
    error: str | None = None
    by_instrument: bool = False
    """Whether it was an instrument that failed."""
    unread: tuple[str, ...] = ()
    """Parameters that nothing read until the first call was done; see `noted`."""


class Profiled(msgspec.Struct, frozen=True):
    """One pass of a profiler."""

    instrument: str
    files: tuple[str, ...] = ()
    """What it wrote, in the variant's folder."""
    ms: float | None = None
    """Of the call under the profiler: slower than the measured ones, by how much is its cost."""
    summary: dict[str, Any] = msgspec.field(default_factory=dict)
    error: str | None = None
