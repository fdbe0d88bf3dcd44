"""History of an agent's runs: the judgment of the newest, with the runs behind each metric.

The result of `agentbench regressions` and, for every finding, the values of all runs, their
intervals, and earlier changes of level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentbench_tui.analysis.runs.change_point import changes
from agentbench_tui.analysis.runs.severity import severity
from agentbench_tui.store.queries.baselines import accepted_changes
from agentbench_tui.store.queries.metrics import MetricInterval, metric_intervals
from agentbench_tui.verdicts.evidence.place import Place
from agentbench_tui.verdicts.regression.acceptance import acceptable
from agentbench_tui.verdicts.regression.alarms import Standing, standing_of
from agentbench_tui.verdicts.regression.history import comparable
from agentbench_tui.verdicts.regression.regression import LOOKED_AT, RegressionAsked, judge_agent
from agentbench_tui.verdicts.regression.regression_document import regressions_document

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from agentbench_tui.contracts.regressions import RegressionFinding, RegressionsDocument
    from agentbench_tui.store.queries.baselines import AcceptedChange
    from agentbench_tui.verdicts.regression.finding import Finding
    from agentbench_tui.verdicts.regression.history import Point

MOST_RUNS = 200
"""Number of newest runs of a metric that are shown."""

_Ends = dict[tuple[int, str], MetricInterval]


@dataclass(frozen=True, slots=True)
class SeriesPoint:
    """One run."""

    run_id: str
    at: str
    version: str
    value: float
    low: float | None = None
    """Lower end of its 95% interval; None if it has none, as for several seeds together."""
    high: float | None = None
    is_comparable: bool = True
    """Whether the newest run can be compared with it."""


@dataclass(frozen=True, slots=True)
class LevelChange:
    """Change of level: between the runs `first` and `last`, both counted from 0."""

    first: int
    last: int
    worse: bool
    change: float | None
    """after / before, or after - before of shares."""
    severity: str | None
    """Severity of a change for the worse, if it has an interval."""


@dataclass(frozen=True, slots=True)
class Series:
    """One metric at one place over the runs, oldest first."""

    place: Place
    metric: str
    finding: RegressionFinding
    """Finding of the regressions document."""
    points: tuple[SeriesPoint, ...]
    changes: tuple[LevelChange, ...]
    accepted: AcceptedChange | None
    earlier: int
    """Number of earlier runs that were read but are not shown."""
    is_cut: bool = False
    """Whether there may be more runs, since only the newest are read."""


@dataclass(frozen=True, slots=True)
class AgentSeries:
    """All series of one agent."""

    document: RegressionsDocument
    """`agentbench.regressions/1`."""
    series: tuple[Series, ...]
    """As many and in the order of its findings."""
    standing: Standing
    """The same in a line."""

    @property
    def agent(self) -> str:
        """Return the agent."""
        return self.document.agent


def series_of(connection: sqlite3.Connection, agent: str) -> AgentSeries:
    """Return the history of an agent. Raises UsageError like `judge_agent`."""
    judgment = judge_agent(connection, RegressionAsked(agent))
    document = regressions_document(connection, judgment)
    accepted = accepted_changes(connection, agent)
    ends = _ends(connection, judgment.findings, judgment.histories)
    series = []
    for one, told in zip(judgment.findings, document.findings, strict=True):
        history = [p for p in judgment.histories[one.place] if one.metric in p.values]
        shown = history[-MOST_RUNS:]
        fitting = [
            change
            for change in accepted
            if (change.suite_id, change.benchmark_id, change.parameters) == one.place
            and change.metric == one.metric
        ]
        kept = _held_against(one, shown)
        series.append(
            Series(
                one.place,
                one.metric,
                told,
                tuple(_point(point, one.metric, ends, kept) for point in shown),
                _changes(one, shown, kept),
                fitting[-1] if fitting else None,
                len(history) - len(shown),
                len(judgment.histories[one.place]) >= LOOKED_AT,
            )
        )
    return AgentSeries(document, tuple(series), standing_of(judgment))


def acceptable_at(
    connection: sqlite3.Connection, agent: str, place: Place, metric: str
) -> list[AcceptedChange]:
    """Return the acceptable changes of level of one metric at one place; at most one."""
    judgment = judge_agent(connection, RegressionAsked(agent))
    return acceptable(
        one for one in judgment.findings if one.place == place and one.metric == metric
    )


def _held_against(one: Finding, shown: Sequence[Point]) -> set[int]:
    """Return keys of the runs that are comparable with the newest judged one."""
    if not one.new or one.new[-1] not in shown:
        return {point.run_key for point in shown}
    kept, _ = comparable(shown, one.new[-1], one.metric)
    return {point.run_key for point in kept}


def _point(point: Point, metric: str, ends: _Ends, kept: set[int]) -> SeriesPoint:
    low, high = ends.get((point.keys[0], metric), (None, None))
    if len(point.executions) > 1:
        low = high = None
    return SeriesPoint(
        point.run_id,
        point.at,
        point.version,
        point.values[metric],
        low,
        high,
        point.run_key in kept,
    )


def _changes(one: Finding, shown: Sequence[Point], kept: set[int]) -> tuple[LevelChange, ...]:
    """Return the metric's unit from the comparable runs, or from the finding if they do not have
    it.
    """
    places = [number for number, point in enumerate(shown) if point.run_key in kept]
    values = [shown[number].values[one.metric] for number in places]
    found: list[LevelChange] = []
    if one.scale.kind == "points" or min(values, default=0.0) > 0:
        found = [
            LevelChange(
                places[change.first],
                places[change.last],
                change.worse,
                change.change,
                severity(change.low, change.high, one.scale) if change.worse else None,
            )
            for change in changes(values, one.scale, one.margin or None)
        ]
    newest = _newest_change(one, shown)
    if newest is None:
        return tuple(found)
    apart = [one for one in found if one.last < newest.first or one.first > newest.last]
    return (*apart, newest)


def _newest_change(one: Finding, shown: Sequence[Point]) -> LevelChange | None:
    if one.location is None or one.verdict not in {"regression", "improvement", "suspect"}:
        return None
    ids = [point.run_id for point in shown]
    if one.location.first.run_id not in ids or one.location.last.run_id not in ids:
        return None
    worse = one.worsening
    return LevelChange(
        ids.index(one.location.first.run_id),
        ids.index(one.location.last.run_id),
        one.verdict == "regression" or (worse is not None and worse > 0),
        one.change,
        one.severity or ("suspect" if one.verdict == "suspect" else None),
    )


def _ends(
    connection: sqlite3.Connection,
    findings: Sequence[Finding],
    histories: Mapping[Place, list[Point]],
) -> _Ends:
    """Return the interval ends by (execution key, metric), of all shown points."""
    keys = [
        key
        for place in {one.place for one in findings}
        for point in histories[place][-MOST_RUNS:]
        for key in point.keys
    ]
    metrics = sorted({one.metric for one in findings})
    return metric_intervals(connection, keys, metrics)
