"""Contenders by groups of cases: `leaderboard --by FIELD`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

import numpy as np

from agentbench_tui.model.case_fields import OF_METADATA
from agentbench_tui.model.errors import UsageError
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.evidence.place import place_of
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
from agentbench_tui.verdicts.groups.breakdown import NO_CASES
from agentbench_tui.verdicts.groups.case_groups import CaseFields
from agentbench_tui.verdicts.ranking.rankable import OVERALL
from agentbench_tui.verdicts.ranking.ranked import only_accuracy
from agentbench_tui.verdicts.ranking.scorecard import Scorecard
from agentbench_tui.verdicts.selection.contenders import By

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from agentbench_tui.verdicts.clusters.undeclared_clusters import Finding
    from agentbench_tui.verdicts.evidence.evidence import Evidence
    from agentbench_tui.verdicts.evidence.place import Execution
    from agentbench_tui.verdicts.groups.case_groups import CaseGroups
    from agentbench_tui.verdicts.ranking.rankable import Rankable
    from agentbench_tui.verdicts.ranking.scorecard import PlaceNumbers
    from agentbench_tui.verdicts.selection.contenders import Contender


@dataclass(frozen=True)
class GroupOfCards:
    """Results of contenders in one group of cases."""

    name: str
    cases: int
    """Different cases of all contenders together."""
    cards: tuple[Scorecard, ...]


def check_field(
    connection: sqlite3.Connection, by_category: Mapping[str, Iterable[Contender]], wanted: str
) -> None:
    """Raise UsageError for a field that no case of any contender has."""
    rows = [row for those in by_category.values() for one in those for row in one.executions]
    if not any(row["dataset_key"] is not None for row in rows):
        raise UsageError(f"--by {wanted}: {NO_CASES}")
    _groups(connection, rows, CaseNumbers(connection), wanted)


def check_by_cases(cards: Sequence[Scorecard], by: Rankable, wanted: str) -> None:
    """Raise UsageError for a score of whole executions, which does not exist for groups of
    cases.
    """
    is_accuracy = by.name == OVERALL and all(only_accuracy(card.contender) for card in cards)
    if by.kind == "score" and not is_accuracy:
        raise UsageError(
            f"--by {wanted}: {by.name} is a score of whole executions; rank groups of cases by a"
            " metric, such as --metric accuracy"
        )


def cards_by_group(
    connection: sqlite3.Connection,
    cards: Sequence[Scorecard],
    places: PlaceNumbers,
    numbers: CaseNumbers,
    wanted: str,
) -> tuple[list[GroupOfCards], str]:
    """Return the groups that any contender has cases of, in order, and the name of the field."""
    rows = [row for card in cards for row in card.contender.executions]
    if not any(row["dataset_key"] is not None for row in rows):
        return [], wanted
    groups = _groups(connection, rows, numbers, wanted)
    found = []
    for at, name in enumerate(groups.names):
        parts = [Scorecard(card.contender, _evidence(card, groups, at, places)) for card in cards]
        kept = tuple(one for one in parts if one.evidence)
        if kept:
            cases = np.unique(np.concatenate([one.case for one in kept]))
            found.append(GroupOfCards(name, len(cases), kept))
    return found, groups.label


def without_own(clusters: Mapping[int, Finding], wanted: str) -> dict[int, Finding]:
    """Return the detected clusters except those that are the groups themselves, because each group
    would be a single draw.
    """
    own = {wanted, OF_METADATA + wanted}
    return {place: one for place, one in clusters.items() if one.grouping.name not in own}


def clustered_at(
    cards: Sequence[Scorecard], clustered: Sequence[Scorecard], places: Iterable[int]
) -> list[Scorecard]:
    """Return the cards, with the clusters of the given ones at these places."""
    chosen = set(places)
    return [
        Scorecard(
            card.contender,
            {
                place: other.evidence[place] if place in chosen else one
                for place, one in card.evidence.items()
            },
        )
        for card, other in zip(cards, clustered, strict=True)
    ]


def largest_first(groups: Iterable[GroupOfCards]) -> list[GroupOfCards]:
    """Return the groups with most cases first."""
    return sorted(groups, key=lambda one: -one.cases)


def _groups(
    connection: sqlite3.Connection, rows: Sequence[Execution], numbers: CaseNumbers, wanted: str
) -> CaseGroups:
    asked = [row for row in rows if row["dataset_key"] is not None]
    fields = CaseFields()
    fields.add_stored(connection, {row["dataset_key"] for row in asked}, numbers)
    fields.add_places(place_of(row) for row in asked)
    return fields.groups(wanted, also=get_args(By))


def _evidence(
    card: Scorecard, groups: CaseGroups, at: int, places: PlaceNumbers
) -> dict[int, Evidence]:
    found: dict[int, Evidence] = {}
    for place, one in card.evidence.items():
        if isinstance(one, TaskEvidence):
            inside = groups.members(one.case, places.place(place))[at]
            if inside.any():
                found[place] = one.rows(inside)
    return found
