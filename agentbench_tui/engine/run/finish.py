"""The end of an execution: metrics, scores, rank and deviation, written to its row.

The metrics, which take long, are computed outside the writer, so that its transactions stay short.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from agentbench_tui.engine.kinds import find_runner
from agentbench_tui.engine.run.gauge_rows import gpu_usage
from agentbench_tui.engine.task.aggregate import (
    NO_RIGHT_ANSWER,
    Aggregate,
    MetricValue,
    Resources,
)
from agentbench_tui.model.figures.metric import DEFAULT_METRIC, find_metric
from agentbench_tui.model.kind_sections import read_suite
from agentbench_tui.model.suite import Suite, Weights
from agentbench_tui.scoring.rubric import overall, relative_score, score_metric
from agentbench_tui.store.database import reading
from agentbench_tui.store.queries import executions
from agentbench_tui.store.queries.executions import agent_of_execution
from agentbench_tui.store.queries.gauges import summarized_gauges
from agentbench_tui.store.queries.iterations import iteration_totals
from agentbench_tui.store.writes.executions import (
    ExecutionResultRow,
    MetricRow,
    Rank,
    write_gauges,
    write_metrics,
    write_ranks,
    write_result,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from agentbench_tui.engine.run.plan import ExecutionPlan
    from agentbench_tui.model.suite import Benchmark, RubricEntry
    from agentbench_tui.store.queries.executions import LatestScore
    from agentbench_tui.store.queries.gauges import GaugeSummaryRow
    from agentbench_tui.store.writer import Writer

DIMENSIONS = ("accuracy", "speed", "efficiency", "cost", "reliability")
_BY_ITSELF = frozenset({"accuracy", "reliability"})
"""Dimensions whose metric is a share, and so a score already."""


@dataclass(frozen=True, slots=True)
class DimensionScore:
    """A score with the scores of its metric's interval ends."""

    value: float | None
    low: float | None = None
    high: float | None = None


def baseline_first(
    executions: Sequence[ExecutionPlan], baseline: str | None
) -> list[ExecutionPlan]:
    """The order to finish a group in: the others are scored relative to the baseline."""
    return sorted(executions, key=lambda execution: execution.agent.id != baseline)


@dataclass(frozen=True, slots=True)
class Findings:
    """Results of an execution, from its stored rows."""

    result: Aggregate
    resources: Resources
    gauges: list[GaugeSummaryRow]


class Ended(NamedTuple):
    """An execution that has come to its end."""

    key: int
    benchmark: Benchmark
    suite: Suite


async def finish_executions(
    writer: Writer,
    ended: Sequence[Ended],
    close: Callable[[sqlite3.Connection, int], None] = lambda *_: None,
) -> list[Aggregate]:
    """Aggregate the stored observations of executions, and fill their rows and metrics.

    `close` gets each one's key in the transaction that does so. Calling it again gives the same.
    The baseline's execution has to be before those that are scored relative to it
    (`baseline_first`).
    """
    await writer.flush()
    found = await asyncio.to_thread(_look, writer.path, ended)

    def write(connection: sqlite3.Connection) -> None:
        for one, findings in zip(ended, found, strict=True):
            close(connection, one.key)
            write_findings(connection, one.key, findings, one.benchmark, one.suite)

    await writer.apply(write)
    return [one.result for one in found]


def _look(database: Path, ended: Sequence[Ended]) -> list[Findings]:
    with reading(database) as connection:
        return [findings_of(connection, one.key, one.benchmark) for one in ended]


def findings_of(
    connection: sqlite3.Connection, execution_key: int, benchmark: Benchmark
) -> Findings:
    """Aggregate the stored observations of an execution. Rows of the connection become tuples."""
    connection.row_factory = None
    agent = agent_of_execution(connection, execution_key)
    resources = Resources(*iteration_totals(connection, execution_key))
    result = find_runner(benchmark.kind).aggregate(
        connection, execution_key, agent, resources, benchmark
    )
    gauges = summarized_gauges(connection, execution_key, agent.id)
    if (usage := gpu_usage(gauges)) is not None:
        result.metrics[usage.name] = usage
    return Findings(result, resources, gauges)


