"""The search for undeclared clusters within a comparison, and `--cluster`, which declares them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.case_groupings import declared_grouping
from agentbench_tui.verdicts.cluster_words import held_back_words
from agentbench_tui.verdicts.comparison import judged
from agentbench_tui.verdicts.task_evidence import TaskEvidence
from agentbench_tui.verdicts.undeclared_clusters import (
    Candidates,
    candidates_of_pairs,
    clustered,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from agentbench_tui.analysis.sample import Integers
    from agentbench_tui.verdicts.case_groupings import Grouping
    from agentbench_tui.verdicts.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.comparison import Comparison
    from agentbench_tui.verdicts.evidence import Evidence
    from agentbench_tui.verdicts.undeclared_clusters import Finding

At = TypeVar("At")


class HasCandidates(Protocol):
    """Two sides with the candidates for their clusters."""

    @property
    def a(self) -> Evidence: ...
    @property
    def b(self) -> Evidence: ...
    @property
    def candidates(self) -> Candidates: ...


@dataclass(frozen=True, slots=True)
class Searched:
    """Two sides after the search for undeclared clusters."""

    a: Evidence
    b: Evidence
    """With the cluster that was found, where one was."""
    candidates: Candidates
    findings: tuple[Finding, ...] = ()

    @property
    def is_applied(self) -> bool:
        """Whether the sides have other clusters now, so that they have to be compared again."""
        return any(one.consequence == "applied" for one in self.findings)


def search(
    a: Evidence,
    b: Evidence,
    compared: Iterable[Comparison],
    grouped: Callable[[Integers], Sequence[Grouping]],
) -> Searched:
    """Look for clusters of two sides, by the metrics that were `compared` by case.

    `grouped` gives the candidates for cases, see `case_groupings.groupings`.
    """
    metrics = [one.metric for one in compared if one.paired and one.of == "cases"]
    if not metrics or not (isinstance(a, TaskEvidence) and isinstance(b, TaskEvidence)):
        return Searched(a, b, Candidates())
    cases = _cases(a, b)
    candidates = candidates_of_pairs(a, b, metrics, grouped(cases), cases)
    found = candidates.findings()
    applied = next((one.grouping for one in found if one.consequence == "applied"), None)
    if applied is not None:
        a, b = clustered(a, applied, cases), clustered(b, applied, cases)
    return Searched(a, b, candidates, tuple(found))


def held_back(
    found: Comparison,
    on: HasCandidates,
    compare: Callable[[Evidence, Evidence], Comparison | None],
    pairs: int = 1,
) -> Comparison:
    """Return a judged comparison, without its verdict where a suspect cluster explains it.

    `compare` compares both sides in this metric, not yet judged; its p is adjusted as that of
    `found` was.
    """
    a, b = on.a, on.b
    if found.verdict == "inconclusive" or not found.comparable:
        return found
    if not (isinstance(a, TaskEvidence) and isinstance(b, TaskEvidence)):
        return found
    cases = _cases(a, b)
    for grouping, alike in on.candidates.suspects(found.metric):
        other = compare(clustered(a, grouping, cases), clustered(b, grouping, cases))
        if other is None:
            continue
        cautious = judged(other, _adjusted(other, found), pairs)
        if cautious.verdict == "inconclusive":
            note = held_back_words(grouping, alike)
            return replace(cautious, notes=(*cautious.notes, note))
    return found


def declared(
    sides: Sequence[Mapping[At, Evidence]], numbers: CaseNumbers, name: str
) -> list[dict[At, Evidence]]:
    """Return the evidence of each side with the groups of `name` as clusters (see `--cluster`).

    Raises UsageError where no case at any place has such a field.
    """
    found = [dict(side) for side in sides]
    reason: UsageError | None = None
    applied = False
    for at in dict.fromkeys(at for side in sides for at in side):
        here = [(side, of) for side in found if isinstance(of := side.get(at), TaskEvidence)]
        if not here:
            continue
        cases = _cases(*(of for _, of in here))
        try:
            grouping = declared_grouping(numbers, cases, name)
        except UsageError as error:
            reason = error
            continue
        applied = True
        for side, of in here:
            side[at] = clustered(of, grouping, cases)
    if reason is not None and not applied:
        raise reason
    return found


def copies_words(side: Evidence, numbers: CaseNumbers) -> tuple[str, ...]:
    """How many of the cases are one question under several ids, in words."""
    if not isinstance(side, TaskEvidence) or not side.executions:
        return ()
    cases, questions = numbers.copies(side.case)
    if not cases:
        return ()
    what = "one question" if questions == 1 else f"{questions:,} questions"
    return (f"{cases:,} cases are copies of {what} under other ids: each question counts once",)


def _cases(*sides: TaskEvidence) -> Integers:
    return np.unique(np.concatenate([side.case for side in sides]))


def _adjusted(other: Comparison, found: Comparison) -> float | None:
    if other.p_tested is None or not found.p_tested or found.p_adjusted is None:
        return other.p_tested
    return min(1.0, other.p_tested * found.p_adjusted / found.p_tested)
