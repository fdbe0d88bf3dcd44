"""The process tree of one agent: its members, resource use, and end."""

from __future__ import annotations

import asyncio
import os
import signal
from math import ceil

from agentbench_tui.model.clock import monotonic
from agentbench_tui.process.adoption import (
    MARK_NAME,
    adopt_orphans,
    reap,
    reap_strays,
    roots,
    send_signal,
)
from agentbench_tui.process.snapshot import (
    ProcessInfo,
    environment_value,
    family,
    peak_resident_bytes,
    proportional_bytes,
    read_process,
    snapshot,
)

_MEGABYTE = 1e6
_GIVE_UP_S = 5.0
"""A process that outlives SIGKILL this long hangs in the kernel; nothing more can be done."""


class ProcessTree:
    """A root process and everything that it started.

    Members are found by descent from the root, by descent from any known member, by a session that
    a member created, and, for adopted orphans, by the mark in their environment.
    """

    def __init__(self, root: int, mark: str, memory_limit_mb: float | None = None) -> None:
        self.root = root
        self.memory_limit_mb = memory_limit_mb
        self.over_limit: str | None = None
        """`used X MB of Y MB` once the tree was killed for its memory."""
        self.peak_memory_mb: float | None = None
        """Highest sampled resident memory, MB of 10^6 bytes."""
        self._mark = mark
        self._known: set[tuple[int, float]] = set()
        self._sessions: set[int] = {root}
        self._strangers: set[tuple[int, float]] = set()
        self._ended_cpu_s = 0.0
        self._suspected = False
        started = read_process(root)
        if started is not None:
            self._known.add(started.key)

    @property
    def cpu_seconds(self) -> float:
        """Return user and system time of the tree so far, without members that ended unnoticed
        and that only init waited for.
        """
        known = [read_process(pid) for pid, _ in self._known]
        table = {info.pid: info for info in known if info is not None}
        # Children that were started since the last reading have used some, too.
        table |= family(self.root)
        return self._ended_cpu_s + sum(info.cpu_seconds for info in self.members(table))

    def add_ended_cpu(self, seconds: float) -> None:
        """Count the CPU time of a member that has ended and was waited for."""
        self._ended_cpu_s += seconds

    def forget(self, pid: int) -> None:
        """Remove a member that was waited for: its pid may be reused from now on."""
        self._known = {key for key in self._known if key[0] != pid}

    def members(self, table: dict[int, ProcessInfo]) -> list[ProcessInfo]:
        """Return the members among the processes of a reading, including zombies."""
        children: dict[int, list[ProcessInfo]] = {}
        waiting: list[ProcessInfo] = []
        for info in table.values():
            children.setdefault(info.parent, []).append(info)
            if info.key in self._known or self._came_back(info):
                waiting.append(info)
        found: dict[int, ProcessInfo] = {}
        while waiting:
            info = waiting.pop()
            if info.pid not in found:
                found[info.pid] = info
                waiting += children.get(info.pid, ())
        members = list(found.values())
        self._known = {info.key for info in members}
        self._strangers &= {info.key for info in table.values()}
        own_session = os.getsid(0)
        self._sessions |= {info.session for info in members if info.session != own_session}
        return members

    def _came_back(self, info: ProcessInfo) -> bool:
        """Return whether an orphan adopted by this process (or init) belongs to this tree."""
        foster_parent = os.getpid() if adopt_orphans() else 1
        if info.parent != foster_parent or info.pid in roots:
            return False
        if info.session in self._sessions and foster_parent != 1:
            return True
        if info.key in self._strangers:
            return False
        if environment_value(info.pid, MARK_NAME) == self._mark:
            return True
        if not info.zombie:
            self._strangers.add(info.key)
        return False

    def sample(self, table: dict[int, ProcessInfo]) -> bool:
        """Take memory and CPU from a reading; False when the memory limit is broken.

        Memory counts as over the limit when two readings in a row say so: between fork and exec
        a child shares its parent's memory and seems to double it. Pages that forked workers
        share are then counted once.
        """
        members = self._reap_among(self.members(table))
        resident = sum(info.resident_bytes for info in members) / _MEGABYTE
        self._note_peak(resident)
        if self.memory_limit_mb is None or resident <= self.memory_limit_mb:
            self._suspected = False
            return self.check_peak()
        used = sum(proportional_bytes(info) for info in members) / _MEGABYTE
        if used > self.memory_limit_mb and self._suspected:
            return self._break_limit(used)
        self._suspected = used > self.memory_limit_mb
        return True

    @property
    def suspected(self) -> bool:
        """True when the last reading was over the limit and the next one decides."""
        return self._suspected

    def check_peak(self) -> bool:
        """Take the root's own highest memory; False when the limit is broken, now or before."""
        return self.note_root_peak(peak_resident_bytes(self.root) if self.root in roots else 0)

    def note_root_peak(self, resident_bytes: int) -> bool:
        """Record the reported peak memory of the root itself; return False if it exceeds the
        limit.
        """
        if self.over_limit is not None:
            return False
        peak = resident_bytes / _MEGABYTE
        self._note_peak(peak)
        if self.memory_limit_mb is not None and peak > self.memory_limit_mb:
            return self._break_limit(peak)
        return True

    def _note_peak(self, resident_mb: float) -> None:
        if resident_mb > (self.peak_memory_mb or 0.0):
            self.peak_memory_mb = resident_mb

    def _break_limit(self, used_mb: float) -> bool:
        # Rounded up, so that a little too much does not read as just enough.
        self.over_limit = f"used {ceil(used_mb)} MB of {self.memory_limit_mb:g} MB"
        self.signal_all(signal.SIGKILL)
        return False

    def signal_all(self, number: signal.Signals) -> list[ProcessInfo]:
        """Signal every living member once; return the signaled ones.

        A concurrent fork may be missed.
        """
        members = self._reap_among(self.members(snapshot()))
        living = [info for info in members if not info.zombie]
        for info in living:
            send_signal(info, number)
        return living

    def _reap_among(self, members: list[ProcessInfo]) -> list[ProcessInfo]:
        left = []
        for info in members:
            seconds = reap(info)
            if seconds is None:
                left.append(info)
            else:
                self.add_ended_cpu(seconds)
        return left

    async def kill(self) -> None:
        """SIGKILL until no member is left alive; orphans among them are reaped.

        Returns with members left only when the kernel holds them for longer than 5 s.
        """
        deadline = monotonic() + _GIVE_UP_S
        pause_s = 0.0
        while self.signal_all(signal.SIGKILL) and monotonic() < deadline:
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s + 0.001, 0.02)
        reap_strays(snapshot())
