"""Measures a load worker during a window: lateness of its event loop, CPU, pauses.

Runs inside a load worker, in parallel to the requests: a timer in the sender's own loop fires a
hundred times a second, and is delayed by everything that delays sending and receiving.
"""

from __future__ import annotations

import os
import resource
import sys
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.instruments.availability import NotAvailable
from agentbench_tui.instruments.overhead import GcPauses
from agentbench_tui.instruments.pressure import run_queue_wait_ns
from agentbench_tui.instruments.timer import DeadlineTimer
from agentbench_tui.load.sending.protocol import Lateness
from agentbench_tui.model.clock import perf_counter, perf_counter_ns, process_time
from agentbench_tui.process.snapshot import peak_resident_bytes

if TYPE_CHECKING:
    import asyncio

INTERVAL_NS = 10_000_000
"""Between two deadlines of the probe: a hundred a second."""
_NS_PER_MS = 1e6
_BYTES_PER_MB = 1e6


class ProbeReading(msgspec.Struct, frozen=True, kw_only=True):
    """Measurements from `start` to `stop`; unknown values are None."""

    lateness: Lateness | None
    """None when not one deadline of the probe came."""
    run_queue_wait_ms: float | None
    """How long the main thread was ready but had no core."""
    gc_pause_ms: float
    """All collections of Python's garbage collector together."""
    gc_pause_max_ms: float
    wall_s: float
    cpu_s: float
    """User and system time of the whole process."""
    peak_rss_mb: float
    """The most memory (1e6 bytes) that the process has had since it was started."""


class SenderProbe:
    """Measures from `start` to `stop`; call both in the thread of the loop.

    The deadlines lie on a fixed grid. When the loop was held up, each that passed meanwhile is
    counted from its own time: 50 ms in which nothing ran are five late deadlines, not one.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._pauses = GcPauses()
        self._timer: DeadlineTimer | None = None

    def start(self) -> None:
        """Read the counters at the start. Raises OSError if no more files can be opened."""
        self._late_us = Histogram()
        self._latest_ns = 0
        self._timer = DeadlineTimer(self._loop, self._tick)
        self._wait_before = _wait_ns()
        self._pauses.watch()
        self._cpu_before = process_time()
        self._began = perf_counter()
        self._due_ns = perf_counter_ns() + INTERVAL_NS
        self._timer.arm(self._due_ns)

    def stop(self) -> ProbeReading:
        """Read the counters again and return the measurements. Call once for each start."""
        cpu_s = process_time() - self._cpu_before
        self._pauses.unwatch()
        assert self._timer is not None
        self._timer.close()
        self._timer = None
        self._count_until(perf_counter_ns())
        wait_ns, wait_ms = _wait_ns(), None
        if wait_ns is not None and self._wait_before is not None:
            wait_ms = (wait_ns - self._wait_before) / _NS_PER_MS
        return ProbeReading(
            lateness=self._lateness(),
            run_queue_wait_ms=wait_ms,
            gc_pause_ms=self._pauses.total_ns / _NS_PER_MS,
            gc_pause_max_ms=self._pauses.longest_ns / _NS_PER_MS,
            wall_s=perf_counter() - self._began,
            cpu_s=cpu_s,
            peak_rss_mb=_peak_bytes() / _BYTES_PER_MB,
        )

    def _tick(self) -> None:
        self._count_until(perf_counter_ns())
        assert self._timer is not None
        self._timer.arm(self._due_ns)

    def _count_until(self, now_ns: int) -> None:
        late_ns = now_ns - self._due_ns
        self._latest_ns = max(self._latest_ns, late_ns)
        while late_ns >= 0:
            self._late_us.record(late_ns / 1e3)
            self._due_ns += INTERVAL_NS
            late_ns -= INTERVAL_NS

    def _lateness(self) -> Lateness | None:
        p50_us, p99_us = self._late_us.percentiles((0.5, 0.99))
        if p50_us is None or p99_us is None:
            return None
        latest_ms = self._latest_ns / _NS_PER_MS
        return Lateness(
            # A bucket's middle may lie above the largest value in it.
            p50_ms=min(p50_us / 1e3, latest_ms),
            p99_ms=min(p99_us / 1e3, latest_ms),
            max_ms=latest_ms,
            n=len(self._late_us),
        )


def _peak_bytes() -> int:
    """Return the peak memory of this process since its program started.

    Not getrusage's maximum where it can be helped: on Linux that begins with the memory of the
    process which started this one (kernel, fs/exec.c: `setmax_mm_hiwater_rss`).
    """
    most = peak_resident_bytes(os.getpid())
    if most:
        return most
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def _wait_ns() -> int | None:
    try:
        return run_queue_wait_ns()
    except NotAvailable:
        return None
