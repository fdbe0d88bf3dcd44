"""From the stored observations of an execution to its metrics and scores.

The only way there: a run, a resumed run, `rescore` and an import all aggregate what is in the
store, so the same rows always give the same numbers.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from msgspec.structs import replace

from agentbench_tui.analysis.attempts import attempts_at, estimate_passes, pass_names
from agentbench_tui.analysis.intervals.estimate import Estimate, estimate, quantile_estimate
from agentbench_tui.analysis.intervals.interval import ratio_of_sums
from agentbench_tui.engine.task.cost_reasons import (
    why_estimated,
    why_tokens_estimated,
    why_tokens_partial,
    why_unknown,
)
from agentbench_tui.engine.task.observation_columns import packed_columns
from agentbench_tui.engine.task.observations import Observations
from agentbench_tui.model.figures.metric import METRICS, PERCENTILES
from agentbench_tui.model.figures.pass_metrics import attempts_of
from agentbench_tui.scoring.dimension_scores import NO_RIGHT_ANSWER
from agentbench_tui.store.answer_columns import keep_columns
from agentbench_tui.store.case_hashes import has_hashes, keep_hashes, made_hashes
from agentbench_tui.store.datasets import dataset_of_execution
from agentbench_tui.store.queries.answers import mean_grades

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.figures.figure import Direction
    from agentbench_tui.store.answer_counts import AnswerCounts

COSTS = ("cost_usd", "cost_usd_per_task", "cost_usd_per_correct")


class MetricValue(msgspec.Struct, frozen=True):
    """One row of the `metrics` table."""

    name: str
    value: float | None
    unit: str
    low: float | None = None
    high: float | None = None
    n: int = 0
    reason: str | None = None
    """Why there is no value, or a remark on it."""
    direction: Direction | None = None
    """Of a metric that the benchmark defines; None for agentbench's own."""


class Aggregate(msgspec.Struct):
    """Everything that one execution's observations say."""

    metrics: dict[str, MetricValue] = msgspec.field(default_factory=dict)
    failures: Counter[str] = msgspec.field(default_factory=Counter)
    observed: int = 0
    counted: int = 0
    answered: int = 0
    correct: int = 0
    writes: list[Callable[[sqlite3.Connection], object]] = msgspec.field(default_factory=list)
    """Additional rows of its kind, written in the same transaction as the metrics."""

    def add(self, name: str, found: Estimate | None, reason: str | None = None) -> None:
        base = METRICS[name.partition(".")[0]]
        if found is None or found.value is None:
            why = reason or (found.reason if found is not None else None)
            n = 0 if found is None else found.n
            self.metrics[name] = MetricValue(name, None, base.unit, n=n, reason=why)
        else:
            self.metrics[name] = MetricValue(
                name, found.value, base.unit, found.low, found.high, found.n
            )

    def without_attempts(self) -> None:
        """Remove pass@k and pass^k."""
        for name in [name for name in self.metrics if attempts_of(name) is not None]:
            del self.metrics[name]

    def total(self, name: str, value: float | None, n: int, reason: str | None = None) -> None:
        """A sum or count: exact, so it has no interval."""
        unit = METRICS[name].unit
        self.metrics[name] = MetricValue(
            name, value, unit, n=n, reason=reason if value is None else None
        )


class Resources(msgspec.Struct, frozen=True):
    """Resource use of the agent's processes during the measured iterations, as the harness
    measured it.
    """

    asking_s: float
    cpu_seconds: float | None
    """None when it is not known of each iteration."""
    memory_peak_mb: float | None


def aggregate(
    connection: sqlite3.Connection,
    execution_key: int,
    agent: AgentSpec,
    resources: Resources,
    *,
    is_scored: bool,
    own: Callable[[Observations], Iterable[MetricValue]] = lambda _: (),
) -> Aggregate:
    """Metrics of an execution from its stored observations.

    `is_scored` says whether the benchmark has scorers; without any there is no accuracy. `own`
    computes the metrics that it defines.
    """
    seen = Observations(connection, execution_key)
    result = Aggregate(
        failures=seen.kinds,
        observed=seen.counts.observed,
        counted=len(seen),
        answered=int(seen.answered.sum()),
        correct=int(seen.right.sum()),
    )
    _quality(result, seen, is_scored)
    if is_scored:
        _attempts(result, seen)
    result.metrics |= {one.name: one for one in own(seen)}
    _times(result, seen, agent, resources)
    _tokens(result, seen)
    _say_of_tokens(result, seen.counts)
    if not _cost(result, seen, agent, resources):
        _without_cost(result, seen, why_unknown(connection, execution_key, agent))
    elif (reason := why_estimated(seen.counts)) is not None:
        for name in COSTS:
            metric = result.metrics[name]
            result.metrics[name] = replace(metric, reason=metric.reason or reason)
    _resources(result, seen, resources)
    result.total("api_calls", seen.counts.api_calls, len(seen))
    result.total("retries", seen.counts.retries, len(seen))
    _output_quality(result, connection, execution_key)
    columns = packed_columns(connection, execution_key, seen)
    if columns:
        result.writes.append(lambda c: keep_columns(c, execution_key, columns))
        _keep_hashes(result, connection, dataset_of_execution(connection, execution_key))
    return result


