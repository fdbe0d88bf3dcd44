"""What a call of an agent takes through each interface of the market, on this machine.

    python benchmarks/market_calls.py [calls]

JSON-RPC over HTTP on loopback (at most 1 ms is the aim) and on standard streams, with the client
that ships; the A2A protocol by its SDK, where the extra `a2a` is installed. The client of HTTP runs
in a thread, so that server and client share one interpreter, and the figures are too high.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from agentbench_tui.market.client import Market, http
from agentbench_tui.market.outside.program import ProcessSeat
from agentbench_tui.market.outside.rpc import respond
from agentbench_tui.market.outside.rpc_server import RpcServer
from agentbench_tui.market.play.game import Game, GameConfig
from agentbench_tui.market.play.match import Match
from agentbench_tui.market.world.stage import WorldPlace, open_stage
from agentbench_tui.market.world.world import WorldConfig
from agentbench_tui.model.answer import Case, Request
from agentbench_tui.process.environment import child_environment

METHOD = "a2a.getPredictions"
REQUEST = b'{"jsonrpc":"2.0","id":1,"method":"a2a.getPredictions","params":{}}'
PROGRAM = """
import sys, time
from agentbench_tui.market.client import Market, play
calls, took = int(sys.argv[1]), []
def turn(market: Market) -> None:
    for _ in range(calls):
        began = time.perf_counter()
        market.call("a2a.getPredictions")
        took.append(time.perf_counter() - began)
    took.sort()
    open(sys.argv[2], "w").write(f"{took[calls // 2]} {took[calls * 95 // 100]}")
play(turn)
"""


def match(calls: int) -> Match:
    """A game of one turn in which so many calls are allowed."""
    stage = open_stage(WorldPlace(config=WorldConfig(duration_s=60)))
    config = GameConfig(max_calls_per_tick=2 * calls + 10, max_calls=2 * calls + 10)
    return Match(Game(stage.world, stage.truth.outcomes, config), stage)


def say(name: str, seconds: list[float]) -> None:
    p50, p95 = np.quantile(np.array(seconds) * 1e3, (0.5, 0.95))
    print(f"{name:<34}p50 {p50:7.3f} ms   p95 {p95:7.3f} ms   n {len(seconds)}")


async def without_transport(calls: int) -> None:
    game, took = match(calls), []
    for _ in range(calls):
        began = time.perf_counter()
        await respond(REQUEST, game.handle)
        took.append(time.perf_counter() - began)
    say("JSON-RPC, bytes in, bytes out", took)


async def over_http(calls: int) -> None:
    server, took = RpcServer(), []
    await server.start()
    url = server.open(match(calls))

    def client() -> None:
        market = Market(http(url))
        for _ in range(calls):
            began = time.perf_counter()
            market.call(METHOD)
            took.append(time.perf_counter() - began)

    await asyncio.to_thread(client)
    await server.close()
    say("JSON-RPC over HTTP, loopback", took)


async def on_streams(calls: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder, "took")
        command = [sys.executable, "-c", PROGRAM, str(calls), str(found)]
        seat = ProcessSeat(command, child_environment(), None, None)
        await seat.play(match(calls), Request(Case("market", {}), 0))
        text = await asyncio.to_thread(found.read_text)
        p50, p95 = (float(word) * 1e3 for word in text.split())
    print(f"{'JSON-RPC on standard streams':<34}p50 {p50:7.3f} ms   p95 {p95:7.3f} ms   n {calls}")


async def by_a2a(calls: int) -> None:
    from a2a.client import ClientConfig, ClientFactory
    from a2a.helpers.proto_helpers import new_data_message
    from a2a.types.a2a_pb2 import Role, SendMessageRequest

    from agentbench_tui.market.outside.a2a_server import A2AServer

    server, took = A2AServer(match(calls)), []
    await server.start()
    client = await ClientFactory(ClientConfig(streaming=False)).create_from_url(server.url)
    for _ in range(calls):
        message = new_data_message({"operation": METHOD, "params": {}}, role=Role.ROLE_USER)
        began = time.perf_counter()
        async for _ in client.send_message(SendMessageRequest(message=message)):
            pass
        took.append(time.perf_counter() - began)
    await client.close()
    await server.close()
    say("A2A by its SDK, loopback", took)


async def main(calls: int) -> None:
    await without_transport(calls)
    await over_http(calls)
    await on_streams(calls)
    if find_spec("a2a") is not None and find_spec("uvicorn") is not None:
        await by_a2a(min(calls, 200))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000))
