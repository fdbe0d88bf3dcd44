"""The part of a stored suite that scores depend on: rubrics, weights and the baseline.

The models of `model.suite` validate what a person writes, and take longer to import than a
leaderboard takes to compute; what the store holds has been validated.
"""

from __future__ import annotations

import msgspec

from agentbench_tui.model.figures.dimension import DEFAULT_WEIGHTS


class ScoredMetric(msgspec.Struct, frozen=True):
    """`model.suite.RubricEntry`."""

    metric: str
    target: float
    limit: float
    scale: str = "linear"


class ScoredBenchmark(msgspec.Struct, frozen=True):
    """The scored part of `model.suite.Benchmark`."""

    benchmark_id: str
    scoring_rubric: dict[str, ScoredMetric] = {}


class ScoredSuite(msgspec.Struct, frozen=True):
    """The scored part of `model.suite.Suite`."""

    benchmarks: tuple[ScoredBenchmark, ...]
    weights: dict[str, float] = msgspec.field(default_factory=lambda: dict(DEFAULT_WEIGHTS))
    baseline: str | None = None


def read_scored_suite(document: str) -> ScoredSuite:
    """Read a suite stored as JSON. Raises ValueError if the document is not one."""
    return msgspec.json.decode(document, type=ScoredSuite)
