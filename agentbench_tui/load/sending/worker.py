"""A load worker: a process that only sends and measures.

`python -m agentbench_tui.load.sending.worker` reads frames of `load.sending.protocol` from its
standard input and writes frames to its standard output. Having said `Done` it waits for a further
plan. It ends when its input closes.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from agentbench_tui.load.schedule.agenda import Agenda
from agentbench_tui.load.schedule.schedule import (
    ClosedSchedule,
    OpenSchedule,
    late_after_ns,
    make_schedule,
)
from agentbench_tui.load.sending.protocol import (
    Control,
    Done,
    Frames,
    FromWorker,
    HttpTarget,
    Ready,
    Start,
    WorkerPlan,
    decode_to_worker,
    frame,
)
from agentbench_tui.load.sending.recorder import SampleRecorder
from agentbench_tui.load.sending.sender import Sender
from agentbench_tui.model.answer import AgentFailure, FailureKind
from agentbench_tui.model.clock import bind, perf_counter_ns
from agentbench_tui.process.event_loop import SharedLoop

if TYPE_CHECKING:
    from agentbench_tui.load.calibration.probe import ProbeReading
    from agentbench_tui.load.sending.sender import Transport

CHUNK_S = 0.25
_NS = 1_000_000_000
_Result = TypeVar("_Result")


class Worker:
    """Executes one plan on the running loop."""

    def __init__(self, plan: WorkerPlan, out: asyncio.WriteTransport) -> None:
        from agentbench_tui.load.calibration.probe import SenderProbe

        self._plan = plan
        self._out = out
        self._loop = asyncio.get_running_loop()
        late_after = late_after_ns(plan)
        self._recorder = SampleRecorder(from_due=late_after is not None)
        self._agenda = Agenda(self._loop)
        self._transport: Transport = _make_transport(plan, self._loop)
        self._sender = Sender(
            plan, self._transport, self._recorder, self._agenda, late_after_ns=late_after
        )
        self._recorder.is_full = self._say_chunk
        self._sender.ran_empty = self._note_drained
        self._schedule = make_schedule(plan, self._loop, self._sender, self._agenda, self._over)
        self._probe = SenderProbe(self._loop)
        self._reading: ProbeReading | None = None
        self._started = asyncio.Event()
        self._window_over = asyncio.Event()
        self._drained = asyncio.Event()
        self._warm = asyncio.Event()
        self._stopped = False
        self._goes_first = False

    async def carry_out(self) -> None:
        """Execute a plan until `Done`. A canceled plan leaves nothing behind."""
        try:
            problem = await self._prepare()
            if problem is None:
                self._say(Ready(os.getpid()))
                last: FromWorker = await self._carry_out_window()
            else:
                last = Ready(os.getpid(), *problem)
        finally:
            with suppress(Exception):  # whatever an agent's end is like, the figures are told
                await self._transport.close()
            self._agenda.close()
        # After the agent's own end: who hears this may end the process.
        self._say(last)

    def hear(self, message: Start | Control) -> None:
        """Handle a message of the coordinator during a plan."""
        if isinstance(message, Start):
            self._begin(message.at_ns)
        elif message.wish != "stop":
            if self._sender.measuring and not self._window_over.is_set():
                self._agenda.at(message.at_ns, lambda _: self._change(message))
        elif self._sender.measuring:
            # In the drain of a window that has sent everything there is nothing left to stop.
            self._stopped |= self._sender.stop() or not self._window_over.is_set()
            self._schedule.stop()
            self._over(cut=True)

    def _change(self, message: Control) -> None:
        if isinstance(self._schedule, OpenSchedule) and message.wish == "pace":
            self._schedule.set_pace(message.to, message.at_ns)
        elif isinstance(self._schedule, ClosedSchedule) and message.wish == "users":
            self._schedule.set_users(int(message.to), message.at_ns)

    async def _carry_out_window(self) -> Done:
        await self._started.wait()
        self._say_chunks()
        try:
            done = await self._measure()
        finally:
            self._next_chunk.cancel()
        self._say_chunk()
        return done

    async def _prepare(self) -> tuple[str, str] | None:
        """Open the target and warm up; return the kind and reason of a failure, else None."""
        if self._plan.realtime != "no":
            denied = _go_first()
            if denied is not None and self._plan.realtime == "must":
                return denied, FailureKind.HARNESS
            self._goes_first = denied is None
        try:
            await self._transport.open(self._sender.ended)
        except AgentFailure as failure:
            return failure.detail, failure.kind
        self._sender.session_ended = lambda _: self._warm.set()
        refused = await self._warm_up()
        self._sender.session_ended = lambda _: None
        if refused is not None:
            return refused.detail, refused.kind
        # Not at the start: looking through a large workload takes longer than the word to begin
        # is given before the beginning.
        gc.collect()
        gc.freeze()
        if isinstance(self._plan.target, HttpTarget):  # an agent's own code may leave cycles
            gc.disable()
        return None

    async def _warm_up(self) -> AgentFailure | None:
        """Return the failure if all requests were refused; stops at the first that cannot
        connect.
        """
        sender, plan = self._sender, self._plan
        for nth in range(plan.warmup_requests):
            self._warm.clear()
            # Of arrivals below 0: what the window asks first must not lie in the server's caches.
            sender.begin(-1 - plan.worker - nth * plan.workers, perf_counter_ns())
            await self._warm.wait()
            all_refused = sender.refused == nth + 1
            if all_refused and (sender.unreachable or sender.refused == plan.warmup_requests):
                return sender.last_failure
        return None

    def _note_drained(self) -> None:
        if self._window_over.is_set() and self._sender.is_idle:
            self._drained.set()

    def _begin(self, start_ns: int) -> None:
        self._before = self._transport.traffic
        self._sender.measure(start_ns)
        self._probe.start()
        self._schedule.start(start_ns)
        self._started.set()

    def _over(self, *, cut: bool) -> None:
        """End the window: no new session starts, and after a `cut` no session continues."""
        if not self._window_over.is_set():
            self._window_over.set()
            self._reading = self._probe.stop()
        if cut:
            self._sender.cut()
        self._note_drained()

    async def _measure(self) -> Done:
        await self._window_over.wait()
        ended_ns = perf_counter_ns()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._plan.drain_s):
                await self._drained.wait()
        self._sender.abort()
        drained_s = (perf_counter_ns() - ended_ns) / _NS
        gc.enable()
        return self._done(drained_s)

    def _done(self, drained_s: float) -> Done:
        sender, reading = self._sender, self._reading
        assert reading is not None, "a window that was started was probed"
        before, now = self._before, self._transport.traffic
        return Done(
            offered=sender.offered,
            sent=sender.sent,
            window_s=self._schedule.window_ns / _NS,
            drained_s=drained_s,
            cpu_s=reading.cpu_s,
            connections=now.connections,
            resent=_since(before.resent, now.resent),
            sent_bytes=_since(before.sent_bytes, now.sent_bytes),
            received_bytes=_since(before.received_bytes, now.received_bytes),
            most_in_flight=sender.most_in_flight,
            blocked=sender.blocked,
            late=sender.late,
            lateness=reading.lateness,
            run_queue_wait_ms=reading.run_queue_wait_ms,
            gc_pause_ms=reading.gc_pause_ms,
            gc_pause_max_ms=reading.gc_pause_max_ms,
            peak_rss_mb=reading.peak_rss_mb,
            stopped=self._stopped,
            realtime=self._goes_first,
            probed_s=reading.wall_s,
        )

    def _say_chunks(self) -> None:
        """Send chunks periodically from now on, by a timer, so that a fault ends the worker."""
        self._say_chunk()
        self._next_chunk = self._loop.call_later(CHUNK_S, self._say_chunks)

    def _say_chunk(self) -> None:
        sender = self._sender
        self._say(
            self._recorder.take(
                sent=sender.sent,
                in_flight=sender.in_flight,
                waiting=sender.waiting,
                oldest_s=sender.oldest_s(),
                at_s=sender.since_start_s(),
            )
        )

    def _say(self, message: FromWorker) -> None:
        self._out.write(frame(message))


def _since(before: int | None, now: int | None) -> int | None:
    """Return the growth of a count; None if it is unknown."""
    return None if before is None or now is None else now - before


def _go_first() -> str | None:
    """Request real-time priority for this process, without its children; return why that is
    impossible.
    """
    if not hasattr(os, "sched_setscheduler"):
        return "real-time priority is not to be had on this system: leave --realtime out"
    try:
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except OSError as error:
        return (
            f"real-time priority is not permitted ({error.strerror}): run as root, or let your"
            " user have it (`ulimit -r`, CAP_SYS_NICE), or leave --realtime out"
        )
    return None


def _make_transport(plan: WorkerPlan, loop: asyncio.AbstractEventLoop) -> Transport:
    if isinstance(plan.target, HttpTarget):
        from agentbench_tui.load.sending.http_transport import HttpTransport

        return HttpTransport(plan, plan.target, loop)
    from agentbench_tui.load.sending.agent_transport import AgentTransport

    return AgentTransport(plan, plan.target)


class _Input(asyncio.Protocol):
    """Frames from the coordinator: plans, and messages during a plan."""

    def __init__(self, closed: asyncio.Event) -> None:
        self._frames = Frames()
        self._closed = closed
        self.plans: asyncio.Queue[WorkerPlan] = asyncio.Queue()
        self.worker: Worker | None = None

    def data_received(self, data: bytes) -> None:
        for body in self._frames.feed(data):
            message = decode_to_worker(body)
            if isinstance(message, WorkerPlan):
                self.plans.put_nowait(message)
            elif self.worker is not None:
                self.worker.hear(message)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # asyncio's signature
        self._closed.set()


class _Output(asyncio.BaseProtocol):
    """Writes messages, and reports when everything is written or can no longer be."""

    def __init__(self, closed: asyncio.Event) -> None:
        self._closed = closed

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # asyncio's signature
        self._closed.set()


def _fault_of(loop: asyncio.AbstractEventLoop) -> asyncio.Future[None]:
    """Return a future for the first exception of a timer's callback, whose data are lost."""
    fault: asyncio.Future[None] = loop.create_future()

    def note(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if "handle" in context and isinstance(error, Exception) and not fault.done():
            fault.set_exception(error)
        else:
            loop.default_exception_handler(context)

    loop.set_exception_handler(note)
    return fault


async def _main(source: Any, sink: Any) -> None:
    loop = asyncio.get_running_loop()
    bind(loop)
    closed = asyncio.Event()
    listening = _Input(closed)
    await loop.connect_read_pipe(lambda: listening, source)
    sent = asyncio.Event()
    out, _ = await loop.connect_write_pipe(lambda: _Output(sent), sink)
    # Whoever started us may be gone before, or while, we work: nothing is sent for nobody.
    gone = loop.create_task(closed.wait())
    while (plan := await _first(loop.create_task(listening.plans.get()), gone)) is not None:
        fault = _fault_of(loop)
        worker = listening.worker = Worker(plan, out)
        await _first(loop.create_task(worker.carry_out()), gone, fault)
        if fault.done():
            fault.result()
    # Closing a transport writes what it still holds; the process ends when that is done.
    out.close()
    await sent.wait()


async def _first(work: asyncio.Task[_Result], *ends: asyncio.Future[Any]) -> _Result | None:
    """Return the result of the work; None if one of the ends came first, and the work is
    canceled.
    """
    await asyncio.wait({work, *ends}, return_when=asyncio.FIRST_COMPLETED)
    if work.done():
        return work.result()
    work.cancel()
    await asyncio.wait({work})
    return None


def main() -> None:
    """Entry point of the worker process."""
    # Code of the agent's may print: our stream is kept from it.
    sink = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    source = os.fdopen(os.dup(0), "rb", buffering=0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        work = runner.get_loop().create_task(_main(source, sink))
        try:
            runner.get_loop().run_until_complete(work)
        except asyncio.CancelledError:
            sys.stderr.write("code of the agent canceled all tasks of its sender\n")
        except RuntimeError:
            if work.done():
                raise
            sys.stderr.write("code of the agent stopped the event loop of its sender\n")
        # All is said: what an agent left running, and will not be canceled, is not waited for.
        os._exit(0 if work.done() and not work.cancelled() else 1)


def _loop_factory() -> Any:
    """Return uvloop's factory if it is installed, else one of asyncio that an agent's code
    cannot stop.
    """
    try:
        import uvloop
    except ImportError:
        return SharedLoop
    return uvloop.new_event_loop


if __name__ == "__main__":
    main()
