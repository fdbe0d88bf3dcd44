"""One run from its plan to its end: the measuring process.

It writes its progress to the store, which viewers read.
"""

from __future__ import annotations

import asyncio
import gc
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentbench_tui.agents.schemes import INSIDE
from agentbench_tui.agents.target import parse_target
from agentbench_tui.engine.cases.casebook import open_datasets, store_datasets
from agentbench_tui.engine.kinds import find_runner
from agentbench_tui.engine.run import dead_runs, registration
from agentbench_tui.engine.run.closing import (
    captured_environment,
    close_run,
    write_environment,
    write_prices,
)
from agentbench_tui.engine.run.context import RunContext, StopSignal
from agentbench_tui.engine.run.ended_groups import EndedGroups
from agentbench_tui.engine.run.gauging import sampler_of
from agentbench_tui.engine.run.monitor import answer_wishes, write_ticks
from agentbench_tui.engine.run.plan import masked
from agentbench_tui.engine.run.plan_secrets import declare_secrets_of
from agentbench_tui.engine.run.signals import Signals
from agentbench_tui.engine.run.stopping import Budget
from agentbench_tui.engine.run.taking_over import (
    leave_out_the_rest,
    spend_what_was_asked,
    take_over,
)
from agentbench_tui.model.clock import bind, monotonic, perf_counter_ns, utc_now
from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.model.interpreter_state import remember_again, restore
from agentbench_tui.model.kind_sections import read_suite
from agentbench_tui.model.suite import Price
from agentbench_tui.model.text.secrets import redact
from agentbench_tui.process.supervision import end_forks_of, note_no_call
from agentbench_tui.store.database import reading
from agentbench_tui.store.queries.answers import committed_observations, spent_on_run
from agentbench_tui.store.queries.executions import complete_executions, execution_keys
from agentbench_tui.store.removal import remove_unfinished
from agentbench_tui.store.writer import Writer
from agentbench_tui.store.writes.executions import start_execution

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from agentbench_tui.engine.cases.dataset import CaseSource
    from agentbench_tui.engine.run.plan import Group, Plan
    from agentbench_tui.instruments.overhead import Overhead
    from agentbench_tui.instruments.sampler import SamplerCost
    from agentbench_tui.store.locking import LeaseHolder

    Listen = Callable[[Callable[[int], None]], AbstractContextManager[object]]


class Outcome(msgspec.Struct, frozen=True):
    """How a run ended."""

    run_id: str
    status: str
    """complete, incomplete or interrupted."""
    stop_reason: str | None
    signal: int | None = None
    """The signal that ended it, if one did."""


async def carry_out(
    plan: Plan,
    database: Path,
    *,
    resume: bool = False,
    say: Callable[[str], None] = lambda _: None,
    listen: Listen = Signals,
) -> Outcome:
    """Execute a plan, or continue an interrupted one.

    `say` receives lines for the user: that the first signal has arrived and the run is about to
    end, or remarks on the next measurement. `listen` creates the context in which interrupts are
    received: by default signals of the process. In every case, the measurements are committed and
    the run's row says how it ended. Raises StoreError if the store cannot be written, and the
    errors of a benchmark's dataset.
    """
    declare_secrets_of(plan)
    bind(asyncio.get_running_loop())
    end_forks_of(asyncio.get_running_loop())
    await asyncio.to_thread(remove_unfinished, database)
    lease, holder = registration.take_lease(database, plan.run_id)
    try:
        writer = Writer(database)
        try:
            run = _Run(plan, database, writer, holder, say, listen)
            return await run.carry_out(resume=resume)
        finally:
            writer.close()
    finally:
        lease.release()


