"""The target on its stand: opened once, put under one window of load after another."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentbench_tui.stress.course import Course
    from agentbench_tui.stress.measured import Measured
    from agentbench_tui.stress.proxy_process import FaultProxy


class Stand:
    """One target; made by `open_stand`, which leaves nothing behind."""

    proxy: FaultProxy | None
    """Between senders and target, where the scenario wants faults and the target can have them."""
    no_proxy: str
    """Why there is none."""
    simulated: bool
    url: str | None
    """Where the target is asked, the proxy left out; None for agents without one URL."""
    served_roots: Callable[[], tuple[int, ...]]
    """Set it where you have started the target's server yourself: its root processes as of now."""

    async def hold(self, course: Course, *, phase: str) -> Measured:
        """Measure one window and store it as the next repeat.

        Raises AgentFailure (`connection`) when the target is gone, `Stopped` when the run is to
        end or a budget of the execution is used up; what was measured is stored before.
        """
        raise NotImplementedError

    async def idle(self, limit_s: float | None = None) -> bool:
        """Wait until one request after another is answered at its unloaded pace again; whether it
        was within `limit_s` (30 s × time scale, and 10 s at least, when not given)."""
        raise NotImplementedError

    @property
    def roots(self) -> tuple[int, ...]:
        """Root processes of the target here, as of now; empty where it is elsewhere."""
        raise NotImplementedError

    def memory_mb(self) -> float | None:
        """Resident memory of the target's process trees now; None where they are not here."""
        raise NotImplementedError
