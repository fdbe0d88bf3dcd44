"""The end of an execution: metrics, scores, rank and deviation, written to its row.

What takes long, the metrics, is worked out beside the writer; its transactions stay short.
"""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from agentbench_tui.engine.kinds import find_kind
from agentbench_tui.engine.run.gauge_rows import Row, gauge_rows, gpu_usage, write_gauges
from agentbench_tui.engine.task.aggregate import (
    NO_RIGHT_ANSWER,
    Aggregate,
    MetricValue,
    Resources,
)
from agentbench_tui.model.agent import AgentSpec
from agentbench_tui.model.figures.metric import DEFAULT_METRIC, find_metric
from agentbench_tui.model.suite import Suite, Weights
from agentbench_tui.scoring.rubric import overall, relative_score, score_metric
from agentbench_tui.store.database import reading

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from agentbench_tui.engine.run.plan import ExecutionPlan
    from agentbench_tui.model.suite import Benchmark, RubricEntry
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
    """What the stored rows of an execution come to."""

    result: Aggregate
    resources: Resources
    gauges: list[Row]


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
    (document,) = connection.execute(
        "SELECT model_configuration FROM benchmark_executions WHERE key=?", (execution_key,)
    ).fetchone()
    agent = msgspec.json.decode(document, type=AgentSpec)
    resources = _resources(connection, execution_key)
    result = find_kind(benchmark.kind).aggregate(
        connection, execution_key, agent, resources, benchmark
    )
    gauges = gauge_rows(connection, execution_key, agent.id)
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


def _resources(connection: sqlite3.Connection, execution_key: int) -> Resources:
    # CPU time of a part only would be taken for all of it.
    row = connection.execute(
        "SELECT TOTAL(asking_s), CASE WHEN COUNT(cpu_seconds) = COUNT(*) THEN SUM(cpu_seconds) END,"
        " MAX(memory_peak_mb) FROM iterations WHERE execution_key=? AND NOT warmup",
        (execution_key,),
    ).fetchone()
    return Resources(row[0], row[1], row[2])


@dataclass(frozen=True, slots=True)
class ScoreRule:
    """How one dimension of a benchmark is scored: by rubric, by itself, or relative to the
    baseline."""

    metric: str
    """The metric behind it."""
    entry: RubricEntry | None
    is_share: bool
    """Whether the metric is a score by itself, where there is no rubric."""
    baseline: float | None
    """The metric of the baseline; None without any."""

    @property
    def is_relative(self) -> bool:
        """Whether the score says how the agent compares to the baseline."""
        return self.entry is None and not self.is_share

    def score(self, value: float | None) -> float | None:
        """The score of a value of the metric; None where there is nothing to score it by."""
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
    """The score of one dimension from the metric behind it.

    Without a rule that applies there is no score: it is not invented.
    """
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
    rows = connection.execute(
        "SELECT m.name, m.value FROM metrics m WHERE m.value IS NOT NULL AND m.execution_key = ("
        " SELECT b.key FROM benchmark_executions b JOIN benchmark_executions e ON e.key=?"
        " WHERE b.agent_id=? AND b.suite_id=e.suite_id AND b.benchmark_id=e.benchmark_id"
        " AND b.parameters=e.parameters AND b.simulated=e.simulated"
        " AND (b.status='complete' OR b.run_key=e.run_key)"
        " AND EXISTS (SELECT 1 FROM metrics WHERE execution_key=b.key)"
        " ORDER BY b.run_key=e.run_key AND b.seed=e.seed DESC, b.created_at DESC, b.key DESC"
        " LIMIT 1)",
        (execution_key, suite.baseline),
    ).fetchall()
    return dict(rows)


