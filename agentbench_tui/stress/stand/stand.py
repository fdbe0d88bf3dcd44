"""The target of a stress test: opened once, then measured in one window of load after another."""

from __future__ import annotations

import asyncio
import os
from statistics import median
from typing import TYPE_CHECKING

from agentbench_tui.agents.target import parse_target
from agentbench_tui.engine.task.recorder import Recorder
from agentbench_tui.load.results.live import Live
from agentbench_tui.load.results.pricing import price_against_cap
from agentbench_tui.load.schedule.shape import runs_inside, worker_plans
from agentbench_tui.load.sending.measurement import Measurement, store_window
from agentbench_tui.load.sending.protocol import AgentTarget
from agentbench_tui.load.sending.workers import LoadWorkers
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.model.clock import perf_counter
from agentbench_tui.process.snapshot import read_process, snapshot
from agentbench_tui.store.writes.load import forget_repeat
from agentbench_tui.stress.budget import Budget, Stopped
from agentbench_tui.stress.faults.process_fault import tree_of
from agentbench_tui.stress.stand.outcome import measured_of, read_window
from agentbench_tui.stress.stand.proxied_target import behind, url_of
from agentbench_tui.stress.stand.reachability import is_reachable
from agentbench_tui.stress.stand.readings import Readings, resident_mb
from agentbench_tui.stress.stand.watch import Watch
from agentbench_tui.stress.stand.window_plan import WindowPlan
from agentbench_tui.stress.stand.worker_messages import MOST_IN_FLIGHT, load_spec_of, workload_of

if TYPE_CHECKING:
    from agentbench_tui.engine.run.context import RunContext
    from agentbench_tui.engine.run.plan import ExecutionPlan, Group
    from agentbench_tui.load.results.window import Window
    from agentbench_tui.load.sending.protocol import Chunk, HttpTarget, WorkerPlan
    from agentbench_tui.load.sending.target import OpenTarget
    from agentbench_tui.load.spec import LoadSpec
    from agentbench_tui.model.answer import Agent
    from agentbench_tui.process.snapshot import ProcessInfo
    from agentbench_tui.stress.faults.proxy_process import FaultProxy
    from agentbench_tui.stress.spec import StressSpec
    from agentbench_tui.stress.stand.measured import Measured
    from agentbench_tui.stress.stand.served import Owned

FIRST_TIME_LIMIT_S = 60.0
"""Time limit of one request, until limits of the target are known."""
LEAST_TIME_LIMIT_S = 5.0
TIME_LIMIT_OVER_P95 = 10.0
IDLE_LIMIT_S = 30.0
LEAST_IDLE_LIMIT_S = 20.0
"""Minimum limit, not scaled: a target takes its own time to become idle."""
AGAIN_LIMIT_S = 3.0
"""Limit after it did not become idle within the whole limit once."""
IDLE_PACES = 20
"""Times the unloaded pace that are waited at least."""
IDLE_REQUESTS = 3
"""One after another, all at the unloaded pace."""
IDLE_FACTOR = 1.5
"""Factor on the unloaded latency up to which the target counts as idle again."""
IDLE_SLACK_MS = 5.0
GONE_LIMIT_S = 5.0
"""Time for an unreachable target to accept connections again before it counts as gone."""
PROGRAMS = frozenset({"command", "worker"})
PROGRAMS_A_CORE = 4
"""Programs per core, for agents that are programs, one per in-flight request."""
LAST_FEW = 20
"""Requests at a window's end by which a target looks gone."""


