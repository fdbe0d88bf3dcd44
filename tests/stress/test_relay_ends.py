"""A relay that ends in the turn of the loop in which it was made is over, under uvloop too."""

import asyncio
from collections.abc import Callable

import pytest
import uvloop
from proxied import proxied

from agentbench_tui.stress.faults.fault import Reset

LOOPS = [asyncio.new_event_loop, uvloop.new_event_loop]


@pytest.mark.parametrize("new_loop", LOOPS)
@pytest.mark.parametrize("turns", [0, 1, 2])
@pytest.mark.parametrize("then", ["nothing", "a reset"])
def test_it_is_over(
    new_loop: Callable[[], asyncio.AbstractEventLoop], turns: int, then: str
) -> None:
    async def end() -> None:
        async with proxied() as between:
            await between.both()
            (relay,) = between.proxy._relays
            relay.close()
            for _ in range(turns):
                await asyncio.sleep(0)
            if then == "a reset":
                counts = between.begin(Reset())
                assert counts.faults[0].began_ns is not None
            await between.until(lambda counts: counts.open == 0)

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(end())
