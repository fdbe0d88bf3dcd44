"""Values read once a second: of the machine, an agent's process tree, a GPU.

A value that is not known is None and leaves no trace in the reading; it is never 0. MB is 10^6
bytes, rates are per second since the reading before, a percentage of CPU counts one core as 100
unless the field says otherwise. `docs/gauges.md` explains each field to users.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

BYTES_PER_MB = 1e6
LITTLE_DISK_MB = 1000
"""Free disk below which a long run with gauges may not find room."""

Reading = Mapping[str, object]
"""The known fields of one sample by name, of JSON types; as stored."""


class HostGauges(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The whole machine, for all its users."""

    cpu_percent: float | None = None
    """Share of all cores that was busy, 0..100."""
    core_percent: tuple[float, ...] | None = None
    """The same for each core."""
    busiest_core_percent: float | None = None
    steal_percent: float | None = None
    """Share of time in which the hypervisor gave our cores to others, 0..100."""
    load1: float | None = None
    memory_used_mb: float | None = None
    memory_available_mb: float | None = None
    memory_total_mb: float | None = None
    swap_used_mb: float | None = None
    disk_read_bytes_per_s: float | None = None
    disk_write_bytes_per_s: float | None = None
    disk_free_mb: float | None = None
    """On the file system of the database."""
    net_received_bytes_per_s: float | None = None
    """All interfaces but loopback."""
    net_sent_bytes_per_s: float | None = None
    psi_cpu_percent: float | None = None
    """Pressure stall information: share of the last 10 s in which some task waited, 0..100."""
    psi_memory_percent: float | None = None
    psi_io_percent: float | None = None
    run_queue_wait_ms_per_s: float | None = None
    """Time that this process's main thread was ready to run but had no core, ms in each second."""


class TreeGauges(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The processes of one agent together."""

    processes: int | None = None
    cpu_percent: float | None = None
    rss_mb: float | None = None
    """Sum of resident memory; pages that processes share count once for each."""
    read_bytes_per_s: float | None = None
    """From storage, not from the page cache."""
    write_bytes_per_s: float | None = None
    threads: int | None = None
    fds: int | None = None


class GpuProcess(msgspec.Struct, frozen=True):
    """A process that computes on a GPU."""

    pid: int
    memory_mb: float | None


class GpuGauges(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One GPU, or one MIG slice of it."""

    index: int
    slice: int | None = None
    """Number of the MIG slice; None for a whole GPU."""
    name: str | None = None
    uuid: str | None = None
    utilisation_percent: float | None = None
    """Share of time in which any kernel ran: not how full the GPU was."""
    memory_used_mb: float | None = None
    memory_total_mb: float | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    temperature_c: float | None = None
    sm_clock_mhz: float | None = None
    memory_clock_mhz: float | None = None
    throttle_reasons: tuple[str, ...] | None = None
    """Why the clocks are held down; empty when nothing holds them. Idling is not a reason."""
    throttled: int | None = None
    """1 when something holds the clocks down, else 0: its mean is the share of readings."""
    idle: bool | None = None
    """True when the clocks are low because nothing runs."""
    pcie_received_kb_per_s: float | None = None
    """As NVML counts it over 20 ms, in its KB."""
    pcie_sent_kb_per_s: float | None = None
    processes: tuple[GpuProcess, ...] | None = None

    @property
    def scope(self) -> str:
        """Return `gpu:INDEX`, or `gpu:INDEX.SLICE` for a MIG slice."""
        return f"gpu:{self.index}" if self.slice is None else f"gpu:{self.index}.{self.slice}"


class GpuIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """Identity of a GPU, as stored with each run."""

    index: int
    vendor: str
    name: str | None = None
    uuid: str | None = None
    memory_total_mb: float | None = None
    driver: str | None = None
    mig: bool | None = None


def reading(gauges: HostGauges | TreeGauges | GpuGauges) -> dict[str, object]:
    """Return the known fields by name, as JSON types."""
    fields = msgspec.to_builtins(gauges)
    assert isinstance(fields, dict)
    return fields
