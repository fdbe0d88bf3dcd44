"""Cases that only one side answers correctly: where to look first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from agentbench_tui.analysis.sample import mean_by
from agentbench_tui.store.queries.answer_pages import typical_answer
from agentbench_tui.verdicts.comparison.pairing import case_values
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from agentbench_tui.analysis.sample import Floats, Integers
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.evidence.evidence import Evidence
    from agentbench_tui.verdicts.evidence.place import Execution

LONGEST = 200
"""Characters of an expected value or an answer that are shown."""


class Said(msgspec.Struct, frozen=True):
    """Answer of one side to a case."""

    right: float
    """Share of its answers that were right."""
    answer: str | None
    """An answer of the more frequent kind, right or wrong; None if it failed, or comes from a
    file.
    """
    failure: str | None


class Disagreement(msgspec.Struct, frozen=True):
    """A case that one side gets right more often than not, and the other doesn't."""

    case_id: str
    expected: str | None
    a: Said
    b: Said


class Disagreements(msgspec.Struct, frozen=True):
    """Number of cases of each kind, and the first of them."""

    only_a: int
    only_b: int
    first: tuple[Disagreement, ...]
    """Cases with the largest difference first; of equal ones, those that only A answers
    correctly.
    """


def disagreements(
    connection: sqlite3.Connection, a: Evidence, b: Evidence, numbers: CaseNumbers, limit: int
) -> Disagreements | None:
    """Return the disagreements on a task benchmark with scored answers; None for any other."""
    if not (isinstance(a, TaskEvidence) and isinstance(b, TaskEvidence)):
        return None
    if "correct_share" not in a.values or "correct_share" not in b.values:
        return None
    case, right_a, right_b = _of_common_cases(a, b)
    in_a, in_b = right_a > 0.5, right_b > 0.5
    apart = np.flatnonzero(in_a != in_b)
    order = apart[np.lexsort((in_b[apart], -np.abs(right_a - right_b)[apart]))]
    first = []
    for place in order[:limit].tolist():
        name = numbers.name(int(case[place]))
        of_a = _said(connection, a.executions, name, float(right_a[place]))
        of_b = _said(connection, b.executions, name, float(right_b[place]))
        expected = of_a[1] if of_a[1] is not None else of_b[1]
        first.append(Disagreement(name, expected, of_a[0], of_b[0]))
    return Disagreements(int((in_a & ~in_b).sum()), int((in_b & ~in_a).sum()), tuple(first))


def _of_common_cases(a: TaskEvidence, b: TaskEvidence) -> tuple[Integers, Floats, Floats]:
    """Return the shared cases in order, and the share of right answers of each side."""
    (case_a, right_a), (case_b, right_b) = (_shares(side) for side in (a, b))
    case, in_a, in_b = np.intersect1d(case_a, case_b, assume_unique=True, return_indices=True)
    return case, right_a[in_a], right_b[in_b]


def _shares(side: TaskEvidence) -> tuple[Integers, Floats]:
    found = case_values(side, "correct_share", on_logs=False)
    return mean_by(found.case, found.value)


def _said(
    connection: sqlite3.Connection, executions: Sequence[Execution], case_id: str, right: float
) -> tuple[Said, str | None]:
    """Return an answer of the more frequent kind, and the expected answer."""
    for row in executions:
        found = typical_answer(
            connection, row["key"], row["dataset_key"], case_id, right=right > 0.5
        )
        if found is not None:
            said = None if found.failure_kind else _cut(found.answer)
            return Said(right, said, found.failure_kind), _cut(found.expected)
    return Said(right, None, None), None


def _cut(value: Any) -> str | None:
    """Return the end of a long text, because a worked solution ends with its answer."""
    if value is None:
        return None
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST else f"… {text[2 - LONGEST :]}"
