"""Measures the load workers themselves, against a stub that answers immediately.

First closed loops, which show how much CPU time a request takes in the workers, and so how many
they can send at all; then an open one at the plan's rate, in which all the time that is not the
stub's own is the harness's: writing, waking, reading, parsing, and the loopback.

Runs after a load run, in the coordinator, so that nothing delays the first request; a plan is
held against what was measured the last time.
"""

from __future__ import annotations

import math
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from agentbench_tui.agents.model_apis.model_call import ModelCall
from agentbench_tui.load.calibration.stub_process import Stubs
from agentbench_tui.load.calibration.verdict import PLAN_SHARE
from agentbench_tui.load.results.window import Calibration
from agentbench_tui.load.schedule.arrivals import Arrivals, Constant
from agentbench_tui.load.schedule.shape import usable_cores
from agentbench_tui.load.sending.protocol import (
    ClosedLoop,
    Conversation,
    HttpTarget,
    OpenLoop,
    RequestType,
    Turn,
    WorkerPlan,
)
from agentbench_tui.load.sending.workers import LoadWorkers
from agentbench_tui.model.answer import AgentFailure, FailureKind, Message
from agentbench_tui.model.clock import utc_now
from agentbench_tui.store.queries.load import newest_calibration
from agentbench_tui.store.queries.runs import fingerprint_of_run
from agentbench_tui.store.writes.load import keep_calibration

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from agentbench_tui.engine.run.context import RunContext
    from agentbench_tui.load.calibration.stub_process import StubTruth
    from agentbench_tui.load.results.window import Window
    from agentbench_tui.load.sending.protocol import Chunk, Done

LEAST_REQUESTS = 300
"""Minimum requests of the open loop: a p99 needs 299."""
MOST_STUBS = 16
MOST_CONVERSATIONS = 64
"""Maximum conversations of each type of the workload that are sent."""
LEAST_USERS, MOST_USERS = 16, 256
"""Users per worker in the closed loop: with fewer it waits, more only increase the queue."""
UNKNOWN_CHUNKS = 32
"""Chunks of a streamed answer whose length the plan leaves to the server."""
_SHORTEST_S, _LONGEST_S = 1.0, 2.0
"""Time for a calibration: as long as the windows it is for, within these bounds."""
_OPEN_SHARE = 0.5
"""Share of the given seconds; the rest is for starting, and for the closed loop."""
_CLOSED_S = 0.04
_CLOSED_WINDOWS = 3
"""Closed loops occupy two cores fully, and need only hundreds of requests.

One more precedes them, because memory and CPU caches are cold in the first.
"""
_WARMUP_REQUESTS = 20
_REQUEST_LIMIT_S = 10.0
_DRAIN_S = 5.0
_SEED = 42
_SHORT = RequestType("short", 1.0, (Conversation((Turn((Message("user", "Really?"),)),)),))


async def calibrated(
    context: RunContext,
    shape: WorkerPlan,
    windows: Sequence[Window],
    senders: LoadWorkers | None = None,
) -> Calibration | None:
    """Calibrate for windows that have just been measured, and store the result with the run.

    `shape` is the plan of one of their workers; `senders` are the remaining ones, if as many as the
    plan has, else new ones are started. None if they used no HTTP, which the stub cannot replace,
    or if it fails; the verdict on the windows says that it is missing. The result is reused for
    windows of the same size in the same run.
    """
    if not isinstance(shape.target, HttpTarget):
        return None
    found: dict[_Size, Calibration] = context.kept.setdefault("calibrations", {})
    size = _size(shape, shape.target, windows)
    if size in found:
        return found[size]
    try:
        calibration = await calibrate(
            shape.workload,
            rate_per_s=max(
                (_rate(window) for window in windows if window.window_s > 0), default=None
            ),
            streamed=shape.target.call.stream,
            chunks=_chunks(shape.workload),
            workers=shape.workers,
            realtime=shape.realtime,
            concurrency=max(
                sum(worker.most_in_flight for worker in window.workers) for window in windows
            ),
            seconds=min(max(sum(window.window_s for window in windows), _SHORTEST_S), _LONGEST_S),
            senders=senders,
        )
    except AgentFailure:
        return None
    run_key = context.run_key
    found[size] = calibration

    def keep(connection: sqlite3.Connection) -> None:
        machine = fingerprint_of_run(connection, run_key)
        if machine is not None:
            remember(connection, run_key, machine, calibration)

    await context.writer.apply(keep)
    return calibration


