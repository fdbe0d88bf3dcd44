"""Results of one agent's executions on one benchmark, as arrays: the input of every verdict.

Observations of a task benchmark have a case, so two agents can be compared case by case. Statements
about speed are based on whole repeats, since the answers of one repeat are not independent:
`per_repeat` gives one value for each, for every kind of benchmark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from agentbench_tui.model.kinds import kind_named
from agentbench_tui.store.queries.suites import benchmark_kind
from agentbench_tui.verdicts.evidence.load_evidence import LoadEvidence
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
        """Return the source executions, oldest first."""

    def per_repeat(self, metric: str) -> Floats:
        """Return one value for each repeat that has one; empty if it was not measured.

        `metric` as in gates (`e2e_ms.p95`, `accuracy`). A distribution without a part is its p50,
        of tokens its mean.
        """

    def fewest_answers(self, metric: str) -> int:
        """Return the smallest number of values of a distribution in any repeat; 0 if there are
        none.
        """


def evidence_of(
    connection: sqlite3.Connection, rows: Sequence[Execution], numbers: CaseNumbers
) -> Evidence:
    """Combine the results of executions of one benchmark."""
    if rows[0]["dataset_key"] is None:  # cases are what a task benchmark is made of
        kind = benchmark_kind(connection, rows[0]["suite_hash"], rows[0]["benchmark_id"])
        own = None if kind is None else kind_named(kind).part("evidence")
        evidence: Evidence = (own or LoadEvidence)(connection, rows)
        return evidence
    return task_evidence(connection, rows, numbers)
