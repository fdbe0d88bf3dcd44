"""For kinds that measure numbers: how they store a measurement, and what metrics follow from all.

Each measurement is one iteration of an execution, with numbers by name. They are kept as the
answers to a single case, so that the live page, resuming, comparisons and exports treat them like
any other answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from agentbench_tui.analysis.intervals.estimate import estimate
from agentbench_tui.engine.cases.casebook import CaseReader
from agentbench_tui.engine.cases.one_case import one_case_dataset
from agentbench_tui.engine.run.stopping import check_observation
from agentbench_tui.engine.task.aggregate import COSTS, Aggregate, MetricValue, aggregate
from agentbench_tui.engine.task.recorder import Recorder
from agentbench_tui.model.answer import NOT_GRADED, Answer, FailureKind
from agentbench_tui.model.clock import perf_counter_ns, utc_now
from agentbench_tui.model.figures.metric import METRICS, find_metric
from agentbench_tui.store.datasets import use_dataset
from agentbench_tui.store.queries.experiments import answered_iterations
from agentbench_tui.store.writes.observations import IterationRow

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from agentbench_tui.analysis.intervals.estimate import Estimate
    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.engine.run.context import RunContext
    from agentbench_tui.engine.run.plan import ExecutionPlan, Group
    from agentbench_tui.engine.task.aggregate import Resources
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.suite import Benchmark

_NO_TOKENS = "benchmarks of this kind use no tokens that the harness could count"


class Measurements:
    """Stores what is measured of the executions of a group."""

    def __init__(self, group: Group, context: RunContext, case_key: int) -> None:
        """For `open_measurements`."""
        self._benchmark: Benchmark = group.resolved()
        self._context = context
        self._case_key = case_key

    def is_measured(self, execution: ExecutionPlan, repeat: int, iteration: int) -> bool:
        """Whether a run that is resumed has this measurement already."""
        done = self._context.done.get(self._context.execution_keys[execution.id], set())
        return (self._case_key, repeat, iteration) in done

    def goes_on(self, execution: ExecutionPlan) -> bool:
        """Whether more is to be measured: not after the run was stopped or too much failed."""
        progress = self._context.progress_of(self._context.execution_keys[execution.id])
        return (
            not self._context.stop.is_set
            and progress.stop_reason is None
            and progress.broken is None
        )

    async def keep(
        self,
        execution: ExecutionPlan,
        repeat: int,
        iteration: int,
        values: Mapping[str, float],
        *,
        took_ms: float,
        failure: FailureKind | None = None,
        detail: str = "",
    ) -> None:
        """Store one measurement that took `took_ms`; of one that failed, why.

        Raises ValueError for a value that is called like a metric of agentbench.
        """
        if reserved := sorted({name.partition(".")[0] for name in values} & METRICS.keys()):
            raise ValueError(f"{', '.join(reserved)}: agentbench has metrics of that name")
        context, place = self._context, (self._case_key, repeat, iteration)
        key = context.execution_keys[execution.id]
        recorder = Recorder(context.writer, context.run_key, key)
        progress = context.progress_of(key)
        progress.note(failure, None, None, took_ms)
        if failure is not None:
            recorder.failure("answer", failure, detail, place, 0)
        sent_ms = (perf_counter_ns() - context.clock_start_ns) / 1e6 - took_ms
        recorder.answer(
            place, 0, failure, Answer(data=dict(values)) if failure is None else None, NOT_GRADED,
            sent_ms=max(0.0, sent_ms), e2e_ms=took_ms, waiting_ms=0.0, cost_usd=None,
        )  # fmt: skip
        status, answered = ("ok", 1) if failure is None else ("failed", 0)
        row = IterationRow(
            repeat, iteration, False, status, utc_now(), took_ms / 1e3, 1, answered, 0
        )
        recorder.iteration(row)
        check_observation(progress, self._benchmark.early_stop)
        if context.writer.is_full:
            await context.writer.room()


async def open_measurements(group: Group, context: RunContext) -> Measurements:
    """Prepare the store for what is measured of a group: `iterations.measured` measurements in
    each of the run's repeats."""
    benchmark = group.benchmark
    kind, name = str(benchmark["kind"]), str(benchmark["benchmark_id"])
    dataset: int = await context.writer.apply(lambda c: one_case_dataset(c, kind, name))
    planned = group.resolved().iterations.measured * context.plan.repeats
    keys = [context.execution_keys[execution.id] for execution in group.executions]
    await context.writer.apply(lambda c: use_dataset(c, dataset, keys, planned))
    await context.environment()
    return Measurements(group, context, CaseReader(context, dataset).keys[0])


def _mean(values: Floats, repeats: NDArray[np.int64], unit: str) -> Estimate:
    """Return the mean of a number; an interval of shares stays between 0 and 1."""
    if unit == "share" and values.min() >= 0 and values.max() <= 1:
        return estimate(values, "share", clusters=repeats)
    return estimate(values, "amount", runs=repeats)


def aggregate_measurements(
    connection: sqlite3.Connection, execution_key: int, agent: AgentSpec, resources: Resources
) -> Aggregate:
    """Times and failures as of a task, and the mean of each number by name with its 95% interval,
    clustered by repeat where there are several."""
    result = aggregate(connection, execution_key, agent, resources, is_scored=False)
    for name in (*COSTS, "tokens_used", "tokens_per_correct"):
        result.total(name, None, result.counted, _NO_TOKENS)
    rows = answered_iterations(connection, execution_key)
    values: dict[str, list[tuple[int, float]]] = {}
    for repeat, text in rows:
        for name, value in (msgspec.json.decode(text).get("data") or {}).items():
            if isinstance(value, int | float):
                values.setdefault(name, []).append((repeat, float(value)))
    for name, found in values.items():
        repeats = np.array([repeat for repeat, _ in found], np.int64)
        known = find_metric(name)
        unit = "" if known is None else known.unit
        mean = _mean(np.array([value for _, value in found]), repeats, unit)
        result.metrics[name] = MetricValue(
            name, mean.value, unit, mean.low, mean.high, mean.n, mean.reason or None
        )
    return result
