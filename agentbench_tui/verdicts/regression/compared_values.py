"""Values by which two groups of runs are compared: one per run, or per repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from agentbench_tui.analysis.runs.version_gate import RUNS_NEEDED
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.evidence.evidence import evidence_of
from agentbench_tui.verdicts.evidence.ratio_columns import has_answers_of
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.regression.history import is_share

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from agentbench_tui.verdicts.evidence.evidence import Evidence
    from agentbench_tui.verdicts.regression.history import Point


class ComparedValues:
    """Reads the measurements of runs in each repeat, every execution once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._numbers = CaseNumbers(connection)
        self._read: dict[tuple[int, ...], Evidence] = {}

    def columns(
        self, old: Sequence[Point], new: Sequence[Point], metric: str
    ) -> tuple[Literal["runs", "repeats"], tuple[list[float], list[float]]]:
        """Return the values of both sides: of whole runs, or of repeats.

        Repeats of one run share its conditions, so five repeats of two runs say no more about the
        between-run variance than two runs. They are used only with fewer than 5 runs per side; the
        caller then has to ask for more runs. A metric known only for whole runs stays so, and so
        does an experiment's.
        """
        runs = [point.values[metric] for point in old], [point.values[metric] for point in new]
        if min(map(len, runs)) >= RUNS_NEEDED:
            return "runs", runs
        repeats = self._of(old, metric), self._of(new, metric)
        return ("repeats", repeats) if all(repeats) else ("runs", runs)

    def answers(
        self, old: Sequence[Point], new: Sequence[Point], metric: str
    ) -> tuple[TaskEvidence, TaskEvidence] | None:
        """Return the answers of both groups, to compare a share of them case by case.

        None for any other metric, and if the share is not known for single answers.
        """
        if not is_share(metric) or not all(one.kind.judges_answers for one in (*old, *new)):
            return None
        sides = [self._evidence(points) for points in (old, new)]
        a, b = sides
        if not (isinstance(a, TaskEvidence) and isinstance(b, TaskEvidence)):
            return None
        if not (has_answers_of(a, metric) and has_answers_of(b, metric)):
            return None
        # `compare` takes whole runs for repeats as well where a side has several
        return (a.by_run(), b.by_run()) if max(a.runs, b.runs) > 1 else (a, b)

    def _of(self, points: Sequence[Point], metric: str) -> list[float]:
        if not all(point.kind.compares_repeats for point in points):
            return []
        values: list[float] = []
        for point in points:
            values += self._evidence([point]).per_repeat(metric).tolist()
        return values

    def _evidence(self, points: Sequence[Point]) -> Evidence:
        keys = tuple(key for point in points for key in point.keys)
        found = self._read.get(keys)
        if found is None:
            executions = [row for point in points for row in point.executions]
            found = evidence_of(self._connection, executions, self._numbers)
            self._read[keys] = found
        return found
