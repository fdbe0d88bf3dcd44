"""Recognizes a child that cannot continue because its code lowered its memory limit."""

from __future__ import annotations

import sys
from pathlib import Path

if sys.platform == "linux":
    import resource


class StarvedChild:
    """Compares a child's limit of address space with its use.

    Below its use nothing can be allocated: threads do not start, and a thread that waits
    for one waits forever. The child cannot detect this itself.
    """

    def __init__(self, child: int) -> None:
        self._child = child
        self._limit = self._limit_now()

    def reason(self) -> str:
        """Return why the child cannot continue; empty if it can, or if that is unknown."""
        limit = self._limit_now()
        if limit is None or limit == self._limit:
            return ""
        used = self._used()
        if used is None or used <= limit:
            return ""
        return (
            f"code in its process lowered the limit of its memory (RLIMIT_AS) to {limit >> 20:,}"
            f" MiB, of which it already used {used >> 20:,} MiB"
        )

    def _limit_now(self) -> int | None:
        """Return the soft limit in bytes; None without one."""
        if sys.platform != "linux":
            return None
        try:
            limit, _ = resource.prlimit(self._child, resource.RLIMIT_AS)
        except OSError:
            return None
        return None if limit == resource.RLIM_INFINITY else limit

    def _used(self) -> int | None:
        """Return the child's address space in bytes: the first number of proc_pid_statm(5)."""
        try:
            pages = int(Path(f"/proc/{self._child}/statm").read_bytes().split()[0])
        except (OSError, ValueError, IndexError):
            return None
        return pages * resource.getpagesize()