class Stand:
    """One target; created by `opening.open_stand`, which leaves nothing behind."""

    def __init__(
        self,
        context: RunContext,
        group: Group,
        execution: ExecutionPlan,
        spec: StressSpec,
        opened: OpenTarget,
        *,
        agent: Agent | None,
        owned: Owned | None,
        proxy: FaultProxy | None,
        no_proxy: str,
    ) -> None:
        self.spec = spec
        self.simulated = execution.agent.simulated
        self.scheme = parse_target(execution.agent.target).scheme
        self.proxy = proxy
        """Between senders and target, or between target and upstream, where the scenario wants
        faults and the target can have them."""
        self.no_proxy = no_proxy
        """Why there is none."""
        self.owned = owned
        """The target's server, if agentbench may end and restart it."""
        self.url = url_of(opened.target)
        """The target's address without the proxy; None for agents without one URL."""
        self.agent = agent
        """Agentbench's own session with an HTTP target, without the proxy; None for other
        agents.
        """
        self.windows = 0
        """Measured and stored so far; the number of the next."""
        self.pace_ms: float | None = None
        """Median latency at ease; measured by the first `idle` unless set before."""
        limit_ms = group.resolved().constraints.time_limit_ms
        self.time_limit_s = FIRST_TIME_LIMIT_S if limit_ms is None else limit_ms / 1000
        """Time limit of one request, from sending."""
        self._own_limit = limit_ms is not None
        self._restless = False
        """Whether it did not become idle the last time."""
        self._context = context
        self._group = group
        self._agent_spec = execution.agent
        self._key = context.execution_keys[execution.id]
        self._opened = opened
        self._target: HttpTarget | AgentTarget = opened.target
        if proxy is not None and spec.upstream is None:
            self._target = behind(opened.target, proxy.through)
        self._seen: ProcessInfo | None = None
        self.is_here = self.lives
        """Whether the target has local processes that should keep running."""
        self._budget = Budget(spec)
        self._workers: LoadWorkers | None = None
        self._live: Live | None = None

    async def hold(self, course: WindowPlan, *, phase: str) -> Measured:
        """Measure one window and store it as the next repeat.

        Raises AgentFailure (`connection`) when the target is gone, and `Stopped` when the run is
        to end or a budget of the execution is used up; what was measured is stored before. A
        course over the rate or the users that the suite allows raises ValueError.
        """
        self._check(course)
        window, plans, live, watch = await self._carry_out(course)
        self.windows += 1
        repeat = self.windows - 1
        await store_window(self._context, self._key, repeat, window, live)
        self._budget.spend(window)
        columns = await asyncio.to_thread(read_window, self._context.writer.path, self._key, repeat)
        measured = measured_of(
            columns, window, plans, phase=phase, repeat=repeat, users=course.users
        )
        measured = watch.with_readings(measured, cpu=self.is_here or self.scheme == "worker")
        if watch.why is not None:
            raise watch.why
        if window.stopped:
            raise Stopped(self._context.stop.reason or "stopped")
        if not course.may_die and await self._is_gone(measured):
            raise AgentFailure(FailureKind.CONNECTION, f"no process listens any more at {self.url}")
        return measured

    async def idle(self, limit_s: float | None = None) -> bool:
        """Wait until sequential requests are answered at the unloaded pace again; return whether
        that was within `limit_s` (by default 30 s × time scale, at least 20 s and 20 answers at
        that pace; 3 s after an earlier failure). Raises `Stopped` like `hold`; a target that does
        not answer is not idle.
        """
        if limit_s is None:
            limit_s = AGAIN_LIMIT_S if self._restless else self._idle_limit_s
        ends_s = perf_counter() + limit_s
        while (left_s := ends_s - perf_counter()) > 0:
            times = await self._ask_in_turn(left_s)
            if len(times) < IDLE_REQUESTS:
                await self._context.stop.sleep(min(0.1, left_s))
                continue
            if self.pace_ms is None:
                self.pace_ms = median(times)
            if median(times) <= self.pace_ms * IDLE_FACTOR + IDLE_SLACK_MS:
                self._restless = False
                return True
        self._restless = True
        return False

    async def nobody_listens(self) -> bool:
        """Return whether the address accepts no connection for some seconds; False if that cannot
        be tested, or if the run is to end.
        """
        ends_s = perf_counter() + GONE_LIMIT_S
        while self.url is not None and perf_counter() < ends_s:
            if await is_reachable(self.url):
                return False
            await self._context.stop.sleep(0.2)
            if self._context.stop.is_set:
                return False
        return self.url is not None

    @property
    def _idle_limit_s(self) -> float:
        paces_s = IDLE_PACES * (self.pace_ms or 0.0) / 1e3
        return max(self.spec.scaled(IDLE_LIMIT_S), LEAST_IDLE_LIMIT_S, paces_s)

    @property
    def most_users(self) -> int:
        """Return the allowed number of users: the suite's limit, and no more programs than the
        cores support if each user has one.
        """
        return min(self.spec.most_concurrency, self._most_programs or self.spec.most_concurrency)

    @property
    def _most_programs(self) -> int | None:
        return PROGRAMS_A_CORE * (os.cpu_count() or 1) if self.scheme in PROGRAMS else None

    def keep_limits(self, p95_ms: float) -> None:
        """Limit each request's time by the limit on p95, unless the suite sets a time limit."""
        if not self._own_limit:
            self.time_limit_s = max(LEAST_TIME_LIMIT_S, TIME_LIMIT_OVER_P95 * p95_ms / 1e3)

    @property
    def roots(self) -> tuple[int, ...]:
        """Return the target's current local root processes; empty if it runs elsewhere, or
        inside the senders.
        """
        lasting, workers = self.lasting_roots, self._workers  # the gauges ask from a thread
        if lasting or workers is None or runs_inside(self._target):
            return lasting
        if not isinstance(self._target, AgentTarget) or self.url is not None:
            return lasting
        senders = set(workers.pids)
        return tuple(info.pid for info in snapshot().values() if info.parent in senders)

    @property
    def lasting_roots(self) -> tuple[int, ...]:
        """Return the root processes that should keep running."""
        return self._opened.pids if self.owned is None else self.owned.pids

    @property
    def lives(self) -> bool:
        """Return whether any of them is still alive; the process table is read only when the last
        known one has ended.
        """
        if self._seen is not None:
            now = read_process(self._seen.pid)
            if now is not None and now.key == self._seen.key and not now.zombie:
                return True
        roots = self.lasting_roots
        self._seen = read_process(roots[0]) if roots else None
        return bool(roots)

    def memory_mb(self) -> float | None:
        """Return the resident memory of the target's process trees; None if they are not local."""
        members = tree_of(self.roots).values()
        return resident_mb(members) if members else None

    async def close(self) -> None:
        """End the workers."""
        workers, self._workers = self._workers, None
        self._context.active.pop(self._key, None)
        if workers is not None:
            await workers.__aexit__()

    def _check(self, course: WindowPlan) -> None:
        rate, spec = course.highest_rate, self.spec
        if rate is not None and rate > spec.most_rate * (1 + 1e-9):
            raise ValueError(f"{rate:g}/s is more than the {spec.most_rate:g}/s that are allowed")
        if course.users is not None and course.users > self.most_users:
            raise ValueError(f"{course.users} users are more than {self.most_users}")
        if course.input_tokens is not None and course.input_tokens > spec.most_input_tokens:
            raise ValueError(f"{course.input_tokens} tokens are more than are allowed")

    async def _carry_out(self, course: WindowPlan) -> tuple[Window, list[WorkerPlan], Live, Watch]:
        """Run one window without storing it."""
        context, repeat = self._context, self.windows
        if context.stop.is_set:
            raise Stopped(context.stop.reason or "stopped")
        self._budget.check()
        if self.is_here and not self.lives and not course.may_die:
            raise AgentFailure(FailureKind.CONNECTION, "the target's process has ended")
        course = self._budget.within(course)
        load_spec = self._load_spec(course)
        plans = await self._plans(course, load_spec, repeat)
        await context.writer.apply(lambda c: forget_repeat(c, self._key, repeat))
        live = self._live = Live(
            context,
            self._key,
            repeat,
            pids=lambda: self.roots,
            arrivals=course.arrivals,
            recorder=Recorder(context.writer, context.run_key, self._key),
            clean=self._opened.clean,
            price=price_against_cap(context, self._agent_spec),
        )
        try:
            workers = await self._workers_for(plans)
            context.active[self._key] = live
            watch = Watch(self, workers, live, course, self._budget)
            measurement = Measurement(context, load_spec, course.arrivals, self._target, live)
            async with watch, Readings(lambda: self.roots, course.length_s) as readings:
                watch.readings = readings
                window = await measurement.carry_out(workers, workers.ready(), watch.begin)
        except AgentFailure as failure:
            await self.close()
            died = failure.kind is FailureKind.HARNESS and runs_inside(self._target)
            kind = FailureKind.AGENT if died else failure.kind
            raise AgentFailure(kind, self._opened.clean(failure.detail)) from None
        except BaseException:
            await self.close()
            raise
        if window is None:
            await self.close()
            raise Stopped(context.stop.reason or "stopped")
        return window, plans, live, watch

    def _load_spec(self, course: WindowPlan) -> LoadSpec:
        # A target that has answered is not warmed up again, but for what each window starts anew.
        cold = not self.windows or isinstance(self._target, AgentTarget)
        return load_spec_of(
            course,
            self.spec.workload,
            time_limit_s=course.time_limit_s or self.time_limit_s,
            warmup_requests=int(cold and not course.may_die),
            most_in_flight=self._most_programs or MOST_IN_FLIGHT,
        )

    async def _plans(
        self, course: WindowPlan, load_spec: LoadSpec, repeat: int
    ) -> list[WorkerPlan]:
        workload = await asyncio.to_thread(workload_of, load_spec, self._group, repeat)
        return worker_plans(
            load_spec,
            self._target,
            workload,
            course.arrivals,
            seed=self._group.seed,
            repeat=repeat,
            time_limit_s=course.time_limit_s or self.time_limit_s,
        )

    async def _workers_for(self, plans: list[WorkerPlan]) -> LoadWorkers:
        """Return the workers of the previous window if their number matches, else new ones."""
        if self._workers is not None and len(self._workers.pids) == len(plans):
            self._workers.take(plans)
            return self._workers
        await self.close()
        workers = LoadWorkers(plans, self._hear)
        self._workers = await workers.__aenter__()
        return workers

    def _hear(self, worker: int, chunk: Chunk) -> None:
        if self._live is not None:
            self._live.hear(worker, chunk)

    async def _ask_in_turn(self, limit_s: float) -> list[float]:
        """Return latencies in ms of a few sequential requests that were answered within the limit,
        from a window that is not stored.
        """
        course = WindowPlan(
            limit_s,
            users=1,
            requests=IDLE_REQUESTS,
            drain_s=0.0,
            time_limit_s=min(limit_s, self.time_limit_s),
            may_die=True,
        )
        repeat = self.windows
        window, plans, _, watch = await self._carry_out(course)
        writer = self._context.writer
        await writer.flush()
        columns = await asyncio.to_thread(read_window, writer.path, self._key, repeat)
        await writer.apply(lambda c: forget_repeat(c, self._key, repeat))
        self._budget.spend(window)
        if watch.why is not None:
            raise watch.why
        measured = measured_of(columns, window, plans, phase="idle", repeat=repeat, users=1)
        return [float(time) for time in measured.e2e_ms[measured.ok]]

    async def _is_gone(self, measured: Measured) -> bool:
        """Return whether requests fail at the end of a window and no connection is accepted for
        some seconds. For a remote target without a URL, only its failures decide.
        """
        if not len(measured) or measured.ok[-LAST_FEW:].any() or self.url is None:
            return False
        if not measured.failures.get(FailureKind.CONNECTION):
            return False
        return await self.nobody_listens()
