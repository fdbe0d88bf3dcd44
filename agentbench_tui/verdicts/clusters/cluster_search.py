"""Searches undeclared clusters within a comparison, and applies `--cluster`, which declares
them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

import msgspec
import numpy as np

from agentbench_tui.analysis.sample import sorted_distinct
from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.figures.metric import find_metric
from agentbench_tui.verdicts.clusters.case_groupings import declared_grouping
from agentbench_tui.verdicts.clusters.cluster_screening import screened
from agentbench_tui.verdicts.clusters.cluster_words import (
    finding_words,
    held_back_words,
    side_words,
)
from agentbench_tui.verdicts.clusters.undeclared_clusters import (
    Candidates,
    candidates_of_groups,
    candidates_of_pairs,
    candidates_of_side,
    clustered,
)
from agentbench_tui.verdicts.comparison.judgment import judged
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence, joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from agentbench_tui.analysis.sample import Integers
    from agentbench_tui.verdicts.clusters.case_groupings import Grouping
    from agentbench_tui.verdicts.clusters.undeclared_clusters import Finding
    from agentbench_tui.verdicts.comparison.comparison import Comparison
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.evidence.evidence import Evidence

At = TypeVar("At")
_FOLLOW_EACH_OTHER = 0.5


class Compare(Protocol):
    """Function that compares two sides in one metric before the verdict; None if neither side has
    it.
    """

    def __call__(self, a: Evidence, b: Evidence, metric: str, /) -> Comparison | None: ...


class HasCandidates(Protocol):
    """Two sides with the candidates for their clusters."""

    @property
    def a(self) -> Evidence: ...
    @property
    def b(self) -> Evidence: ...
    @property
    def candidates(self) -> Candidates: ...


class Searched(msgspec.Struct, frozen=True):
    """Two sides after the search for undeclared clusters."""

    a: Evidence
    b: Evidence
    candidates: Candidates
    findings: tuple[Finding, ...] = ()
    paired: bool = True
    """Whether the differences by case were searched, not the values of each side."""

    @property
    def words(self) -> tuple[str, ...]:
        """Say what was found, and how to declare it."""
        return tuple(map(finding_words if self.paired else side_words, self.findings))

    def allowing(self, compared: Iterable[Comparison], compare: Compare) -> list[Comparison]:
        """Return the comparisons, with the detected cluster applied to the metrics that it
        concerns.
        """
        applied = self._applied
        if applied is None:
            return list(compared)
        sides = grouped_by(self.a, self.b, applied.grouping)
        found = []
        for one in compared:
            again = compare(*sides, one.metric) if one.metric in applied.metrics else None
            found.append(one if again is None else again)
        return found

    def sides(self, metric: str) -> tuple[Evidence, Evidence]:
        """Return both sides, with the detected cluster applied if it concerns the metric."""
        applied = self._applied
        if applied is None or metric not in applied.metrics:
            return self.a, self.b
        return grouped_by(self.a, self.b, applied.grouping)

    @property
    def _applied(self) -> Finding | None:
        return next((one for one in self.findings if one.consequence == "applied"), None)


def search(
    a: Evidence,
    b: Evidence,
    compared: Iterable[Comparison],
    numbers: CaseNumbers,
) -> Searched:
    """Look for clusters of two sides, by the metrics that were `compared` by case.

    Where cases are paired their differences are searched, otherwise the values of each side.
    """
    by_case = [one for one in compared if one.of == "cases"]
    if not by_case or not (isinstance(a, TaskEvidence) and isinstance(b, TaskEvidence)):
        return Searched(a, b, Candidates())
    margins = {one.metric: one.margin for one in by_case if one.paired}
    cases = _cases(a, b)
    if margins:
        candidates = screened(numbers, cases, partial(candidates_of_pairs, a, b, margins))
        return Searched(a, b, candidates, tuple(candidates.findings(margins)))
    metrics = [one.metric for one in by_case]
    candidates = screened(numbers, cases, partial(candidates_of_groups, a, b, metrics))
    findings = tuple(
        replace(one, may_be_drift=any(_may_be_drift(one, side, cases) for side in (a, b)))
        for one in candidates.findings()
    )
    return Searched(a, b, candidates, findings, paired=False)


class SearchedSide(msgspec.Struct, frozen=True):
    """One side after the search for undeclared clusters in its values."""

    evidence: Evidence
    found: Finding | None = None
    """The grouping that counts as a cluster in some metrics; categories have no meaning for a
    single side.
    """

    def by_metric(self, metric: str) -> Evidence:
        """Return the evidence, with the detected cluster applied if it concerns the metric."""
        if self.found is None or metric not in self.found.metrics:
            return self.evidence
        assert isinstance(self.evidence, TaskEvidence)
        return clustered(self.evidence, self.found.grouping, _cases(self.evidence))


def search_side(
    evidence: Evidence,
    metrics: Iterable[str],
    numbers: CaseNumbers,
) -> SearchedSide:
    """Look for clusters in the values of one side; see `search`."""
    if not isinstance(evidence, TaskEvidence):
        return SearchedSide(evidence)
    cases = _cases(evidence)
    build = partial(candidates_of_side, evidence, metrics)
    findings = screened(numbers, cases, build).findings()
    found = next((one for one in findings if one.metrics), None)
    if found is not None and _may_be_drift(found, evidence, cases):
        found = replace(found, may_be_drift=True)
    return SearchedSide(evidence, found)


def _may_be_drift(found: Finding, side: TaskEvidence, cases: Integers) -> bool:
    """Return whether correlation within groups may come from the order of measurement.

    Times of consecutive answers can be correlated because the machine was slower for a while. This
    is assumed if neighboring answers belong to one group at least half as often as if each group
    were asked as a whole; shuffled cases are far below that.
    """
    known = find_metric(found.metric)
    if known is None or known.unit != "ms":
        return False
    labels = found.grouping.labels[np.searchsorted(cases, side.case)]
    whole = 1 - (len(np.unique(labels)) - 1) / max(len(labels) - 1, 1)
    return bool(np.mean(labels[1:] == labels[:-1]) >= _FOLLOW_EACH_OTHER * whole)


def grouped_by(a: Evidence, b: Evidence, grouping: Grouping) -> tuple[Evidence, Evidence]:
    """Return both sides with a grouping of the cases of both as their clusters."""
    assert isinstance(a, TaskEvidence)
    assert isinstance(b, TaskEvidence)
    cases = _cases(a, b)
    return clustered(a, grouping, cases), clustered(b, grouping, cases)


def held_back(found: Comparison, on: HasCandidates, compare: Compare, pairs: int = 1) -> Comparison:
    """Return a judged comparison without its verdict if a suspect cluster explains it.

    The p of each alternative is adjusted as that of `found` was.
    """
    if found.verdict == "inconclusive" or not found.comparable:
        return found
    for grouping, alike in on.candidates.suspects(found.metric):
        other = compare(*grouped_by(on.a, on.b, grouping), found.metric)
        if other is None:
            continue
        cautious = judged(other, adjusted_like(other, found), pairs)
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
        # A question that was asked under several ids is one draw, whatever is declared.
        grouping = replace(grouping, labels=numbers.joined(cases, grouping.labels))
        for side, of in here:
            side[at] = clustered(of, grouping, cases)
    if reason is not None and not applied:
        raise reason
    return found


def copies_words(side: Evidence, numbers: CaseNumbers) -> tuple[str, ...]:
    """Say how many of the cases are one question under several ids."""
    if not isinstance(side, TaskEvidence) or not side.executions:
        return ()
    cases, questions = numbers.copies(side.case)
    if not cases:
        return ()
    what = "one question" if questions == 1 else f"{questions:,} questions"
    return (f"{cases:,} cases are copies of {what} under other ids: each question counts once",)


def _cases(*sides: TaskEvidence) -> Integers:
    return sorted_distinct(joined([side.case for side in sides]))


def adjusted_like(other: Comparison, found: Comparison) -> float | None:
    """Return p of an alternative to a comparison, adjusted by as much as that of the comparison."""
    if other.p_tested is None or not found.p_tested or found.p_adjusted is None:
        return other.p_tested
    return min(1.0, other.p_tested * found.p_adjusted / found.p_tested)
