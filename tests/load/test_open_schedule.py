"""An open loop whose arrivals come faster than they can begin."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from driving import constant, model_target, plan

from agentbench_tui.load.schedule import schedule as schedules
from agentbench_tui.load.schedule.schedule import OpenSchedule


class Begun:
    """Stands in for a sender: knows what began."""

    def __init__(self) -> None:
        self.indices: list[int] = []

    def begin(self, index: int, due_ns: int) -> None:
        self.indices.append(index)


def open_schedule(rate: float, begun: Begun, over: Any, **more: Any) -> OpenSchedule:
    made = plan(model_target("http://127.0.0.1:1"), constant(rate), **more)
    loop = asyncio.get_running_loop()
    return OpenSchedule(made, constant(rate), loop, cast("Any", begun), over)


async def test_a_rate_beyond_the_sender_leaves_it_turns_to_hear_the_rest() -> None:
    begun = Begun()
    over = asyncio.Event()
    count = 20 * schedules.ARRIVALS_A_TURN
    schedule = open_schedule(1e9, begun, lambda **_: over.set(), duration_s=None, requests=count)

    schedule.start(0)  # all are due long since
    turns = 0
    async with asyncio.timeout(20):
        while not over.is_set():
            await asyncio.sleep(0)
            turns += 1

    assert begun.indices == list(range(count))
    assert turns >= 20


async def test_arrivals_that_cannot_begin_soon_after_the_window_do_not_begin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(schedules, "LATEST_NS", 0)
    begun = Begun()
    ends: list[bool] = []
    over = asyncio.Event()

    def end(*, cut: bool) -> None:
        ends.append(cut)
        over.set()

    schedule = open_schedule(1e9, begun, end, duration_s=1.0, requests=None)
    schedule.start(0)  # the window, of a thousand million arrivals, is past
    async with asyncio.timeout(20):
        await over.wait()

    assert (ends, begun.indices) == ([True], [])
    assert schedule.window_ns == 1_000_000_000


@pytest.mark.parametrize(("workers", "count"), [(1, 40), (2, 40), (2, 41), (3, 40)])
async def test_a_window_that_ends_with_its_requests_lasts_until_one_more_would_be_due(
    workers: int, count: int
) -> None:
    windows = []
    for worker in range(workers):
        over = asyncio.Event()
        more = {"duration_s": None, "requests": count, "workers": workers, "worker": worker}
        schedule = open_schedule(1000, Begun(), lambda over=over, **_: over.set(), **more)
        schedule.start(0)
        async with asyncio.timeout(20):
            await over.wait()
        windows.append(schedule.window_ns)

    assert max(windows) == pytest.approx(count * 1_000_000)
