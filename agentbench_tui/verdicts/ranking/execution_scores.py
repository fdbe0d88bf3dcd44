"""Scores of executions with their intervals, and the effect of between-run variance on them.

The scores themselves are stored. What is worked out here from the stored metrics, by the rules that
scored them, is the interval of each dimension, and what a score owes to the machine: all times of a
run are longer or shorter together, so that every score of a time moves with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.analysis.distribution import normal_quantile
from agentbench_tui.analysis.runs.between_run import LARGE_CHANGE, between_run_error
from agentbench_tui.engine.task.aggregate import MetricValue
from agentbench_tui.model.figures.dimension import DIMENSIONS
from agentbench_tui.model.figures.metric import find_metric
from agentbench_tui.model.scored_suite import ScoredSuite, read_scored_suite
from agentbench_tui.scoring.dimension_scores import (
    DimensionScore,
    ScoreRule,
    score_dimension,
    score_rule,
)
from agentbench_tui.store.queries.executions import metrics_of_baseline
from agentbench_tui.store.queries.runs import is_measured_with, metrics_of
from agentbench_tui.store.queries.suites import suite_document
from agentbench_tui.verdicts.evidence.comparability import depends_on_machine
from agentbench_tui.verdicts.ranking.rankable import OVERALL

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping

    from agentbench_tui.verdicts.evidence.place import Execution
    from agentbench_tui.verdicts.ranking.rankable import Rankable

_LUCK = math.exp(normal_quantile(0.975) * between_run_error((1, math.inf)))
"""Factor of times at the 95% ends of the assumed between-run variance."""
_SAME = 1e-9


class ExecutionScore(msgspec.Struct, frozen=True):
    """One score of one execution, 0..1 except for comparisons with others."""

    value: float
    low: float | None = None
    high: float | None = None
    """95% interval within the run."""
    worse: float = 0.0
    better: float = 0.0
    """Change of the score at the 95% ends of the assumed between-run variance, both >= 0."""
    large: float = 0.0
    """Change of the score when its times change by the threshold for few runs (10%); infinite if
    unknown.
    """
    is_timed: bool = False
    """Whether it depends on the machine."""


def execution_scores(
    connection: sqlite3.Connection, rows: Iterable[Execution], by: Rankable
) -> dict[int, ExecutionScore]:
    """Return the known scores of these executions by key."""
    suites: dict[str, ScoredSuite] = {}
    found: dict[int, ExecutionScore] = {}
    for row in rows:
        value = row[by.column]
        if value is None:
            continue
        dimensions = [name for name in DIMENSIONS if by.name == f"{name}_score"]
        if by.name != OVERALL and not dimensions:
            found[row["key"]] = ExecutionScore(value)
            continue
        key = row["suite_hash"]
        if key not in suites:
            suites[key] = read_scored_suite(suite_document(connection, key))
        suite = suites[key]
        weights = suite.weights if by.name == OVERALL else {dimensions[0]: 1.0}
        found[row["key"]] = _score(connection, row, value, suite, weights)
    return found


def _score(
    connection: sqlite3.Connection,
    row: Execution,
    value: float,
    suite: ScoredSuite,
    weights: Mapping[str, float],
) -> ExecutionScore:
    benchmark = next(
        (one for one in suite.benchmarks if one.benchmark_id == row["benchmark_id"]), None
    )
    if benchmark is None:  # imported without its definition
        return ExecutionScore(value, row["overall_low"], row["overall_high"])
    baseline: Mapping[str, float] = {}
    if suite.baseline is not None:
        baseline = metrics_of_baseline(connection, row["key"], suite.baseline)
    metrics = {
        name: MetricValue(name, **one) for name, one in metrics_of(connection, row["key"]).items()
    }
    total = sum(weights.values())
    counting = [
        (score_rule(name, benchmark.scoring_rubric, baseline), weight / total)
        for name, weight in weights.items()
        if weight > 0
    ]
    ends: tuple[float | None, float | None] = (row["overall_low"], row["overall_high"])
    if len(weights) == 1:
        ((rule, _),) = counting
        ends = _ends(value, score_dimension(rule, metrics.get(rule.metric)))
    # A score relative to a baseline of the same run is that of both: the run's luck cancels.
    shared_luck = suite.baseline is not None and is_measured_with(
        connection, row["key"], suite.baseline
    )
    moves = [
        _moves(rule, metrics.get(rule.metric), row, weight)
        for rule, weight in counting
        if not (rule.is_relative and shared_luck)
    ]
    return ExecutionScore(
        value,
        *ends,
        worse=sum(one.worse for one in moves),
        better=sum(one.better for one in moves),
        large=sum(one.large for one in moves),
        is_timed=any(depends_on_machine(rule.metric, [row]) for rule, _ in counting),
    )


def _ends(value: float, found: DimensionScore) -> tuple[float | None, float | None]:
    """Return the interval of a dimension; none if its score is no longer valid, such as one
    relative to a baseline that was measured again.
    """
    if found.value is None or abs(found.value - value) > _SAME:
        return None, None
    return found.low, found.high


class _Moves(msgspec.Struct, frozen=True):
    worse: float = 0.0
    better: float = 0.0
    large: float = 0.0


def _moves(rule: ScoreRule, found: MetricValue | None, row: Execution, weight: float) -> _Moves:
    """Return how far a weighted dimension moves with the between-run variance of its times."""
    if found is None or found.value is None or not depends_on_machine(rule.metric, [row]):
        return _Moves()
    known = find_metric(rule.metric)
    if known is not None and known.unit == "share":
        return _Moves(large=math.inf)
    near = _range(rule.score, found.value, _LUCK)
    far = _range(rule.score, found.value, 1 + LARGE_CHANGE)
    return _Moves(weight * near[0], weight * near[1], weight * max(far))


def _range(
    score: Callable[[float], float | None], value: float, factor: float
) -> tuple[float, float]:
    """Return how far the score can move down and up if the value changes by a factor."""
    known = [score(one) for one in (value / factor, value, value * factor)]
    scores = [one for one in known if one is not None]
    middle = score(value)
    if middle is None:
        return 0.0, 0.0
    return middle - min(scores), max(scores) - middle
