"""Linux kernel statistics of waiting: pressure stalls and run-queue time.

Pressure stall information (PSI): Documentation/accounting/psi.rst of the kernel; schedstat:
Documentation/scheduler/sched-stats.rst. Both are absent on other systems and some containers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from agentbench_tui.instruments.availability import ROOT, NotAvailable, plain

if TYPE_CHECKING:
    from pathlib import Path

Resource = Literal["cpu", "memory", "io"]


class Pressure(msgspec.Struct, frozen=True):
    """Share of time in which at least one task waited for a resource (the `some` line)."""

    avg10_percent: float
    avg60_percent: float
    avg300_percent: float
    total_us: int
    """Stalled time since the machine started."""


def read_pressure(resource: Resource, root: Path = ROOT) -> Pressure:
    """Return the current pressure on a resource. Raises NotAvailable."""
    path = root / "proc/pressure" / resource
    try:
        lines = path.read_text().splitlines()
        fields = dict(word.split("=", 1) for word in lines[0].split()[1:])
        return Pressure(
            avg10_percent=float(fields["avg10"]),
            avg60_percent=float(fields["avg60"]),
            avg300_percent=float(fields["avg300"]),
            total_us=int(fields["total"]),
        )
    except (OSError, IndexError, KeyError, ValueError) as error:
        raise NotAvailable(f"/proc/pressure/{resource}: {plain(error)}") from error


def run_queue_wait_ns(root: Path = ROOT) -> int:
    """Return how long this process's main thread has waited for a core since it started, ns. Raises
    NotAvailable.

    The second field of /proc/self/schedstat, which always describes the main thread.
    """
    try:
        return int((root / "proc/self/schedstat").read_text().split()[1])
    except (OSError, IndexError, ValueError) as error:
        raise NotAvailable(f"/proc/self/schedstat: {plain(error)}") from error
