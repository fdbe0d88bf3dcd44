"""Watches a window: its faults and actions, and the reasons to end it early."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.model.clock import perf_counter_ns
from agentbench_tui.stress.budget import Stopped
from agentbench_tui.stress.faults.host_memory import host_guard
from agentbench_tui.stress.stand.reachability import is_reachable

if TYPE_CHECKING:
    from agentbench_tui.load.results.live import Live
    from agentbench_tui.load.sending.workers import LoadWorkers
    from agentbench_tui.stress.budget import Budget
    from agentbench_tui.stress.stand.measured import Measured
    from agentbench_tui.stress.stand.readings import Readings
    from agentbench_tui.stress.stand.stand import Stand
    from agentbench_tui.stress.stand.window_plan import TimedAction, WindowPlan

LOOK_EVERY_S = 0.1
GUARD_EVERY = 10
"""Ticks between two checks of the machine's memory, and of a port that does not answer."""
SILENT_LOOKS = 5
"""Such looks in a row that find nobody on the port of a target that answers nothing: it is gone."""


class Watch:
    """Watches one window; an async context manager that leaves nothing running."""

    def __init__(
        self, stand: Stand, workers: LoadWorkers, live: Live, course: WindowPlan, budget: Budget
    ) -> None:
        self.why: AgentFailure | Stopped | None = None
        """The window was ended early for that."""
        self.readings: Readings | None = None
        self._stand = stand
        self._workers = workers
        self._live = live
        self._course = course
        self._budget = budget
        self._tasks: list[asyncio.Task[None]] = []
        self._applied: dict[str, int] = {}
        self._answered = 0
        self._silent = 0

    async def __aenter__(self) -> Watch:
        if self._course.faults:
            if self._stand.proxy is None:
                raise ValueError(f"no faults can be put in: {self._stand.no_proxy}")
            await self._stand.proxy.schedule(self._course.faults)
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        proxy, faults = self._stand.proxy, self._course.faults
        if faults and proxy is not None:
            counts = await proxy.clear()
            for fault in counts.faults[-len(faults) :]:
                self._applied[fault.name] = self._applied.get(fault.name, 0) + fault.applied

    def begin(self, began_ns: int) -> None:
        """Start the window at that time of `perf_counter_ns`."""
        if self.readings is not None:
            self.readings.begin(began_ns)
        doing = [self._guard()]
        if self._course.faults:
            doing.append(self._start_faults(began_ns))
        doing += [self._act(action, began_ns) for action in self._course.actions]
        self._tasks = [asyncio.create_task(one) for one in doing]

    def with_readings(self, measured: Measured, *, cpu: bool) -> Measured:
        """Return the window with its resource samples; CPU time of processes that live for one
        request is unknown and omitted.
        """
        readings = self.readings
        if readings is None:
            return measured
        return replace(
            measured,
            memory_mb=tuple(readings.memory_mb),
            cpu_share=readings.cores if cpu else None,
            applied=self._applied,
        )

    def _end(self, why: AgentFailure | Stopped) -> None:
        if self.why is None:
            self.why = why
            self._workers.stop()
            self._live.cut()

    async def _start_faults(self, began_ns: int) -> None:
        assert self._stand.proxy is not None, "the faults are scheduled there"
        try:
            await self._stand.proxy.start(began_ns)
        except AgentFailure as failure:
            self._end(failure)

    async def _act(self, action: TimedAction, began_ns: int) -> None:
        await asyncio.sleep((began_ns - perf_counter_ns()) / 1e9 + action.at_s)
        try:
            await action.act()
        except AgentFailure as failure:
            self._end(AgentFailure(failure.kind, f"{action.name}: {failure.detail}"))
        except Exception as error:  # noqa: BLE001  # whatever it is, it ends the window and is told
            detail = f"{action.name}: {type(error).__name__}: {error}"
            self._end(AgentFailure(FailureKind.HARNESS, detail))

    async def _guard(self) -> None:
        """Watch, and end the window if watching itself fails."""
        try:
            await self._look()
        except Exception as error:  # noqa: BLE001  # whatever it is, it ends the window and is told
            detail = f"the guard of the window failed: {type(error).__name__}: {error}"
            self._end(AgentFailure(FailureKind.HARNESS, detail))

    async def _look(self) -> None:
        """Watch until there is a reason to end the window."""
        lasting = self._stand.is_here and not self._course.may_die
        looks = 0
        while self.why is None:
            await asyncio.sleep(LOOK_EVERY_S)
            looks += 1
            if lasting and not self._stand.lives:
                gone = "the target's process ended in the middle of a window"
                self._end(AgentFailure(FailureKind.CONNECTION, gone))
            elif self._budget.left_s <= 0:
                self._end(Stopped(self._budget.out_of_time))
            elif looks % GUARD_EVERY == 0:
                await self._look_closer()

    async def _look_closer(self) -> None:
        reason = host_guard()
        if reason is not None:
            self._end(Stopped(reason))
            return
        url, answered = self._stand.url, self._live.answered
        silent = answered == self._answered and self._live.failed > 0
        self._answered = answered
        if url is None or self._course.may_die or not silent or await is_reachable(url):
            self._silent = 0
            return
        self._silent += 1
        if self._silent >= SILENT_LOOKS:
            gone = f"no process listens any more at {url}"
            self._end(AgentFailure(FailureKind.CONNECTION, gone))
