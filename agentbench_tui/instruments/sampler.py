"""Samples all gauges once a second in a separate thread, so that measuring never waits for it."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.instruments.gauges import reading
from agentbench_tui.instruments.gpu import GpuSource, open_gpus
from agentbench_tui.instruments.host import HostProbe
from agentbench_tui.instruments.process_tree import TreeProbe
from agentbench_tui.instruments.summary import GaugeSummary, Summary
from agentbench_tui.model.clock import monotonic, thread_time, unix_time

if TYPE_CHECKING:
    from agentbench_tui.instruments.gauges import GpuGauges, HostGauges, TreeGauges

Roots = Callable[[], Mapping[str, Sequence[int]]]
"""Agent id → pids of its root processes; called in the sampler's thread."""
Sink = Callable[[str, float, dict[str, object]], None]
"""Takes (scope, seconds since 1970, known fields); called in the sampler's thread."""

_SHORTEST_S = 0.05
"""Over less than this the kernel's clock ticks of 10 ms make rates worthless."""
_JOIN_S = 5.0
"""A driver that hangs must not hold the run."""


class SamplerCost(msgspec.Struct, frozen=True):
    """Cost of the sampling itself."""

    readings: int
    p50_ms: float | None
    """Median time of one complete sample; None before the first."""
    max_ms: float | None
    cpu_seconds: float
    """CPU time of the sampler's thread."""
    skipped: int
    """Readings left out because the one before took longer than the interval."""
    errors: int
    last_error: str | None
    gpu_reason: str | None
    """Why there are no GPU gauges."""


class Sampler:
    """Samples host, process trees and GPUs at even intervals from `start` to `stop`.

    Scopes are `host`, `agent:ID`, `gpu:INDEX` and `gpu:INDEX.SLICE`. A reading that fails, or a
    sink that raises, is counted and never ends the sampler.
    """

    def __init__(
        self,
        *,
        roots: Roots,
        sink: Sink,
        interval_s: float = 1.0,
        disk_path: Path | None = None,
        gpus: Callable[[], GpuSource] = open_gpus,
    ) -> None:
        """`disk_path`: location of the database (default: the working directory)."""
        self._roots = roots
        self._sink = sink
        self._interval_s = interval_s
        self._disk_path = disk_path or Path.cwd()
        self._open_gpus = gpus
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="agentbench-gauges", daemon=True)
        self._seen = GaugeSummary()
        self._took_ms = array("d")
        self._cpu_seconds = 0.0
        self._skipped = 0
        self._errors = 0
        self._last_error: str | None = None
        self.gpu_reason: str | None = None
        """Why there are no GPU gauges, once the first sample was taken."""

    def start(self) -> None:
        """Start; the first sample is taken immediately and has no rates yet."""
        self._thread.start()

    def stop(self) -> None:
        """Take a last reading and end the thread, waiting 5 s at most. Idempotent."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(_JOIN_S)

    def summary(self) -> Summary:
        """Return lowest, mean and highest since the start."""
        return self._seen.summary()

    @property
    def cost(self) -> SamplerCost:
        """Return the cost of the samples so far."""
        took = sorted(self._took_ms)
        return SamplerCost(
            readings=len(took),
            p50_ms=took[len(took) // 2] if took else None,
            max_ms=took[-1] if took else None,
            cpu_seconds=self._cpu_seconds,
            skipped=self._skipped,
            errors=self._errors,
            last_error=self._last_error,
            gpu_reason=self.gpu_reason,
        )

    def _run(self) -> None:
        host, trees = HostProbe(self._disk_path), TreeProbe()
        with self._find_gpus() as gpus:
            self.gpu_reason = gpus.reason
            begun = monotonic()
            turn, stopping = 0, False
            while True:
                read_at = monotonic()
                self._read(host, trees, gpus)
                self._took_ms.append((monotonic() - read_at) * 1e3)
                self._cpu_seconds = thread_time()
                if stopping:
                    return
                turn = self._next_turn(turn, begun)
                due = begun + turn * self._interval_s
                stopping = self._stop.wait(max(0.0, due - monotonic()))
                if stopping and monotonic() - read_at < _SHORTEST_S:
                    return

    def _find_gpus(self) -> GpuSource:
        try:
            return self._open_gpus()
        except Exception as error:  # noqa: BLE001 (a broken driver must not take the other gauges)
            self._note(error)
            return GpuSource((), f"no GPU found ({self._last_error})")

    def _next_turn(self, turn: int, begun: float) -> int:
        """Return the next due reading that is not past, on the grid that began at `begun`."""
        reached = int((monotonic() - begun) / self._interval_s)
        self._skipped += max(0, reached - turn)
        return max(turn, reached) + 1

    def _read(self, host: HostProbe, trees: TreeProbe, gpus: GpuSource) -> None:
        parts: tuple[Callable[[], Mapping[str, HostGauges | TreeGauges | GpuGauges]], ...] = (
            lambda: {"host": host.read()},
            lambda: {f"agent:{name}": one for name, one in trees.read(self._roots()).items()},
            lambda: {one.scope: one for one in gpus.sample()},
        )
        for part in parts:
            # Whatever a driver, a dying process or a sink throws: gauges never end a run.
            try:
                at = unix_time()
                for scope, gauges in part().items():
                    self._deliver(scope, at, reading(gauges))
            except Exception as error:  # noqa: BLE001 (counted and shown in `cost`)
                self._note(error)

    def _deliver(self, scope: str, at: float, fields: dict[str, object]) -> None:
        self._seen.add(scope, fields)
        self._sink(scope, at, fields)

    def _note(self, error: Exception) -> None:
        self._errors += 1
        self._last_error = f"{type(error).__name__}: {error}"