def _write_metrics(connection: sqlite3.Connection, execution_key: int, result: Aggregate) -> None:
    connection.execute("DELETE FROM metrics WHERE execution_key=?", (execution_key,))
    connection.executemany(
        "INSERT INTO metrics (execution_key, name, value, unit, low, high, n, reason)"
        " VALUES (?,?,?,?,?,?,?,?)",
        [
            (execution_key, one.name, one.value, one.unit, one.low, one.high, one.n, one.reason)
            for one in result.metrics.values()
        ],
    )


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
    connection.execute(
        "UPDATE benchmark_executions SET accuracy_score=?, speed_score=?, efficiency_score=?,"
        " cost_score=?, reliability_score=?, overall_score=?, overall_low=?, overall_high=?,"
        " tokens_used=?, api_calls_made=?, memory_peak_mb=?, cpu_usage_percent=?, cost_usd=?,"
        " output_correctness=?, output_completeness=?, output_relevance=?, observed=?,"
        " answered=?, correct=?, asking_s=?, cpu_seconds=? WHERE key=?",
        (
            *(scores[dimension].value for dimension in DIMENSIONS),
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
            execution_key,
        ),
    )


def rank_executions(connection: sqlite3.Connection, run_key: int) -> None:
    """Fill percentile_rank and deviation_from_baseline of a run's executions.

    percentile_rank: share (in percent) of all agents' latest executions of that benchmark with a
    lower overall score, ties and itself counted half (the mid-rank definition).
    deviation_from_baseline: overall ÷ the baseline's overall - 1; of accuracy where either overall
    is missing.
    """
    executions = connection.execute(
        "SELECT key, overall_score, accuracy_score, suite_hash, suite_id, benchmark_id, parameters,"
        " simulated FROM benchmark_executions WHERE run_key=?",
        (run_key,),
    ).fetchall()
    suites = {
        row[0]: Suite.model_validate_json(row[1])
        for row in connection.execute(
            "SELECT hash, document FROM benchmark_suites WHERE hash IN"
            " (SELECT suite_hash FROM benchmark_executions WHERE run_key=?)",
            (run_key,),
        )
    }
    latest: dict[tuple[str, str], dict[tuple[object, ...], list[_Latest]]] = {}
    changes = []
    for key, combined, accuracy, suite_hash, suite_id, benchmark_id, *point in executions:
        benchmark = (suite_id, benchmark_id)
        if benchmark not in latest:
            latest[benchmark] = _latest_by_point(connection, *benchmark)
        here = latest[benchmark].get(tuple(point), [])
        others = [one.overall for one in here if one.overall is not None]
        rank = None if combined is None else _percentile_rank(combined, others)
        known = _baseline_scores(here, benchmark_id, suites[suite_hash])
        deviation = None
        for name, value in (("overall", combined), ("accuracy", accuracy)):
            if value is not None and known.get(name):
                deviation = value / known[name] - 1
                break
        changes.append((rank, deviation, key))
    connection.executemany(
        "UPDATE benchmark_executions SET percentile_rank=?, deviation_from_baseline=? WHERE key=?",
        changes,
    )


class _Latest(NamedTuple):
    """Scores of one of an agent's latest executions at a point of a benchmark."""

    agent_id: str
    overall: float | None
    accuracy: float | None


def _latest_by_point(
    connection: sqlite3.Connection, suite_id: str, benchmark_id: str
) -> dict[tuple[object, ...], list[_Latest]]:
    """(parameters, simulated) → the latest executions there, of all points of a benchmark at once:
    a sweep has thousands."""
    found: dict[tuple[object, ...], list[_Latest]] = {}
    for *point, agent_id, combined, accuracy in connection.execute(
        "SELECT parameters, simulated, agent_id, overall_score, accuracy_score"
        " FROM latest_executions WHERE suite_id=? AND benchmark_id=?",
        (suite_id, benchmark_id),
    ):
        found.setdefault(tuple(point), []).append(_Latest(agent_id, combined, accuracy))
    return found


def _percentile_rank(value: float, all_values: list[float]) -> float | None:
    if not all_values:
        return None
    below = sum(other < value for other in all_values)
    equal = sum(other == value for other in all_values)
    return 100 * (below + equal / 2) / len(all_values)


def _baseline_scores(
    latest: Sequence[_Latest], benchmark_id: str, suite: Suite
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
