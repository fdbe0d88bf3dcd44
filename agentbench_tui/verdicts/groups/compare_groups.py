"""Comparison by groups of cases: the verdict in each group, and whether the difference varies.

Its tests are a separate family, and change no verdict of the main comparison.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.clusters.cluster_search import adjusted_like, grouped_by
from agentbench_tui.verdicts.clusters.cluster_words import held_back_words
from agentbench_tui.verdicts.comparison.compare import compare_evidence, without_need
from agentbench_tui.verdicts.comparison.comparison import Comparison
from agentbench_tui.verdicts.comparison.judgment import judged
from agentbench_tui.verdicts.comparison.share_interval import with_exact_test
from agentbench_tui.verdicts.evidence.metric_family import Adjusted, Adjustment, adjusted_together
from agentbench_tui.verdicts.evidence.pooled_places import pooled
from agentbench_tui.verdicts.evidence.shared_cases import shared_cases_words
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.groups.breakdown import NO_CASES
from agentbench_tui.verdicts.groups.case_groups import CaseFields
from agentbench_tui.verdicts.groups.heterogeneity import Heterogeneity, heterogeneity

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.analysis.groups.group_differences import Bools
    from agentbench_tui.verdicts.clusters.case_groupings import Grouping
    from agentbench_tui.verdicts.comparison.compare import Compared, OnBenchmark, Pair
    from agentbench_tui.verdicts.comparison.comparison import Asked
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.evidence.evidence import Evidence
    from agentbench_tui.verdicts.groups.case_groups import CaseGroups

_ALWAYS_HOLM = 1_000_000
"""Tests up to which Holm's rule holds: more than there can be."""


@dataclass(frozen=True, slots=True)
class GroupComparison:
    """B against A in one group of cases."""

    group: str
    cases_a: int
    cases_b: int
    metrics: tuple[Comparison, ...]
    """Judged metrics, with p adjusted for all groups; values of the whole run are missing if they
    do not exist for groups.
    """
    suspects: tuple[tuple[Comparison, str], ...] = ()
    """The same with suspected clusters as one draw, and a note for verdicts that do not hold
    with them.
    """


@dataclass(frozen=True, slots=True)
class PairByGroups:
    """Two sides at one point of a sweep, over all the benchmarks that they share there."""

    a: str
    b: str
    parameters: str
    """Parameters of the point, as JSON."""
    groups: tuple[GroupComparison, ...]
    metrics: tuple[Heterogeneity, ...]
    is_same: bool
    """Whether both sides are the same answers on some benchmark."""


class ComparedByGroups(msgspec.Struct, frozen=True):
    """All pairs by the groups of one field, judged together."""

    field: str
    pairs: tuple[PairByGroups, ...]
    adjustment: Adjustment
    tests: int
    notes: tuple[str, ...] = ()


def compare_by_groups(
    connection: sqlite3.Connection,
    found: Compared,
    numbers: CaseNumbers,
    fields: CaseFields,
    wanted: str,
    metrics: Sequence[str] = (),
) -> ComparedByGroups:
    """Return the pairs of a comparison by a field of their cases, in the main metric or the named
    ones.

    `fields` may know of columns of files. Raises UsageError as `CaseFields.groups` does, and where
    nothing that was compared asks cases.
    """
    tasks = [one for pair in found.pairs for one in pair.benchmarks if _is_task(one)]
    if not tasks:
        raise UsageError(f"--by {wanted}: {NO_CASES}")
    rows = [row for one in tasks for side in (one.a, one.b) for row in side.executions]
    if rows:  # of files alone there is no store
        fields.add_stored(connection, {row["dataset_key"] for row in rows}, numbers)
    fields.add_places(one.place for one in tasks)
    groups = fields.groups(wanted)
    pairs = [
        _pair(one, parameters, places, groups, found.asked, metrics)
        for one in found.pairs
        for parameters, places in _by_point(one).items()
    ]
    adjusted = adjusted_groups([group for one in pairs for group in one.groups])
    following = iter(adjusted.p)
    count = len(found.pairs)
    judged_pairs = tuple(
        replace(one, groups=tuple(_judged(of, next(following), count, one) for of in one.groups))
        for one in pairs
    )
    notes = [groups.note] if groups.note else []
    notes += dict.fromkeys(
        filter(None, (_shared_words(of) for one in found.pairs for of in _by_point(one).values()))
    )
    return ComparedByGroups(
        groups.label, judged_pairs, adjusted.adjustment, adjusted.tests, tuple(notes)
    )


