"""The slowest answers of a run, updated as new ones arrive."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3

_PAGE = 5_000
"""Answers that are looked at together: a run of millions must not be held in memory."""


class SlowAnswer(NamedTuple):
    """One answer or failure with its time."""

    e2e_ms: float
    seq: int
    execution_key: int
    case_id: str
    failure_kind: str


class Slowest:
    """Reads each answer of a run once."""

    def __init__(self, run_key: int, kept: int = 20) -> None:
        self._run_key = run_key
        self._kept = kept
        self._last = 0
        self._heap: list[SlowAnswer] = []

    def read(self, connection: sqlite3.Connection) -> list[SlowAnswer]:
        """Return the slowest answers so far, slowest first."""
        while True:
            rows = connection.execute(
                "SELECT a.e2e_ms, a.seq, a.execution_key, c.case_id, a.failure_kind FROM answers a"
                " JOIN cases c ON c.key=a.case_key WHERE a.run_key=? AND a.seq>?"
                " ORDER BY a.seq LIMIT ?",
                (self._run_key, self._last, _PAGE),
            ).fetchall()
            for row in rows:
                self._last = row["seq"]
                if row["e2e_ms"] is None:
                    continue
                one = SlowAnswer(
                    row["e2e_ms"],
                    row["seq"],
                    row["execution_key"],
                    row["case_id"],
                    row["failure_kind"] or "",
                )
                if len(self._heap) < self._kept:
                    heapq.heappush(self._heap, one)
                else:
                    heapq.heappushpop(self._heap, one)
            if len(rows) < _PAGE:
                return sorted(self._heap, reverse=True)
