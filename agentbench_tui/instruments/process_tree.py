"""Reads the gauges of agents' process trees, all from one reading of the process table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import msgspec

from agentbench_tui.instruments.gauges import BYTES_PER_MB, TreeGauges
from agentbench_tui.model.clock import monotonic
from agentbench_tui.process.snapshot import ProcessInfo, snapshot

if TYPE_CHECKING:
    import psutil

_T = TypeVar("_T")
_Key = tuple[int, float]


class _Member(msgspec.Struct, frozen=True):
    """One process of a tree: its resource use so far, including waited-for children."""

    parent: int
    resident_bytes: int
    cpu_seconds: float
    read_bytes: int | None
    write_bytes: int | None
    threads: int | None
    fds: int | None


class _Tree(msgspec.Struct, frozen=True):
    """The living members at one reading."""

    at: float
    members: dict[_Key, _Member]


class TreeProbe:
    """Reads the trees of all agents; rates begin with an agent's second reading.

    A process that was once seen in a tree stays a member when its parent ends. What a process
    used counts from the first reading that sees it; after its end only if its parent, another
    member, waited for it. One that came and went unseen and unwaited-for is missed.
    """

    def __init__(self, processes: Callable[[], Mapping[int, ProcessInfo]] = snapshot) -> None:
        self._processes = processes
        self._before: dict[str, _Tree] = {}

    def read(self, roots: Mapping[str, Sequence[int]]) -> dict[str, TreeGauges]:
        """Return the gauges of each agent that has a living process, by the names of `roots`."""
        wanted = {name: pids for name, pids in roots.items() if pids}
        if not wanted:
            self._before.clear()
            return {}
        at = monotonic()
        table = self._processes()
        children: dict[int, list[int]] = {}
        for info in table.values():
            children.setdefault(info.parent, []).append(info.pid)
        now: dict[str, _Tree] = {}
        for name, pids in wanted.items():
            known = self._before[name].members if name in self._before else ()
            living = _living(table, children, pids, known)
            if members := {info.key: one for info in living if (one := _member(info)) is not None}:
                now[name] = _Tree(at, members)
        gauges = {name: _gauges(self._before.get(name), tree) for name, tree in now.items()}
        self._before = now
        return gauges


def _living(
    table: Mapping[int, ProcessInfo],
    children: Mapping[int, Sequence[int]],
    roots: Sequence[int],
    known: Iterable[_Key],
) -> list[ProcessInfo]:
    """Return the roots, earlier members, and all their descendants; no zombies."""
    waiting = [pid for pid in roots if pid in table]
    waiting += [key[0] for key in known if key[0] in table and table[key[0]].key == key]
    found: dict[int, ProcessInfo] = {}
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found[pid] = table[pid]
            waiting += children.get(pid, ())
    return [info for info in found.values() if not info.zombie]


def _member(info: ProcessInfo) -> _Member | None:
    """Return the details of a process; None if it has ended."""
    import psutil

    try:
        process = psutil.Process(info.pid)
        with process.oneshot():
            io = _allowed(lambda: _io_bytes(process))
            return _Member(
                parent=info.parent,
                resident_bytes=info.resident_bytes,
                cpu_seconds=info.cpu_seconds,
                read_bytes=io[0] if io else None,
                write_bytes=io[1] if io else None,
                threads=_allowed(process.num_threads),
                fds=_allowed(process.num_fds),
            )
    except psutil.NoSuchProcess:
        return None


def _io_bytes(process: psutil.Process) -> tuple[int, int] | None:
    if not hasattr(process, "io_counters"):  # macOS does not count them by process
        return None
    counters = process.io_counters()
    return counters.read_bytes, counters.write_bytes


def _gauges(before: _Tree | None, now: _Tree) -> TreeGauges:
    members = now.members.values()
    gauges = TreeGauges(
        processes=len(members),
        rss_mb=sum(one.resident_bytes for one in members) / BYTES_PER_MB,
        threads=_sum(one.threads for one in members),
        fds=_sum(one.fds for one in members),
    )
    if before is None or now.at <= before.at:
        return gauges
    seconds = now.at - before.at
    heirs = _heirs(before, now)

    def per_second(use: Callable[[_Member], float | None]) -> float | None:
        growth = _growth(before.members, now.members, heirs, use)
        return None if growth is None else growth / seconds

    cores = per_second(lambda one: one.cpu_seconds)
    return msgspec.structs.replace(
        gauges,
        cpu_percent=None if cores is None else 100 * cores,
        read_bytes_per_s=per_second(lambda one: one.read_bytes),
        write_bytes_per_s=per_second(lambda one: one.write_bytes),
    )


def _heirs(before: _Tree, now: _Tree) -> dict[_Key, _Key]:
    """Map each ended member to its nearest living ancestor, whose usage now includes it."""
    by_pid = {key[0]: key for key in before.members}
    heirs = {}
    for ended in before.members.keys() - now.members.keys():
        ancestor = by_pid.get(before.members[ended].parent)
        while ancestor is not None and ancestor not in now.members:
            ancestor = by_pid.get(before.members[ancestor].parent)
        if ancestor is not None:
            heirs[ended] = ancestor
    return heirs


def _growth(
    before: Mapping[_Key, _Member],
    now: Mapping[_Key, _Member],
    heirs: Mapping[_Key, _Key],
    use: Callable[[_Member], float | None],
) -> float | None:
    """Return the usage of the tree between two readings; None if some member's is unknown.

    A parent that waits for a child takes over the child's whole use, of which the part up to the
    earlier sample was already counted, so it is subtracted.
    """
    counted: dict[_Key, float] = {}
    for key, member in before.items():
        value, owner = use(member), heirs.get(key, key)
        if value is None:
            return None
        counted[owner] = counted.get(owner, 0.0) + value
    growth = 0.0
    for key, member in now.items():
        value = use(member)
        if value is None:
            return None
        growth += max(0.0, value - counted.get(key, 0.0))
    return growth


def _sum(values: Iterable[int | None]) -> int | None:
    """Return the sum; None if one value is unknown, since a partial sum would be wrong."""
    total = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total


def _allowed(read: Callable[[], _T]) -> _T | None:
    """Return the value; None if the system does not permit reading it."""
    import psutil

    try:
        return read()
    except psutil.AccessDenied:
        return None
