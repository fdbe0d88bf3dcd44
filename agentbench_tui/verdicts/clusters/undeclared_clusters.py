"""Undeclared dependence between cases: how it is detected, and its consequences.

Two steps, because a test of few groups misses much of what makes equal agents look different:

- Where values are demonstrably alike within the groups of a candidate (5% for all candidates and
  metrics together), each group counts as one draw in this metric, and in the others at 25%.
- Any other verdict has to hold with each suspect as the cluster, too. A candidate is
  suspect where the differences, or they and the answers of both sides together, are alike within
  its groups at a laxer level. This is the preliminary test at 25% of Bancroft (1964), narrowed to
  candidates with some evidence, because independent cases would lose too much power without that.

Groups of a category, of which there are few, are no draws from many: they change no verdict.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import msgspec
import numpy as np

from agentbench_tui.analysis.groups.intraclass import Intraclass, combined_p, intraclass, shuffled_p
from agentbench_tui.analysis.sample import distinct, mean_by
from agentbench_tui.model.figures.metric import find_metric
from agentbench_tui.verdicts.clusters.case_groupings import LEAST_SIZE, Grouping
from agentbench_tui.verdicts.comparison.comparison import LEAST_CLUSTERS
from agentbench_tui.verdicts.comparison.paid import is_paid
from agentbench_tui.verdicts.evidence.ratio_columns import contributions, has_answers_of
from agentbench_tui.verdicts.evidence.shared_cases import apart
from agentbench_tui.verdicts.evidence.task_evidence import joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from agentbench_tui.analysis.sample import Floats, Integers
    from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence

SHOWN_BELOW = 0.05
"""Probability that any candidate is reported if all cases are independent."""
SUSPECT_BELOW = 0.05
"""p of the differences, times the candidates, below which a candidate is suspect."""
SUSPECT_TOGETHER = 0.10
"""The same of the differences and the answers of both sides together; the differences alone then
need `POOLED_ABOVE`."""
POOLED_ABOVE = 0.25
SUSPECT_RATIO = 0.25
"""Both levels for times and other ratios of geometric means. Their test is exact, so unlike that of
shares or costs it has no slack that absorbs a cluster which was missed.
"""
_SHUFFLED_UP_TO = 3_000
"""Number of units up to which p comes from shuffling; above it, the normal approximation is
accurate.
"""
_FEWEST_SHUFFLES = 999
_SEED = 42

Consequence = Literal["applied", "mix"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A grouping whose cases are demonstrably correlated in a metric."""

    grouping: Grouping
    metric: str
    found: Intraclass
    consequence: Consequence
    """`applied`: a group counts as one draw.

    `mix`: the grouping has few groups and is treated as a category.
    """
    metrics: tuple[str, ...] = ()
    """Metrics to which it is applied."""
    may_be_drift: bool = False
    """Whether it is correlated in a time whose groups were measured one after another, so that the
    machine may be the cause instead of the cases.
    """


