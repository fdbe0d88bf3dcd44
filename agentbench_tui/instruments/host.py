"""Samples the gauges of the machine. Keeps the counters of the previous sample, for the rates."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from agentbench_tui.instruments.availability import NotAvailable
from agentbench_tui.instruments.gauges import BYTES_PER_MB, HostGauges
from agentbench_tui.instruments.pressure import Resource, read_pressure, run_queue_wait_ns
from agentbench_tui.model.clock import monotonic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")

_LOOPBACK_NAMES = frozenset({"lo", "lo0"})


class CoreTimes(msgspec.Struct, frozen=True):
    """Seconds of one core since the machine started."""

    total: float
    idle: float
    """Includes waiting for a disk."""
    steal: float


class Counters(msgspec.Struct, frozen=True):
    """Monotonic counters, whose differences give rates. None if unknown."""

    at: float
    """Seconds on the monotonic clock."""
    cores: tuple[CoreTimes, ...]
    disk: tuple[int, int] | None
    """Bytes read and written."""
    net: tuple[int, int] | None
    """Bytes received and sent."""
    run_queue_wait_ns: int | None


class HostProbe:
    """Reads the machine; rates begin with the second reading. Not thread-safe."""

    def __init__(self, disk_path: Path) -> None:
        """`disk_path`: location of the database, for its free space."""
        self._disk_path = disk_path
        self._before: Counters | None = None

    def read(self) -> HostGauges:
        """Return the current gauges. Never waits, never raises for missing values."""
        now = _counters()
        rates = _rates(self._before, now) if self._before is not None else HostGauges()
        self._before = now
        return _add_levels(rates, self._disk_path)


def _counters() -> Counters:
    return Counters(
        at=monotonic(),
        cores=_core_times(),
        disk=_disk_bytes(),
        net=_net_bytes(),
        run_queue_wait_ns=_or_none(run_queue_wait_ns),
    )


def _core_times() -> tuple[CoreTimes, ...]:
    import psutil

    cores = []
    for times in psutil.cpu_times(percpu=True):
        named = times._asdict()
        # Linux counts the time of guests in user and nice as well.
        total = sum(named.values()) - named.get("guest", 0.0) - named.get("guest_nice", 0.0)
        idle = named["idle"] + named.get("iowait", 0.0)
        cores.append(CoreTimes(total, idle, named.get("steal", 0.0)))
    return tuple(cores)


def _disk_bytes() -> tuple[int, int] | None:
    import psutil

    try:
        counters = psutil.disk_io_counters()
    except (OSError, RuntimeError, NotImplementedError):
        return None
    return None if counters is None else (counters.read_bytes, counters.write_bytes)


def _net_bytes() -> tuple[int, int] | None:
    import psutil

    try:
        interfaces = psutil.net_io_counters(pernic=True)
    except OSError:
        return None
    outer = [counters for name, counters in interfaces.items() if name not in _LOOPBACK_NAMES]
    if not outer:
        return None
    return sum(one.bytes_recv for one in outer), sum(one.bytes_sent for one in outer)


def _rates(before: Counters, now: Counters) -> HostGauges:
    seconds = now.at - before.at
    if seconds <= 0:
        return HostGauges()
    busy, steal = _core_shares(before.cores, now.cores)
    disk = _per_second(before.disk, now.disk, seconds)
    net = _per_second(before.net, now.net, seconds)
    wait_ms_per_s = None
    if before.run_queue_wait_ns is not None and now.run_queue_wait_ns is not None:
        wait_ms_per_s = (now.run_queue_wait_ns - before.run_queue_wait_ns) / 1e6 / seconds
    return HostGauges(
        cpu_percent=_mean(busy),
        core_percent=busy,
        busiest_core_percent=max(busy) if busy else None,
        steal_percent=_mean(steal),
        disk_read_bytes_per_s=disk[0],
        disk_write_bytes_per_s=disk[1],
        net_received_bytes_per_s=net[0],
        net_sent_bytes_per_s=net[1],
        run_queue_wait_ms_per_s=wait_ms_per_s,
    )


def _core_shares(
    before: Sequence[CoreTimes], now: Sequence[CoreTimes]
) -> tuple[tuple[float, ...] | None, tuple[float, ...] | None]:
    """Return busy and stolen percent of each core; None if the cores changed, or no time passed."""
    if len(before) != len(now):
        return None, None
    busy, steal = [], []
    for old, new in zip(before, now, strict=True):
        total = new.total - old.total
        if total <= 0:
            return None, None
        # Kernels are known to let idle time run backwards a little.
        idle = max(0.0, new.idle - old.idle)
        busy.append(round(100 * max(0.0, total - idle) / total, 1))
        steal.append(round(100 * max(0.0, new.steal - old.steal) / total, 1))
    return tuple(busy), tuple(steal)


def _per_second(
    before: tuple[int, int] | None, now: tuple[int, int] | None, seconds: float
) -> tuple[float, float] | tuple[None, None]:
    """Return the growth of two counters per second; None if one is unknown or was reset."""
    if before is None or now is None or now[0] < before[0] or now[1] < before[1]:
        return None, None
    return (now[0] - before[0]) / seconds, (now[1] - before[1]) / seconds


def _add_levels(rates: HostGauges, disk_path: Path) -> HostGauges:
    import psutil

    memory = psutil.virtual_memory()
    return msgspec.structs.replace(
        rates,
        load1=_or_none(lambda: os.getloadavg()[0]),
        memory_used_mb=(memory.total - memory.available) / BYTES_PER_MB,
        memory_available_mb=memory.available / BYTES_PER_MB,
        memory_total_mb=memory.total / BYTES_PER_MB,
        swap_used_mb=_or_none(lambda: psutil.swap_memory().used / BYTES_PER_MB),
        disk_free_mb=_or_none(lambda: psutil.disk_usage(str(disk_path)).free / BYTES_PER_MB),
        psi_cpu_percent=_psi("cpu"),
        psi_memory_percent=_psi("memory"),
        psi_io_percent=_psi("io"),
    )


def _psi(resource: Resource) -> float | None:
    return _or_none(lambda: read_pressure(resource).avg10_percent)


def _or_none(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except (OSError, NotAvailable):
        return None


def _mean(values: Sequence[float] | None) -> float | None:
    return sum(values) / len(values) if values else None
