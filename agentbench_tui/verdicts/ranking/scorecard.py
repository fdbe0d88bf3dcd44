"""The cases or places that all contenders of a group were measured on.

An agent must not lead because it was asked the easy cases. Contenders that share enough of what
they were measured on therefore form a group, and each group is ranked on what all its members
share.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from agentbench_tui.analysis.sample import (
    constant,
    count_distinct,
    distinct,
    mean_by,
    sorted_distinct,
)
from agentbench_tui.verdicts.evidence.evidence import evidence_of
from agentbench_tui.verdicts.evidence.place import place_of
from agentbench_tui.verdicts.evidence.shared_cases import PER_PLACE, apart, independent_units
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence, joined

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from agentbench_tui.analysis.sample import Floats, Integers
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
    from agentbench_tui.verdicts.evidence.evidence import Evidence
    from agentbench_tui.verdicts.evidence.place import Execution, Place
    from agentbench_tui.verdicts.ranking.standing import Runs
    from agentbench_tui.verdicts.selection.contenders import Contender


class PlaceNumbers:
    """Numbers places, equally for all contenders.

    `by_machine` separates places on different machines, so that no ranking spans machines.
    """

    def __init__(self, *, by_machine: bool = False) -> None:
        self._by_machine = by_machine
        self._numbers: dict[tuple[Place, str | None], int] = {}

    def of(self, row: Execution) -> int:
        machine = row["fingerprint"] if self._by_machine else None
        return self._numbers.setdefault((place_of(row), machine), len(self._numbers))

    def place(self, number: int) -> Place:
        return list(self._numbers)[number][0]


@dataclass(frozen=True)
class Scorecard:
    """One contender and its executions' results, by the number of the place."""

    contender: Contender
    evidence: dict[int, Evidence]

    @cached_property
    def _tasks(self) -> list[tuple[int, TaskEvidence]]:
        found = self.evidence.items()
        return [(place, one) for place, one in found if isinstance(one, TaskEvidence)]

    @property
    def tasks(self) -> list[TaskEvidence]:
        """Return the results on task benchmarks."""
        return [one for _, one in self._tasks]

    @cached_property
    def case(self) -> Integers:
        """Return the case of each observation of all task benchmarks; different in different
        places.
        """
        return _joined([apart(one.case, place) for place, one in self._tasks])

    @cached_property
    def cluster(self) -> Integers:
        """Return the independent unit of each observation; a case of several places is one."""
        return _joined(independent_units(self._tasks)) if self._tasks else _joined([])

    @cached_property
    def place(self) -> Integers:
        """Return the place of each observation."""
        return _joined([constant(place, len(one.case)) for place, one in self._tasks])

    @cached_property
    def repeat(self) -> Integers:
        """Return the repeat of each observation; different in different places."""
        return _joined([apart(one.repeat, place) for place, one in self._tasks])

    def column(self, metric: str) -> Floats:
        """Return the metric of each observation; NaN if it has none."""
        columns = [
            one.values[metric] if metric in one.values else constant(np.nan, len(one.case))
            for _, one in self._tasks
        ]
        return joined(columns) if columns else np.empty(0)

    def by_case(self, metric: str) -> tuple[Integers, Floats]:
        """Return cases that have a value, in order, with the mean over their observations."""
        values = self.column(metric)
        known = ~np.isnan(values)
        return mean_by(self.case[known], values[known])

    def samples(self, metric: str) -> dict[int, Floats]:
        """Return place → one value for each repeat, if the metric was measured."""
        found = {place: one.per_repeat(metric) for place, one in self.evidence.items()}
        return {place: values for place, values in found.items() if len(values)}

    def samples_of(self, metric: str, cases: Integers) -> dict[int, Floats]:
        """Return place → one value per repeat, over these cases only; without places that have
        none.
        """
        found = {
            place: one.only(cases - place * PER_PLACE).per_repeat(metric)
            for place, one in self._tasks
        }
        return {place: values for place, values in found.items() if len(values)}

    def always_answered(self, metric: str) -> Integers:
        """Return the cases that have a value in every place where they were asked, in order."""
        lacking = np.isnan(self.column(metric))
        return np.setdiff1d(self.case, self.case[lacking])

    def has_cases_behind(self, metric: str) -> bool:
        """Return whether the metric was measured only on single answers to cases."""
        known = {place for place, one in self._tasks if metric not in one.totals}
        return set(self.samples(metric)) <= known


