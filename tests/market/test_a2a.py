"""The official protocol: a client written only with its SDK plays a whole game, and is driven."""

import asyncio
from typing import Any

import pytest
from playing import CONFIG, match, request

pytest.importorskip("a2a", reason="the extra a2a is not installed")
pytest.importorskip("uvicorn", reason="the extra a2a is not installed")

from a2a.client import Client, ClientConfig, ClientFactory
from a2a.helpers.proto_helpers import get_data_parts, new_data_message
from a2a.types.a2a_pb2 import Role, SendMessageRequest

from agentbench_tui.agents.target import parse_agent
from agentbench_tui.market.outside.a2a_agent import Options, RemoteAgent, _json, check, whole
from agentbench_tui.market.outside.a2a_server import A2AServer, card_of
from agentbench_tui.market.play.actions import METHODS
from agentbench_tui.market.play.clock import Pace
from agentbench_tui.model.answer import AgentFailure


async def ask(client: Client, operation: Any, **params: Any) -> dict[str, Any]:
    """One operation, by the SDK alone."""
    message = new_data_message(
        {"operation": operation, "params": params}, "application/json", role=Role.ROLE_USER
    )
    async for event in client.send_message(SendMessageRequest(message=message)):
        return dict(get_data_parts(event.message.parts)[0])
    raise AssertionError("no answer")


async def test_a_client_of_the_sdk_plays_a_whole_game() -> None:
    game = match()
    server = A2AServer(game)
    await server.start()
    client = await ClientFactory(ClientConfig(streaming=False)).create_from_url(server.url)
    try:
        state = (await ask(client, "observe"))["result"]
        bought = await ask(client, "a2a.buyShares", marketId="market-0", outcome="YES", amount=5)
        assert bought["result"]["shares"] > 0
        opened = await ask(
            client, "a2a.openPosition", ticker=CONFIG_TICKER, side="LONG", size=100, leverage=2
        )
        assert opened["result"]["positionId"] == "position-1"
        wrong = await ask(client, "a2a.buyShares", marketId="market-0", outcome="YES", amount=-1)
        assert wrong["error"]["code"] == -32602
        assert (await ask(client, "a2a.nothing"))["error"]["code"] == -32601
        assert (await ask(client, None))["error"]["code"] == -32600
        while not state["over"]:
            state = (await ask(client, "endTurn", tick=state["tick"]))["result"]
    finally:
        await client.close()
        await server.close()
    episode = game.game.episode()
    assert [call.code for call in episode.calls] == [0, 0, -32602, -32601]
    assert len(episode.turns_s) == CONFIG.ticks


CONFIG_TICKER = match().game.world.perpetuals[0].ticker


def test_the_card_names_every_operation_as_a_skill() -> None:
    skills = {skill.id for skill in card_of("http://127.0.0.1:1/").skills}
    assert skills == {*METHODS, "observe", "endTurn"}


async def test_a_remote_agent_is_driven_tick_by_tick(remote: str) -> None:
    game = match()
    agent = RemoteAgent(remote)
    await agent.start()
    try:
        answer = await agent.play(game, request())
    finally:
        await agent.close()
    episode = game.game.episode()
    assert [(call.tick, call.method, call.code) for call in episode.calls] == [
        (0, "a2a.submitForecast", 0),
        (0, "a2a.buyShares", -32602),
    ]
    assert answer.api_calls == CONFIG.ticks + 1


async def test_a_remote_agent_may_think_as_long_as_it_wants_where_the_world_waits() -> None:
    """The limit of the HTTP client was five seconds; now only connecting has one."""
    agent = RemoteAgent("http://127.0.0.1:9/")
    with pytest.raises(AgentFailure):
        await agent.start()
    assert agent._http is not None
    limits = agent._http.timeout
    assert (limits.read, limits.write, limits.pool) == (None, None, None)
    assert limits.connect is not None
    await agent.close()
    assert agent._http.is_closed


async def test_a_remote_agent_that_hangs_loses_the_turn(remote: str, hangs_at: set[int]) -> None:
    hangs_at.add(1)
    game = match(Pace("deadline", 0.3))
    agent = RemoteAgent(remote)
    await agent.start()
    try:
        await agent.play(game, request())
    finally:
        await agent.close()
        game.close()
    assert 1 in game.game.episode().timeouts
    assert game.game.is_over


@pytest.fixture
def hangs_at() -> set[int]:
    """Ticks at which the remote agent never answers."""
    return set()


@pytest.fixture
async def remote(hangs_at: set[int]) -> Any:
    """A remote agent of the SDK: two actions at tick 0, then none."""
    import socket

    from a2a.server.agent_execution import AgentExecutor, RequestContext
    from a2a.server.events import EventQueue
    from a2a.server.request_handlers.default_request_handler_v2 import DefaultRequestHandlerV2
    from a2a.server.routes.agent_card_routes import create_agent_card_routes
    from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
    from a2a.server.tasks import InMemoryTaskStore
    from starlette.applications import Starlette
    from uvicorn import Config, Server

    class Executor(AgentExecutor):
        async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
            assert context.message is not None
            (told,) = get_data_parts(context.message.parts)
            if told.get("tick") in hangs_at:
                await ends.wait()
            actions = []
            if told.get("tick") == 0 and "observation" in told:
                forecast = {"marketId": "market-0", "probability": 0.5}
                buy = {"marketId": "market-0", "outcome": "YES"}
                actions = [
                    {"operation": "a2a.submitForecast", "params": forecast},
                    {"operation": "a2a.buyShares", "params": buy},
                ]
            answer = new_data_message({"actions": actions}, context_id=context.context_id)
            await event_queue.enqueue_event(answer)

        async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None: ...

    listening = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
    card = card_of(url)
    handler = DefaultRequestHandlerV2(Executor(), InMemoryTaskStore(), card)
    routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")]
    ends = asyncio.Event()
    server = Server(Config(Starlette(routes=routes), log_config=None, lifespan="off"))
    task = asyncio.create_task(server.serve([listening]))
    yield url
    ends.set()
    server.should_exit = True
    await task


async def test_nobody_at_the_url_is_told_in_a_line() -> None:
    with pytest.raises(AgentFailure, match=r"http://127\.0\.0\.1:9/"):
        await RemoteAgent("http://127.0.0.1:9/").start()


def test_a_target_without_a_url_is_told_before_a_run() -> None:
    (problem,) = check(parse_agent("a2a:somewhere", base_dir=""), Options())
    assert "expected a2a:http" in problem


def test_text_that_is_nested_too_deeply_is_no_json() -> None:
    assert _json('{"actions": []}') == {"actions": []}
    assert _json("[" * 200_000) is None
    assert _json("words") is None


def test_whole_numbers_of_data_parts_are_whole_again() -> None:
    assert whole({"a": [1.0, 1.5], "b": {"c": 3.0}}) == {"a": [1, 1.5], "b": {"c": 3}}
    assert isinstance(whole(4.0), int)
