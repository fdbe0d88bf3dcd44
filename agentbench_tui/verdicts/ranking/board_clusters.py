"""Undeclared clusters of leaderboards and runs: cases on which agents are alike, place by place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.analysis.sample import sorted_distinct
from agentbench_tui.verdicts.clusters.cluster_screening import screened
from agentbench_tui.verdicts.clusters.cluster_search import declared
from agentbench_tui.verdicts.clusters.undeclared_clusters import (
    candidates_of_each,
    candidates_of_many,
    clustered,
)
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.evidence.evidence import evidence_of
from agentbench_tui.verdicts.evidence.place import by_place
from agentbench_tui.verdicts.evidence.ratio_columns import sum_columns
from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence, joined
from agentbench_tui.verdicts.ranking.rankable import OVERALL, rankable
from agentbench_tui.verdicts.ranking.ranked import only_accuracy
from agentbench_tui.verdicts.ranking.ranked_by_case import CaseMeasure, case_measure
from agentbench_tui.verdicts.ranking.scorecard import Scorecard

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.analysis.sample import Integers
    from agentbench_tui.verdicts.clusters.undeclared_clusters import Finding
    from agentbench_tui.verdicts.evidence.place import Execution, Place


def with_found_clusters(
    cards: Sequence[Scorecard], metric: str, numbers: CaseNumbers
) -> tuple[list[Scorecard], dict[int, Finding]]:
    """Return the contenders with the clusters detected in their differences, and the findings by
    place; unchanged if cases are not ranked.
    """
    by = rankable(metric)
    if by.name == OVERALL and all(only_accuracy(card.contender) for card in cards):
        by = rankable("accuracy")
    measure = None if by.kind == "score" else case_measure(cards, by)
    if measure is None:
        return list(cards), {}
    found: dict[int, Finding] = {}
    evidence = [dict(card.evidence) for card in cards]
    for place in dict.fromkeys(place for one in evidence for place in one):
        here = [one for one in evidence if isinstance(one.get(place), TaskEvidence)]
        sides = [side for one in here if isinstance(side := one[place], TaskEvidence)]
        cases = _cases(sides)
        candidates = screened(
            numbers, cases, partial(candidates_of_many, sides, _searched(measure, by.name))
        )
        finding = next((one for one in candidates.findings() if one.metrics), None)
        if finding is None:
            continue
        found[place] = replace(finding, metric=by.name, metrics=(by.name,))
        for one, side in zip(here, sides, strict=True):
            one[place] = clustered(side, finding.grouping, cases)
    with_clusters = [
        Scorecard(card.contender, one) for card, one in zip(cards, evidence, strict=True)
    ]
    return with_clusters if found else list(cards), found


def _searched(measure: CaseMeasure, metric: str) -> str:
    """Return the metric, or the column that it is computed from, whose values are searched."""
    return metric if measure.column in sum_columns(metric) else measure.column


def with_declared_clusters(
    cards: Sequence[Scorecard], numbers: CaseNumbers, name: str
) -> list[Scorecard]:
    """Return the contenders with the groups of a field as clusters (see `--cluster`).

    Raises UsageError where no case has the field.
    """
    found = declared([card.evidence for card in cards], numbers, name)
    return [Scorecard(card.contender, one) for card, one in zip(cards, found, strict=True)]


def clusters_of_run(
    connection: sqlite3.Connection, rows: Sequence[Execution]
) -> list[tuple[Place, Finding]]:
    """Return undeclared clusters in the accuracy of any agent of a run.

    The `metric` of a finding names the agent with the strongest correlation.
    """
    numbers = CaseNumbers(connection)
    found = []
    done = [row for row in rows if row["dataset_key"] is not None and row["status"] == "complete"]
    for place, here in by_place(done).items():
        sides = _by_agent(connection, here, numbers)
        if not sides:
            continue
        cases = _cases([*sides.values()])
        candidates = screened(numbers, cases, partial(candidates_of_each, sides, "accuracy"))
        found += [(place, one) for one in candidates.findings() if one.metrics]
    return found


def _cases(sides: Sequence[TaskEvidence]) -> Integers:
    """Return all cases that any of them was asked, in order."""
    return sorted_distinct(joined([side.case for side in sides] or [np.empty(0, np.int64)]))


def _by_agent(
    connection: sqlite3.Connection, rows: Sequence[Execution], numbers: CaseNumbers
) -> dict[str, TaskEvidence]:
    """Return the evidence of each agent with an accuracy, at one place."""
    of_agent: dict[str, list[Execution]] = {}
    for row in rows:
        of_agent.setdefault(row["agent_id"], []).append(row)
    found = {}
    for agent, own in of_agent.items():
        evidence = evidence_of(connection, own, numbers)
        if isinstance(evidence, TaskEvidence) and "accuracy" in evidence.values:
            found[agent] = evidence
    return found
