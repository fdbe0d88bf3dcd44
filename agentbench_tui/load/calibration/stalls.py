"""Measures how long tasks of this machine wait for a core during a window."""

from __future__ import annotations

from agentbench_tui.instruments.availability import NotAvailable
from agentbench_tui.instruments.pressure import read_pressure
from agentbench_tui.model.clock import perf_counter_ns


class Stalls:
    """Time that tasks waited for a core since this object was created."""

    def __init__(self) -> None:
        self._began_ns = perf_counter_ns()
        self._before_us = _stalled_us()

    def percent(self) -> float | None:
        """Return the share of the time since then in which some task of the machine waited for a
        core; None if the system does not report it.
        """
        after_us = _stalled_us()
        if self._before_us is None or after_us is None:
            return None
        # The clock is read outside of both readings: never more than all of the time.
        return 1e5 * (after_us - self._before_us) / (perf_counter_ns() - self._began_ns)


def _stalled_us() -> int | None:
    """Return the time that tasks waited for a core since the machine started, in microseconds."""
    try:
        return read_pressure("cpu").total_us
    except NotAvailable:
        return None
