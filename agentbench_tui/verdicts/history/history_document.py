"""`agentbench.history/1`: the histories of an agent as a document."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from agentbench_tui.contracts.history import (
    HistoryDocument,
    MeasuredVersion,
    MetricVersions,
    VersionComparison,
)
from agentbench_tui.model.figures.metric import find_metric
from agentbench_tui.store.queries.history import tags_of_runs

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from agentbench_tui.verdicts.history.version_history import (
        MetricHistory,
        VersionChange,
        VersionPoint,
    )


def history_document(
    connection: sqlite3.Connection, agent: str, found: Sequence[MetricHistory]
) -> HistoryDocument:
    """Return what `agentbench history --format json` prints."""
    run_keys = {row["run_key"] for one in found for at in one.points for row in at.executions}
    tags = {key: json.loads(text) for key, text in tags_of_runs(connection, run_keys).items()}
    return HistoryDocument(agent=agent, histories=tuple(_history(one, tags) for one in found))


def _history(found: MetricHistory, tags: Mapping[int, Sequence[str]]) -> MetricVersions:
    known = find_metric(found.metric)
    return MetricVersions(
        suite_id=found.place.suite_id,
        benchmark_id=found.place.benchmark_id,
        parameters=found.place.point,
        metric=found.metric,
        unit="" if known is None else known.unit,
        better="higher" if known is None else known.direction,
        versions=tuple(_version(point, tags) for point in found.points),
        changes=tuple(
            point.version
            for point in found.points
            if point.change is not None and point.change.is_change
        ),
    )


def _version(point: VersionPoint, tags: Mapping[int, Sequence[str]]) -> MeasuredVersion:
    rows = point.executions
    own = dict.fromkeys(tag for row in rows for tag in tags.get(row["run_key"], ()))
    return MeasuredVersion(
        version=point.version,
        first_at=rows[0]["created_at"],
        last_at=rows[-1]["created_at"],
        run_ids=tuple(dict.fromkeys(row["run_id"] for row in rows)),
        tags=tuple(own),
        value=point.value.value,
        low=point.value.low,
        high=point.value.high,
        against=None if point.change is None else _comparison(point.change),
    )


def _comparison(change: VersionChange) -> VersionComparison:
    found = change.comparison
    return VersionComparison(
        version=change.against,
        verdict=found.verdict,
        change=found.difference if found.ratio is None else found.ratio,
        change_is="difference" if found.ratio is None else "ratio",
        low=found.low,
        high=found.high,
        p_value=found.p_value,
        p_adjusted=found.p_adjusted,
        reason=change.reason or None,
        disturbed=change.is_disturbed,
    )
