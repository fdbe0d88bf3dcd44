"""One execution of an experiment in one repeat: its seat, and its stored data."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

from agentbench_tui.engine.run.stopping import check_observation, end_pass
from agentbench_tui.engine.task.recorder import Recorder
from agentbench_tui.experiments.measuring.order import Opened, Order, Reading, Warmed
from agentbench_tui.experiments.measuring.seat import ProcessSeat, Seat, ThreadSeat
from agentbench_tui.model.answer import NOT_GRADED, AgentFailure, Answer, FailureKind
from agentbench_tui.model.clock import utc_now
from agentbench_tui.model.text.secrets import redact
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.store.writes.observations import IterationRow

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from agentbench_tui.engine.run.context import RunContext
    from agentbench_tui.experiments.measuring.order import Instrument
    from agentbench_tui.model.suite import Benchmark

T = TypeVar("T")
LEAST_UNTIMED_S = 60.0
"""Where calls have a limit, set-up, tear-down and a profiler's pass may take ten times as long, and
so long at least."""
GRACE_S = 10.0
"""Time limit of unmeasured work after a run was asked to end."""
LONGEST_REASON = 300
"""Characters of a reason for which an execution could not be measured."""


class VariantMeasurement:
    """A variant that is set up and measured iteration by iteration."""

    def __init__(
        self, order: Order, benchmark: Benchmark, context: RunContext, key: int, case_key: int
    ) -> None:
        self.order = order
        self.progress = context.progress_of(key)
        self.warmed: Warmed | None = None
        self._benchmark = benchmark
        self._context = context
        self.key = key
        self.case_key = case_key
        self._recorder = Recorder(context.writer, context.run_key, key)
        self._opened: Opened | None = None
        self._in_call = False
        limit_ms = benchmark.constraints.time_limit_ms
        self._limit_ms = limit_ms
        self._seat: Seat = (
            ProcessSeat(order, None if limit_ms is None else limit_ms / 1e3)
            if benchmark.fresh_process
            else ThreadSeat(order)
        )

    @property
    def goes_on(self) -> bool:
        """Return whether more iterations are needed and allowed."""
        progress = self.progress
        is_open = self._opened is not None and self._opened.error is None
        return is_open and progress.stop_reason is None and progress.broken is None

    @property
    def effective(self) -> dict[str, Any]:
        """Return the settings that were read back."""
        return {} if self._opened is None else self._opened.effective

    async def open(self) -> None:
        """Set up. A failure breaks only this execution."""
        if self._context.stop.is_set:
            return
        try:
            self._opened = await self._bounded(self._seat.open())
        except AgentFailure as failure:
            self._opened = Opened({}, failure.detail)
        if self._opened.error is not None and not self._context.stop.is_set:
            self._recorder.failure("start", FailureKind.AGENT, self._opened.error)
            reason = one_line(redact(self._opened.error), LONGEST_REASON)
            self.progress.broken = f"set-up failed: {reason}"
            return
        self._context.active[self.key] = self

    async def warm_up(self) -> None:
        """Make unmeasured calls, which determine how many form one iteration. One that takes too
        long breaks this execution, since measured ones would not end either.
        """
        if not self.goes_on or self._context.stop.is_set:
            return
        started_at = utc_now()
        calls = self._benchmark.iterations.warmup
        try:
            warmed = await self._bounded(self._seat.warm_up(calls), calls)
        except AgentFailure as failure:
            if self._context.stop.is_set:
                return
            warmed = Warmed(1, 0.0, 1, (failure.detail,))
            if failure.kind is FailureKind.TIMEOUT:
                self.progress.broken = f"warm-up failed: {failure.detail}"
        self.warmed = warmed
        for error in warmed.errors:
            self._recorder.failure("warmup", FailureKind.AGENT, error)
        if warmed.calls:
            failed = len(warmed.errors)
            self._recorder.iteration(
                IterationRow(
                    self.order.repeat, 0, True, "failed" if failed else "ok", started_at,
                    warmed.seconds, warmed.calls, max(0, warmed.calls - failed), 0,
                )
            )  # fmt: skip

    async def reopen(self) -> None:
        """Start another process if its own is gone."""
        if self.goes_on and self._seat.is_gone:
            await self.open()
            await self.warm_up()

    async def _bounded(self, call: Awaitable[T], calls: int = 0) -> T:
        """Run unmeasured work of this many calls, ended at its limit and soon after the run is to
        end. Raises AgentFailure.
        """
        stop = self._context.stop
        limit_s = None
        if self._limit_ms is not None:
            limit_s = max(LEAST_UNTIMED_S, self._limit_ms / 100) + calls * self._limit_ms / 1e3

        async def end_soon(limit: asyncio.Timeout) -> None:
            await stop.wait()
            limit.reschedule(asyncio.get_running_loop().time() + GRACE_S)

        try:
            async with asyncio.timeout(limit_s) as limit:
                ending = asyncio.create_task(end_soon(limit))
                try:
                    return await call
                finally:
                    ending.cancel()
        except TimeoutError:
            late = "the run has ended" if stop.is_set else f"not done within {limit_s:g} s"
            raise AgentFailure(FailureKind.TIMEOUT, late) from None

    async def iterate(self, nth: int) -> Reading:
        """Measure and store one iteration."""
        started_at = utc_now()
        self._in_call = True
        try:
            reading, kind = self._judged(await self._seat.iterate(nth))
        except AgentFailure as failure:
            reading, kind = Reading(0, None, 1, error=failure.detail), failure.kind
        finally:
            self._in_call = False
        self._keep(nth, reading, kind, started_at)
        check_observation(self.progress, self._benchmark.early_stop)
        return reading

    def _judged(self, reading: Reading) -> tuple[Reading, FailureKind | None]:
        """Return the reading with its failure kind, if it failed."""
        if reading.error is not None:
            return reading, FailureKind.HARNESS if reading.by_instrument else FailureKind.AGENT
        if self._limit_ms is not None and reading.ms is not None and reading.ms > self._limit_ms:
            return reading, FailureKind.TIMEOUT
        return reading, None

    def _keep(self, nth: int, reading: Reading, kind: FailureKind | None, started_at: str) -> None:
        place = (self.case_key, self.order.repeat, nth)
        began_ms = (reading.began_ns - self._context.clock_start_ns) / 1e6
        self.progress.note(kind, None, None, reading.ms or 0.0)
        if kind is not None:
            detail = reading.error or f"took {reading.ms:.6g} ms of {self._limit_ms:g} ms"
            self._recorder.failure("answer", kind, detail, place, 0)
        self._recorder.answer(
            place,
            0,
            kind,
            None if reading.error is not None else self._answer(nth, reading),
            NOT_GRADED,
            sent_ms=max(0.0, began_ms),
            e2e_ms=reading.ms,
            waiting_ms=0.0,
            cost_usd=None,
        )
        calls_s = (reading.ms or 0.0) * reading.loops / 1e3
        answered = int(kind is None)
        self._recorder.iteration(
            IterationRow(
                self.order.repeat, nth, False, "ok" if answered else "failed", started_at, calls_s,
                1, answered, 0, reading.cpu_seconds, self._seat.peak_memory_mb,
            )
        )  # fmt: skip

    def _answer(self, nth: int, reading: Reading) -> Answer:
        metadata: dict[str, Any] = {"loops": reading.loops}
        if reading.instruments:
            metadata |= {
                "instruments": reading.instruments,
                "instruments_ms": reading.instruments_ms,
            }
        if nth == 0:
            metadata["effective"] = self.effective
            if self._opened is not None:
                metadata["otherwise"] = self._opened.otherwise
                metadata |= {"better": self._opened.better} if self._opened.better else {}
            metadata |= {"unread": reading.unread} if reading.unread else {}
        return Answer(data=reading.metrics, api_calls=0, metadata=metadata)

    def end_iteration(self) -> None:
        """Check whether the measurement is precise enough."""
        end_pass(self.progress, self._benchmark.early_stop)

    async def profile(self, instrument: Instrument) -> str:
        """Run one pass of a profiler; return its outcome in words."""
        try:
            found = await self._bounded(self._seat.profile(instrument))
        except AgentFailure as failure:
            self._recorder.failure("profile", FailureKind.HARNESS, failure.detail)
            return f"{self.order.variant}: {instrument.name}: {failure.detail}"
        if found.error is not None:
            self._recorder.failure("profile", FailureKind.HARNESS, found.error)
            return f"{self.order.variant}: {instrument.name}: {found.error}"
        facts = "".join(f", {name} {value}" for name, value in found.summary.items())
        took = f"{found.ms:.4g} ms under it" if found.ms is not None else ""
        return f"{self.order.variant}: {instrument.name}: {took}{facts}: {', '.join(found.files)}"

    async def close(self) -> None:
        """Tear down in any state."""
        self._context.active.pop(self.key, None)
        try:
            error = await self._bounded(self._seat.close())
        except AgentFailure as failure:
            error = failure.detail
        finally:
            await self._seat.end()
        if error is not None:
            self._recorder.failure("close", FailureKind.AGENT, f"tear-down failed: {error}")

    @property
    def pids(self) -> tuple[int, ...]:
        """See `context.Ongoing`."""
        return self._seat.pids

    def state(self) -> dict[str, Any]:
        """See `context.Ongoing`."""
        return {
            "in_flight": int(self._in_call),
            "limit": 1,
            "observed": self.progress.observed,
            "answered": self.progress.answered,
            "outlook": self.progress.outlook,
            "oldest": [],
        }

    def resize(self, most_in_flight: int) -> str | None:  # noqa: ARG002  # Ongoing's signature
        """See `context.Ongoing`."""
        return "an experiment makes one call at a time"

    def set_rate(self, factor: float) -> str | None:  # noqa: ARG002  # Ongoing's signature
        """See `context.Ongoing`."""
        return "an experiment has no rate"

    def pause(self) -> str | None:
        """See `context.Ongoing`."""
        return None

    def cancel(self, case_id: str) -> int:  # noqa: ARG002  # Ongoing's signature
        """See `context.Ongoing`."""
        return 0