def _shared_words(places: Sequence[OnBenchmark]) -> str:
    sides = [[one.a for one in places], [one.b for one in places]]
    stored = [
        [one.case for one in side if isinstance(one, TaskEvidence) and one.executions]
        for side in sides
    ]
    return max(map(shared_cases_words, stored), key=len)


def _judged(
    group: GroupComparison, p: Sequence[float | None], pairs: int, of: PairByGroups
) -> GroupComparison:
    found = judged_group(group, p, pairs)
    return replace(found, metrics=tuple(map(without_need, found.metrics))) if of.is_same else found


def _is_task(one: OnBenchmark) -> bool:
    return isinstance(one.a, TaskEvidence) and isinstance(one.b, TaskEvidence)


def _by_point(pair: Pair) -> dict[str, list[OnBenchmark]]:
    found: dict[str, list[OnBenchmark]] = {}
    for one in pair.benchmarks:
        if _is_task(one):
            found.setdefault(one.place.parameters, []).append(one)
    return found


def adjusted_groups(groups: Sequence[GroupComparison]) -> Adjusted:
    """Return p of all metrics of all groups, adjusted together by Holm's rule."""
    return adjusted_together([group.metrics for group in groups], _ALWAYS_HOLM)


def judged_group(
    group: GroupComparison, p: Sequence[float | None], pairs: int = 1
) -> GroupComparison:
    """Return the group with its verdicts, from the adjusted p of its metrics."""
    metrics = (judged(metric, p, pairs) for metric, p in zip(group.metrics, p, strict=True))
    return replace(group, metrics=tuple(_held_back(one, group, pairs) for one in metrics))


def _held_back(found: Comparison, group: GroupComparison, pairs: int) -> Comparison:
    """Withhold the verdict if a suspected cluster explains it, as in the main comparison."""
    if found.verdict == "inconclusive" or not found.comparable:
        return found
    for other, words in group.suspects:
        if other.metric == found.metric:
            cautious = judged(other, adjusted_like(other, found), pairs)
            if cautious.verdict == "inconclusive":
                return replace(cautious, notes=(*cautious.notes, words))
    return found


class GroupedSides(msgspec.Struct, frozen=True):
    """Both sides over some benchmarks, and the groups of each observation."""

    a: TaskEvidence
    b: TaskEvidence
    in_a: Bools
    in_b: Bools


def _pair(
    of: Pair,
    parameters: str,
    places: Sequence[OnBenchmark],
    groups: CaseGroups,
    asked: Asked,
    metrics: Sequence[str],
) -> PairByGroups:
    is_same = any(one.identical for one in places)
    forbidden = {m.metric for one in places for m in one.metrics if not m.comparable}
    by_group: dict[str, GroupComparison] = {}
    varies: list[Heterogeneity] = []
    for metric in metrics or _main_metric(places):
        sides = _sides(places, groups, metric)
        compared = compare_each(sides, groups.names, asked, metric, same_runs=is_same)
        whole, _ = compare_evidence(sides.a, sides.b, asked, [metric], same_runs=is_same)
        varies += [heterogeneity(one, sides, compared, asked) for one in whole]
        for group in compared:
            judgeable = tuple(
                replace(one, comparable=False) if one.metric in forbidden else one
                for one in group.metrics
            )
            known = by_group.setdefault(group.group, replace(group, metrics=()))
            by_group[group.group] = replace(known, metrics=(*known.metrics, *judgeable))
        for place, grouping, words in _suspects(places, groups, metric):
            sides = _sides(places, groups, metric, (place, grouping))
            for other in compare_each(sides, groups.names, asked, metric, same_runs=is_same):
                known = by_group[other.group]
                more = tuple((one, words) for one in other.metrics)
                by_group[other.group] = replace(known, suspects=(*known.suspects, *more))
    found = tuple(by_group.values())
    return PairByGroups(of.a.label, of.b.label, parameters, found, tuple(varies), is_same)


