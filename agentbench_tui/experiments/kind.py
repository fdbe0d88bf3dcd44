"""The kind `experiment`: times code, variant against variant.

A repeat sets every variant up anew (in a fresh process each, where `fresh_process` asks for it),
warms it up, and then measures in blocks: each variant once, in turn the first, so
that whatever drifts on the machine hits them all alike. Profilers follow in passes of
their own.

In the store an iteration is the answer to the one case that an experiment has: `e2e_ms` is the
time of a call, the metrics that the call returned are the answer's data.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentbench_tui.engine.cases.casebook import CaseReader
from agentbench_tui.engine.cases.one_case import one_case_dataset
from agentbench_tui.engine.run.turns import in_turn
from agentbench_tui.experiments.commands.timed_command import SLUG as COMMAND
from agentbench_tui.experiments.commands.timed_command import commands_of
from agentbench_tui.experiments.instrument import around, instruments_of, passes
from agentbench_tui.experiments.measuring.order import Order
from agentbench_tui.experiments.measuring.unused_parameters import (
    last_of,
    parameter_use_of,
    unused_settings,
    unused_sweep,
    variants_without_effect,
)
from agentbench_tui.experiments.measuring.variant_measurement import (
    LONGEST_REASON,
    VariantMeasurement,
)
from agentbench_tui.experiments.registry import find_experiment, is_own
from agentbench_tui.experiments.settings import equal_variants
from agentbench_tui.experiments.variants import is_variant, parameters_of
from agentbench_tui.instruments.perf_counters import perf_words
from agentbench_tui.instruments.registry import unheeded
from agentbench_tui.model.access import Access, in_folder
from agentbench_tui.model.identity import derive_seed
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.store.datasets import use_dataset
from agentbench_tui.store.queries.experiments import end_of_execution

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from pydantic import BaseModel

    from agentbench_tui.engine.run.context import RunContext
    from agentbench_tui.engine.run.plan import ExecutionPlan, Group, Plan
    from agentbench_tui.engine.run.stopping import Progress
    from agentbench_tui.engine.suite.suite_problems import Finding
    from agentbench_tui.engine.task.aggregate import Aggregate, Resources
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.suite import Benchmark

FOLDER = "experiments"
"""Default folder next to the database, with a folder for each run."""


def check(benchmark: Benchmark, base_dir: str) -> Sequence[str | Finding]:
    """Return the problems of an experiment beyond its syntax."""
    from agentbench_tui.experiments.validation import check_experiment

    return check_experiment(benchmark, base_dir)


def block() -> type[BaseModel] | None:
    """Return None: `experiment` is a name, without a table."""
    return None


def accesses(benchmark: Mapping[str, Any], base_dir: str) -> Iterable[Access]:
    """Return the code of a third-party experiment, and the commands of an included one."""
    slug = benchmark.get("experiment")
    if slug == COMMAND:
        for command in commands_of(benchmark.get("parameters")):
            yield Access("runs", in_folder(f"the command `{command}`", base_dir))
    if slug is not None and not is_own(str(slug)):
        yield Access("runs", in_folder(str(slug), base_dir))


def aggregate(
    connection: sqlite3.Connection,
    execution_key: int,
    agent: AgentSpec,
    resources: Resources,
    benchmark: Benchmark,
) -> Aggregate:
    """Return the metrics of a stored execution."""
    from agentbench_tui.experiments.aggregate import aggregate_experiment

    return aggregate_experiment(connection, execution_key, agent, resources, benchmark)


async def run(group: Group, context: RunContext) -> None:
    """Measure every execution of the group, all repeats."""
    benchmark = group.resolved()
    if _at_once(group, context) > 1:  # so that points disturb neither random numbers nor memory
        benchmark = benchmark.model_copy(update={"fresh_process": True})
    if _is_first(group, context):
        for option in unheeded(benchmark.instruments):
            context.say(f"{option} has no effect: gauges are kept during the whole run")
    case_key = await _case_key(group, benchmark, context)
    await context.environment()
    for repeat in range(context.plan.repeats):
        await _run_repeat(repeat, group, benchmark, case_key, context)
        if context.stop.is_set:
            break
    await _report_unused(group, benchmark, context)
    for execution in group.executions:
        await _tell_failures(context.execution_keys[execution.id], context)
    with suppress(OSError):  # nothing was written there
        _folder(group, context).rmdir()
        _folder(group, context).parent.rmdir()


async def _run_repeat(
    repeat: int, group: Group, benchmark: Benchmark, case_key: int, context: RunContext
) -> None:
    measured = benchmark.iterations.measured
    measurements = [
        VariantMeasurement(
            _order(repeat, group, benchmark, execution, context),
            benchmark,
            context,
            context.execution_keys[execution.id],
            case_key,
        )
        for execution in group.executions
        if context.committed(execution.id, repeat) < measured
        and _may_go_on(context.progress_of(context.execution_keys[execution.id]))
    ]
    ordered = in_turn(measurements, group.seed_of_turns, repeat)
    try:
        for measurement in ordered:
            await measurement.open()
        _refuse_equal(group, measurements, context)
        for measurement in ordered:
            await measurement.warm_up()
        if repeat == 0 and _is_first(group, context) and _counts(benchmark):
            context.say(perf_words())
        if repeat == 0:
            _say_timer(measurements, _is_first(group, context), context)
        await _measure(measurements, repeat, group, benchmark, context)
        if repeat == 0:
            await _profile(measurements, benchmark, context)
    finally:
        for measurement in measurements:
            await measurement.close()


def _may_go_on(progress: Progress) -> bool:
    return progress.stop_reason is None and progress.broken is None


async def _measure(
    measurements: Sequence[VariantMeasurement],
    repeat: int,
    group: Group,
    benchmark: Benchmark,
    context: RunContext,
) -> None:
    """Measure all iterations of a repeat, block by block."""
    outside_ms = inside_ms = 0.0
    for nth in range(benchmark.iterations.measured):
        for measurement in measurements:
            await measurement.reopen()
        ordered = in_turn(measurements, group.seed_of_turns, repeat, nth)
        block = [measurement for measurement in ordered if measurement.goes_on]
        if not block:
            break
        for measurement in block:
            await context.may_ask.wait()
            if context.stop.is_set:
                return
            if _is_done(measurement, nth, context):
                continue
            reading = await measurement.iterate(nth)
            outside_ms += reading.instruments_ms
            inside_ms += (reading.ms or 0.0) * reading.loops
            if context.writer.is_full:
                await context.writer.room()
        for measurement in block:
            measurement.end_iteration()
    if outside_ms and inside_ms:
        share = f"{100 * outside_ms / inside_ms:.1f}%"
        context.say(
            f"{benchmark.benchmark_id}: instruments took {outside_ms:.4g} ms around"
            f" {inside_ms:.4g} ms of calls ({share}); outside the timer"
        )


def _counts(benchmark: Benchmark) -> bool:
    """Return whether counters of the kernel and the processor were requested."""
    return any(one.name == "perf" for one in instruments_of(benchmark.instruments))


def _is_done(measurement: VariantMeasurement, nth: int, context: RunContext) -> bool:
    """Return whether a resumed run already has this iteration."""
    done = context.done.get(measurement.key, set())
    return (measurement.case_key, measurement.order.repeat, nth) in done


async def _profile(
    measurements: Sequence[VariantMeasurement], benchmark: Benchmark, context: RunContext
) -> None:
    for instrument in passes(instruments_of(benchmark.instruments)):
        for measurement in measurements:
            await measurement.reopen()
            if measurement.goes_on and not context.stop.is_set:
                context.say(await measurement.profile(instrument))


def _order(
    repeat: int, group: Group, benchmark: Benchmark, execution: ExecutionPlan, context: RunContext
) -> Order:
    agent, folder = execution.agent, _folder(group, context)
    slug = benchmark.experiment or ""
    cls = find_experiment(slug, Path(group.base_dir))
    return Order(
        slug=slug,
        folder=group.base_dir,
        values=parameters_of(cls, group.parameters, agent),
        variant=agent.id,
        run_id=context.plan.run_id,
        output_dir=str(folder),
        run_dir=str(folder / f"{execution.ordinal:03}-{agent.id}-{repeat}"),
        seed=derive_seed(group.seed, repeat),
        repeat=repeat,
        agent=None if is_variant(agent) else agent,
        around=around(instruments_of(benchmark.instruments)),
    )


def _at_once(group: Group, context: RunContext) -> int:
    """Return how many sweep points the suite measures concurrently."""
    named = {one.hash: one.document for one in context.plan.suites}
    return int(named[group.suite_hash].get("parallelism", 1))


def run_folder(plan: Plan, suite_hash: str, database: Path) -> Path:
    """Return the folder for the files of a run's experiments, used by this run only so that nothing
    is overwritten.
    """
    named: dict[str, Any] = {one.hash: one.document for one in plan.suites}
    output_dir = named[suite_hash].get("output_dir")
    root = database.parent / FOLDER if output_dir is None else Path(output_dir)
    return root.absolute() / plan.run_id


def _folder(group: Group, context: RunContext) -> Path:
    return run_folder(context.plan, group.suite_hash, context.database)


def _refuse_equal(
    group: Group, measurements: Sequence[VariantMeasurement], context: RunContext
) -> None:
    """Mark executions as broken if their variants have the same effective settings."""
    variants = {one.agent.id for one in group.executions if is_variant(one.agent)}
    effective = {
        measurement.order.variant: measurement.effective
        for measurement in measurements
        if measurement.goes_on and measurement.order.variant in variants
    }
    why = equal_variants(effective)
    for measurement in measurements:
        if measurement.order.variant in why:
            measurement.progress.broken = why[measurement.order.variant]
    for reason in dict.fromkeys(why.values()):
        context.say(reason)


async def _report_unused(group: Group, benchmark: Benchmark, context: RunContext) -> None:
    """Mark executions as broken if they differ only in parameters that the code never reads.

    For variants, all equal ones; for a sweep, the executions of the point that ends last.
    Parameters that are set and never read are reported.
    """
    agents = {context.execution_keys[one.id]: one.agent for one in group.executions}
    variants = [key for key, agent in agents.items() if is_variant(agent)]
    place = (context.run_key, group.suite_hash, benchmark.benchmark_id)
    ended: set[int] = context.kept.setdefault("measured", set())
    ended.update(agents)
    # Points that are measured side by side may all be here: the last to come in looks at them.
    until_now = frozenset(ended)
    whole = await context.writer.apply(lambda c: last_of(c, place, until_now))
    here = await context.writer.apply(lambda c: parameter_use_of(c, variants))
    why = variants_without_effect(here)
    if (sweep := unused_sweep(benchmark, whole)) is not None:
        why = {**dict.fromkeys(agents, sweep), **why}
    if (said := unused_settings(benchmark, whole)) is not None:
        context.say(said)
    for key, reason in why.items():
        progress = context.progress_of(key)
        progress.broken = progress.broken or reason
    for reason in dict.fromkeys(why.values()):
        context.say(reason)


def _is_first(group: Group, context: RunContext) -> bool:
    """Return whether this is the run's first group."""
    first = context.plan.groups[0].executions
    return bool({one.id for one in first} & {one.id for one in group.executions})


