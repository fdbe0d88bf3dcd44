"""Cases that several benchmarks share.

An answer counts in each benchmark that asked for it, so that the benchmarks keep their weights.
The case itself is one independent draw however many benchmarks ask it: an agent that fails it in
one most likely fails it in the others, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.groups.text_groups import connected
from agentbench_tui.analysis.sample import sorted_distinct
from agentbench_tui.model.text.plain_number import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentbench_tui.analysis.sample import Integers
    from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence

PER_PLACE = 1 << 40
"""Numbers of cases and clusters of one place; they lie around 0."""


def apart(labels: Integers, place: int) -> Integers:
    """Return labels that no other place has; those of place 0 as they are, without a copy."""
    return labels + place * PER_PLACE if place else labels


def independent_units(parts: Sequence[tuple[int, TaskEvidence]]) -> list[Integers]:
    """Return the independent unit of each observation, for each place with its evidence.

    Clusters that hold the same case, or have the same declared name, are one unit also across
    places. Rows of files tell cases only by their ids, which unlike benchmarks may both use, so
    their places share no units.
    """
    if len(parts) == 1:
        return [apart(part.cluster, place) for place, part in parts]
    labels = [
        part.cluster if part.executions and not part.clusters_are_local else apart(part.cluster, at)
        # Place 0 would keep its labels, which may be those of declared clusters elsewhere.
        for at, (_, part) in enumerate(parts, start=1)
    ]
    if not any(part.executions and part.clusters_are_local for _, part in parts):
        return labels  # of a case the declared cluster is the same everywhere
    return _joined(labels, [part for _, part in parts])


def _joined(labels: Sequence[Integers], parts: Sequence[TaskEvidence]) -> list[Integers]:
    """Return the labels, the same for all that are linked by a case of the store."""
    names = sorted_distinct(np.concatenate(labels))
    stored = [(part.case, one) for part, one in zip(parts, labels, strict=True) if part.executions]
    of_case = np.unique(
        np.stack(
            [
                np.concatenate([case for case, _ in stored]),
                np.searchsorted(names, np.concatenate([one for _, one in stored])),
            ]
        ),
        axis=1,
    )
    follows = np.flatnonzero(of_case[0, 1:] == of_case[0, :-1])
    first, second = of_case[1, follows], of_case[1, follows + 1]
    unit = connected(len(names), first.tolist(), second.tolist())
    return [unit[np.searchsorted(names, one)] for one in labels]


def shared_cases_words(by_place: Iterable[Integers], places: str = "benchmarks") -> str:
    """Say how many cases are asked in several places; empty if there are none.

    `by_place`: the cases of each place, which may be repeated.
    """
    asked = np.concatenate([np.empty(0, np.int64), *map(sorted_distinct, by_place)])
    _, times = np.unique(asked, return_counts=True)
    several = int((times > 1).sum())
    if not several:
        return ""
    verb, each = ("is", "it") if several == 1 else ("are", "each")
    return (
        f"{counted(several, 'case')} {verb} asked in several {places}: {each} counts once in each"
        " of them, and as one independent case in intervals and tests"
    )