def _keep_hashes(result: Aggregate, connection: sqlite3.Connection, dataset: int) -> None:
    """Have the hashes of a large dataset kept, unless they are."""
    if not has_hashes(connection, dataset):
        hashes = made_hashes(connection, dataset)
        result.writes.append(lambda c: keep_hashes(c, dataset, hashes))


def _quality(result: Aggregate, seen: Observations, is_scored: bool) -> None:
    if not len(seen):
        for name in ("accuracy", "correct_share", "reliability"):
            result.add(name, None, "no observation counts")
        return
    if is_scored:
        credit = np.where(seen.answered, np.nan_to_num(seen.credit), 0.0)
        result.add("accuracy", estimate(credit, "share", clusters=seen.clusters()))
        right = seen.right.astype(np.float64)
        result.add("correct_share", estimate(right, "share", clusters=seen.clusters()))
    else:
        result.add("accuracy", None, "the benchmark has no scorer")
        result.add("correct_share", None, "the benchmark has no scorer")
    answered = seen.answered.astype(np.float64)
    result.add("reliability", estimate(answered, "share", clusters=seen.clusters()))


def _attempts(result: Aggregate, seen: Observations) -> None:
    """Add pass@k and pass^k, if cases have several attempts."""
    attempts = attempts_at(seen.case, seen.right)
    units = seen.unit[attempts.first] if len(seen) else None
    for name in pass_names(attempts):
        found = estimate_passes(attempts, name, units)
        unit = "share"
        result.metrics[name] = MetricValue(
            name, found.value, unit, found.low, found.high, found.n, found.reason or None
        )


def _times(result: Aggregate, seen: Observations, agent: AgentSpec, resources: Resources) -> None:
    recorded = "recorded answers take no time" if agent.recorded else None
    answered = seen.answered
    for name, values in (
        ("e2e_ms", seen.e2e_ms),
        ("ttft_ms", seen.ttft_ms),
        ("waiting_ms", seen.waiting_ms),
    ):
        known = answered & ~np.isnan(values)
        reason = recorded
        if reason is None and not known.any():
            reason = "not streamed" if name == "ttft_ms" else "nothing answered"
        _distribution(result, seen, name, values, known, reason)
    if recorded or resources.asking_s <= 0 or not result.answered:
        result.total("throughput_per_s", None, result.answered, recorded or "nothing answered")
    else:
        result.total("throughput_per_s", result.answered / resources.asking_s, result.answered)


def _distribution(
    result: Aggregate,
    seen: Observations,
    name: str,
    column: NDArray[np.float64],
    known: NDArray[np.bool_],
    reason: str | None,
) -> None:
    """Return mean and percentiles of a column's known values; `reason` says why there are none."""
    values = column[known]
    if reason is not None or not len(values):
        for part in ("mean", *PERCENTILES):
            result.add(f"{name}.{part}", None, reason or "not reported by the agent")
        return
    result.add(f"{name}.mean", estimate(values, "amount", clusters=seen.clusters(known)))
    for part in PERCENTILES:
        found = quantile_estimate(values, int(part[1:]) / 100)
        if part == "p50" and name.endswith("_ms") and (values > 0).all():
            found = estimate(values, "time", runs=seen.repeat[known])
        result.add(f"{name}.{part}", found)


def _tokens(result: Aggregate, seen: Observations) -> None:
    both = np.nan_to_num(seen.input_tokens) + np.nan_to_num(seen.output_tokens)
    known = ~(np.isnan(seen.input_tokens) & np.isnan(seen.output_tokens))
    for name, values in (
        ("input_tokens", seen.input_tokens),
        ("output_tokens", seen.output_tokens),
    ):
        _distribution(result, seen, name, values, ~np.isnan(values), None)
    reason = "the agent does not report tokens"
    if not known.any():
        result.total("tokens_used", None, 0, reason)
        result.add("tokens_per_correct", None, reason)
        return
    result.total("tokens_used", float(both.sum()), int(known.sum()))
    _per_correct(result, "tokens_per_correct", both, seen)