def write_findings(
    connection: sqlite3.Connection,
    execution_key: int,
    found: Findings,
    benchmark: Benchmark,
    suite: Suite,
) -> None:
    """Fill the row of an execution and its metrics, inside a transaction."""
    result = found.result
    # First, since the baseline is scored against itself.
    _write_metrics(connection, execution_key, result)
    baseline = baseline_metrics(connection, execution_key, suite)
    rules = {name: score_rule(name, benchmark, baseline) for name in DIMENSIONS}
    scores = {
        name: score_dimension(rule, result.metrics.get(rule.metric)) for name, rule in rules.items()
    }
    _write_row(connection, execution_key, result, found.resources, scores, suite.weights)
    write_gauges(connection, execution_key, found.gauges)
    for write in result.writes:
        write(connection)


@dataclass(frozen=True, slots=True)
class ScoreRule:
    """How one dimension of a benchmark is scored: by rubric, directly, or relative to the
    baseline.
    """

    metric: str
    """The metric behind it."""
    entry: RubricEntry | None
    is_share: bool
    """Whether the metric is itself a score, if there is no rubric."""
    baseline: float | None
    """The metric of the baseline; None without any."""

    @property
    def is_relative(self) -> bool:
        """Return whether the score is relative to the baseline."""
        return self.entry is None and not self.is_share

    def score(self, value: float | None) -> float | None:
        """Return the score of a value of the metric; None if there is nothing to score it by."""
        if value is None:
            return None
        if self.entry is not None:
            return score_metric(value, self.entry)
        if self.is_share:
            return value
        metric = find_metric(self.metric)
        if metric is None or metric.direction == "none" or self.baseline is None:
            return None
        return relative_score(value, self.baseline, metric.direction)


def score_rule(dimension: str, benchmark: Benchmark, baseline: Mapping[str, float]) -> ScoreRule:
    """The rule of a dimension; `baseline` has the metrics of the suite's baseline, if any."""
    entry: RubricEntry | None = benchmark.scoring_rubric.get(dimension)  # type: ignore[call-overload]  # a Dimension
    name = DEFAULT_METRIC[dimension] if entry is None else entry.metric
    return ScoreRule(name, entry, dimension in _BY_ITSELF, baseline.get(name))


def score_dimension(rule: ScoreRule, found: MetricValue | None) -> DimensionScore:
    """Return the score of one dimension from its metric; None without an applicable rule."""
    if found is None or found.value is None:
        if rule.entry is not None and found is not None and found.reason == NO_RIGHT_ANSWER:
            return DimensionScore(0.0, 0.0, 0.0)  # infinite: beyond any limit
        return DimensionScore(None)
    ends = [end for end in (rule.score(found.low), rule.score(found.high)) if end is not None]
    value = rule.score(found.value)
    if value is None or len(ends) < 2:
        return DimensionScore(value)
    return DimensionScore(value, min(ends), max(ends))


def overall_score(scores: dict[str, DimensionScore], weights: Weights) -> DimensionScore:
    """Weighted mean of the dimensions with its interval.

    The interval takes the dimensions as independent: half widths weighted, added in quadrature.
    It is missing when a dimension that counts has none.
    """
    shares = weights.model_dump()
    value = overall({name: score.value for name, score in scores.items()}, shares)
    counting = [(scores[name], share) for name, share in shares.items() if share > 0]
    if value is None or any(score.low is None for score, _ in counting):
        return DimensionScore(value)
    total = sum(share for _, share in counting)
    below = above = 0.0
    for score, share in counting:
        assert score.value is not None
        assert score.low is not None
        assert score.high is not None
        below += (share / total * (score.value - score.low)) ** 2
        above += (share / total * (score.high - score.value)) ** 2
    return DimensionScore(
        value, max(0.0, value - math.sqrt(below)), min(1.0, value + math.sqrt(above))
    )


