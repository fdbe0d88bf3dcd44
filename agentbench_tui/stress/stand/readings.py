"""Memory and CPU time of a target's process trees, sampled during a window."""

from __future__ import annotations

import asyncio
import math
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from agentbench_tui.model.clock import perf_counter
from agentbench_tui.stress.faults.host_memory import BYTES_PER_MB
from agentbench_tui.stress.faults.process_fault import tree_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentbench_tui.process.snapshot import ProcessInfo

EVERY_S = 0.25
MOST_READINGS = 400
"""Maximum number of samples per window: a longer one is sampled less often."""


class Readings:
    """Samples of one window; an async context manager."""

    def __init__(self, roots: Callable[[], tuple[int, ...]], length_s: float) -> None:
        """`roots` returns the current root processes; none while they are not running."""
        self._roots = roots
        self._every_s = max(EVERY_S, length_s / MOST_READINGS)
        self._length_s = length_s
        self._load_ends_s = math.inf
        self._cpu: dict[tuple[int, float], tuple[float, float]] = {}
        """Process → CPU seconds at the first and last sample, while the load lasted."""
        self._seen_s: list[float] = []
        self.memory_mb: list[tuple[float, float]] = []
        """Seconds since the start, and resident memory of all processes."""
        self._task: asyncio.Task[None] | None = None
        self._lock = threading.Lock()

    async def __aenter__(self) -> Readings:
        self._began_s = perf_counter()
        self._task = asyncio.create_task(self._go_on())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await asyncio.to_thread(self._read)

    def begin(self, began_ns: int) -> None:
        """Mark the start of the window, on `perf_counter_ns`.

        Of earlier samples, the last one is kept as the reference.
        """
        with self._lock:
            later_s = began_ns / 1e9 - self._began_s
            self._began_s += later_s
            self._load_ends_s = self._length_s + self._every_s
            self._seen_s = [at_s - later_s for at_s in self._seen_s[-1:]]
            self.memory_mb = [(0.0, held) for _, held in self.memory_mb[-1:]]
            self._cpu = {key: (last, last) for key, (_, last) in self._cpu.items()}

    @property
    def cores(self) -> float | None:
        """Return CPU time divided by time between the first and the last reading under load,
        without the wait for the last answers. None for fewer than two readings.
        """
        if len(self._seen_s) < 2 or not self._cpu:
            return None
        used = sum(last - first for first, last in self._cpu.values())
        return used / (self._seen_s[-1] - self._seen_s[0])

    async def _go_on(self) -> None:
        while True:
            await asyncio.to_thread(self._read)
            await asyncio.sleep(self._every_s)

    def _read(self) -> None:
        members = tree_of(self._roots()).values()
        if not members:
            return
        with self._lock:
            at_s = perf_counter() - self._began_s
            self.memory_mb.append((at_s, resident_mb(members)))
            if len(self._seen_s) > 1 and at_s > self._load_ends_s:
                return
            self._seen_s.append(at_s)
            for info in members:
                first, _ = self._cpu.get(info.key, (info.cpu_seconds, 0.0))
                self._cpu[info.key] = first, info.cpu_seconds


def resident_mb(members: Iterable[ProcessInfo]) -> float:
    """Return resident memory in MB of 10^6 bytes; shared pages count once for each process."""
    return sum(info.resident_bytes for info in members) / BYTES_PER_MB
