"""How long tasks of this machine wait for a core while a window goes on."""

from __future__ import annotations

from agentbench_tui.instruments.availability import NotAvailable
from agentbench_tui.instruments.pressure import read_pressure


def stalled_us() -> float | None:
    """Time since the machine's start in which some task waited for a core; None where the system
    does not tell."""
    try:
        return read_pressure("cpu").total_us
    except NotAvailable:
        return None


def share_stalled(before_us: float | None, seconds: float) -> float | None:
    """Percent of the last `seconds` in which some task of the machine waited for a core;
    `before_us` is what `stalled_us` gave at their beginning."""
    after_us = stalled_us()
    if before_us is None or after_us is None or seconds <= 0:
        return None
    return (after_us - before_us) / 1e4 / seconds