def baseline_metrics(
    connection: sqlite3.Connection, execution_key: int, suite: Suite
) -> dict[str, float]:
    """Metrics of the suite's baseline agent on the same benchmark: in the same run with the same
    seed, else of its latest execution."""
    if suite.baseline is None:
        return {}
    return executions.metrics_of_baseline(connection, execution_key, suite.baseline)


def _write_metrics(connection: sqlite3.Connection, execution_key: int, result: Aggregate) -> None:
    rows = [
        MetricRow(
            execution_key, one.name, one.value, one.unit, one.low, one.high, one.n, one.reason
        )
        for one in result.metrics.values()
    ]
    write_metrics(connection, execution_key, rows)


def _write_row(
    connection: sqlite3.Connection,
    execution_key: int,
    result: Aggregate,
    resources: Resources,
    scores: dict[str, DimensionScore],
    weights: Weights,
) -> None:
    combined = overall_score(scores, weights)
    values = {name: metric.value for name, metric in result.metrics.items()}
    tokens, calls = values["tokens_used"], values["api_calls"]
    write_result(
        connection,
        execution_key,
        ExecutionResultRow(
            scores["accuracy"].value,
            scores["speed"].value,
            scores["efficiency"].value,
            scores["cost"].value,
            scores["reliability"].value,
            combined.value,
            combined.low,
            combined.high,
            None if tokens is None else int(tokens),
            None if calls is None else int(calls),
            values["memory_peak_mb"],
            values["cpu_usage_percent"],
            values["cost_usd"],
            values["correctness"],
            values["completeness"],
            values["relevance"],
            result.observed,
            result.answered,
            result.correct,
            resources.asking_s,
            resources.cpu_seconds,
        ),
    )


def rank_executions(connection: sqlite3.Connection, run_key: int) -> None:
    """Fill percentile_rank and deviation_from_baseline of a run's executions.

    percentile_rank: share (in percent) of all agents' latest executions of that benchmark with a
    lower overall score, ties and itself counted half (the mid-rank definition).
    deviation_from_baseline: overall ÷ the baseline's overall - 1; of accuracy where either overall
    is missing.
    """
    suites = {
        digest: read_suite(document)
        for digest, document in executions.suite_documents(connection, run_key).items()
    }
    latest: dict[tuple[str, str], dict[tuple[str, bool], list[LatestScore]]] = {}
    ranks = []
    for one in executions.scored_executions(connection, run_key):
        benchmark = (one.suite_id, one.benchmark_id)
        if benchmark not in latest:
            latest[benchmark] = executions.latest_scores(connection, *benchmark)
        here = latest[benchmark].get((one.parameters, one.simulated), [])
        others = [other.overall for other in here if other.overall is not None]
        rank = None if one.overall is None else _percentile_rank(one.overall, others)
        known = _baseline_scores(here, one.benchmark_id, suites[one.suite_hash])
        deviation = None
        for name, value in (("overall", one.overall), ("accuracy", one.accuracy)):
            if value is not None and known.get(name):
                deviation = value / known[name] - 1
                break
        ranks.append(Rank(rank, deviation, one.key))
    write_ranks(connection, ranks)


def _percentile_rank(value: float, all_values: list[float]) -> float | None:
    if not all_values:
        return None
    below = sum(other < value for other in all_values)
    equal = sum(other == value for other in all_values)
    return 100 * (below + equal / 2) / len(all_values)


def _baseline_scores(
    latest: Sequence[LatestScore], benchmark_id: str, suite: Suite
) -> dict[str, float]:
    """Scores of the baseline: measured ones of the named agent, else the suite's own figures, those
    of the benchmark before those of all benchmarks."""
    for one in latest:
        if one.agent_id == suite.baseline:
            scores = {"overall": one.overall, "accuracy": one.accuracy}
            return {name: value for name, value in scores.items() if value}
    for wanted in (benchmark_id, None):
        for given in suite.baseline_scores:
            if given.benchmark_id == wanted and suite.baseline in {None, given.agent_id}:
                combined = overall(given.scores, suite.weights.model_dump())
                known = {} if combined is None else {"overall": combined}
                return known | given.scores
    return {}
