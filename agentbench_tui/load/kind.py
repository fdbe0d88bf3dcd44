"""The kind `load`: puts a target under load, in windows measured by separate workers.

One window is one repeat of one execution. Executions of a group take turns repeat by repeat, and at
being first, so that whatever drifts on the machine hits them all alike; only one is under
load at a time.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from agentbench_tui.engine.run.turns import in_turn
from agentbench_tui.engine.task.recorder import Recorder
from agentbench_tui.load.results import repeats
from agentbench_tui.load.results.live import Live
from agentbench_tui.load.results.window import Window
from agentbench_tui.load.schedule.shape import (
    schedule_of,
    trace_words,
    users_of,
    worker_plans,
)
from agentbench_tui.load.schedule.steering import Steering
from agentbench_tui.load.sending.measurement import Measurement, asked_by, store_window
from agentbench_tui.load.sending.protocol import HttpTarget
from agentbench_tui.load.sending.target import open_target, why_not_broken_off
from agentbench_tui.load.sending.workers import LoadWorkers
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.model.identity import derive_seed
from agentbench_tui.model.text.secrets import redact
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.store.queries.load import has_calibrations
from agentbench_tui.store.queries.runs import fingerprint_of_run
from agentbench_tui.store.writes.load import forget_repeat

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from pydantic import BaseModel

    from agentbench_tui.engine.run.context import RunContext
    from agentbench_tui.engine.run.plan import ExecutionPlan, Group
    from agentbench_tui.engine.suite.suite_problems import Finding
    from agentbench_tui.engine.task.aggregate import Aggregate, Resources
    from agentbench_tui.load.results.window import Calibration
    from agentbench_tui.load.schedule.arrivals import Arrivals, Trace
    from agentbench_tui.load.sending.protocol import AgentTarget, WorkerPlan
    from agentbench_tui.load.sending.target import OpenTarget
    from agentbench_tui.load.spec import LoadSpec
    from agentbench_tui.model.access import Access
    from agentbench_tui.model.agent import AgentSpec
    from agentbench_tui.model.suite import Benchmark

LONGEST_REASON = 300
"""Characters of a reason for which an execution could not be measured."""


def check(benchmark: Benchmark, base_dir: str) -> Sequence[str | Finding]:
    """Return the problems of a load benchmark beyond its syntax."""
    from agentbench_tui.load.validation import check_load

    return check_load(benchmark, base_dir)


def block() -> type[BaseModel]:
    """The model of `load:`."""
    from agentbench_tui.load.spec import LoadSpec

    return LoadSpec


def accesses(benchmark: Mapping[str, Any], base_dir: str) -> Iterable[Access]:
    """Return what the `load:` block reads, runs and calls."""
    from agentbench_tui.load.validation import accesses_of_load

    return accesses_of_load(benchmark.get("load"), base_dir)


def aggregate(
    connection: sqlite3.Connection,
    execution_key: int,
    agent: AgentSpec,
    resources: Resources,  # noqa: ARG001  # the contract's signature
    benchmark: Benchmark,  # noqa: ARG001  # the contract's signature
) -> Aggregate:
    """Return the metrics of a stored execution, its summary and the applied prices."""
    from agentbench_tui.engine.run.closing import write_prices
    from agentbench_tui.load.results.aggregate import aggregate, read_requests
    from agentbench_tui.load.results.pricing import price_of
    from agentbench_tui.load.results.summary import summarize, write_summary
    from agentbench_tui.load.sending.target_memory import memory_peak

    requests = read_requests(connection, execution_key)
    price = price_of(connection, execution_key, agent)
    result = aggregate(requests, agent, None if price is None else price.of_request)
    if (memory := memory_peak(connection, execution_key, agent.id)) is not None:
        result.metrics[memory.name] = memory
    summary = summarize(requests, result) if requests.windows else None
    result.writes.append(lambda c: write_summary(c, execution_key, summary))
    if price is not None:
        result.writes.append(lambda c: write_prices(c, price.run_key, price.used))
    return result


async def run(group: Group, context: RunContext) -> None:
    """Measure every execution of the group, all repeats."""
    load = _Load(group, context)
    try:
        for repeat in range(context.plan.repeats):
            for execution in in_turn(group.executions, group.seed_of_turns, repeat):
                await load.measure(execution, repeat)
        await load.calibrate()
    finally:
        await load.close()


class _Load:
    """One load benchmark at one parameter point, for all of its executions."""

    def __init__(self, group: Group, context: RunContext) -> None:
        from agentbench_tui.load.spec import LoadSpec

        self._group = group
        self._context = context
        self._benchmark = benchmark = group.resolved()
        self._spec: LoadSpec = LoadSpec.model_validate(benchmark.load)
        self._arrivals: Arrivals | Trace | None = schedule_of(self._spec, group.base_dir)
        self._windows: dict[tuple[int, int], Window] = {}
        """By execution key and repeat, as far as measured here."""
        self._warned = False
        self._said: set[str] = set()
        if words := trace_words(self._spec, group.base_dir):
            context.say(words)
        self._shapes: dict[int, WorkerPlan] = {}
        """Execution key → plan of a worker for calibration, for executions over HTTP."""
        self._lives: dict[int, Live] = {}
        """By execution key, the last repeat; a viewer sees them until the group has ended."""
        self._senders: LoadWorkers | None = None
        """Workers of the last window, to calibrate with: starting others takes longer than that."""

    async def close(self) -> None:
        """Stop all background activity of the group."""
        for key in self._lives:
            self._context.active.pop(key, None)
        await self._let_go()

    async def _let_go(self) -> None:
        senders, self._senders = self._senders, None
        if senders is not None:
            await senders.close()

    def _say_once(self, sentence: str) -> None:
        """Report what applies to every window of the group with the first one."""
        if sentence not in self._said:
            self._said.add(sentence)
            self._context.say(sentence)

    async def _warn(self, target: HttpTarget | AgentTarget) -> None:
        """Warn before the start if the plan needs a large part of the senders' ceiling."""
        from agentbench_tui.load.calibration.calibration import last_known
        from agentbench_tui.load.calibration.verdict import plan_warning

        asked_per_s, run_key = asked_by(self._spec, self._arrivals)[1], self._context.run_key
        if asked_per_s is None or self._warned or not isinstance(target, HttpTarget):
            return
        self._warned = True

        def look(connection: sqlite3.Connection) -> Calibration | None:
            machine = fingerprint_of_run(connection, run_key)
            if machine is None:
                return None
            return last_known(connection, machine, streamed=target.call.stream)

        warning = plan_warning(asked_per_s, await self._context.writer.apply(look))
        if warning is not None:
            self._context.say(f"warning: {warning}")

    async def measure(self, execution: ExecutionPlan, repeat: int) -> None:
        """Measure one repeat of one execution. A failure of its target ends only this execution."""
        context, key = self._context, self._context.execution_keys[execution.id]
        progress = context.progress_of(key)
        if progress.broken is not None or await context.writer.apply(
            lambda c: repeats.is_measured(c, key, repeat)
        ):
            return
        progress.cut_short = True  # until the window is stored
        if context.stop.is_set:
            return
        await context.writer.apply(lambda c: forget_repeat(c, key, repeat))
        try:
            await self._window(execution, key, repeat)
        except AgentFailure as failure:
            Recorder(context.writer, context.run_key, key).failure(
                "start", failure.kind, failure.detail
            )
            detail = one_line(redact(failure.detail), LONGEST_REASON)
            progress.broken = f"the load could not be measured: {detail}"

    async def _window(self, execution: ExecutionPlan, key: int, repeat: int) -> None:
        from agentbench_tui.load.workload.workload import make_workload

        # Other prompts in each repeat: a server would have those of the one before in its cache.
        workload = make_workload(
            self._spec,
            base_dir=self._group.base_dir,
            seed=derive_seed(self._group.seed, "workload", repeat),
            say=self._say_once,
        )
        constraints = self._benchmark.constraints
        limit_ms = constraints.time_limit_ms
        async with open_target(
            execution.agent,
            stream=self._spec.stream,
            memory_limit_mb=constraints.memory_limit_mb,
        ) as opened:
            plans = worker_plans(
                self._spec,
                opened.target,
                workload,
                self._arrivals,
                seed=self._group.seed,
                repeat=repeat,
                time_limit_s=None if limit_ms is None else limit_ms / 1000,
            )
            _check_streams(self._spec, execution.agent, opened.target)
            if isinstance(opened.target, HttpTarget):
                self._shapes[key] = plans[0]
            try:
                measured = await self._carry_out(plans, opened, execution, repeat)
            except AgentFailure as failure:
                raise AgentFailure(failure.kind, opened.clean(failure.detail)) from None
        if measured is not None:
            await self._store(key, repeat, *measured)
            self._context.progress_of(key).cut_short = measured[0].stopped

    async def _carry_out(
        self, plans: list[WorkerPlan], opened: OpenTarget, execution: ExecutionPlan, repeat: int
    ) -> tuple[Window, Live] | None:
        """Run a window; return None if the run ended before the window began."""
        from agentbench_tui.load.results.pricing import price_against_cap

        context, key = self._context, self._context.execution_keys[execution.id]
        live = Live(
            context,
            key,
            repeat,
            pids=lambda: opened.pids,
            arrivals=self._arrivals,
            recorder=Recorder(context.writer, context.run_key, key),
            clean=opened.clean,
            price=price_against_cap(context, execution.agent),
            steering=Steering(None if self._arrivals is not None else users_of(self._spec)),
        )
        measurement = Measurement(context, self._spec, self._arrivals, opened.target, live)
        await self._let_go()
        async with LoadWorkers(plans, live.hear) as workers:
            context.active[key] = self._lives[key] = live
            window = await measurement.carry_out(workers, self._ready(workers, opened))
            if window is not None and isinstance(opened.target, HttpTarget):
                self._senders = workers.leave()
        return None if window is None else (window, live)

    async def _ready(self, workers: LoadWorkers, opened: OpenTarget) -> None:
        """Wait until the workers and the target are ready for the window. Raises AgentFailure."""
        await workers.ready()
        if await self._context.writer.apply(has_calibrations):
            await asyncio.shield(self._context.environment())
            await self._warn(opened.target)

    async def _store(self, key: int, repeat: int, window: Window, live: Live) -> None:
        await store_window(self._context, key, repeat, window, live)
        self._windows[(key, repeat)] = window

    async def calibrate(self) -> None:
        """Measure the load workers as each execution used them, and store the result with its
        windows. An agent that is not called over HTTP has no calibration, since it did not use them
        so.
        """
        if not self._windows:
            return
        from agentbench_tui.load.calibration.calibration import calibrated

        for key, shape in self._shapes.items():
            own = {place: one for place, one in self._windows.items() if place[0] == key}
            if not own or self._context.stop.is_set:
                continue
            await asyncio.shield(self._context.environment())  # whose machine it is kept for
            for live in self._lives.values():
                live.end("calibrating")
            fits = self._senders is not None and self._senders.count == shape.workers
            senders = self._senders if fits else None
            calibration = await calibrated(self._context, shape, list(own.values()), senders)
            if calibration is None:
                await self._let_go()
            else:
                await self._context.writer.apply(partial(_keep, own, calibration))


def _check_streams(spec: LoadSpec, agent: AgentSpec, target: HttpTarget | AgentTarget) -> None:
    """Raise AgentFailure if answers that arrive in one piece are to be canceled."""
    if not any(one.cancel_after_tokens for one in spec.workload):
        return
    reason = why_not_broken_off(agent, stream=spec.stream)
    if reason is None and not (isinstance(target, HttpTarget) and target.call.stream):
        reason = (
            "`cancel_after_tokens` (--cancel-after) counts what is streamed, and this agent does"
            " not stream to a load: leave it out"
        )
    if reason is not None:
        raise AgentFailure(FailureKind.AGENT, reason)


def _keep(
    windows: Mapping[tuple[int, int], Window],
    calibration: Calibration,
    connection: sqlite3.Connection,
) -> None:
    for (key, repeat), window in windows.items():
        known = msgspec.structs.replace(window, calibration=calibration)
        repeats.replace(connection, key, repeat, known)