def _say_timer(
    measurements: Sequence[VariantMeasurement], is_first: bool, context: RunContext
) -> None:
    """Report the cost of the timer at the start, and which calls therefore run in a loop."""
    warmed = [
        (measurement, measurement.warmed)
        for measurement in measurements
        if measurement.warmed is not None
    ]
    if not warmed:
        return
    # What ended before it could tell has read no timer.
    facts = next((one for _, one in warmed if one.timer_cost_ns), None)
    looped = [
        f"{measurement.order.variant} × {one.loops}" for measurement, one in warmed if one.loops > 1
    ]
    if facts is None or (not looped and not is_first):
        return
    loops = f"; calls in an iteration: {', '.join(looped)}" if looped else ""
    context.say(
        f"timer: {facts.timer_cost_ns:.0f} ns a reading, steps of {facts.timer_resolution_ns} ns"
        f"{loops}"
    )


async def _case_key(group: Group, benchmark: Benchmark, context: RunContext) -> int:
    """Return the key of the experiment's only case, and assign it to the executions."""
    slug = benchmark.experiment or ""
    # At once, since points may be measured side by side.
    dataset: int = await context.writer.apply(lambda c: one_case_dataset(c, benchmark.kind, slug))
    planned = benchmark.iterations.measured * context.plan.repeats
    keys = [context.execution_keys[execution.id] for execution in group.executions]
    await context.writer.apply(lambda c: use_dataset(c, dataset, keys, planned))
    first: int = CaseReader(context, dataset).keys[0]
    return first


async def _tell_failures(key: int, context: RunContext) -> None:
    """Mark an execution as incomplete if an iteration or a tear-down failed."""
    progress = context.progress_of(key)
    if progress.broken is not None:
        return
    observed, failed, close = await context.writer.apply(lambda c: end_of_execution(c, key))
    if failed:
        progress.broken = f"{failed} of {observed} iterations failed"
    elif close is not None:
        progress.broken = one_line(close, LONGEST_REASON)
