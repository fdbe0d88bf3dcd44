"""Plans for load workers, driven against a practice server."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from agentbench_tui.agents.mock.options import read_options
from agentbench_tui.agents.mock.process import MockServer, start_server
from agentbench_tui.agents.model_apis.model_call import ModelCall
from agentbench_tui.load.schedule.arrivals import Arrivals, Constant
from agentbench_tui.load.sending.protocol import (
    ClosedLoop,
    Conversation,
    Done,
    HttpTarget,
    OpenLoop,
    RequestType,
    Turn,
    WorkerPlan,
)
from agentbench_tui.load.sending.sample import FIELDS, ROW, STATUSES, unpack_gaps, unpack_rows
from agentbench_tui.load.sending.workers import LoadWorkers
from agentbench_tui.model.answer import Message


class Heard(NamedTuple):
    """What workers said of one window."""

    done: tuple[Done, ...]
    rows: list[dict[str, Any]]
    gaps: array[int]
    failures: list[tuple[str, str]]

    def statuses(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for row in self.rows:
            status = STATUSES[row["status"]]
            counts[status] = counts.get(status, 0) + 1
        return counts


def rows_of(samples: bytes) -> list[dict[str, Any]]:
    names = [name for name, _ in FIELDS]
    return [
        dict(zip(names, row, strict=True))
        for row in ROW.iter_unpack(unpack_rows([samples]).rows.tobytes())
    ]


async def heard(plans: Sequence[WorkerPlan]) -> Heard:
    rows: list[dict[str, Any]] = []
    gaps = array("I")
    failures: list[tuple[str, str]] = []

    def take(worker: int, chunk: Any) -> None:
        if chunk.rows:
            rows.extend({**row, "worker": worker} for row in rows_of(chunk.samples))
        if chunk.gaps:
            gaps.extend(unpack_gaps([chunk.gaps]).tolist())
        failures.extend(chunk.failures)

    async with asyncio.timeout(60), LoadWorkers(plans, take) as workers:
        done = await workers.carry_out()
    return Heard(done, rows, gaps, failures)


def said(*texts: str, output_tokens: int | None = None) -> Conversation:
    """A session whose turns are these texts."""
    return Conversation(
        tuple(Turn((Message("user", text),), output_tokens=output_tokens) for text in texts)
    )


def request_type(*conversations: Conversation, **more: Any) -> RequestType:
    return RequestType("chat", 1.0, conversations or (said("How far is the Moon?"),), **more)


def model_target(url: str, *, stream: bool = True, **fields: Any) -> HttpTarget:
    call = ModelCall("chat", "mock", fields, stream=stream)
    headers = {"content-type": "application/json"}
    return HttpTarget(f"{url}/chat/completions", headers, call)


def constant(rate: float) -> OpenLoop:
    return OpenLoop(Arrivals(process="constant", profile=Constant(rate)))


def users(count: int) -> ClosedLoop:
    return ClosedLoop(users=count)


def plan(target: Any, schedule: OpenLoop | ClosedLoop, **more: Any) -> WorkerPlan:
    given: dict[str, Any] = {
        "workload": (request_type(),),
        "seed": 7,
        "worker": 0,
        "workers": 1,
        "duration_s": None,
        "requests": None,
        "warmup_requests": 1,
        "max_in_flight": None,
        "time_limit_s": None,
        "drain_s": 10.0,
    }
    return WorkerPlan(target=target, schedule=schedule, **{**given, **more})


@asynccontextmanager
async def practice_server(**options: Any) -> AsyncIterator[MockServer]:
    given = {name: str(value) for name, value in options.items()}
    async with await start_server(read_options(given)) as server:
        yield server
