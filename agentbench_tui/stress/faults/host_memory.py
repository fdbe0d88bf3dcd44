"""Memory that this machine has left, and how much of it must stay free."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from agentbench_tui.instruments.availability import NotAvailable
from agentbench_tui.instruments.cgroup import memory_left_bytes, read_limits

BYTES_PER_MB = 1e6
LEAST_BALLAST_LEAVES = 1 << 30
LEAST_SHARE_BALLAST_LEAVES = 0.15
STOP_AT = 0.5
"""Share of the reserve that ballast leaves: every scenario ends when less is left, before the
machine swaps or kills.
"""


class HostMemory(NamedTuple):
    """Memory of the machine, or of the control group if its limit is lower."""

    total_bytes: int
    available_bytes: int
    """That programs can still have without swapping."""

    @property
    def floor_bytes(self) -> int:
        """Return the memory that ballast leaves free: 1 GiB, or 15% if that is more."""
        return max(LEAST_BALLAST_LEAVES, int(self.total_bytes * LEAST_SHARE_BALLAST_LEAVES))


def read_host_memory() -> HostMemory:
    """Return the current memory of the host."""
    import psutil

    memory = psutil.virtual_memory()
    total, available = memory.total, memory.available
    try:
        limit, left = read_limits().memory_bytes, memory_left_bytes()
    except NotAvailable:
        return HostMemory(total, available)
    return HostMemory(
        total if limit is None else min(total, limit),
        available if left is None else min(available, left),
    )


def oom_kills(statistics: Path = Path("/proc/vmstat")) -> int | None:
    """Return how many processes the kernel has killed for lack of memory since the machine
    started, including those over the limit of their control group; None if the kernel does not
    report it.
    """
    try:
        lines = statistics.read_text().splitlines()
        return int(dict(line.split(" ", 1) for line in lines)["oom_kill"])
    except (OSError, ValueError, KeyError):
        return None


def host_guard(memory: HostMemory | None = None) -> str | None:
    """Return why a scenario must end: the machine is nearly out of memory. None if it is not.

    `memory` is read now when it is not given.
    """
    now = read_host_memory() if memory is None else memory
    least = now.floor_bytes * STOP_AT
    if now.available_bytes >= least:
        return None
    return (
        f"only {now.available_bytes / BYTES_PER_MB:.0f} of {now.total_bytes / BYTES_PER_MB:.0f} MB"
        f" of memory are left on this machine, less than {least / BYTES_PER_MB:.0f} MB: stopped"
        " before it swaps or kills programs"
    )
