"""Hardware tier of a machine, by the requirements of StateSet's benchmarks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentbench_tui.instruments.gauges import BYTES_PER_MB

if TYPE_CHECKING:
    from agentbench_tui.instruments.environment import Environment

GB = 1_000_000_000
_SOLD_SHARE = 0.9
"""Share of a nominal size that is enough: a machine of 16 GB reports slightly less."""


@dataclass(frozen=True, slots=True)
class Tier:
    """Minimum requirements of a tier."""

    name: str
    cores: int
    memory_gb: int
    disk_gb: int
    gpus: int = 0
    gpu_memory_gb: int = 0


TIERS = (
    Tier("minimum", 4, 16, 10),
    Tier("recommended", 8, 32, 50, 1, 24),
    Tier("production", 16, 64, 1000, 4, 80),
)
"""Each includes the requirements of the one before. The network between machines is not checked."""


@dataclass(frozen=True, slots=True)
class Hardware:
    """Hardware of this machine. None is unknown, and counts as missing."""

    cores: float | None
    memory_bytes: int | None
    disk_bytes: int
    """Free space at the database."""
    gpu_bytes: tuple[int, ...] = ()
    """Memory of each GPU."""


def hardware_of(environment: Environment, disk_bytes: int) -> Hardware:
    """Return the hardware, within the limits set for this process."""
    limits = environment.cgroup
    affinity = environment.affinity
    cores = environment.logical_cores if affinity is None else len(affinity)
    allowed = None if limits is None else limits.cpu_cores
    memory = environment.memory_bytes
    most = None if limits is None else limits.memory_bytes
    gpus = environment.gpus or ()
    return Hardware(
        min((one for one in (cores, allowed) if one is not None), default=None),
        min((one for one in (memory, most) if one is not None), default=None),
        disk_bytes,
        tuple(round((one.memory_total_mb or 0) * BYTES_PER_MB) for one in gpus),
    )


def tier_of(hardware: Hardware) -> tuple[Tier | None, Tier | None, list[str]]:
    """Return the highest tier of the machine, the next one, and what the machine lacks for that."""
    reached: Tier | None = None
    for tier in TIERS:
        if lacking := lacks(hardware, tier):
            return reached, tier, lacking
        reached = tier
    return reached, None, []


def lacks(hardware: Hardware, tier: Tier) -> list[str]:
    """Return what is missing, with the actual values."""
    found = []
    if (hardware.cores or 0) < tier.cores:
        found.append(f"{tier.cores} cores (has {hardware.cores or 0:g})")
    memory = hardware.memory_bytes or 0
    if memory < _SOLD_SHARE * tier.memory_gb * GB:
        found.append(f"{tier.memory_gb} GB of memory (has {memory / GB:.0f})")
    if hardware.disk_bytes < tier.disk_gb * GB * _SOLD_SHARE:
        found.append(f"{tier.disk_gb} GB of disk (has {hardware.disk_bytes / GB:.0f} free)")
    fit = sum(one >= _SOLD_SHARE * tier.gpu_memory_gb * GB for one in hardware.gpu_bytes)
    if fit < tier.gpus:
        several = "a GPU" if tier.gpus == 1 else f"{tier.gpus} GPUs"
        found.append(f"{several} of {tier.gpu_memory_gb} GB (has {fit})")
    return found


def tier_words(hardware: Hardware) -> str:
    """Describe the tier, with the requirements of the next one."""
    reached, following, lacking = tier_of(hardware)
    name = "below the minimum" if reached is None else f"tier {reached.name}"
    if following is None:
        return name
    return f"{name}; tier {following.name} takes {', '.join(lacking)}"
