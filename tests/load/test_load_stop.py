"""What a stop leaves out, and what it does not."""

import asyncio

import pytest
from driving import constant, model_target, plan, practice_server

from agentbench_tui.load.sending.protocol import Done, WorkerPlan
from agentbench_tui.load.sending.workers import LoadWorkers


async def stopped(asked: WorkerPlan, *, when_sent: int) -> tuple[Done, list[int]]:
    """What is said of a window that is stopped when so many are sent; `waiting` of its chunks."""
    waiting: list[int] = []
    reached = asyncio.Event()

    def take(_: int, chunk: object) -> None:
        waiting.append(chunk.waiting)  # type: ignore[attr-defined]
        if chunk.sent >= when_sent:  # type: ignore[attr-defined]
            reached.set()

    async with asyncio.timeout(30), LoadWorkers([asked], take) as workers:
        await workers.ready()
        workers.start()
        await reached.wait()
        workers.stop()
        (done,) = await workers.done()
    return done, waiting


@pytest.mark.parametrize("duration_s", [600.0, 0.1])
async def test_what_waits_is_not_sent_any_more_when_the_window_is_stopped(
    duration_s: float,
) -> None:
    """In the window, and in the drain after it."""
    async with practice_server(ttft="20ms", itl="0ms", tokens=1) as server:
        asked = plan(
            model_target(server.url),
            constant(1000),
            duration_s=duration_s,
            max_in_flight=1,
            drain_s=60.0,
        )
        done, waiting = await stopped(asked, when_sent=5)

    # 20 ms each, one at a time: a backlog of a hundred would take 2 s.
    assert done.stopped
    assert done.sent < done.offered
    assert done.drained_s < 1.5
    assert waiting[-1] == 0 < max(waiting)


async def test_a_stop_when_all_was_sent_stops_nothing() -> None:
    async with practice_server(ttft="400ms", itl="0ms", tokens=1) as server:
        asked = plan(model_target(server.url), constant(1000), requests=5, warmup_requests=0)
        done, _ = await stopped(asked, when_sent=5)

    assert not done.stopped
    assert (done.offered, done.sent) == (5, 5)
