"""One reading of the process table.

On Linux one line of `/proc/PID/stat` has parent, session, CPU and memory, which is several times
cheaper than asking psutil process by process. Elsewhere psutil is used.
"""

from __future__ import annotations

import os
import sys
import time
from functools import cache
from pathlib import Path

import msgspec

LINUX = sys.platform.startswith("linux")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class ProcessInfo(msgspec.Struct, frozen=True):
    """One process at one moment."""

    pid: int
    parent: int
    session: int
    started: float
    """Start mark, only to distinguish this process from a later one with the same pid."""
    resident_bytes: int
    cpu_seconds: float
    """User and system time of the process and of its children that it has waited for.

    On Linux its own share is exact, that of its children in whole clock ticks.
    """
    zombie: bool

    @property
    def key(self) -> tuple[int, float]:
        """Return a permanent identity: pid and start mark."""
        return (self.pid, self.started)


def snapshot() -> dict[int, ProcessInfo]:
    """Return every visible process, by pid."""
    if not LINUX:
        return _snapshot_by_psutil()
    table = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 (Path objects double the cost of a reading)
        if name[0].isdigit() and (info := read_process(int(name))) is not None:
            table[info.pid] = info
    return table


def family(root: int) -> dict[int, ProcessInfo]:
    """Return the descendants of a process, by pid, without reading the whole table.

    The kernel may omit some if a child ends during the reading: good enough for sampling, but not
    to decide that none is left. Returns the whole table if the kernel has no lists of children.
    """
    if not _has_children_lists():
        return snapshot()
    table: dict[int, ProcessInfo] = {}
    waiting = _children(root)
    while waiting:
        pid = waiting.pop()
        if pid not in table and (info := read_process(pid)) is not None:
            table[pid] = info
            waiting += _children(pid)
    return table


@cache
def _has_children_lists() -> bool:
    return LINUX and Path(f"/proc/self/task/{os.getpid()}/children").exists()


def _children(pid: int) -> list[int]:
    folder = f"/proc/{pid}/task"
    try:
        threads = os.listdir(folder)  # noqa: PTH208 (as above)
    except OSError:
        return []
    found: list[int] = []
    for thread in threads:
        found += map(int, _read(f"{folder}/{thread}/children").split())
    return found


def read_process(pid: int) -> ProcessInfo | None:
    """Return one process, or None if it has ended."""
    if not LINUX:
        return _snapshot_by_psutil().get(pid)
    line = _read(f"/proc/{pid}/stat")
    if not line:
        return None
    # The name in parentheses may hold anything, so fields are counted from its last ")".
    field = line[line.rindex(b")") + 2 :].split()
    own_seconds = _cpu_clock_s(pid)
    if own_seconds is None:
        own_seconds = (int(field[11]) + int(field[12])) / _TICKS_PER_S
    return ProcessInfo(
        pid=pid,
        parent=int(field[1]),
        session=int(field[3]),
        started=float(field[19]),
        resident_bytes=int(field[21]) * _PAGE_BYTES,
        cpu_seconds=own_seconds + (int(field[13]) + int(field[14])) / _TICKS_PER_S,
        zombie=field[0] in b"ZX",
    )


def _cpu_clock_s(pid: int) -> float | None:
    """Return the CPU time of a process with all its threads, including ended ones; None if
    unknown.

    Every process has a clock, whose number clock_getcpuclockid(3) makes of the pid like this.
    """
    try:
        return time.clock_gettime_ns(~pid << 3 | 2) / 1e9
    except OSError:  # gone, or a kernel that has no such clocks
        return None


@cache
def least_cpu_seconds() -> float:
    """Return the resolution of the CPU clock: 0, or five ticks on a system that counts nothing
    finer.
    """
    exact = not LINUX or _cpu_clock_s(os.getpid()) is not None
    return 0.0 if exact else 5 / _TICKS_PER_S


def environment_value(pid: int, name: str) -> str | None:
    """Return the value of a variable in the environment that a process was started with.

    None when it has none, is gone, or may not be read.
    """
    if not LINUX:
        return _environment_by_psutil(pid).get(name)
    prefix = name.encode() + b"="
    for entry in _read(f"/proc/{pid}/environ").split(b"\0"):
        if entry.startswith(prefix):
            return entry[len(prefix) :].decode("utf-8", "replace")
    return None


def peak_resident_bytes(pid: int) -> int:
    """Return the peak resident memory of one process so far; 0 if unknown. Linux only."""
    text = _read(f"/proc/{pid}/status") if LINUX else b""
    start = text.find(b"VmHWM:")
    return int(text[start + 6 :].split(None, 1)[0]) * 1024 if start >= 0 else 0


def proportional_bytes(info: ProcessInfo) -> int:
    """Return resident memory with shared pages divided among their users.

    Plain resident memory if the kernel does not report it.
    """
    text = _read(f"/proc/{info.pid}/smaps_rollup") if LINUX else b""
    start = text.find(b"Pss:")
    return int(text[start + 4 :].split(None, 1)[0]) * 1024 if start >= 0 else info.resident_bytes


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 (as above)
            return file.read()
    except OSError:  # gone, or not ours to read
        return b""


def _snapshot_by_psutil() -> dict[int, ProcessInfo]:
    import psutil

    table = {}
    for process in psutil.process_iter(["ppid", "create_time", "memory_info", "cpu_times"]):
        seen = process.info
        memory, cpu = seen["memory_info"], seen["cpu_times"]
        try:
            session = os.getsid(process.pid)
            zombie = process.status() == psutil.STATUS_ZOMBIE
        except (OSError, psutil.Error):
            continue
        table[process.pid] = ProcessInfo(
            pid=process.pid,
            parent=seen["ppid"],
            session=session,
            started=seen["create_time"],
            resident_bytes=memory.rss if memory else 0,
            cpu_seconds=cpu.user + cpu.system if cpu else 0.0,
            zombie=zombie,
        )
    return table


def _environment_by_psutil(pid: int) -> dict[str, str]:
    import psutil

    try:
        return dict(psutil.Process(pid).environ())
    except psutil.Error:
        return {}
