"""The versions of an agent in the order of their first runs, and where a metric changed.

Each version is compared with the first one of the current level: the first version, or the last
that changed. So a slow decline is found once it has added up, although no step of it can be told
from chance. The rule is that of `compare`, which needs no more than one run of each version where
answers are compared case by case. The p of each comparison is multiplied by their number
(Bonferroni), so that the chance of any false change in the history of a metric stays below 5%.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import UsageError, did_you_mean
from agentbench_tui.model.kinds import DEFAULT, kind_named
from agentbench_tui.store.queries.selection import agent_ids, executions_where
from agentbench_tui.store.queries.suites import benchmark_kind
from agentbench_tui.verdicts.comparison.compare import compare_evidence
from agentbench_tui.verdicts.comparison.comparison import Asked, Comparison
from agentbench_tui.verdicts.comparison.judgment import judged
from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers
from agentbench_tui.verdicts.evidence.comparability import (
    DISTURBED,
    differences,
    is_timed,
    on_common_cases,
)
from agentbench_tui.verdicts.evidence.evidence import evidence_of
from agentbench_tui.verdicts.evidence.place import by_place
from agentbench_tui.verdicts.history.version_values import VersionValue, version_value

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from agentbench_tui.verdicts.evidence.evidence import Evidence
    from agentbench_tui.verdicts.evidence.place import Execution, Place

OF_TASKS = ("accuracy", "e2e_ms", "cost_usd_per_task")
OF_OTHERS = ("ttft_ms.p50", "e2e_ms.p50", "request_throughput_per_s")
"""Metrics that are shown unless others are chosen, as far as they were measured."""


@dataclass(frozen=True, slots=True)
class VersionChange:
    """A version against an earlier one."""

    against: str
    """The version that it was compared with."""
    comparison: Comparison
    reason: str
    """Why there is no verdict; empty if there is one."""
    is_disturbed: bool = False
    """Whether the machine or the harness disturbed the times that are compared."""

    @property
    def is_change(self) -> bool:
        """Return whether it is better or worse."""
        return self.comparison.verdict in {"better", "worse"}


@dataclass(frozen=True, slots=True)
class VersionPoint:
    """One version at one place."""

    version: str
    executions: tuple[Execution, ...]
    value: VersionValue
    change: VersionChange | None
    """None of the first version, and of one without a value."""


@dataclass(frozen=True, slots=True)
class MetricHistory:
    """One metric at one place, its versions in the order of their first runs."""

    place: Place
    metric: str
    points: tuple[VersionPoint, ...]


def version_histories(
    connection: sqlite3.Connection,
    agent: str,
    metrics: Sequence[str] = (),
    *,
    suite: str | None = None,
    benchmark: str | None = None,
) -> list[MetricHistory]:
    """The history of each metric at each place where an agent was measured completely.

    Raises UsageError for an unknown agent, and where nothing complete was measured.
    """
    known = agent_ids(connection)
    if agent not in known:
        raise UsageError(
            f"no agent '{agent}'{did_you_mean(agent, known)}; `agentbench agents list` shows them"
        )
    rows = executions_where(connection, agent=agent, suite=suite, benchmark=benchmark)
    if not rows:
        raise UsageError(f"agent {agent} has no complete run there; `agentbench runs list`")
    numbers = CaseNumbers(connection)
    found = []
    for place, there in by_place(rows).items():
        versions = {
            version: evidence_of(connection, executions, numbers)
            for version, executions in _by_version(there).items()
        }
        for metric in metrics or _usual(connection, there[-1]):
            points = _points(connection, versions, metric, numbers)
            if metrics or any(point.value.value is not None for point in points):
                found.append(MetricHistory(place, metric, points))
    return found


def _by_version(rows: Iterable[Execution]) -> dict[str, list[Execution]]:
    """Return the executions of each version, in the order of the first of each."""
    found: dict[str, list[Execution]] = {}
    for row in rows:
        found.setdefault(row["agent_version"], []).append(row)
    return found


def _usual(connection: sqlite3.Connection, row: Execution) -> tuple[str, ...]:
    kind = benchmark_kind(connection, row["suite_hash"], row["benchmark_id"]) or DEFAULT
    return OF_TASKS if kind_named(kind).judges_answers else OF_OTHERS


def _points(
    connection: sqlite3.Connection,
    versions: Mapping[str, Evidence],
    metric: str,
    numbers: CaseNumbers,
) -> tuple[VersionPoint, ...]:
    values = {
        version: version_value(connection, evidence, metric)
        for version, evidence in versions.items()
    }
    measured = [version for version, value in values.items() if value.value is not None]
    anchor = measured[0] if measured else None
    points = []
    for version, evidence in versions.items():
        change = None
        if anchor is not None and version in measured and version != anchor:
            change = _change(
                connection, (anchor, versions[anchor]), evidence, metric, numbers, len(measured) - 1
            )
            if change.is_change:
                anchor = version
        points.append(VersionPoint(version, tuple(evidence.executions), values[version], change))
    return tuple(points)


def _change(
    connection: sqlite3.Connection,
    earlier: tuple[str, Evidence],
    evidence: Evidence,
    metric: str,
    numbers: CaseNumbers,
    tests: int,
) -> VersionChange:
    """Compare a version with an earlier one; `tests`: comparisons that are judged together."""
    name, before = earlier
    found = differences(connection, before, evidence, numbers)
    after = evidence
    if any(one.what == "cases" for one in found):
        before, after = on_common_cases(before, after)
    compared, _ = compare_evidence(before, after, Asked(), [metric])
    if not compared:
        return VersionChange(name, Comparison(metric, "", "lower", 0.0), "not measured alike")
    (comparison,) = compared
    reason = next((one.words for one in found if one.forbids_winner), "")
    times = is_timed(metric, before, after)
    if not reason and times:
        reason = next((one.words for one in found if one.forbids_times), "")
    if reason:
        comparison = replace(comparison, comparable=False)
    p = comparison.p_value
    verdict = judged(comparison, None if p is None else min(1.0, tests * p), tests)
    disturbed = times and any(one.what == DISTURBED for one in found)
    return VersionChange(name, verdict, reason, disturbed)