def _say_of_tokens(result: Aggregate, counts: AnswerCounts) -> None:
    """Note that token counts are estimates.

    Without input tokens there is no total to check against.
    """
    estimated = why_tokens_estimated(counts)
    partial = why_tokens_partial(counts)
    if partial is not None:
        result.add("tokens_per_correct", None, partial)
    for name, metric in result.metrics.items():
        is_total = name in {"tokens_used", "tokens_per_correct"}
        if metric.value is not None and (is_total or name.startswith("output_tokens.")):
            reason = partial if is_total and partial else estimated
            result.metrics[name] = replace(metric, reason=metric.reason or reason)


def _cost(result: Aggregate, seen: Observations, agent: AgentSpec, resources: Resources) -> bool:
    """Fill in the costs; return False if some answers have no known cost."""
    costs = seen.cost_usd.copy()
    unpriced = seen.answered & np.isnan(costs)
    if agent.hourly_price_usd is not None and len(seen):
        # The machine is paid for while it is asked, whatever it answers: shared out evenly.
        costs = np.nan_to_num(costs)
        costs += resources.asking_s / 3600 * agent.hourly_price_usd / len(seen)
        unpriced[:] = False
    if unpriced.any():
        return False
    if not len(seen) or np.isnan(costs).all():
        _without_cost(result, seen, "nothing answered")
        return True
    costs = np.nan_to_num(costs)
    total = float(costs.sum())
    result.total("cost_usd", total, len(seen))
    result.add("cost_usd_per_task", estimate(costs, "amount", clusters=seen.clusters()))
    _per_correct(result, "cost_usd_per_correct", costs, seen)
    return True


def _without_cost(result: Aggregate, seen: Observations, reason: str) -> None:
    for name in COSTS:
        result.total(name, None, len(seen), reason)


def _per_correct(
    result: Aggregate, name: str, amounts: NDArray[np.float64], seen: Observations
) -> None:
    """Sum of amounts ÷ right answers, interval clustered by case."""
    if not result.correct:
        result.add(name, None, NO_RIGHT_ANSWER)
        return
    value = float(amounts.sum()) / result.correct
    interval = ratio_of_sums(amounts, seen.right.astype(np.float64), clusters=seen.unit)
    result.metrics[name] = MetricValue(
        name,
        value,
        METRICS[name].unit,
        None if interval is None else interval.low,
        None if interval is None or math.isinf(interval.high) else interval.high,
        len(seen),
    )


def _resources(result: Aggregate, seen: Observations, resources: Resources) -> None:
    reason = "the agent has no separate process here"
    cpu, n = resources.cpu_seconds, result.counted
    result.total("memory_peak_mb", resources.memory_peak_mb, n, reason)
    if resources.memory_peak_mb is not None:
        reason = "an iteration was cut off, or took less CPU time than can be measured here"
    if cpu is None or resources.asking_s <= 0:
        result.total("cpu_usage_percent", None, n, reason)
        result.total("cpu_ms_per_correct", None, n, reason)
        return
    result.total("cpu_usage_percent", 100 * cpu / resources.asking_s, n)
    if not result.correct:
        result.total("cpu_ms_per_correct", None, n, NO_RIGHT_ANSWER)
        return
    # The CPU time is counted, not sampled: the error lies in the share of right answers alone.
    share = estimate(seen.right.astype(np.float64), "share", clusters=seen.clusters())
    per_answer = 1000 * cpu / n
    result.metrics["cpu_ms_per_correct"] = MetricValue(
        "cpu_ms_per_correct",
        1000 * cpu / result.correct,
        "ms",
        per_answer / share.high if share.high else None,
        per_answer / share.low if share.low else None,
        n,
    )


def _output_quality(result: Aggregate, connection: sqlite3.Connection, execution_key: int) -> None:
    """Means of correctness, completeness and relevance over the scores that give them; where no
    score gives correctness, the mean credit."""
    grades = mean_grades(connection, execution_key)
    for name, value, n in (
        ("correctness", grades.correctness, grades.correctness_n),
        ("completeness", grades.completeness, grades.completeness_n),
        ("relevance", grades.relevance, grades.relevance_n),
    ):
        if name == "correctness" and value is None:
            value, n = grades.credit, grades.credit_n or 0  # noqa: PLW2901
        result.total(name, value, n, "no scorer gives it")
