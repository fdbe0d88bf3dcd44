"""The values that two groups of runs are compared by: one for each run, or for each repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from agentbench_tui.analysis.version_gate import RUNS_NEEDED
from agentbench_tui.verdicts.case_numbers import CaseNumbers
from agentbench_tui.verdicts.evidence import evidence_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from agentbench_tui.verdicts.evidence import Evidence
    from agentbench_tui.verdicts.history import Point


class ComparedValues:
    """Reads what runs measured in each repeat; every execution once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._numbers = CaseNumbers(connection)
        self._read: dict[tuple[int, ...], Evidence] = {}

    def columns(
        self, old: Sequence[Point], new: Sequence[Point], metric: str
    ) -> tuple[Literal["runs", "repeats"], tuple[list[float], list[float]]]:
        """Both sides' values: of whole runs, or of repeats.

        Repeats of one run share its hour, so that five of two runs say no more of what differs
        between runs than these two. They are taken below 5 runs a side, for want of runs; whoever
        judges them has to ask for more. A metric that is only known of whole runs stays so, and so
        does an experiment's.
        """
        runs = [point.values[metric] for point in old], [point.values[metric] for point in new]
        if min(map(len, runs)) >= RUNS_NEEDED:
            return "runs", runs
        repeats = self._of(old, metric), self._of(new, metric)
        return ("repeats", repeats) if all(repeats) else ("runs", runs)

    def _of(self, points: Sequence[Point], metric: str) -> list[float]:
        if any(point.kind not in {"task", "load"} for point in points):
            return []
        values: list[float] = []
        for point in points:
            values += self._evidence(point).per_repeat(metric).tolist()
        return values

    def _evidence(self, point: Point) -> Evidence:
        found = self._read.get(point.keys)
        if found is None:
            found = evidence_of(self._connection, point.executions, self._numbers)
            self._read[point.keys] = found
        return found