class _Run:
    """The state of a running run."""

    def __init__(
        self,
        plan: Plan,
        database: Path,
        writer: Writer,
        holder: LeaseHolder,
        say: Callable[[str], None],
        listen: Listen,
    ) -> None:
        self._listen = listen
        self._plan = plan
        self._database = database
        self._writer = writer
        self._holder = holder
        self._say = say
        self._signal: int | None = None
        self._canceled = False
        self._work: asyncio.Task[Any] | None = None
        self._stop = StopSignal()
        self._may_ask = asyncio.Event()
        self._may_ask.set()
        self._environment: asyncio.Task[None] | None = None
        self._overhead: Overhead | None = None
        self._gauges: SamplerCost | None = None
        self._suites = {
            suite.hash: read_suite(msgspec.json.encode(suite.document)) for suite in plan.suites
        }

    async def carry_out(self, *, resume: bool) -> Outcome:
        writer = self._writer
        await writer.apply(lambda c: dead_runs.mark_dead_runs(c, self._database))
        # Opened before the run exists: a dataset that cannot be read leaves no trace of a run.
        # A rerun has the cases of the run that it continues.
        sources = {} if resume or self._plan.rerun_of else open_datasets(self._plan)
        if resume:
            run_key = await writer.apply(
                lambda c: registration.reopen_run(c, self._plan.run_id, self._holder)
            )
        else:
            run_key = await writer.apply(
                lambda c: registration.register_run(c, masked(self._plan), self._holder)
            )
        error: str | None = None
        self._work = asyncio.current_task()
        try:
            with self._listen(self._on_signal), reading(self._database) as reader:
                context = await self._prepare(run_key, sources, reader, resume=resume)
                await self._measure(context)
        except asyncio.CancelledError:
            if not self._canceled:
                raise
        except AgentbenchError as raised:
            error = str(raised)
            raise
        except BaseException as raised:
            error = f"{type(raised).__name__}: {raised}"
            raise
        finally:
            status: str = await writer.apply(
                lambda c: close_run(c, run_key, self._stop, error, self._overhead, self._gauges)
            )
        return Outcome(self._plan.run_id, status, self._stop.reason, self._signal)

    async def _prepare(
        self,
        run_key: int,
        sources: dict[int, CaseSource],
        reader: sqlite3.Connection,
        *,
        resume: bool,
    ) -> RunContext:
        """Store environment, prices and datasets; everything that is not measured."""
        from agentbench_tui.scoring.prices import PriceTable

        plan, writer = self._plan, self._writer
        keys = await writer.apply(lambda c: execution_keys(c, run_key))
        prices = PriceTable(map(Price.model_validate, plan.prices), source=plan.prices_file)
        for suite in self._suites.values():
            prices.add(suite.prices, "suite")
        context = RunContext(
            plan=plan,
            writer=writer,
            database=self._database,
            reader=reader,
            run_key=run_key,
            execution_keys=keys,
            dataset_keys={},
            budget=Budget(plan.cost_limit_usd, plan.token_limit),
            prices=prices,
            clock_start_ns=perf_counter_ns(),
            environment=lambda: self._know_environment(run_key),
            stop=self._stop,
            may_ask=self._may_ask,
            agent_of={keys[one.id]: one.agent.id for _, one in plan.executions()},
            say=self._tell,
        )
        await store_datasets(context, sources)
        if plan.rerun_of:
            await take_over(context)
        if resume or plan.rerun_of:
            await self._load_committed(context)
        return context

    def _know_environment(self, run_key: int) -> asyncio.Future[None]:
        if self._environment is None:
            self._environment = asyncio.create_task(
                self._store_environment(run_key), name="the machine is not recorded"
            )
            self._environment.add_done_callback(self._tell_failure)
        return self._environment

    async def _store_environment(self, run_key: int) -> None:
        document, fingerprint, vcs = await asyncio.to_thread(captured_environment)
        earlier = self._plan.rerun_of
        await self._writer.apply(
            lambda c: write_environment(c, run_key, document, fingerprint, vcs, earlier)
        )

    async def _load_committed(self, context: RunContext) -> None:
        """Read what is already in the store, and its cost, which counts toward the run's budget."""
        done = await self._writer.apply(lambda c: committed_observations(c, context.run_key))
        context.done = {key: done.get(key, set()) for key in context.execution_keys.values()}
        if self._plan.rerun_of:
            spend_what_was_asked(context)
            leave_out_the_rest(context)
        else:
            spent = await self._writer.apply(lambda c: spent_on_run(c, context.run_key))
            context.budget.spend(*spent)
        context.check_budget()
        context.finished = await self._writer.apply(
            lambda c: complete_executions(c, context.run_key)
        )

    async def _measure(self, context: RunContext) -> None:
        """Run all groups in order, together with the live view, control requests and gauges."""
        from agentbench_tui.instruments.overhead import OverheadProbe

        sampler = sampler_of(context, self._database.parent)
        probe = OverheadProbe(agents_inside=self._has_agents_inside())
        beside = [
            asyncio.create_task(write_ticks(context), name="the live view is no longer written"),
            asyncio.create_task(
                answer_wishes(context, self._holder.since),
                name="control requests, such as stop, are no longer answered",
            ),
        ]
        for task in beside:
            task.add_done_callback(self._tell_failure)
        self._work = work = asyncio.create_task(self._groups(context))
        sampler.start()
        remember_again()
        # Cases, modules and plans are there to stay: the collector need not look at them. It does
        # not look for garbage among them first, which takes longer than asking twenty agents.
        gc.freeze()
        probe.start()
        try:
            await work
        except asyncio.CancelledError:
            if self._signal is None:
                raise
        except BaseExceptionGroup as group:
            raise _first_of(group) from group
        finally:
            note_no_call()
            self._overhead = probe.stop()
            gc.unfreeze()
            for task in beside:
                task.cancel()
            await asyncio.gather(context.environment(), *beside, return_exceptions=True)
            await asyncio.to_thread(sampler.stop)
            self._gauges = sampler.cost
            await self._finish(context)

    async def _groups(self, context: RunContext) -> None:
        """Every group in order; those of a suite with `parallelism` N up to N at once."""
        ended = EndedGroups(context, self._suites)
        try:
            for suite_hash, planned in groupby(self._plan.groups, key=lambda one: one.suite_hash):
                places = asyncio.Semaphore(self._suites[suite_hash].parallelism)
                async with asyncio.TaskGroup() as tasks:
                    for group in planned:
                        await places.acquire()
                        task = tasks.create_task(self._group(group, context, ended))
                        task.add_done_callback(lambda _, places=places: places.release())  # type: ignore[misc]
        finally:
            await ended.finish()

    async def _group(self, planned: Group, context: RunContext, ended: EndedGroups) -> None:
        group = _unfinished(planned, context.finished, context.execution_keys)
        if not group.executions or context.stop.is_set:
            return
        await ended.make_way(group)
        began = monotonic()
        for execution in group.executions:
            start_execution(context.writer, context.execution_keys[execution.id], utc_now())
        runner = find_runner(group.benchmark["kind"])
        try:
            await runner.run(group, context)
        except BaseException:
            restore()  # else what has been measured could not be saved
            raise
        finally:
            await ended.add(group, began)

    async def _finish(self, context: RunContext) -> None:
        from agentbench_tui.engine.run.finish import rank_executions

        rows = context.prices.used_prices()
        await self._writer.apply(lambda c: write_prices(c, context.run_key, rows))
        await self._writer.apply(lambda c: rank_executions(c, context.run_key))

    def _tell_failure(self, task: asyncio.Task[None]) -> None:
        """Report the failure of a background task by what is lost.

        A failure of the store ends the run.
        """
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, AgentbenchError):
            self._tell(f"warning: {task.get_name()}: {type(error).__name__}: {error}")

    def _has_agents_inside(self) -> bool:
        """Return whether any agent runs in this process, so that its CPU time is not the
        harness's alone.
        """
        targets = (execution.agent.target for _, execution in self._plan.executions())
        return any(parse_target(target).scheme in INSIDE for target in targets)

    def _tell(self, line: str) -> None:
        # Whoever would read it may be gone, with the terminal.
        with suppress(OSError, ValueError):
            self._say(redact(line))

    def _on_signal(self, number: int) -> None:
        """The first signal lets in-flight requests finish, the second ends them; later ones do
        nothing.
        """
        if self._signal is None:
            self._signal = number
            self._stop.request("interrupted", interrupted=True)
            self._may_ask.set()
            self._tell(
                "interrupted: waiting for in-flight requests; interrupt again to stop at once"
            )
        elif self._work is not None and not self._canceled:
            self._canceled = True
            self._work.cancel()


def _unfinished(group: Group, finished: set[int], keys: dict[str, int]) -> Group:
    """The group without executions that came to their end before the run was resumed."""
    rest = tuple(one for one in group.executions if keys[one.id] not in finished)
    return msgspec.structs.replace(group, executions=rest)


def _first_of(group: BaseExceptionGroup) -> BaseException:
    """The first thing that went wrong, out of groups within groups."""
    first: BaseException = group.exceptions[0]
    return _first_of(first) if isinstance(first, BaseExceptionGroup) else first
