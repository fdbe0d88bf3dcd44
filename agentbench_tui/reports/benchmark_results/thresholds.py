"""Good signs and red flags by the thresholds that StateSet's benchmarks publish, and what the
rubrics of a suite say.

The thresholds are rough, the same for every agent and machine, and no part of a score; the suites
`agent-runtime` and `performance` have them as rubrics, as far as a rubric can say them. What is not
known is not judged.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.text.plain_number import plain
from agentbench_tui.presentation.numbers import chosen_percent
from agentbench_tui.store.queries.gauges import memory_of_agent
from agentbench_tui.store.queries.suites import scoring_rubric

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

GOOD_P95_MS, RED_P99_MS = 200.0, 1000.0
"""Good for real time; a red flag."""
GOOD_PER_S = 10.0
"""Answers a second, good for production."""
GOOD_MEMORY_MB = 30_000.0
"""Memory of the agent's processes that would fit on a single GPU."""
GOOD_GPU_PERCENT, RED_GPU_PERCENT = 80.0, 50.0
"""Share of time in which a GPU was at work; below the second the processor holds it up."""
RED_CV = 0.15
"""Standard deviation ÷ mean from which on times are unstable: "poor" of the original's scale."""
NOTE = (
    f"Good: p95 below {GOOD_P95_MS:g} ms, more than {GOOD_PER_S:g} answers a second, less than"
    f" {GOOD_MEMORY_MB / 1000:g} GB of memory, GPUs at work more than {GOOD_GPU_PERCENT:g}% of the"
    f" time. Red flags: p99 above {RED_P99_MS:g} ms, GPUs at work less than {RED_GPU_PERCENT:g}%,"
    f" a standard deviation of times above {chosen_percent(RED_CV)} of their mean, memory that"
    " grows (the 95% interval of its slope lies above 0). p95 needs 59 answers, p99 299, growth 20"
    " readings."
)


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures to judge; unknown ones are None."""

    p95_ms: float | None = None
    p99_ms: float | None = None
    per_s: float | None = None
    """Requests per second."""
    cv: float | None = None
    """Coefficient of variation of times: standard deviation ÷ mean."""
    memory_mb: float | None = None
    growth_mb_per_min: float | None = None
    """Growth of memory, if it is certain at 95% confidence; 0 without growth."""
    gpu_percent: float | None = None


def judged(figures: Figures) -> list[str]:
    """Return the assessments by the thresholds, as far as figures exist."""
    told = []
    if figures.p95_ms is not None and figures.p95_ms < GOOD_P95_MS:
        told.append("good p95")
    if figures.per_s is not None and figures.per_s > GOOD_PER_S:
        told.append("good throughput")
    if figures.memory_mb is not None and figures.memory_mb < GOOD_MEMORY_MB:
        told.append("good memory")
    if figures.gpu_percent is not None and figures.gpu_percent > GOOD_GPU_PERCENT:
        told.append("good GPU use")
    if figures.p99_ms is not None and figures.p99_ms > RED_P99_MS:
        told.append("red flag: p99")
    if figures.gpu_percent is not None and figures.gpu_percent < RED_GPU_PERCENT:
        told.append("red flag: GPU waits")
    if figures.cv is not None and figures.cv > RED_CV:
        told.append("red flag: unstable times")
    if figures.growth_mb_per_min:
        told.append(f"red flag: memory grows by {figures.growth_mb_per_min:.3g} MB a minute")
    return told


def by_rubrics(
    connection: sqlite3.Connection, execution: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Every rubric of the benchmark that an execution of a run's document is one of: `dimension`,
    `metric`, `value`, `target`, `limit` and `score`."""
    rubric = scoring_rubric(connection, execution["execution_id"])
    return [
        {
            "dimension": dimension,
            "metric": entry["metric"],
            "value": (execution["metrics"].get(entry["metric"]) or {}).get("value"),
            "target": entry["target"],
            "limit": entry["limit"],
            "score": execution["scores"][dimension],
        }
        for dimension, entry in json.loads(rubric or "{}").items()
    ]


def rubric_words(rubric: Mapping[str, Any]) -> str:
    """As `speed 0.75 (e2e_ms.p95: 1 at 200, 0 at 1000)`."""
    score = "–" if rubric["score"] is None else f"{rubric['score']:.2f}"
    ends = f"1 at {plain(rubric['target'], 6)}, 0 at {plain(rubric['limit'], 6)}"
    return f"{rubric['dimension']} {score} ({rubric['metric']}: {ends})"


def memory_growth(connection: sqlite3.Connection, execution_id: str) -> float | None:
    """MB a minute by which the memory of the agent's processes grew, 0 where none is seen; None
    with fewer than 20 readings of them."""
    from agentbench_tui.analysis.runs.trend import trend_line

    rows = memory_of_agent(connection, execution_id)
    if len(rows) < 2 or rows[0][0] == rows[-1][0]:
        return None
    found = trend_line([row[0] for row in rows], [row[1] for row in rows])
    if found is None:
        return None
    return 60 * found.slope if found.interval.low > 0 else 0.0
