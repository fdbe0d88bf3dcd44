"""Limits of a container or service manager: cores and memory of this process's control group.

Files and meanings: the kernel's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/. Limits of
parent groups apply too, so the lowest on the path to the root counts.
"""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

import msgspec

from agentbench_tui.instruments.availability import ROOT, NotAvailable, plain, read_line

_UNIFIED = ""
"""Name of the version-2 hierarchy in /proc/self/cgroup."""
_NO_LIMIT_BYTES = 1 << 60
"""Version 1 writes "none" as the largest number of pages, close to 2^63 bytes."""


class CgroupLimits(msgspec.Struct, frozen=True):
    """Limits of this process. None without a limit."""

    version: int
    """1 when any of the limits is kept by a hierarchy of version 1, else 2."""
    cpu_cores: float | None
    """CPU time per wall time; 1.5 is one core and a half."""
    memory_bytes: int | None


def read_limits(root: Path = ROOT) -> CgroupLimits:
    """Return the limits of this process. Raises NotAvailable without control groups."""
    try:
        cpu_version, cpu_folders = _folders("cpu", root)
        memory_version, memory_folders = _folders("memory", root)
    except (OSError, ValueError) as error:
        raise NotAvailable(f"/proc/self/cgroup: {plain(error)}") from error
    cores = [_cpu_cores(folder, cpu_version) for folder in cpu_folders]
    sizes = [_memory_bytes(folder, memory_version) for folder in memory_folders]
    return CgroupLimits(
        version=min(cpu_version, memory_version),
        cpu_cores=min((one for one in cores if one is not None), default=None),
        memory_bytes=min((one for one in sizes if one is not None), default=None),
    )


def memory_left_bytes(root: Path = ROOT) -> int | None:
    """Return the memory left within the limits; None without a limit.

    Cached file pages that were not used lately count as left, since the kernel reclaims them first
    (`inactive_file`). Raises NotAvailable without control groups.
    """
    try:
        version, folders = _folders("memory", root)
    except (OSError, ValueError) as error:
        raise NotAvailable(f"/proc/self/cgroup: {plain(error)}") from error
    left = []
    for folder in folders:
        limit, used = _memory_bytes(folder, version), _memory_used_bytes(folder, version)
        if limit is not None and used is not None:
            left.append(max(0, limit - used))
    return min(left, default=None)


def _folders(controller: str, root: Path) -> tuple[int, list[Path]]:
    """Version of the hierarchy that keeps a controller; its folders from our group upwards."""
    memberships: dict[str, str] = {}
    for line in _lines(root / "proc/self/cgroup"):
        _, names, path = line.split(":", 2)
        memberships |= dict.fromkeys(names.split(","), path)
    name = controller if controller in memberships else _UNIFIED
    if name not in memberships:
        raise NotAvailable(f"no control group has the {controller} controller")
    shown, point = _mount(name, root)
    top = root / point.lstrip("/")
    ours = PurePosixPath(memberships[name])
    # A container often sees its own group as the top of the mount, under a path of the host.
    inside = ours.relative_to(shown) if ours.is_relative_to(shown) else PurePosixPath()
    if ".." in inside.parts:
        inside = PurePosixPath()
    ways = [top / inside, *(top / above for above in inside.parents if inside.parts)]
    return (2 if name == _UNIFIED else 1), [folder for folder in ways if folder.is_dir()]


def _lines(path: Path) -> list[str]:
    """Names of groups and of mounts need not be UTF-8."""
    return os.fsdecode(path.read_bytes()).splitlines()


def _mount(controller: str, root: Path) -> tuple[str, str]:
    """Return the group at the top of a hierarchy's mount, and its mount point."""
    for line in _lines(root / "proc/self/mountinfo"):
        place, _, system = line.partition(" - ")
        kind, _, options = system.split(" ", 2)
        unified = controller == _UNIFIED and kind == "cgroup2"
        if unified or (kind == "cgroup" and controller in options.split(",")):
            shown, point = place.split(" ")[3:5]
            return shown, point
    raise NotAvailable(f"the {controller or 'unified'} hierarchy of control groups is not mounted")


def _cpu_cores(folder: Path, version: int) -> float | None:
    """None also if a file is missing: the topmost group has none, and no limit."""
    try:
        if version == 1:
            quota = read_line(folder / "cpu.cfs_quota_us")
            period = read_line(folder / "cpu.cfs_period_us")
        else:
            quota, period = read_line(folder / "cpu.max").split()
        return None if quota in {"-1", "max"} else int(quota) / int(period)
    except (NotAvailable, ValueError, ZeroDivisionError):
        return None


def _memory_bytes(folder: Path, version: int) -> int | None:
    name = "memory.limit_in_bytes" if version == 1 else "memory.max"
    try:
        size = int(read_line(folder / name))
    except (NotAvailable, ValueError):  # `max`: no limit
        return None
    return None if size >= _NO_LIMIT_BYTES else size


def _memory_used_bytes(folder: Path, version: int) -> int | None:
    name = "memory.usage_in_bytes" if version == 1 else "memory.current"
    cached_name = "total_inactive_file" if version == 1 else "inactive_file"
    try:
        used = int(read_line(folder / name))
    except (NotAvailable, ValueError):
        return None
    try:
        lines = (folder / "memory.stat").read_text().splitlines()
        cached = dict(line.split(" ", 1) for line in lines).get(cached_name, "0")
        return max(0, used - int(cached))
    except (OSError, ValueError):
        return used
