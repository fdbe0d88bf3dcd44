"""What is due later: one action that fails keeps no other from its time."""

import asyncio
from time import perf_counter_ns
from typing import Any

import pytest

from agentbench_tui.load.schedule.agenda import Agenda


async def test_what_comes_after_an_action_that_raises_is_still_done() -> None:
    loop = asyncio.get_running_loop()
    raised: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _, context: raised.append(context))
    done: asyncio.Future[int] = loop.create_future()
    agenda, now = Agenda(loop), perf_counter_ns()

    def fail(_: int) -> None:
        raise RuntimeError("of one action")

    agenda.at(now + 1_000_000, fail)
    agenda.at(now + 2_000_000, done.set_result)
    try:
        assert await asyncio.wait_for(done, 60) == now + 2_000_000
    finally:
        agenda.close()
        loop.set_exception_handler(None)
    assert [str(one["exception"]) for one in raised] == ["of one action"]


def test_an_agenda_that_is_cleared_has_nothing_to_do() -> None:
    loop = asyncio.new_event_loop()
    agenda = Agenda(loop)
    agenda.at(perf_counter_ns() + 10**12, pytest.fail)
    assert len(agenda) == 1
    agenda.clear()
    assert len(agenda) == 0
    agenda.close()
    loop.close()
