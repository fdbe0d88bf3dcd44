"""The load workers of one window: starts, reads and ends them together."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from agentbench_tui.load.schedule.shape import share
from agentbench_tui.load.sending.protocol import (
    Chunk,
    Control,
    Done,
    Frames,
    FromWorker,
    Ready,
    Start,
    decode_from_worker,
    frame,
)
from agentbench_tui.load.sending.target import CLOSE_LIMIT_S
from agentbench_tui.load.sending.worker_process import COMMAND, environment, take_ahead
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.model.clock import perf_counter_ns
from agentbench_tui.process.child import Child, SpawnError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentbench_tui.load.sending.protocol import WorkerPlan

START_AFTER_NS = 5_000_000
"""Time between the start message and the start, so that every worker has received it by then."""
OPEN_LIMIT_S = 120.0
"""Time limit for a worker to open its target, without its warm-up."""
WARMUP_REQUEST_LIMIT_S = 300.0
"""Time limit of one warm-up request if the plan sets none: a cold model is slow."""
OVERTIME_S = CLOSE_LIMIT_S + 15.0
"""Time for a worker's last report after its window and its drain: it closes its agents first."""
EXIT_WAIT_S = 0.5
"""Time for a worker that closed its output to end, so that its exit code is known."""


SILENCE_LIMIT_S = 120.0
"""Time without a message of a worker, which normally reports four times a second unless an agent
inside it blocks it.
"""


class LoadWorker:
    """One worker process, from its plan to its final report."""

    def __init__(self, plan: WorkerPlan, on_chunk: Callable[[int, Chunk], None]) -> None:
        """Start the process. Raises AgentFailure (`harness`) if that fails."""
        self._on_chunk = on_chunk
        self._frames = Frames()
        self._ending: asyncio.Task[None] | None = None
        try:
            self._child = Child(
                COMMAND,
                environment=environment(),
                ahead=take_ahead(),
                watched=False,
                on_output=self._hear,
                on_end=self._end,
            )
        except SpawnError as error:
            raise AgentFailure(FailureKind.HARNESS, str(error)) from error
        self.take(plan)

    @property
    def pid(self) -> int:
        return self._child.pid

    def take(self, plan: WorkerPlan, on_chunk: Callable[[int, Chunk], None] | None = None) -> None:
        """Send a plan: at the start, and again after the previous plan; with a new receiver of
        messages if it changes.
        """
        self._on_chunk = on_chunk or self._on_chunk
        loop = asyncio.get_running_loop()
        self._plan = plan
        self._heard_ns = perf_counter_ns()
        self._ready: asyncio.Future[Ready] = loop.create_future()
        self._done: asyncio.Future[Done] = loop.create_future()
        self._child.write(frame(plan))
        if self._ending is not None:  # it has ended already
            self._end()

    async def ready(self) -> None:
        """Wait until it has warmed up. Raises AgentFailure with the reason if it cannot."""
        said = await self._ready
        if said.problem is not None:
            raise AgentFailure(FailureKind(said.failure_kind or FailureKind.HARNESS), said.problem)

    async def done(self) -> Done:
        """Wait for the final report.

        Raises AgentFailure (`harness`) when it ended without one, or has fallen silent.
        """
        while True:
            with suppress(TimeoutError):
                return await asyncio.wait_for(asyncio.shield(self._done), SILENCE_LIMIT_S / 4)
            silent_s = (perf_counter_ns() - self._heard_ns) / 1e9
            if silent_s > SILENCE_LIMIT_S:
                raise AgentFailure(
                    FailureKind.HARNESS, f"a load worker has reported nothing for {silent_s:.0f} s"
                )

    def say(self, message: Start | Control) -> None:
        """Send a message."""
        self._child.write(frame(message))

    async def close(self) -> None:
        """End the process in any state."""
        for future in (self._ready, self._done):
            if not future.done():
                future.cancel()
            elif not future.cancelled():
                future.exception()
        await self._child.close()
        if self._ending is not None:
            self._ending.cancel()

    def _hear(self, data: bytes) -> None:
        self._heard_ns = perf_counter_ns()
        try:
            for body in self._frames.feed(data):
                self._hear_message(decode_from_worker(body))
        except Exception as error:  # noqa: BLE001  # whoever waits for the worker is to know
            for future in (self._ready, self._done):
                if not future.done():
                    future.set_exception(error)

    def _hear_message(self, message: FromWorker) -> None:
        if isinstance(message, Chunk):
            self._on_chunk(self._plan.worker, message)
        elif isinstance(message, Ready):
            if not self._ready.done():
                self._ready.set_result(message)
        elif not self._done.done():
            self._done.set_result(message)

    def _end(self) -> None:
        if self._ending is not None:
            self._ending.cancel()
        self._ending = asyncio.get_running_loop().create_task(self._tell_end())

    async def _tell_end(self) -> None:
        await self._child.exits_within(EXIT_WAIT_S)
        for future in (self._ready, self._done):
            if not future.done():
                future.set_exception(
                    AgentFailure(FailureKind.HARNESS, f"a load worker {self._child.ending()}")
                )


