"""What executions of one agent on one benchmark say, as arrays: the ground of every verdict.

Observations of a task benchmark have a case, so that two agents can be held against each other
case by case. What is said of speed stands on whole repeats, since the answers of one repeat share
its luck: `per_repeat` gives one value for each, of every kind of benchmark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from agentbench_tui.store.queries.suites import benchmark_kind
from agentbench_tui.verdicts.evidence.load_evidence import LoadEvidence
from agentbench_tui.verdicts.evidence.stress_evidence import StressEvidence
from agentbench_tui.verdicts.evidence.task_evidence import task_evidence

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.evidence.place import Execution


class Evidence(Protocol):
    """One side of a comparison on one benchmark, at one point of a sweep."""

    @property
    def executions(self) -> Sequence[Execution]:
        """Where it comes from, the oldest first."""

    def per_repeat(self, metric: str) -> Floats:
        """One value for each repeat that has one; empty where it was not measured.

        `metric` as in gates (`e2e_ms.p95`, `accuracy`). A distribution without a part is its p50,
        of tokens its mean.
        """

    def fewest_answers(self, metric: str) -> int:
        """Values of a distribution in that repeat which has the fewest; 0 where none has any."""


def evidence_of(
    connection: sqlite3.Connection, rows: Sequence[Execution], numbers: CaseNumbers
) -> Evidence:
    """What executions of one benchmark say together."""
    if rows[0]["dataset_key"] is None:  # cases are what a task benchmark is made of
        kind = StressEvidence if _is_stress(connection, rows[0]) else LoadEvidence
        return kind(connection, rows)
    return task_evidence(connection, rows, numbers)


def _is_stress(connection: sqlite3.Connection, row: Execution) -> bool:
    return benchmark_kind(connection, row["suite_hash"], row["benchmark_id"]) == "stress"
