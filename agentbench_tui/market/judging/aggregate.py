"""Aggregate the stored episodes of an execution into the metrics that only a market has."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from agentbench_tui.analysis.intervals.estimate import Kind, estimate
from agentbench_tui.model.figures.market_metrics import FORESIGHT, MARKET_METRICS
from agentbench_tui.model.outcome_foresight import foresight
from agentbench_tui.store.queries.episodes import episode_metrics, metrics_of_counted

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.engine.task.aggregate import Aggregate

_NEVER = "it never happened in these episodes"


def add_metrics(connection: sqlite3.Connection, execution_key: int, result: Aggregate) -> None:
    """Add the means over the episodes, with worlds as clusters; without a value if no episode
    has one.
    """
    rows = episode_metrics(connection, execution_key)
    episodes = [(row.case_key, _with_times(json.loads(row.metrics))) for row in rows]
    for name, metric in MARKET_METRICS.items():
        found = [
            (world, float(value))
            for world, metrics in episodes
            if isinstance(value := metrics.get(name), int | float) and math.isfinite(value)
        ]
        if not found:
            result.add(name, None, _NEVER if episodes else "no episode came to its end")
            continue
        worlds, values = zip(*found, strict=True)
        kind: Kind = "share" if metric.unit == "share" else "amount"
        result.add(name, estimate(values, kind, clusters=worlds))
    in_order = sorted(rows, key=lambda row: (row.repeat, row.iteration))
    verdict = foresight((json.loads(row.world), json.loads(row.metrics)) for row in in_order)
    evidence = verdict.log10_evidence if verdict.markets else None
    result.total(FORESIGHT.name, evidence, verdict.markets, "no forecast was submitted")


def columns(connection: sqlite3.Connection, execution_key: int) -> dict[str, Floats]:
    """Return these metrics of each counted observation, NaN if missing, in the order of
    `engine.task.aggregate.Observations`; empty if no answer is an episode.
    """
    rows = metrics_of_counted(connection, execution_key)
    found = [_with_times(json.loads(row or "{}")) for row in rows]
    table = {
        name: np.array([_number(metrics.get(name)) for metrics in found], np.float64)
        for name in MARKET_METRICS
    }
    return {name: column for name, column in table.items() if not np.isnan(column).all()}


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def _with_times(metrics: dict[str, Any]) -> dict[str, Any]:
    """Add the percentiles of times under separate names."""
    times = metrics.get("response_ms") or {}
    return {**metrics, **{f"response_{part}_ms": value for part, value in times.items()}}
