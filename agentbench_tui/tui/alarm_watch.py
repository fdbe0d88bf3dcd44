"""Alarms of the runs in progress, read for all pages of a session."""

from __future__ import annotations

import sqlite3
import time
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.model.text.untrusted import one_line, visible
from agentbench_tui.store.database import reading
from agentbench_tui.store.locking import is_leased
from agentbench_tui.store.queries.runs import find_run, newest_run_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from agentbench_tui.verdicts.runs.run_alarms import Alarm, AlarmReader

EVERY_S = 1.0
"""Shortest time between two readings."""
_MOST_RUNS = 5
"""Newest runs stored as running that are looked at."""


class AlarmWatch:
    """Reads the alarms of all runs in progress, in a thread of its caller."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._readers: dict[str, AlarmReader] = {}
        self._read_at = 0.0
        self.alarms: tuple[Alarm, ...] = ()
        """As read last, the most urgent first, runs from the newest on."""

    def is_due(self, *, changed: bool) -> bool:
        """Return whether to read: after a commit, or because a run with alarms may have died."""
        wait_s = EVERY_S if changed else 2 * EVERY_S
        return (changed or bool(self.alarms)) and time.monotonic() - self._read_at >= wait_s

    def read(self) -> tuple[Alarm, ...]:
        """Read the alarms now; what cannot be read has none, which pages report."""
        self._read_at = time.monotonic()
        found: list[Alarm] = []
        try:
            with reading(self._database) as connection:
                running = [
                    run_id
                    for run_id in newest_run_ids(connection, _MOST_RUNS, "running")
                    if is_leased(self._database, run_id)
                ]
                self._readers = self._readers_of(connection, running)
                for reader in self._readers.values():
                    found += reader.read(connection, time.time())
        except (AgentbenchError, sqlite3.Error):
            self._readers = {}
        return tuple(found)

    def _readers_of(
        self, connection: sqlite3.Connection, run_ids: Sequence[str]
    ) -> dict[str, AlarmReader]:
        if not run_ids:
            return {}
        from agentbench_tui.verdicts.runs.run_alarms import AlarmReader  # numpy: not without a run

        return {
            run_id: self._readers.get(run_id) or AlarmReader(find_run(connection, run_id))
            for run_id in run_ids
        }


class Notifier:
    """Reports new alarms to the terminal, in the ways that the user chose."""

    def __init__(self, ways: Iterable[str], write: Callable[[str], None]) -> None:
        """`ways`: of `look.NOTIFICATIONS`. `write` sends to the terminal."""
        self._ways = frozenset(ways)
        self._write = write
        self._known: frozenset[tuple[str, ...]] = frozenset()
        self._is_titled = False

    def report(self, alarms: Sequence[Alarm]) -> None:
        """Notify of those that are new since the last call."""
        from agentbench_tui.presentation.alarms import alarm_words

        if not self._ways:
            return
        new = [one for one in alarms if one.key not in self._known]
        self._known = frozenset(one.key for one in alarms)
        if "title" in self._ways:
            self._entitle(len(alarms))
        if not new:
            return
        words = visible(one_line(alarm_words(new[0]), 120)).replace(";", ",")
        more = f" (+{len(new) - 1})" if len(new) > 1 else ""
        if "bell" in self._ways:
            self._write("\a")
        if "osc9" in self._ways:
            self._write(f"\x1b]9;agentbench: {words}{more}\x1b\\")
        if "osc777" in self._ways:
            self._write(f"\x1b]777;notify;agentbench;{words}{more}\x1b\\")

    def close(self) -> None:
        """Give the terminal its own title back."""
        if self._is_titled:
            self._write("\x1b[23;0t")
            self._is_titled = False

    def _entitle(self, count: int) -> None:
        if not self._is_titled:
            self._write("\x1b[22;0t")  # the terminal keeps its title for the end
            self._is_titled = True
        title = f"{counted(count, 'alarm')} - agentbench" if count else "agentbench"
        self._write(f"\x1b]2;{title}\x1b\\")
