"""Runs one window, from its workers' readiness to the stored result; the caller owns the
workers.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from agentbench_tui.engine.task.recorder import Recorder
from agentbench_tui.load.calibration.stalls import Stalls
from agentbench_tui.load.results import repeats
from agentbench_tui.load.results.live import TICK_S
from agentbench_tui.load.results.window import Window
from agentbench_tui.load.schedule.pace import Pace
from agentbench_tui.load.schedule.shape import (
    asked_of,
    duration_of,
    is_local,
    requests_of,
    runs_inside,
)
from agentbench_tui.load.sending.protocol import HttpTarget
from agentbench_tui.load.sending.workers import OVERTIME_S
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.model.clock import utc_now
from agentbench_tui.store.writes.observations import IterationRow

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from agentbench_tui.engine.run.context import RunContext
    from agentbench_tui.load.results.live import Live
    from agentbench_tui.load.schedule.arrivals import Arrivals, Trace
    from agentbench_tui.load.sending.protocol import AgentTarget, Done
    from agentbench_tui.load.sending.workers import LoadWorkers
    from agentbench_tui.load.spec import LoadSpec


class Measurement:
    """One window of a load on one target."""

    def __init__(
        self,
        context: RunContext,
        spec: LoadSpec,
        arrivals: Arrivals | Trace | None,
        target: HttpTarget | AgentTarget,
        live: Live,
    ) -> None:
        self._context = context
        self._spec = spec
        self._arrivals = arrivals
        self._target = target
        self._live = live

    async def carry_out(
        self,
        workers: LoadWorkers,
        ready: Coroutine[Any, Any, None],
        began: Callable[[int], None] = lambda _: None,
    ) -> Window | None:
        """Start the workers once `ready` has completed, and wait for their last reports.

        None if the run was to end before that; `began` receives the start on `perf_counter_ns`.
        Nothing keeps running afterwards. Raises AgentFailure.
        """
        context, live = self._context, self._live
        beside = [asyncio.create_task(_tick(live))]
        try:
            if not await unless_stopped(context, ready):
                return None
            started_at, stalls = utc_now(), Stalls()
            began_ns = workers.start()
            live.steering.begin(workers, began_ns)
            live.begin(
                began_ns,
                duration_of(self._spec, self._arrivals),
                requests_of(self._spec, self._arrivals),
            )
            began(began_ns)
            beside.append(asyncio.create_task(_stop(context, workers, live)))
            try:
                done = await self._done(workers)
            except AgentFailure as failure:
                raise AgentFailure(failure.kind, f"broke off: {failure.detail}") from None
            stalled = stalls.percent()
        finally:
            for task in beside:
                task.cancel()
            live.end()
        return self._window(done, started_at, stalled)

    def _window(self, done: tuple[Done, ...], started_at: str, stalled: float | None) -> Window:
        target, stopped = self._target, any(one.stopped for one in done)
        ran_s = max(one.window_s for one in done) if stopped else None
        steering = self._live.steering
        asked = asked_by(self._spec, self._arrivals, ran_s, steering.pace)
        return Window(
            is_open=self._arrivals is not None,
            asked_per_s=asked[1],
            asked=asked[0],
            started_at=started_at,
            ramp_s=self._spec.ramp_s,
            slo=self._spec.slo.limits(),
            max_in_flight=self._spec.max_in_flight,
            on_this_machine=not isinstance(target, HttpTarget) or is_local(target.url),
            workers=done,
            psi_cpu_percent=stalled,
            stopped=stopped,
            changes=tuple(steering.changes),
            agent_inside=runs_inside(target),
        )

    async def _done(self, workers: LoadWorkers) -> tuple[Done, ...]:
        """Return the workers' final reports; a worker that hangs beyond its window and drain is
        ended.
        """
        longest = duration_of(self._spec, self._arrivals)
        if longest is None:
            return await workers.done()
        try:
            async with asyncio.timeout(longest + self._spec.drain_s + OVERTIME_S):
                return await workers.done()
        except TimeoutError:
            late = "a load worker did not come to its end"
            raise AgentFailure(FailureKind.HARNESS, late) from None


def asked_by(
    spec: LoadSpec,
    arrivals: Arrivals | Trace | None,
    ran_s: float | None = None,
    pace: Pace | None = None,
) -> tuple[float | None, float | None]:
    """Return the expected requests and rate of the schedule at this pace; for a window that was
    cut short, while it ran.
    """
    if arrivals is None:
        return None, None
    pace = pace or Pace()
    duration_s = duration_of(spec, arrivals) if ran_s is None else ran_s
    own_s = None if duration_s is None else pace.schedule_s(duration_s)
    count, own_seconds = asked_of(arrivals, own_s, spec.requests)
    seconds = pace.window_s(own_seconds)
    return count, count / seconds if seconds > 0 else None


async def store_window(
    context: RunContext, execution_key: int, repeat: int, window: Window, live: Live
) -> None:
    """Store a measured window; on return it is committed with its samples."""
    Recorder(context.writer, context.run_key, execution_key).iteration(
        IterationRow(
            repeat=repeat,
            iteration=0,
            warmup=False,
            status="stopped" if window.stopped else "ok",
            started_at=window.started_at,
            asking_s=window.window_s,
            observed=live.rows,
            answered=live.answered,
            correct=0,
        )
    )
    await context.writer.apply(lambda c: repeats.keep(c, execution_key, repeat, window, live.rows))


async def unless_stopped(context: RunContext, work: Coroutine[Any, Any, None]) -> bool:
    """Do the work; return False if the run ended before it was done."""
    doing, stop = asyncio.create_task(work), asyncio.create_task(context.stop.wait())
    try:
        await asyncio.wait((doing, stop), return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            doing.result()
        return not stop.done()
    finally:
        doing.cancel()
        stop.cancel()


async def _tick(live: Live) -> None:
    while True:
        await asyncio.sleep(TICK_S)
        live.tick()


async def _stop(context: RunContext, workers: LoadWorkers, live: Live) -> None:
    """End the window when the run is to end: in-flight requests finish."""
    await context.stop.wait()
    workers.stop()
    live.cut()
