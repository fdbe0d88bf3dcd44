"""Counters of the kernel and the processor for the calling thread, by perf_event_open(2).

    with perf(context):
        work()
    context["perf"]  # {"instructions": …, "page_faults": …}, of one call

Processors in virtual machines often have no counters, and `kernel.perf_event_paranoid` may forbid
them all: what cannot be counted is left out, and `unavailable` says why. Of the processor's work
only that of user code is counted, which everybody may.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentbench_tui.instruments.availability import NotAvailable

_HARDWARE, _SOFTWARE = 0, 1
EVENTS = {
    "instructions": (_HARDWARE, 1),
    "cycles": (_HARDWARE, 0),
    "cache_misses": (_HARDWARE, 3),
    "branch_misses": (_HARDWARE, 5),
    "task_clock_ns": (_SOFTWARE, 1),
    "page_faults": (_SOFTWARE, 2),
    "context_switches": (_SOFTWARE, 3),
    "cpu_migrations": (_SOFTWARE, 4),
}
"""Name → type and number of linux/perf_event.h."""
_OF_KERNEL = {"context_switches", "cpu_migrations"}
"""Events in the kernel only, which not every user may count."""
_CALL = {"x86_64": 298, "aarch64": 241}
"""Machine → number of the system call."""
_SIZE = 128
"""Size of struct perf_event_attr; fields that an older kernel does not know must be 0, and are."""
_ALSO_WHEN_INHERITED, _NO_KERNEL, _NO_HYPERVISOR = 1 << 1, 1 << 5, 1 << 6
_CLOSE_ON_EXEC = 8
_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")


@contextmanager
def perf(context: dict[str, Any]) -> Iterator[None]:
    """Count the events of this thread, and of threads that it starts, in the block.

    Counts are per call, if the context has a number of `loops`. Raises NotAvailable if nothing can
    be counted.
    """
    files: dict[str, int] = {}
    try:
        for name in EVENTS:
            try:
                files[name] = _open(name)
            except OSError:
                continue
        if not files:
            raise NotAvailable(f"perf: {'; '.join(unavailable().values())}")
        before = {name: _read(file) for name, file in files.items()}
        yield
        after = {name: _read(file) for name, file in files.items()}
        loops = context.get("loops", 1)
        context["perf"] = {name: (after[name] - before[name]) / loops for name in files}
    finally:
        for file in files.values():
            os.close(file)


def unavailable() -> dict[str, str]:
    """Return why each unavailable counter cannot be read."""
    found = {}
    for name in EVENTS:
        try:
            os.close(_open(name))
        except OSError as error:
            found[name] = _why(error)
    return found


def perf_words() -> str:
    """Say in one line which counters are available, and why others are not."""
    by_reason: dict[str, list[str]] = {}
    missing = unavailable()
    for name, reason in missing.items():
        by_reason.setdefault(reason, []).append(name)
    counted = ", ".join(name for name in EVENTS if name not in missing) or "nothing"
    rest = "".join(f"; not {', '.join(names)}: {reason}" for reason, names in by_reason.items())
    return f"perf counts {counted}{rest}"


def _open(name: str) -> int:
    """Start a counter of this thread. Raises OSError."""
    number = _CALL.get(platform.machine())
    if not sys.platform.startswith("linux") or number is None:
        raise OSError(errno.ENOSYS, "not Linux on a machine whose call is known")
    kind, event = EVENTS[name]
    attributes = bytearray(_SIZE)
    struct.pack_into("=IIQ", attributes, 0, kind, _SIZE, event)
    flags = _ALSO_WHEN_INHERITED | _NO_HYPERVISOR
    if name not in _OF_KERNEL:
        flags |= _NO_KERNEL
    struct.pack_into("=Q", attributes, 40, flags)
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(bytes(attributes), _SIZE)
    file: int = libc.syscall(number, buffer, 0, -1, -1, _CLOSE_ON_EXEC)
    if file < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return file


def _read(file: int) -> int:
    (count,) = struct.unpack("=Q", os.read(file, 8))
    return int(count)


def _why(error: OSError) -> str:
    if error.errno in {errno.ENOENT, errno.EOPNOTSUPP, errno.ENODEV}:
        return "this machine's processor shows no such counter (virtual machines often have none)"
    if error.errno in {errno.EACCES, errno.EPERM}:
        try:
            level = _PARANOID.read_text().strip()
        except OSError:
            level = "unknown"
        return f"not allowed (kernel.perf_event_paranoid is {level}, or a container forbids it)"
    return str(error.strerror)
