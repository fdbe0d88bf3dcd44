"""Tiers of hardware: what StateSet asks for, and what a machine has within its limits."""

from pathlib import Path

import msgspec
import pytest

from agentbench_tui.instruments.cgroup import CgroupLimits
from agentbench_tui.instruments.environment import capture_environment
from agentbench_tui.instruments.gauges import GpuIdentity
from agentbench_tui.instruments.hardware import (
    GB,
    Hardware,
    hardware_of,
    tier_of,
    tier_words,
)


def machine(cores: float, memory: int, disk: int, *gpus: int) -> Hardware:
    return Hardware(cores, memory * GB, disk * GB, tuple(one * GB for one in gpus))


@pytest.mark.parametrize(
    ("hardware", "name"),
    [
        (machine(2, 25, 80), None),
        (machine(4, 16, 10), "minimum"),
        (machine(8, 32, 50), "minimum"),
        (machine(8, 32, 50, 24), "recommended"),
        (machine(64, 512, 2000, 80, 80), "recommended"),
        (machine(16, 64, 1000, 80, 80, 80, 80), "production"),
        (Hardware(None, None, 0), None),
    ],
)
def test_a_machine_is_of_the_highest_tier_whose_every_part_it_has(
    hardware: Hardware, name: str | None
) -> None:
    reached, _, _ = tier_of(hardware)
    assert (None if reached is None else reached.name) == name


def test_what_is_lacking_is_told_with_what_is_there() -> None:
    assert tier_words(machine(2, 25, 80)) == "below the minimum; tier minimum takes 4 cores (has 2)"
    assert tier_words(machine(8, 32, 20)) == (
        "tier minimum; tier recommended takes 50 GB of disk (has 20 free), a GPU of 24 GB (has 0)"
    )
    assert tier_words(machine(16, 64, 1000, 80, 80, 80, 80)) == "tier production"


def test_limits_and_gpus_count() -> None:
    environment = msgspec.structs.replace(
        capture_environment(Path.cwd()),
        logical_cores=64,
        affinity=tuple(range(12)),
        memory_bytes=64 * GB,
        cgroup=CgroupLimits(2, 6.0, 20 * GB),
        gpus=(GpuIdentity(index=0, vendor="NVIDIA", memory_total_mb=24_000),),
    )
    assert hardware_of(environment, 5) == Hardware(6.0, 20 * GB, 5, (24 * GB,))
