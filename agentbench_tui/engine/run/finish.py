"""The end of an execution: metrics, scores, rank and deviation, written to its row.

The metrics, which take long, are computed outside the writer, so that its transactions stay short.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from agentbench_tui.engine.kinds import find_runner
from agentbench_tui.engine.run.gauge_rows import gpu_usage
from agentbench_tui.engine.task.aggregate import Aggregate, Resources
from agentbench_tui.model.figures.dimension import DIMENSIONS
from agentbench_tui.model.kind_sections import read_suite
from agentbench_tui.model.kinds import metrics_of_kinds
from agentbench_tui.scoring.dimension_scores import (
    DimensionScore,
    overall_score,
    score_dimension,
    score_rule,
)
from agentbench_tui.scoring.rubric import overall
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
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from agentbench_tui.engine.run.plan import ExecutionPlan
    from agentbench_tui.model.figures.figure import Direction
    from agentbench_tui.model.suite import Benchmark, Suite, Weights
    from agentbench_tui.store.queries.executions import LatestScore
    from agentbench_tui.store.queries.gauges import GaugeSummaryRow
    from agentbench_tui.store.writer import Writer


def baseline_first(
    executions: Sequence[ExecutionPlan], baseline: str | None
) -> list[ExecutionPlan]:
    """The order to finish a group in: the others are scored relative to the baseline."""
    return sorted(executions, key=lambda execution: execution.agent.id != baseline)


class Findings(msgspec.Struct, frozen=True):
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
    rules = {name: score_rule(name, benchmark.scoring_rubric, baseline) for name in DIMENSIONS}
    scores = {
        name: score_dimension(rule, result.metrics.get(rule.metric)) for name, rule in rules.items()
    }
    _write_row(connection, execution_key, result, found.resources, scores, suite.weights)
    write_gauges(connection, execution_key, found.gauges)
    for write in result.writes:
        write(connection)


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
            execution_key,
            one.name,
            one.value,
            one.unit,
            one.low,
            one.high,
            one.n,
            one.reason,
            one.direction or _direction_of_kinds(one.name),
        )
        for one in result.metrics.values()
    ]
    write_metrics(connection, execution_key, rows)


def _direction_of_kinds(name: str) -> Direction | None:
    """Return the better direction of a metric that a kind of another distribution declares.

    It is stored, so that the run can be read where that distribution is not installed.
    """
    declared = metrics_of_kinds().get(name)
    return None if declared is None else declared.direction


def _write_row(
    connection: sqlite3.Connection,
    execution_key: int,
    result: Aggregate,
    resources: Resources,
    scores: dict[str, DimensionScore],
    weights: Weights,
) -> None:
    combined = overall_score(scores, weights.model_dump())
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