class _Size(NamedTuple):
    """Key of a calibration: all inputs that it depends on. Numbers are rounded binary logarithms,
    because a factor of two changes the result little.
    """

    streamed: bool
    workers: int
    rate: int
    chunks: int
    request_bytes: int


def _size(shape: WorkerPlan, target: HttpTarget, windows: Sequence[Window]) -> _Size:
    rate = max((_rate(window) for window in windows if window.window_s > 0), default=0.0)
    asked = [
        len(message.content)
        for kind in shape.workload
        for conversation in kind.conversations[:MOST_CONVERSATIONS]
        for message in conversation.turns[0].messages
    ]
    return _Size(
        target.call.stream,
        shape.workers,
        _octave(max(rate, LEAST_REQUESTS / (_OPEN_SHARE * _LONGEST_S))),
        _octave(_chunks(shape.workload)),
        _octave(sum(asked) / len(asked) if asked else 1),
    )


def _octave(number: float) -> int:
    return round(math.log2(max(number, 1.0)))


async def calibrate(
    workload: Sequence[RequestType] = (),
    *,
    rate_per_s: float | None,
    streamed: bool,
    chunks: int,
    workers: int,
    concurrency: int,
    realtime: Literal["no", "may", "must"] = "no",
    seconds: float = 2.0,
    senders: LoadWorkers | None = None,
) -> Calibration:
    """Measure the senders in about this many seconds.

    The ceiling follows from the CPU time of a request, see `_ceiling`. `workload` is that of the
    plan; the first turn of each conversation is sent, or a short question if there is none.
    `rate_per_s` is that of the plan, or the reached rate of a closed loop; None means maximum
    throughput. The overhead is measured at it, but never above half the ceiling or half of what the
    closed loops reached, and not below the rate that gives its p99 enough requests. `chunks` is the
    number per streamed answer. `concurrency` is the number of users of the closed loop over all
    workers; each worker has 16 to 256. Raises AgentFailure (`harness`) if it fails.
    """
    asked = _first_turns(workload) or (_SHORT,)
    users = min(max(concurrency // workers, LEAST_USERS), MOST_USERS)
    samples: list[tuple[int, int, bytes, bytes]] = []

    def keep(worker: int, chunk: Chunk) -> None:
        samples.append((0, worker, chunk.samples, b""))

    async with (
        Stubs(min(workers, MOST_STUBS), chunks if streamed else None) as stubs,
        AsyncExitStack() as ours,
    ):
        plans = _Plans(stubs.urls, asked, streamed=streamed, workers=workers, realtime=realtime)
        if senders is None:
            senders = await ours.enter_async_context(LoadWorkers(plans.closed(users), keep))
        else:
            senders.take(plans.closed(users), keep)
        await senders.carry_out()
        closed = [await senders.carry_out(plans.closed(users)) for _ in range(_CLOSED_WINDOWS)]
        ceilings = [_ceiling(dones, usable_cores()) for dones in closed]
        open_s = _OPEN_SHARE * seconds
        wanted = math.inf if rate_per_s is None else max(rate_per_s, LEAST_REQUESTS / open_s)
        # The stub and all else on the machine slow an open loop down, too.
        rate = min(wanted, PLAN_SHARE * min(max(ceilings), max(map(_reached, closed))))
        samples.clear()
        stubs.begin()  # in the closed loop requests wait for each other at the stub
        opened = await senders.carry_out(
            plans.open(rate, max(LEAST_REQUESTS, round(rate * open_s)))
        )
        truths = await stubs.end()
    return _calibration(opened, samples, truths, rate=rate, ceilings=ceilings, streamed=streamed)


def remember(
    connection: sqlite3.Connection,
    run_key: int | None,
    fingerprint: str,
    calibration: Calibration,
) -> None:
    """Store a calibration for later plans on the machine with that fingerprint."""
    document = msgspec.json.encode(calibration).decode()
    keep_calibration(connection, run_key, fingerprint, document)


def last_known(
    connection: sqlite3.Connection, fingerprint: str, *, streamed: bool | None = None
) -> Calibration | None:
    """Return the newest calibration of that machine; for the kind of answers given by
    `streamed`, if set.
    """
    found = newest_calibration(connection, fingerprint, streamed=streamed)
    return None if found is None else msgspec.json.decode(found, type=Calibration)


class _Plans:
    """Plans for the workers; each has a separate stub, as far as there are enough."""

    def __init__(
        self,
        urls: Sequence[str],
        workload: tuple[RequestType, ...],
        *,
        streamed: bool,
        workers: int,
        realtime: Literal["no", "may", "must"],
    ) -> None:
        call = ModelCall("chat", "stub", {}, stream=streamed)
        self._targets = [HttpTarget(url, {}, call) for url in urls]
        self._workload = workload
        self._workers = workers
        self._realtime = realtime

    def closed(self, users: int) -> list[WorkerPlan]:
        """Return a plan with this many users per worker, without pauses."""
        return self._each(ClosedLoop(users), duration_s=_CLOSED_S, requests=None)

    def open(self, rate: float, requests: int) -> list[WorkerPlan]:
        """Return a plan with Poisson arrivals, so that requests overlap as in most plans."""
        schedule = OpenLoop(Arrivals(process="poisson", profile=Constant(rate)))
        return self._each(schedule, duration_s=None, requests=requests)

    def _each(
        self, schedule: OpenLoop | ClosedLoop, *, duration_s: float | None, requests: int | None
    ) -> list[WorkerPlan]:
        return [
            WorkerPlan(
                target=self._targets[worker % len(self._targets)],
                schedule=schedule,
                workload=self._workload,
                seed=_SEED,
                worker=worker,
                workers=self._workers,
                duration_s=duration_s,
                requests=requests,
                warmup_requests=_WARMUP_REQUESTS,
                max_in_flight=None,
                time_limit_s=_REQUEST_LIMIT_S,
                drain_s=_DRAIN_S,
                realtime=self._realtime,
            )
            for worker in range(self._workers)
        ]


def _rate(window: Window) -> float:
    """Return the requested rate, or the reached rate of a closed loop."""
    return window.sent / window.window_s if window.asked_per_s is None else window.asked_per_s


def _chunks(workload: Sequence[RequestType]) -> int:
    """Return the mean number of chunks per answer, assuming one per requested token."""
    asked = [
        turn.output_tokens
        for kind in workload
        for conversation in kind.conversations
        for turn in conversation.turns
        if turn.output_tokens is not None
    ]
    return round(sum(asked) / len(asked)) if asked else UNKNOWN_CHUNKS


def _ceiling(closed: Sequence[Done], cores: int) -> float:
    """Return the requests per second of workers that need as much CPU time per request as in this
    closed loop.

    By CPU time: how many are answered depends on what the stub and others leave of the cores.
    """
    each = [done.sent / done.cpu_s for done in closed if done.cpu_s > 0]
    return sum(each) * min(1.0, cores / len(closed)) if each else _reached(closed)


def _reached(closed: Sequence[Done]) -> float:
    """Return the requests per second until the last answer: in so short a window, in-flight
    requests at its end count.
    """
    took_s = max(done.window_s + done.drained_s for done in closed)
    return sum(done.sent for done in closed) / took_s


def _first_turns(workload: Sequence[RequestType]) -> tuple[RequestType, ...]:
    """Return requests of the same sizes and mix, each a separate conversation whose answer is
    read completely.
    """
    return tuple(
        RequestType(
            kind.name,
            kind.weight,
            tuple(
                Conversation(one.turns[:1], tools=one.tools)
                for one in kind.conversations[:MOST_CONVERSATIONS]
            ),
        )
        for kind in workload
    )


def _calibration(
    opened: Sequence[Done],
    samples: list[tuple[int, int, bytes, bytes]],
    truths: Sequence[StubTruth],
    *,
    rate: float,
    ceilings: Sequence[float],
    streamed: bool,
) -> Calibration:
    """Return the calibration. `samples` are those of the open loop, as `columns_of` takes them."""
    from agentbench_tui.analysis.summary import quantile
    from agentbench_tui.load.results.columns import columns_of

    columns = columns_of(samples)
    e2e_ms = columns.e2e_from_send_ms[columns.ok]
    if not len(e2e_ms):
        raise AgentFailure(FailureKind.HARNESS, "no request of the calibration was answered")
    service_us = max((truth.service_p50_us or 0.0 for truth in truths), default=0.0)
    sent = sum(done.sent for done in opened)
    return Calibration(
        at=utc_now(),
        rate_per_s=rate,
        # On a busy machine the stub's own median may be the larger one; no overhead is below 0.
        overhead_p50_ms=max(0.0, quantile(e2e_ms, 0.5) - service_us / 1e3),
        overhead_p99_ms=max(0.0, quantile(e2e_ms, 0.99) - service_us / 1e3),
        n=len(e2e_ms),
        cpu_us_per_request=sum(done.cpu_s for done in opened) / sent * 1e6,
        # What else runs only adds to the CPU time of a request, by what it leaves of the caches.
        ceiling_per_s=max(ceilings),
        ceiling_low_per_s=min(ceilings),
        workers=len(opened),
        streamed=streamed,
    )