class LoadWorkers:
    """All workers of one window; an async context manager that ends them."""

    def __init__(self, plans: Sequence[WorkerPlan], on_chunk: Callable[[int, Chunk], None]) -> None:
        self._plans = plans
        self._on_chunk = on_chunk
        self._workers: list[LoadWorker] = []

    async def __aenter__(self) -> LoadWorkers:
        try:
            for plan in self._plans:
                self._workers.append(LoadWorker(plan, self._on_chunk))
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def leave(self) -> LoadWorkers:
        """Hand the workers to another owner after their last report on the plans so far; this
        object then has none.
        """
        left = LoadWorkers(self._plans, self._on_chunk)
        left._workers, self._workers = self._workers, []
        return left

    @property
    def pids(self) -> tuple[int, ...]:
        return tuple(worker.pid for worker in self._workers)

    def take(
        self,
        plans: Sequence[WorkerPlan],
        on_chunk: Callable[[int, Chunk], None] | None = None,
    ) -> None:
        """Send each worker another plan after the previous one; with a new receiver of messages if
        it changes.
        """
        self._plans = plans
        for worker, plan in zip(self._workers, plans, strict=True):
            worker.take(plan, on_chunk)

    async def ready(self) -> None:
        """Wait until all have warmed up. Raises AgentFailure of the first that cannot begin."""
        limit_s = OPEN_LIMIT_S + max(
            plan.warmup_requests * (plan.time_limit_s or WARMUP_REQUEST_LIMIT_S)
            for plan in self._plans
        )
        try:
            async with asyncio.timeout(limit_s):
                await asyncio.gather(*(worker.ready() for worker in self._workers))
        except TimeoutError:
            raise AgentFailure(
                FailureKind.TIMEOUT, f"not ready for load within {limit_s:g} s"
            ) from None

    def start(self) -> int:
        """Start the window; return its start on `perf_counter_ns`."""
        at_ns = perf_counter_ns() + START_AFTER_NS
        for worker in self._workers:
            worker.say(Start(at_ns))
        return at_ns

    def stop(self) -> None:
        """End the running window now."""
        for worker in self._workers:
            worker.say(Control("stop"))

    @property
    def count(self) -> int:
        """Return the number of workers."""
        return len(self._workers)

    def set_pace(self, factor: float, at_ns: int) -> None:
        """Set the rate as a multiple of the schedule's."""
        for worker in self._workers:
            worker.say(Control("pace", factor, at_ns))

    def set_users(self, users: int, at_ns: int) -> None:
        """Set the number of users, at least one per worker."""
        for nth, worker in enumerate(self._workers):
            worker.say(Control("users", share(users, nth, self.count), at_ns))

    async def done(self) -> tuple[Done, ...]:
        """Return each worker's final report.

        Raises AgentFailure if one ended without a report.
        """
        return tuple(await asyncio.gather(*(worker.done() for worker in self._workers)))

    async def carry_out(self, plans: Sequence[WorkerPlan] = ()) -> tuple[Done, ...]:
        """Run the given plans, or further plans after them, from start to end. Raises
        AgentFailure.
        """
        if plans:
            self.take(plans)
        await self.ready()
        self.start()
        return await self.done()

    async def close(self) -> None:
        """End the workers in any state."""
        await asyncio.gather(*(worker.close() for worker in self._workers))
