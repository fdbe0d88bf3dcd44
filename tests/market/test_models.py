"""Models behind the two APIs play by tool calls, over a real connection."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from playing import CONFIG, match, request

from agentbench_tui.agents.registry import open_agent
from agentbench_tui.agents.target import parse_agent
from agentbench_tui.market.play.functions import ModelSeat
from agentbench_tui.market.play.seating import seat_of
from agentbench_tui.model.answer import Usage

BUY = {"marketId": "market-0", "outcome": "YES", "amount": 5}


class Server:
    """A model that buys once a turn and then ends it, in both dialects."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.port = 0

    async def chat(self, asked: web.Request) -> web.Response:
        body = await asked.json()
        self.bodies.append(body)
        message: dict[str, Any] = {"role": "assistant", "content": "a note"}
        if len(body["messages"]) == 2:
            function = {"name": "a2a_buyShares", "arguments": json.dumps(BUY)}
            message["tool_calls"] = [{"id": "c1", "type": "function", "function": function}]
        usage = {"prompt_tokens": 100, "completion_tokens": 5}
        choices = [{"message": message, "finish_reason": "stop"}]
        return web.json_response({"model": "m-1", "choices": choices, "usage": usage})

    async def messages(self, asked: web.Request) -> web.Response:
        body = await asked.json()
        self.bodies.append(body)
        content: list[dict[str, Any]] = [{"type": "text", "text": "a note"}]
        if len(body["messages"]) == 1:
            content.append({"type": "tool_use", "id": "t1", "name": "a2a_buyShares", "input": BUY})
        usage = {"input_tokens": 100, "output_tokens": 5}
        return web.json_response(
            {"type": "message", "model": "m-1", "role": "assistant", "content": content,
             "stop_reason": "end_turn", "usage": usage}
        )  # fmt: skip


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    found = Server()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", found.chat)
    app.router.add_post("/v1/messages", found.messages)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    found.port = runner.addresses[0][1]
    yield found
    await runner.cleanup()


@pytest.mark.parametrize(
    ("target", "roles"),
    [
        ("openai:http://127.0.0.1:{}/v1#m", ["system", "user", "assistant", "tool", "user"]),
        ("anthropic:http://127.0.0.1:{}#m", ["user", "assistant", "user", "user"]),
    ],
)
async def test_a_model_plays_with_no_code_of_its_own(
    server: Server, target: str, roles: list[str]
) -> None:
    spec = parse_agent(target.format(server.port), base_dir="")
    agent = open_agent(spec, memory_limit_mb=None, concurrency=1)
    seat = seat_of(agent, spec, None)
    assert isinstance(seat, ModelSeat)
    game = match()
    await seat.start()
    try:
        answer = await seat.play(game, request())
    finally:
        await seat.close()
    assert len(server.bodies) == 2 * CONFIG.ticks
    assert [message["role"] for message in server.bodies[1]["messages"]] == roles
    assert '"shares"' in json.dumps(server.bodies[1]).replace("\\", "")
    assert all(body["tools"] for body in server.bodies)
    open_ticks = game.game.world.markets[0].resolve_tick
    assert len(game.game.episode().trades) == min(CONFIG.ticks, open_ticks)
    assert answer.usage == Usage(100 * len(server.bodies), 5 * len(server.bodies))
    assert answer.model == "m-1"
    assert answer.api_calls == len(server.bodies)
