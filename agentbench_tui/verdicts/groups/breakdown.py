"""Results of a run by groups of cases: each agent's figures in each group, and which groups
differ.

This analysis is separate from the main one and changes no score, rank or gate.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.store.queries.answers import failures_by_case
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.evidence.place import place_of
from agentbench_tui.verdicts.evidence.shared_cases import apart, shared_cases_words
from agentbench_tui.verdicts.evidence.task_evidence import task_evidence
from agentbench_tui.verdicts.groups.case_groups import CaseFields
from agentbench_tui.verdicts.groups.group_figures import (
    GroupedAnswers,
    GroupFigures,
    group_figures,
    judged_groups,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from agentbench_tui.analysis.sample import Integers
    from agentbench_tui.verdicts.evidence.place import Execution, Place
    from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence
    from agentbench_tui.verdicts.groups.case_groups import CaseGroups

    Part = tuple[Execution, TaskEvidence]
    """An execution with its observations."""

NO_CASES = "only benchmarks with cases have fields, and there are none"
MAIN_METRICS = ("accuracy", "e2e_ms")
"""Candidates for the metric compared between groups: the first that an agent has."""


class AgentBreakdown(msgspec.Struct, frozen=True):
    """One agent at one point of a sweep."""

    agent_id: str
    agent_version: str
    simulated: bool
    parameters: dict[str, object]
    metric: str
    whole: GroupFigures
    groups: tuple[GroupFigures, ...]
    p_varies: float | None
    """p of the hypothesis that the metric is the same in all groups; None if that cannot be
    tested.
    """
    method: str
    """Method of the tests of each group against the rest."""


class Breakdown(msgspec.Struct, frozen=True):
    """Results of a run by the groups of one field."""

    field: str
    agents: tuple[AgentBreakdown, ...]
    notes: tuple[str, ...] = ()


def breakdown(
    connection: sqlite3.Connection, executions: Sequence[Execution], wanted: str
) -> Breakdown:
    """Group the answers of a run's executions by a field of their cases.

    Raises UsageError if none of them asks cases, and as `CaseFields.groups` does.
    """
    asked = [row for row in executions if row["dataset_key"] is not None]
    if not asked:
        raise UsageError(f"--by {wanted}: {NO_CASES}")
    rows = [row for row in asked if row["observed"]]
    numbers, fields = CaseNumbers(connection), CaseFields()
    fields.add_stored(connection, {row["dataset_key"] for row in asked}, numbers)
    fields.add_places(place_of(row) for row in asked)
    groups = fields.groups(wanted)
    by_agent: dict[tuple[object, ...], list[Execution]] = {}
    for row in rows:
        point = tuple(sorted((name, str(value)) for name, value in row["parameters"].items()))
        key = (row["agent_id"], row["agent_version"], row["simulated"], point)
        by_agent.setdefault(key, []).append(row)
    evidence = [_parts(connection, those, numbers) for those in by_agent.values()]
    agents = [
        _of_agent(connection, those, parts, groups, numbers)
        for those, parts in zip(by_agent.values(), evidence, strict=True)
        if parts
    ]
    notes = [groups.note] if groups.note else []
    notes += dict.fromkeys(filter(None, map(_shared_words, evidence)))
    if len(rows) < len(asked):
        left_out = counted(len(asked) - len(rows), "execution")
        notes.append(f"{left_out} without figures left out: not finished")
    return Breakdown(groups.label, tuple(agents), tuple(notes))


def _parts(
    connection: sqlite3.Connection, rows: Sequence[Execution], numbers: CaseNumbers
) -> list[Part]:
    """Return the executions with observations, each with these."""
    parts = [(row, task_evidence(connection, [row], numbers)) for row in rows]
    return [(row, part) for row, part in parts if len(part.case)]


def _shared_words(parts: Sequence[Part]) -> str:
    by_place: dict[Place, list[Integers]] = {}
    for row, part in parts:
        by_place.setdefault(place_of(row), []).append(part.case)
    return shared_cases_words(map(np.concatenate, by_place.values()))


def _of_agent(
    connection: sqlite3.Connection,
    rows: Sequence[Execution],
    parts: Sequence[Part],
    groups: CaseGroups,
    numbers: CaseNumbers,
) -> AgentBreakdown:
    answers = _together(parts, groups)
    metric = next((one for one in MAIN_METRICS if one in answers.values), MAIN_METRICS[0])
    failures = _failures(connection, rows, groups, numbers)
    first = rows[0]
    whole = group_figures("", answers, metric, failures[-1])
    found = [
        group_figures(name, answers.only(inside), metric, of_group)
        for name, inside, of_group in zip(groups.names, answers.members, failures, strict=False)
    ]
    judged, p_varies, method = judged_groups(found, answers, metric)
    return AgentBreakdown(
        first["agent_id"],
        first["agent_version"],
        bool(first["simulated"]),
        dict(first["parameters"]),
        metric,
        whole,
        tuple(one for one in judged if one.answers),
        p_varies,
        method,
    )


def _together(parts: Sequence[Part], groups: CaseGroups) -> GroupedAnswers:
    names = dict.fromkeys(name for _, part in parts for name in part.values)
    return GroupedAnswers(
        _asked(parts),
        np.concatenate([part.cluster for _, part in parts]),
        np.concatenate([part.repeat for _, part in parts]),
        {
            name: np.concatenate(
                [part.values.get(name, np.full(len(part.case), np.nan)) for _, part in parts]
            )
            for name in names
        },
        np.concatenate([groups.members(part.case, place_of(row)) for row, part in parts], axis=1),
    )


def _asked(parts: Sequence[Part]) -> Integers:
    """Return the case of each observation; a case that several benchmarks ask differs in each."""
    places = [*dict.fromkeys(place_of(row) for row, _ in parts)]
    return np.concatenate([apart(part.case, places.index(place_of(row))) for row, part in parts])


def _failures(
    connection: sqlite3.Connection,
    rows: Iterable[Execution],
    groups: CaseGroups,
    numbers: CaseNumbers,
) -> list[Counter[str]]:
    """Return, for each group and finally for all cases, failure kind → number of observations."""
    found: list[Counter[str]] = [Counter() for _ in (*groups.names, "")]
    for row in rows:
        failed = failures_by_case(connection, row["key"])
        keys = np.array([case for case, *_ in failed], np.int64)
        inside = groups.members(numbers.of(row["dataset_key"], keys), place_of(row))
        for column, (_, kind, count) in enumerate(failed):
            found[-1][kind] += count
            for group in np.flatnonzero(inside[:, column]).tolist():
                found[group][kind] += count
    return found