def compare_each(
    sides: GroupedSides,
    names: Sequence[str],
    asked: Asked,
    metric: str,
    *,
    same_runs: bool = False,
) -> list[GroupComparison]:
    """Compare each group that both sides have cases in, before the verdict."""
    found = []
    for place, name in enumerate(names):
        a, b = sides.a.rows(sides.in_a[place]), sides.b.rows(sides.in_b[place])
        if len(a.case) or len(b.case):
            compared, _ = compare_evidence(a, b, asked, [metric], same_runs=same_runs)
            cases_a, cases_b = (len(np.unique(one.case)) for one in (a, b))
            exact = tuple(map(with_exact_test, compared))
            found.append(GroupComparison(name, cases_a, cases_b, exact))
    return found


def _main_metric(places: Sequence[OnBenchmark]) -> Sequence[str]:
    """Return the first metric that was compared on all benchmarks: accuracy, if answers are
    scored.
    """
    of_all = [[one.metric for one in on.metrics] for on in places]
    return next(([name] for name in of_all[0] if all(name in one for one in of_all)), [])


def _suspects(
    places: Sequence[OnBenchmark], groups: CaseGroups, metric: str
) -> list[tuple[OnBenchmark, Grouping, str]]:
    """Suspected clusters of cases, and a note for when they decide."""
    return [
        (one, grouping, held_back_words(grouping, alike))
        for one in places
        for grouping, alike in one.candidates.suspects(metric)
        if grouping.name not in {groups.field, groups.label}
    ]


def _sides(
    places: Sequence[OnBenchmark],
    groups: CaseGroups,
    metric: str,
    suspect: tuple[OnBenchmark, Grouping] | None = None,
) -> GroupedSides:
    found: list[tuple[TaskEvidence, Bools]] = []
    sides = [
        _as_tasks(*grouped_by(one.a, one.b, suspect[1]))
        if suspect is not None and suspect[0] is one
        else _with_clusters(one, groups, metric)
        for one in places
    ]
    for parts in zip(*sides, strict=True):
        inside = [
            groups.members(part.case, one.place) for part, one in zip(parts, places, strict=True)
        ]
        found.append((pooled(parts), np.concatenate(inside, axis=1)))
    (a, in_a), (b, in_b) = found
    return GroupedSides(a, b, in_a, in_b)


def _with_clusters(
    on: OnBenchmark, groups: CaseGroups, metric: str
) -> tuple[TaskEvidence, TaskEvidence]:
    """Return both sides with the cluster that was detected for the metric.

    Not if the cases are grouped by that cluster: each group would then be a single draw.
    """
    a, b = on.a, on.b
    for one in on.clusters:
        is_applied = one.consequence == "applied" and metric in one.metrics
        if is_applied and one.grouping.name not in {groups.field, groups.label}:
            a, b = grouped_by(a, b, one.grouping)
    return _as_tasks(a, b)


def _as_tasks(a: Evidence, b: Evidence) -> tuple[TaskEvidence, TaskEvidence]:
    assert isinstance(a, TaskEvidence)
    assert isinstance(b, TaskEvidence)
    return a, b


def point_of(one: PairByGroups) -> dict[str, object]:
    """Return the parameters of the point by name."""
    found: dict[str, object] = json.loads(one.parameters)
    return found