class _Values(msgspec.Struct, frozen=True, eq=False):
    """One value for each independent unit: a case, or a known cluster."""

    unit: Integers
    difference: Floats
    level: Floats | None
    """Values of both sides together; equal to `difference` if there is one side, None if the sides
    are not paired."""
    on_logs: bool = False
    """Whether both arrays hold logarithms."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Groupings of the units of one benchmark, with the values of its metrics."""

    groupings: tuple[Grouping, ...] = ()
    labels: tuple[Integers, ...] = ()
    """For each grouping, the label of each unit."""
    units: Integers = field(default_factory=lambda: np.empty(0, np.int64))
    values: dict[str, _Values] = field(default_factory=dict)
    looked_at: int | None = None
    """Number of groupings examined, if these are only those that a sample suggested."""

    @property
    def _count(self) -> int:
        return len(self.groupings) if self.looked_at is None else self.looked_at

    def noticed(self) -> list[str]:
        """Return the groupings that are correlated in some metric, or suspect in one."""
        found = [one.grouping for one in self.findings()]
        found += [one for metric in self.values for one, _ in self.suspects(metric)]
        return list(dict.fromkeys(one.name for one in found))

    def findings(self, margins: Mapping[str, float] | None = None) -> list[Finding]:
        """Return demonstrated dependence: at most one grouping is applied, the one that leaves
        least.

        Categories between which a metric differs by no more than its margin, in `margins`, are left
        out: their mix does not matter to a verdict.
        """
        tests = self._count * len(self.values)
        shown: dict[int, Finding] = {}
        for metric, values in self.values.items():
            for place in range(len(self.groupings)):
                found = self._tested(place, values.unit, values.difference)
                if found is None or found.icc <= 0 or found.p * tests > SHOWN_BELOW:
                    continue
                if self._is_small(place, metric, (margins or {}).get(metric)):
                    continue
                known = shown.get(place)
                if known is not None and known.found.effective_n <= found.effective_n:
                    continue
                if self._is_confirmed(place, values, tests):
                    shown[place] = Finding(self.groupings[place], metric, found, "mix")
        able = {place: one for place, one in shown.items() if can_be_cluster(one.grouping)}
        if not able:
            return list(shown.values())
        place = min(able, key=lambda place: able[place].found.effective_n)
        return [replace(able[place], consequence="applied", metrics=self._metrics_of(place))]

    def suspects(self, metric: str) -> list[tuple[Grouping, Intraclass]]:
        """Return the groupings for which a verdict on the metric must hold as clusters."""
        values = self.values.get(metric)
        if values is None:
            return []
        found = []
        count = self._count
        for place, grouping in enumerate(self.groupings):
            apart = self._tested(place, values.unit, values.difference)
            if apart is None or apart.p > POOLED_ABOVE or not can_be_cluster(grouping):
                continue
            level = None
            if values.level is not None:
                level = self._tested(place, values.unit, values.level)
            together = 1.0 if level is None else combined_p(apart.p, level.p)
            below, below_together = self._suspect_levels(metric)
            if count * apart.p <= below or count * together <= below_together:
                found.append((grouping, apart))
        return found

    def _suspect_levels(self, metric: str) -> tuple[float, float]:
        """Return the levels for the differences alone, and for them and the answers together."""
        known = find_metric(metric)
        is_bill = known is not None and is_paid(known, "")
        if self.values[metric].on_logs and not is_bill:
            return SUSPECT_RATIO, SUSPECT_RATIO
        return SUSPECT_BELOW, SUSPECT_TOGETHER

    def _is_small(self, place: int, metric: str, margin: float | None) -> bool:
        """Return whether the categories differ by no more than the margin.

        Compares the largest difference of a category's mean from the smallest with `margin`, which
        is relative on logarithms. Always False for amounts that are not on logarithms, since their
        margin is relative.
        """
        values = self.values[metric]
        known = find_metric(metric)
        is_share = known is not None and known.unit == "share"
        if margin is None or can_be_cluster(self.groupings[place]):
            return False
        if not (values.on_logs or is_share):
            return False
        _, means = mean_by(self._labels_of(place, values.unit), values.difference)
        return bool(np.ptp(means) <= (math.log1p(margin) if values.on_logs else margin))

    def _tested(self, place: int, unit: Integers, values: Floats) -> Intraclass | None:
        return intraclass(values, self._labels_of(place, unit))

    def _labels_of(self, place: int, unit: Integers) -> Integers:
        return self.labels[place][np.searchsorted(self.units, unit)]

    def _is_confirmed(self, place: int, values: _Values, tests: int) -> bool:
        """Return whether p by shuffling is also small enough; skewed values give more chance
        findings.
        """
        if len(values.unit) > _SHUFFLED_UP_TO:
            return True
        draws = max(_FEWEST_SHUFFLES, round(2 * tests / SHOWN_BELOW))
        labels = self._labels_of(place, values.unit)
        p = shuffled_p(values.difference, labels, seed=_SEED, draws=draws)
        return p is not None and p * tests <= SHOWN_BELOW

    def _metrics_of(self, place: int) -> tuple[str, ...]:
        """Return the metrics in which the groups of a demonstrated cluster count as draws."""
        found = {
            metric: self._tested(place, values.unit, values.difference)
            for metric, values in self.values.items()
        }
        return tuple(
            metric for metric, one in found.items() if one is not None and one.p <= POOLED_ABOVE
        )


