"""Reasons for a missing interval of a score, or a missing value to rank by."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agentbench_tui.analysis.intervals.estimate import needs
from agentbench_tui.analysis.summary import needed
from agentbench_tui.model.figures.metric import DEFAULT_METRIC, SHARES
from agentbench_tui.store.queries.runs import metrics_of
from agentbench_tui.store.queries.suites import suite_document
from agentbench_tui.verdicts.ranking.rankable import OVERALL, rankable

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from agentbench_tui.verdicts.evidence.place import Execution
    from agentbench_tui.verdicts.ranking.rankable import Rankable
    from agentbench_tui.verdicts.ranking.ranked_group import NotRanked


def why_without_interval(
    connection: sqlite3.Connection, rows: Iterable[Execution], score: str = OVERALL
) -> str:
    """Return metric and reason of the first execution whose score has no interval, such as
    `e2e_ms.p50 needs 6 (have 3)`; empty if all have one, or no score at all.

    `score` is `overall`, or that of a dimension, such as `speed_score`.
    """
    for row in rows:
        if row[rankable(score).column] is None:
            continue
        if score == OVERALL and row["overall_low"] is not None:
            continue
        metrics = metrics_of(connection, row["key"])
        for name in _counting(connection, row, score).values():
            found = metrics.get(name)
            if found is not None and (found["low"] is None or found["high"] is None):
                return f"{name} {_why(name, found)}"
        if score == OVERALL:
            return "a score that counts has none"
    return ""


def why_not_ranked(connection: sqlite3.Connection, found: NotRanked, by: Rankable) -> str:
    """Return why a contender has no value: the given reason, or the one stored when it was
    measured.
    """
    if found.reason:
        return found.reason
    rows = [row for one in found.card.evidence.values() for row in one.executions]
    if by.kind == "score":
        return _why_no_score(connection, rows, by)
    names = [by.name, *(f"{by.base}.{part}" for part in ("p50", "mean"))]
    for row in rows:
        metrics = metrics_of(connection, row["key"])
        for name in names:
            if name in metrics and metrics[name]["value"] is None and metrics[name]["reason"]:
                return f"no {by.name}: {metrics[name]['reason']}"
    return f"no {by.name}: not measured, or too few answers for it"


def _why_no_score(connection: sqlite3.Connection, rows: Iterable[Execution], by: Rankable) -> str:
    """Return which dimension of the first execution without the score is missing, and why."""
    for row in rows:
        if row[by.column] is not None:
            continue
        metrics = metrics_of(connection, row["key"])
        for dimension, name in _counting(connection, row, by.name).items():
            if row[f"{dimension}_score"] is not None:
                continue
            metric = metrics.get(name, {})
            why = "the suite gives no rubric and no baseline for it"
            if metric.get("value") is None:
                why = f"no {name}: {metric.get('reason') or 'not measured'}"
            what = "" if by.name == f"{dimension}_score" else f" {dimension}:"
            return f"no {by.name} on {row['benchmark_id']}:{what} {why}"
    return f"no {by.name}: not every execution has one"


def _counting(connection: sqlite3.Connection, row: Execution, score: str) -> dict[str, str]:
    """Return the metric behind the score of each dimension."""
    suite = json.loads(suite_document(connection, row["suite_hash"]))
    rubric: dict[str, Any] = next(
        (
            one.get("scoring_rubric") or {}
            for one in suite.get("benchmarks", ())
            if one["benchmark_id"] == row["benchmark_id"]
        ),
        {},
    )
    alone = score.removesuffix("_score")
    return {
        dimension: rubric.get(dimension, {}).get("metric", DEFAULT_METRIC[dimension])
        for dimension, weight in suite.get("weights", {}).items()
        if (weight if score == OVERALL else dimension == alone)
    }


def _why(name: str, found: dict[str, Any]) -> str:
    n, share = found["n"], SHARES.get(name.partition(".")[2])
    fewest = 2 if share is None else needed(share) + (share == 0.5)
    if n < fewest:
        return needs(fewest, n)
    if found["reason"]:
        return str(found["reason"])
    missing = "no upper end" if found["low"] is not None else "no interval"
    why = ": too few of them right" if name.endswith("_per_correct") else ""
    return f"has {missing} in {n:,} answers{why}"
