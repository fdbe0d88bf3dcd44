"""Calls future actions in order of their time, on one precise timer."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING

from agentbench_tui.instruments.timer import DeadlineTimer
from agentbench_tui.model.clock import perf_counter_ns

if TYPE_CHECKING:
    import asyncio


class Agenda:
    """Calls functions at absolute times of `perf_counter_ns`, each with the time it was due."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = DeadlineTimer(loop, self._due)
        self._entries: list[tuple[int, int, Callable[[int], None]]] = []
        self._number = count()

    def at(self, due_ns: int, action: Callable[[int], None]) -> None:
        """Call `action(due_ns)` at that time."""
        entries = self._entries
        heapq.heappush(entries, (due_ns, next(self._number), action))
        if entries[0][0] == due_ns:
            self._timer.arm(due_ns)

    def clear(self) -> None:
        """Discard all pending actions."""
        self._entries.clear()
        self._timer.disarm()

    def close(self) -> None:
        """Discard all pending actions and accept no more."""
        self._entries.clear()
        self._timer.close()

    def __len__(self) -> int:
        """Return the number of pending actions."""
        return len(self._entries)

    def _due(self) -> None:
        entries = self._entries
        try:
            while entries and entries[0][0] <= perf_counter_ns():
                due_ns, _, action = heapq.heappop(entries)
                action(due_ns)
        finally:  # what one action raises keeps nothing else from its time
            if entries:
                self._timer.arm(entries[0][0])
