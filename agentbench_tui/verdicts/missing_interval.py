"""Why an overall score has no interval: what of the metrics behind it has none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agentbench_tui.analysis.estimate import needs
from agentbench_tui.analysis.summary import needed
from agentbench_tui.model.metric import DEFAULT_METRIC, SHARES
from agentbench_tui.store.queries import metrics_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from agentbench_tui.verdicts.place import Execution


def why_without_interval(connection: sqlite3.Connection, rows: Iterable[Execution]) -> str:
    """Metric and reason of the first of the executions whose overall score has no interval, such as
    `e2e_ms.p50 needs 6 (have 3)`; empty where all have one, or no score at all."""
    for row in rows:
        if row["overall_score"] is None or row["overall_low"] is not None:
            continue
        metrics = metrics_of(connection, row["key"])
        for name in _counting(connection, row):
            found = metrics.get(name)
            if found is not None and (found["low"] is None or found["high"] is None):
                return f"{name} {_why(name, found)}"
        return "a score that counts has none"
    return ""


def _counting(connection: sqlite3.Connection, row: Execution) -> list[str]:
    """The metrics whose scores make the overall score."""
    (document,) = connection.execute(
        "SELECT document FROM benchmark_suites WHERE hash=?", (row["suite_hash"],)
    ).fetchone()
    suite = json.loads(document)
    rubric: dict[str, Any] = next(
        (
            one.get("scoring_rubric") or {}
            for one in suite.get("benchmarks", ())
            if one["benchmark_id"] == row["benchmark_id"]
        ),
        {},
    )
    return [
        rubric.get(dimension, {}).get("metric", DEFAULT_METRIC[dimension])
        for dimension, weight in suite.get("weights", {}).items()
        if weight
    ]


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