class Grouped(msgspec.Struct, frozen=True):
    """Source of the groupings of cases."""

    read: Callable[[], Sequence[Grouping]]
    """Gives them, with a label for each of the cases in order; it may read their texts."""
    least: float = LEAST_SIZE
    """Size of the group that a case is in, on average, from which on a grouping counts."""


def can_be_cluster(grouping: Grouping) -> bool:
    """Return whether its groups can be draws: six or more, or sources of their cases in any number.

    Fewer groups, such as levels of difficulty, are most likely all that exist.
    """
    return grouping.is_source or grouping.groups >= LEAST_CLUSTERS


def candidates_of_pairs(
    a: TaskEvidence, b: TaskEvidence, metrics: Iterable[str], cases: Integers, grouped: Grouped
) -> Candidates:
    """Return the candidates of two sides on some cases.

    The values are differences by case, of logarithms where all are above 0.
    """
    values = {}
    a, b = _on(a, cases), _on(b, cases)
    for metric in metrics:
        x, y = contributions(a, metric), contributions(b, metric)
        if x is not None and y is not None:
            values[metric] = _of_both(a, b, x, y, metric)
    return _candidates((a,), values, grouped, cases)


def candidates_of_groups(
    a: TaskEvidence, b: TaskEvidence, metrics: Iterable[str], cases: Integers, grouped: Grouped
) -> Candidates:
    """Return the candidates of two sides that are not paired, on some cases.

    The values are those of each side by case, less the mean of the side, of logarithms where all
    are above 0. Cases that belong together form a group on each side. Groupings that can only be
    categories are left out: they show how difficult the cases are, not how the sides differ.
    """
    a, b = _on(a, cases), _on(b, cases)
    values = {}
    for metric in metrics:
        x, y = contributions(a, metric), contributions(b, metric)
        if x is not None and y is not None:
            values[metric] = _of_each(a, b, x, y, metric)
    clusters = Grouped(
        lambda: [one for one in grouped.read() if can_be_cluster(one)], grouped.least
    )
    return _candidates((a, b), values, clusters, cases)


def candidates_of_side(
    side: TaskEvidence, metrics: Iterable[str], cases: Integers, grouped: Grouped
) -> Candidates:
    """Search the values of one side, by case."""
    values = {}
    side = _on(side, cases)
    for metric in metrics:
        column = contributions(side, metric)
        if column is not None:
            unit, mean = _by_unit(side, column, on_logs=False)
            values[metric] = _Values(unit, mean, mean)
    return _candidates((side,), values, grouped, cases)


def candidates_of_each(
    sides: Mapping[str, TaskEvidence], metric: str, cases: Integers, grouped: Grouped
) -> Candidates:
    """Return the candidates in the values of several sides with the same cases; keys are their
    names.
    """
    first = _on(next(iter(sides.values())), cases)
    values = {}
    for name, every in sides.items():
        side = _on(every, cases)
        unit, mean = _by_unit(side, side.values[metric], on_logs=False)
        inside = np.isin(unit, first.cluster)
        values[name] = _Values(unit[inside], mean[inside], mean[inside])
    return _candidates((first,), values, grouped, cases)