def scorecards(
    connection: sqlite3.Connection,
    contenders: Iterable[Contender],
    cases: CaseNumbers,
    places: PlaceNumbers,
) -> list[Scorecard]:
    """Return the evidence of each contender."""
    cards = []
    for one in contenders:
        by_place: dict[int, list[Execution]] = {}
        for row in one.executions:
            by_place.setdefault(places.of(row), []).append(row)
        evidence = {place: evidence_of(connection, rows, cases) for place, rows in by_place.items()}
        cards.append(Scorecard(one, evidence))
    return cards


def runs_at(cards: Sequence[Scorecard], places: Sequence[int]) -> list[Runs]:
    """Return the keys of each contender's runs at each of these places."""
    return [
        [{row["run_key"] for row in card.evidence[place].executions} for place in places]
        for card in cards
    ]


class Group(msgspec.Struct, frozen=True):
    """Contenders that can be ranked together, and the data they share."""

    members: tuple[int, ...]
    """Rows of the table given."""
    shared: Integers
    """Columns that all of them have."""


def comparable_groups(present: NDArray[np.bool_]) -> list[Group]:
    """Return groups of bool[agents, units] that share at least half of the units that any member
    has.

    Starting with all agents, those that share least are removed until the rest shares enough;
    removed agents are grouped in the same way. Agents without any unit are in no group.
    """
    rest = np.flatnonzero(present.any(axis=1))
    groups = []
    while rest.size:
        members = _sharing(present, rest)
        shared = np.flatnonzero(present[members].all(axis=0))
        groups.append(Group(tuple(int(row) for row in members), shared))
        rest = np.setdiff1d(rest, members)
    return groups


def _sharing(present: NDArray[np.bool_], members: Integers) -> Integers:
    """Return the members without those that keep the group from sharing half of the largest
    member's units.
    """
    while True:
        own = present[members]
        common = own.all(axis=0).sum()
        if 2 * common >= own.sum(axis=1).max():
            return members
        counts = own.sum(axis=0)
        only_lacks = (~own & (counts == len(members) - 1)).sum(axis=1)
        pairwise = own.astype(np.float64) @ own.T.astype(np.float64)
        overlap = pairwise.sum(axis=1) - own.sum(axis=1)
        # who costs the others most cases goes first; then who has least in common with them
        worst = min(range(len(members)), key=lambda row: (-only_lacks[row], overlap[row]))
        members = np.delete(members, worst)


def case_table(
    columns: Sequence[tuple[Integers, Floats]],
) -> tuple[Integers, Floats]:
    """Return all cases in order, and float64[agents, cases] with NaN for missing ones."""
    everything = sorted_distinct(joined([cases for cases, _ in columns]))
    table = np.full((len(columns), len(everything)), np.nan)
    for row, (cases, values) in zip(table, columns, strict=True):
        row[... if len(cases) == len(everything) else np.searchsorted(everything, cases)] = values
    return everything, table


def by_cluster(table: Floats, clusters: Integers) -> Floats:
    """Return a complete table by independent units: float64[agents, clusters].

    Each holds the cluster's sum × clusters ÷ cases, so that the mean stays that over cases, and a
    large cluster weighs as much as its cases do.
    """
    count = count_distinct(clusters)
    if count == table.shape[1]:
        return table
    place = distinct(clusters).place
    sums = np.array([np.bincount(place, row, count) for row in table])
    return np.asarray(sums * count / table.shape[1])


def _joined(columns: list[Integers]) -> Integers:
    return joined(columns) if columns else np.empty(0, np.int64)
