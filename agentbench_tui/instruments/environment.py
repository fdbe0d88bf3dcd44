"""Machine and software of a run, stored with every run so that results can be compared.

Unknown values are None, and `missing` says why.
"""

from __future__ import annotations

import locale
import os
import platform
import socket
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from agentbench_tui.instruments import processor
from agentbench_tui.instruments.availability import ROOT, NotAvailable, plain
from agentbench_tui.instruments.cgroup import CgroupLimits, read_limits
from agentbench_tui.instruments.clock import timer_facts
from agentbench_tui.instruments.gauges import GpuIdentity
from agentbench_tui.instruments.gpu import GpuSource, open_gpus
from agentbench_tui.instruments.packages import package_versions
from agentbench_tui.instruments.pressure import Pressure, read_pressure
from agentbench_tui.instruments.terminal import Terminal, read_terminal
from agentbench_tui.model.identity import content_hash
from agentbench_tui.store.location import filesystem_of

T = TypeVar("T")

_GIB = 1 << 30


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of one machine at one moment. Becomes JSON and comes back equal."""

    os: str
    """Name and version, `Debian GNU/Linux 12` say."""
    kernel: str
    architecture: str
    hostname: str
    python_version: str
    python_implementation: str
    sqlite_version: str
    packages: dict[str, str]
    """Version of agentbench-tui and of every installed package it needs."""
    cpu_model: str | None
    physical_cores: int | None
    logical_cores: int | None
    affinity: tuple[int, ...] | None
    """Numbers of the cores this process may run on."""
    governor: str | None
    turbo: bool | None
    clock_source: str | None
    timer_step_ns: int
    """The smallest observed step of the clock for cases."""
    memory_bytes: int | None
    swap_bytes: int | None
    """0: none is configured."""
    cgroup: CgroupLimits | None
    container: str | None
    """`docker`, `podman`, `kubernetes`, …"""
    virtual_machine: bool | None
    gpus: tuple[GpuIdentity, ...] | None
    load: tuple[float, float, float] | None
    """Mean number of runnable tasks over the last 1, 5 and 15 minutes."""
    pressure_cpu: Pressure | None
    pressure_memory: Pressure | None
    pressure_io: Pressure | None
    folder: str
    """Folder in which the harness was started."""
    folder_filesystem: str | None
    terminal: Terminal
    locale: str | None
    missing: dict[str, str]
    """Field that is None → reason."""


class _Missing(dict[str, str]):
    """Collects the reasons for missing facts."""

    def ask(self, field: str, read: Callable[[], T | None]) -> T | None:
        """Return the result of `read`, or None, with its reason under `field`."""
        try:
            value = read()
        except NotAvailable as absent:
            self[field] = str(absent)
            return None
        except OSError as error:
            self[field] = plain(error)
            return None
        if value is None:
            self[field] = "this system does not report it"
        return value


def capture_environment(
    cwd: Path, *, root: Path = ROOT, gpus: Callable[[], GpuSource] = open_gpus
) -> Environment:
    """Read the facts of the machine, in a few hundredths of a second. Never raises for missing
    ones.

    `cwd`: where the harness was started. `root`: parent of `proc`, `sys` and `etc`; `gpus` opens
    the GPUs: tests use their own.
    """
    import psutil

    missing = _Missing()
    ask = missing.ask
    return Environment(
        os=operating_system(root),
        kernel=platform.release(),
        architecture=platform.machine(),
        hostname=socket.gethostname(),
        python_version=platform.python_version(),
        python_implementation=platform.python_implementation(),
        sqlite_version=sqlite3.sqlite_version,
        packages=package_versions(),
        cpu_model=ask("cpu_model", lambda: processor.cpu_model(root)),
        physical_cores=ask("physical_cores", processor.physical_cores),
        logical_cores=ask("logical_cores", os.cpu_count),
        affinity=ask("affinity", processor.affinity),
        governor=ask("governor", lambda: processor.governor(root)),
        turbo=ask("turbo", lambda: processor.turbo(root)),
        clock_source=ask("clock_source", lambda: processor.clock_source(root)),
        timer_step_ns=timer_facts().resolution_ns,
        memory_bytes=ask("memory_bytes", lambda: int(psutil.virtual_memory().total)),
        swap_bytes=ask("swap_bytes", lambda: int(psutil.swap_memory().total)),
        cgroup=ask("cgroup", lambda: read_limits(root)),
        container=ask("container", lambda: container(root)),
        virtual_machine=ask("virtual_machine", lambda: processor.is_virtual_machine(root)),
        gpus=ask("gpus", lambda: _identities(gpus)),
        load=ask("load", os.getloadavg),
        pressure_cpu=ask("pressure_cpu", lambda: read_pressure("cpu", root)),
        pressure_memory=ask("pressure_memory", lambda: read_pressure("memory", root)),
        pressure_io=ask("pressure_io", lambda: read_pressure("io", root)),
        folder=str(cwd),
        folder_filesystem=ask("folder_filesystem", lambda: filesystem_of(cwd)),
        terminal=read_terminal(),
        locale=ask("locale", lambda: locale.setlocale(locale.LC_CTYPE) or None),
        missing=missing,
    )


def fingerprint(environment: Environment) -> str:
    """Return a hash of what two runs must share for comparable times, 64 hex digits.

    Processor, cores and cores allowed, memory in whole GiB (kernels keep a little for
    themselves, and not always as much), limits, GPUs, system, minor version of Python.
    """
    limits, allowed = environment.cgroup, environment.affinity
    gpus = [(gpu.vendor, gpu.name, gpu.memory_total_mb) for gpu in environment.gpus or ()]
    memory = environment.memory_bytes
    return content_hash(
        {
            "cpu": environment.cpu_model,
            "cores": (environment.physical_cores, environment.logical_cores),
            "allowed": None if allowed is None else len(allowed),
            "memory_gib": None if memory is None else round(memory / _GIB),
            "limits": None if limits is None else (limits.cpu_cores, limits.memory_bytes),
            "gpus": gpus,
            "os": (environment.os, environment.architecture),
            "python": (
                environment.python_implementation,
                environment.python_version.split(".")[:2],
            ),
        }
    )


def operating_system(root: Path = ROOT) -> str:
    """Return name and version of the system as its vendor writes them."""
    if platform.system() == "Darwin":
        return f"macOS {platform.mac_ver()[0]}"
    fields = {}
    for path in (root / "etc/os-release", root / "usr/lib/os-release"):
        try:
            lines = path.read_text().splitlines()
        except (OSError, UnicodeDecodeError):
            continue
        fields = dict(line.split("=", 1) for line in lines if "=" in line and line[0] != "#")
        break
    words = [fields.get(name, "").strip("\"'") for name in ("NAME", "VERSION_ID")]
    return " ".join(word for word in words if word) or platform.system()


def container(root: Path = ROOT) -> str:
    """Return the apparent kind of container. Raises NotAvailable without any sign of one."""
    if os.environ.get("KUBERNETES_SERVICE_HOST"):
        return "kubernetes"
    if (root / ".dockerenv").exists():
        return "docker"
    if (root / "run/.containerenv").exists():
        return "podman"
    for path in (root / "run/systemd/container", root / "proc/1/cgroup"):
        try:
            text = path.read_text()
        except (OSError, UnicodeDecodeError):
            continue
        if path.name == "container" and text.strip():
            return text.strip()
        for kind in ("kubepods", "docker", "containerd", "lxc"):
            if f"/{kind}" in text:
                return "kubernetes" if kind == "kubepods" else kind
    raise NotAvailable("no sign of one")


def _identities(gpus: Callable[[], GpuSource]) -> tuple[GpuIdentity, ...]:
    with gpus() as source:
        if source.reason is not None:
            raise NotAvailable(source.reason)
        return source.identities()