def candidates_of_many(
    sides: Sequence[TaskEvidence], column: str, cases: Integers, grouped: Grouped
) -> Candidates:
    """Return the candidates in the differences between several sides, on the cases that all have a
    value for; one `metric` per side: its values minus the mean of all.

    Without any where fewer than two sides, or no common cases, have values.
    """
    known = [_on(side, cases) for side in sides if has_answers_of(side, column)]
    if len(known) < 2:
        return Candidates()
    columns = [found for side in known if (found := contributions(side, column)) is not None]
    on_logs = _is_on_logs(column, columns)
    by_unit = [
        _by_unit(side, values, on_logs=on_logs) for side, values in zip(known, columns, strict=True)
    ]
    unit = by_unit[0][0]
    for other, _ in by_unit[1:]:
        unit = np.intersect1d(unit, other, assume_unique=True)
    if not len(unit):
        return Candidates()
    table = np.array([means[np.searchsorted(units, unit)] for units, means in by_unit])
    level = table.mean(axis=0)
    rows = table[:1] if len(table) == 2 else table  # of two, one differs as the other does
    values = {str(row): _Values(unit, one - level, level) for row, one in enumerate(rows)}
    first = known[0]
    inside = first.only(first.case[np.isin(first.cluster, unit)])
    return _candidates((inside,), values, grouped, cases)


def clustered(evidence: TaskEvidence, grouping: Grouping, cases: Integers) -> TaskEvidence:
    """Return the evidence with this grouping as its clusters."""
    labels = grouping.labels[np.searchsorted(cases, evidence.case)]
    return replace(evidence, cluster=-1 - labels, clusters_are_local=True)


def _on(side: TaskEvidence, cases: Integers) -> TaskEvidence:
    """Return the side's values on these cases, out of possibly more; there may be a million."""
    return side.only(cases) if len(cases) < len(side.case) else side


def _candidates(
    sides: Sequence[TaskEvidence],
    values: dict[str, _Values],
    grouped: Grouped,
    cases: Integers,
) -> Candidates:
    """Return the groupings that do not divide a declared cluster.

    Of several sides, each has its own units and its own groups.
    """
    units, first, place, _ = distinct(
        joined([apart(side.cluster, at) for at, side in enumerate(sides)])
    )
    of_rows = [np.searchsorted(cases, side.case) for side in sides]
    kept, labels = [], []
    for one in grouped.read():
        by_row = joined([one.labels[rows] * len(sides) + at for at, rows in enumerate(of_rows)])
        by_unit = by_row[first]
        sizes = np.unique(by_unit, return_counts=True)[1]
        if (by_unit[place] == by_row).all() and (
            float(sizes @ sizes) / len(units) >= grouped.least and len(sizes) > 1
        ):
            kept.append(one)
            labels.append(by_unit)
    return Candidates(tuple(kept), tuple(labels), units, values)


def _of_both(a: TaskEvidence, b: TaskEvidence, x: Floats, y: Floats, metric: str) -> _Values:
    on_logs = _is_on_logs(metric, (x, y))
    (unit_a, of_a), (unit_b, of_b) = (
        _by_unit(side, column, on_logs=on_logs) for side, column in ((a, x), (b, y))
    )
    unit, at_a, at_b = np.intersect1d(unit_a, unit_b, assume_unique=True, return_indices=True)
    return _Values(unit, of_b[at_b] - of_a[at_a], of_b[at_b] + of_a[at_a], on_logs)


def _of_each(a: TaskEvidence, b: TaskEvidence, x: Floats, y: Floats, metric: str) -> _Values:
    on_logs = _is_on_logs(metric, (x, y))
    units, values = [], []
    for at, (side, column) in enumerate(((a, x), (b, y))):
        unit, mean = _by_unit(side, column, on_logs=on_logs)
        units.append(apart(unit, at))
        values.append(mean - mean.mean() if len(mean) else mean)
    return _Values(joined(units), joined(values), None, on_logs)


def _is_on_logs(metric: str, columns: Iterable[Floats]) -> bool:
    """Return whether the metric is not a share, and all values are above 0."""
    known = find_metric(metric)
    is_share = known is not None and known.unit == "share"
    return not is_share and all(bool((one[~np.isnan(one)] > 0).all()) for one in columns)


def _by_unit(side: TaskEvidence, column: Floats, *, on_logs: bool) -> tuple[Integers, Floats]:
    """Return units in order, and the mean over their cases, each of which counts once."""
    known = ~np.isnan(column)
    values = np.log(column[known]) if on_logs else column[known]
    _, mean = mean_by(side.case[known], values)
    first = distinct(side.case[known]).first
    return mean_by(side.cluster[known][first], mean)
