"""What is kept of one repeat of a load execution beside its samples."""

from __future__ import annotations

import msgspec

from agentbench_tui.load.schedule.pace import Change
from agentbench_tui.load.sending.protocol import Done


class Calibration(msgspec.Struct, frozen=True):
    """What the sender itself costs: measured against a stub here that answers at once."""

    at: str
    """When, as the store writes times."""
    rate_per_s: float
    """At which the overhead was measured: the plan's own rate; less where that is too much, more
    where its p99 needs more requests."""
    overhead_p50_ms: float
    """Time that the sender adds: end to end at the client, less the stub's own time."""
    overhead_p99_ms: float
    n: int
    cpu_us_per_request: float
    """Sender's CPU time at that rate."""
    ceiling_per_s: float
    """Requests a second of the CPU time that the workers spend on them in a closed loop, each with
    a core to itself as far as there are enough; the most of several windows."""
    workers: int
    streamed: bool
    ceiling_low_per_s: float | None = None
    """The least of these windows; None where only one was measured."""


class Window(msgspec.Struct, frozen=True):
    """One repeat: what was asked, and what the workers say of it."""

    is_open: bool
    asked_per_s: float | None
    """Mean rate that the schedule asks for over the window; None for a closed loop."""
    asked: float | None
    """Requests that the schedule asks for over the window, on average; None for a closed loop."""
    started_at: str
    ramp_s: float | None
    """As the plan gives it."""
    slo: dict[str, float]
    """Metric → limit."""
    max_in_flight: int | None
    on_this_machine: bool
    """Whether the target is served from this machine, so that it shares our cores."""
    workers: tuple[Done, ...]
    calibration: Calibration | None = None
    psi_cpu_percent: float | None = None
    """Share of the window in which some task of the machine waited for a core."""
    stopped: bool = False
    """Whether the window was cut short on request."""
    changes: tuple[Change, ...] = ()
    """What somebody changed by hand while it went on; `asked` counts that in."""
    agent_inside: bool = False
    """Whether the agent runs in the senders' own processes: its CPU time is in theirs, and what
    it blocks waits for it."""

    @property
    def window_s(self) -> float:
        """Of the worker that asked longest."""
        return max((worker.window_s for worker in self.workers), default=0.0)

    @property
    def sent(self) -> int:
        """Requests sent, by all workers."""
        return sum(worker.sent for worker in self.workers)
