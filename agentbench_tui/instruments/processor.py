"""The processor and its settings: model, cores, frequency governor, turbo, clock."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from agentbench_tui.instruments.availability import ROOT, NotAvailable, plain, read_line

if TYPE_CHECKING:
    from pathlib import Path

_CPUS = "sys/devices/system/cpu"
_CLOCKS = "sys/devices/system/clocksource/clocksource0"
_SYSCTL_DEADLINE_S = 2.0


def cpu_model(root: Path = ROOT) -> str:
    """Return the processor's name by its vendor. Raises NotAvailable."""
    if sys.platform == "darwin":
        return _sysctl("machdep.cpu.brand_string")
    fields = _cpuinfo(root)
    if model := fields.get("model name") or fields.get("Model"):
        return model
    if "CPU part" in fields:  # Arm tells numbers only
        return f"Arm implementer {fields.get('CPU implementer')} part {fields['CPU part']}"
    raise NotAvailable("/proc/cpuinfo names no model")


def is_virtual_machine(root: Path = ROOT) -> bool:
    """Return whether the processor's flags report a hypervisor (x86 only). Raises NotAvailable."""
    flags = _cpuinfo(root).get("flags")
    if flags is None:
        raise NotAvailable("this processor has no flag for it")
    return "hypervisor" in flags.split()


def physical_cores() -> int:
    """Return the number of cores without hyper-threads. Raises NotAvailable."""
    import psutil

    cores = psutil.cpu_count(logical=False)
    if cores is None:
        raise NotAvailable("the system does not report which logical cores share one")
    return cores


def affinity() -> tuple[int, ...]:
    """Return the numbers of the logical cores this process may run on. Raises NotAvailable."""
    if not hasattr(os, "sched_getaffinity"):
        raise NotAvailable("this system binds no process to cores")
    return tuple(sorted(os.sched_getaffinity(0)))


def governor(root: Path = ROOT) -> str:
    """Return the frequency governor of the cores, such as `performance`; several are joined by
    commas. Raises NotAvailable.
    """
    files = (root / _CPUS).glob("cpu[0-9]*/cpufreq/scaling_governor")
    found = {read_line(path) for path in files}
    if not found:
        raise NotAvailable("the frequency is not set by this system (usual in virtual machines)")
    return ",".join(sorted(found))


def turbo(root: Path = ROOT) -> bool:
    """Return whether cores may clock above their nominal frequency. Raises NotAvailable."""
    intel, others = root / _CPUS / "intel_pstate/no_turbo", root / _CPUS / "cpufreq/boost"
    if intel.exists():
        return read_line(intel) == "0"
    if others.exists():
        return read_line(others) == "1"
    raise NotAvailable("the frequency is not set by this system (usual in virtual machines)")


def clock_source(root: Path = ROOT) -> str:
    """Return the kernel's clock source, such as `tsc`. Raises NotAvailable."""
    return read_line(root / _CLOCKS / "current_clocksource")


def _cpuinfo(root: Path) -> dict[str, str]:
    """Return the fields of the first core, and those listed only once."""
    try:
        lines = (root / "proc/cpuinfo").read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise NotAvailable(f"/proc/cpuinfo: {plain(error)}") from error
    fields: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon and value.strip():
            fields.setdefault(name.strip(), value.strip())
    return fields


def _sysctl(name: str) -> str:
    try:
        done = subprocess.run(
            ["sysctl", "-n", name],
            capture_output=True,
            text=True,
            timeout=_SYSCTL_DEADLINE_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise NotAvailable(f"sysctl {name}: {type(error).__name__}") from error
    return done.stdout.strip()
