"""A relay may be ended while it is ending; uvloop's transports have no socket any more by then."""

import asyncio
from collections.abc import Callable

import pytest
import uvloop
from proxied import proxied

from agentbench_tui.stress.fault import Reset


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_a_reset_in_the_turn_after_a_close(
    new_loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    async def close_and_reset() -> None:
        async with proxied() as between:
            client, target = await between.both()
            await client.send(b"?")
            assert await target.read() == b"?"
            (relay,) = between.proxy._relays
            relay.close()
            await asyncio.sleep(0)  # a turn of the loop, in which uvloop closes the sockets
            between.begin(Reset())
            await between.until(lambda counts: counts.open == 0)

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(close_and_reset())
