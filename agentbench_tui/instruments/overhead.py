"""Measures the harness's own share in a run, and judges whether its timings are reliable.

The verdict, in this order:
- `generator-limited`: the harness used more than 80% of a core, so what it reports as the
  agent's time may be its own. Not judged where agents run inside the harness's process, because
  their work cannot be told apart from ours.
- `noisy`: our main thread was ready but had no core for more than 5% of the time, or some task
  of the machine waited for a core for more than 10% of the time (PSI `some`, over the run).
- `clean`: neither.
"""

from __future__ import annotations

import gc
import os
from typing import Literal

import msgspec

from agentbench_tui.instruments.availability import NotAvailable
from agentbench_tui.instruments.pressure import Pressure, read_pressure, run_queue_wait_ns
from agentbench_tui.model.clock import perf_counter, perf_counter_ns, process_time

Verdict = Literal["clean", "noisy", "generator-limited"]

GENERATOR_LIMITED_CPU_SHARE = 0.80
NOISY_RUN_QUEUE_SHARE = 0.05
NOISY_PSI_PERCENT = 10.0


class Overhead(msgspec.Struct, frozen=True, kw_only=True):
    """Measurements of the harness and its environment; unknown ones are None."""

    wall_seconds: float
    cpu_seconds: float
    """User and system time of the harness's process, all threads."""
    run_queue_wait_ms: float | None
    """How long this process's main thread was ready but had no core."""
    psi_cpu_percent: float | None
    """Share of the run in which some task of the machine waited for a core."""
    psi_cpu_avg10: float | None
    """The kernel's mean of the last 10 s, at the end."""
    gc_pause_ms: float
    """All collections of Python's garbage collector together."""
    gc_pause_max_ms: float
    gc_collections: int
    load_before: float | None
    """Mean number of runnable tasks in the minute before."""
    load_after: float | None
    verdict: Verdict
    reasons: tuple[str, ...]
    """Why the verdict is not `clean`, or what could not be checked; one sentence each."""


class OverheadProbe:
    """Measures from `start` to `stop`, both in the measuring process."""

    def __init__(self, *, agents_inside: bool = False) -> None:
        """`agents_inside`: agents run in this process, so its CPU time is not the harness's
        alone.
        """
        self._agents_inside = agents_inside
        self._pauses = GcPauses()

    def start(self) -> None:
        """Read the initial counters; a second start restarts."""
        self._load_before = _load()
        self._psi_before = _pressure()
        self._wait_before = _wait_ns()
        self._pauses.watch()
        self._cpu_before = process_time()
        self._began = perf_counter()

    def stop(self) -> Overhead:
        """Read the counters again and judge. Call once for each start."""
        wall = perf_counter() - self._began
        cpu = process_time() - self._cpu_before
        self._pauses.unwatch()
        wait_ns, psi = _wait_ns(), _pressure()
        wait_ms = None
        if wait_ns is not None and self._wait_before is not None:
            wait_ms = (wait_ns - self._wait_before) / 1e6
        stalled = None
        if psi is not None and self._psi_before is not None and wall > 0:
            stalled = (psi.total_us - self._psi_before.total_us) / 1e4 / wall
        verdict, reasons = judge(
            wall_seconds=wall,
            cpu_seconds=None if self._agents_inside else cpu,
            run_queue_wait_ms=wait_ms,
            psi_cpu_percent=stalled,
        )
        return Overhead(
            wall_seconds=wall,
            cpu_seconds=cpu,
            run_queue_wait_ms=wait_ms,
            psi_cpu_percent=stalled,
            psi_cpu_avg10=None if psi is None else psi.avg10_percent,
            gc_pause_ms=self._pauses.total_ns / 1e6,
            gc_pause_max_ms=self._pauses.longest_ns / 1e6,
            gc_collections=self._pauses.count,
            load_before=self._load_before,
            load_after=_load(),
            verdict=verdict,
            reasons=reasons,
        )


def judge(
    *,
    wall_seconds: float,
    cpu_seconds: float | None,
    run_queue_wait_ms: float | None,
    psi_cpu_percent: float | None,
) -> tuple[Verdict, tuple[str, ...]]:
    """Return the verdict by the thresholds above, with its reasons. None values are not judged."""
    limited, noisy, unchecked = [], [], []
    if cpu_seconds is None:
        unchecked.append("agents ran inside the harness: its CPU share was not judged")
    elif cpu_seconds > GENERATOR_LIMITED_CPU_SHARE * wall_seconds:
        limited.append(
            f"the harness used {100 * cpu_seconds / wall_seconds:.1f}% of a core"
            f" (limit {100 * GENERATOR_LIMITED_CPU_SHARE:.0f}%)"
        )
    if run_queue_wait_ms is None:
        unchecked.append("the wait for a core is not known here (no /proc/self/schedstat)")
    elif run_queue_wait_ms > NOISY_RUN_QUEUE_SHARE * wall_seconds * 1e3:
        noisy.append(
            f"the harness waited {run_queue_wait_ms / wall_seconds / 10:.1f}% of the time for a"
            f" core (limit {100 * NOISY_RUN_QUEUE_SHARE:.0f}%)"
        )
    if psi_cpu_percent is None:
        unchecked.append("the pressure on the cores is not known here (no /proc/pressure/cpu)")
    elif psi_cpu_percent > NOISY_PSI_PERCENT:
        noisy.append(
            f"some task waited for a core {psi_cpu_percent:.1f}% of the time"
            f" (limit {NOISY_PSI_PERCENT:.0f}%)"
        )
    verdict: Verdict = "generator-limited" if limited else "noisy" if noisy else "clean"
    return verdict, (*limited, *noisy, *unchecked)


class GcPauses:
    """Times garbage collections through `gc.callbacks`; they do not nest."""

    def __init__(self) -> None:
        self.total_ns = self.longest_ns = self.count = 0
        self._began_ns: int | None = None

    def watch(self) -> None:
        """Start counting at 0, until `unwatch`."""
        self.unwatch()
        self.total_ns = self.longest_ns = self.count = 0
        self._began_ns = None
        gc.callbacks.append(self._note)

    def unwatch(self) -> None:
        """Stop counting; the counts remain. Idempotent."""
        if self._note in gc.callbacks:
            gc.callbacks.remove(self._note)

    def _note(self, phase: str, info: dict[str, int]) -> None:
        del info
        if phase == "start":
            self._began_ns = perf_counter_ns()
        elif self._began_ns is not None:
            took = perf_counter_ns() - self._began_ns
            self._began_ns = None
            self.total_ns += took
            self.longest_ns = max(self.longest_ns, took)
            self.count += 1


def _load() -> float | None:
    try:
        return os.getloadavg()[0]
    except OSError:
        return None


def _pressure() -> Pressure | None:
    try:
        return read_pressure("cpu")
    except NotAvailable:
        return None


def _wait_ns() -> int | None:
    try:
        return run_queue_wait_ns()
    except NotAvailable:
        return None
