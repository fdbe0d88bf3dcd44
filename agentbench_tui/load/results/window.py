"""Stored data of one repeat of a load execution, besides its samples."""

from __future__ import annotations

import msgspec

from agentbench_tui.load.schedule.pace import Change
from agentbench_tui.load.sending.protocol import Done


class Calibration(msgspec.Struct, frozen=True):
    """Overhead of the sender: measured against a local stub that answers immediately."""

    at: str
    """When, as the store writes times."""
    rate_per_s: float
    """Rate at which the overhead was measured: the plan's own rate; lower if that is too high,
    higher if its p99 needs more requests.
    """
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
    """The lowest of these windows; None if only one was measured."""


class Window(msgspec.Struct, frozen=True):
    """One repeat: the plan, and the reports of the workers."""

    is_open: bool
    asked_per_s: float | None
    """Mean rate of the schedule over the window; None for a closed loop."""
    asked: float | None
    """Expected number of requests of the schedule over the window; None for a closed loop."""
    started_at: str
    ramp_s: float | None
    """As the plan gives it."""
    slo: dict[str, float]
    """Metric → limit."""
    max_in_flight: int | None
    on_this_machine: bool
    """Whether the target runs on this machine and shares its cores."""
    workers: tuple[Done, ...]
    calibration: Calibration | None = None
    psi_cpu_percent: float | None = None
    """Share of the window in which some task of the machine waited for a core."""
    stopped: bool = False
    """Whether the window was cut short on request."""
    changes: tuple[Change, ...] = ()
    """Manual changes during the window; `asked` includes them."""
    agent_inside: bool = False
    """Whether the agent runs in the senders' own processes: their CPU time includes it, and it
    can block them.
    """

    @property
    def window_s(self) -> float:
        """Return the duration for the worker that sent longest."""
        return max((worker.window_s for worker in self.workers), default=0.0)

    @property
    def sent(self) -> int:
        """Return the requests sent by all workers."""
        return sum(worker.sent for worker in self.workers)
