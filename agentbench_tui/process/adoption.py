"""Orphans: processes that left an agent's tree by double fork return to the harness, marked, and
are reaped.

A process that forks twice and ends in between hands its grandchild to the nearest ancestor that
asked for orphans (PR_SET_CHILD_SUBREAPER), else to init, where no walk from the agent's root
finds it. So agentbench asks for them, and every agent carries a mark in its environment by which
an orphan is known as its own.

The mark also names the harness. When a harness is killed outright, its agents see the end of
their input, and most end by that; those that do not are ended by the next harness
(`end_leftovers`). A parent-death signal would do so at once, but it can only be set between fork
and exec, which is not safe in a program with threads.
"""

from __future__ import annotations

import os
import secrets
import signal
import sys
from functools import cache

from agentbench_tui.process.snapshot import (
    LINUX,
    ProcessInfo,
    environment_value,
    read_process,
    snapshot,
)

MARK_NAME = "AGENTBENCH_SESSION"
"""Environment variable that every process started here carries."""

_PR_SET_CHILD_SUBREAPER = 36

roots: set[int] = set()
"""Processes started by this process, whose owners wait for their end."""


@cache
def adopt_orphans() -> bool:
    """Become the parent of orphaned descendants; return False if the system does not support it.

    Also ends what harnesses that no longer live have left behind.
    """
    if not LINUX:
        return False
    import ctypes

    end_leftovers()
    return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


def new_mark() -> str:
    """Return a mark for one agent's tree: this process, and 64 random bits."""
    return f"{_harness()}:{secrets.token_hex(8)}"


def end_leftovers() -> int:
    """Kill processes that carry the mark of a harness that has ended; return how many there
    were.

    Only on Linux, and only those in our own process namespace: elsewhere a pid says nothing.
    """
    if not LINUX:
        return 0
    ended = 0
    for info in snapshot().values():
        if info.zombie or info.pid == os.getpid():
            continue
        harness = (environment_value(info.pid, MARK_NAME) or "").rpartition(":")[0]
        if harness and _is_gone(harness):
            ended += send_signal(info, signal.SIGKILL)
    return ended


def send_signal(info: ProcessInfo, number: signal.Signals) -> bool:
    """Signal exactly the observed process, never a later one with its pid."""
    try:
        if sys.platform != "linux":
            return _send_by_psutil(info, number)
        handle = os.pidfd_open(info.pid)
    except OSError:  # gone
        return False
    try:
        now = read_process(info.pid)
        if now is None or now.key != info.key:
            return False
        signal.pidfd_send_signal(handle, number)
    except OSError:  # gone meanwhile, or no longer ours (set-uid)
        return False
    finally:
        os.close(handle)
    return True


def reap(info: ProcessInfo) -> float | None:
    """Collect the exit status of an adopted orphan that has ended; return its CPU seconds.

    None if it is not an adopted orphan. One that a library of the agent started directly from this
    process shares its session and is left to its owner.
    """
    if (
        not info.zombie
        or info.parent != os.getpid()
        or info.pid in roots
        or info.session == os.getsid(0)
    ):
        return None
    try:
        pid, _, usage = os.wait4(info.pid, os.WNOHANG)
    except ChildProcessError:
        return None
    return usage.ru_utime + usage.ru_stime if pid else None


def reap_strays(table: dict[int, ProcessInfo]) -> None:
    """Reap every adopted orphan of a reading, also those that ended before any tree knew them."""
    for info in table.values():
        if info.zombie:
            reap(info)


@cache
def _harness() -> str:
    own = read_process(os.getpid())
    namespace = _pid_namespace() if LINUX else "-"
    return f"{namespace}.{os.getpid()}.{own.started if own else 0:.0f}"


def _pid_namespace() -> str:
    return str(os.stat("/proc/self/ns/pid").st_ino)  # noqa: PTH116 (one number, no path wanted)


def _is_gone(harness: str) -> bool:
    """Return whether the harness of a mark is known to have ended."""
    namespace, _, rest = harness.partition(".")
    pid, _, started = rest.partition(".")
    if namespace != _pid_namespace() or not (pid.isdigit() and started.isdigit()):
        return False
    now = read_process(int(pid))
    return now is None or now.zombie or now.started != float(started)


def _send_by_psutil(info: ProcessInfo, number: signal.Signals) -> bool:
    import psutil

    try:
        process = psutil.Process(info.pid)
        if process.create_time() != info.started:
            return False
        process.send_signal(number)
    except psutil.Error:
        return False
    return True
