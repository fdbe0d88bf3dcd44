"""Agents outside the harness play whole games: over HTTP, and by tool calls."""

import json
import time
from typing import Any

import msgspec
import pytest
from playing import CONFIG, match, request
from tiny_worlds import FakeClock

from agentbench_tui.agents.target import parse_agent
from agentbench_tui.market.cases import worlds
from agentbench_tui.market.outside.baseline_agent import BaselineAgent
from agentbench_tui.market.outside.rpc import respond
from agentbench_tui.market.outside.rpc_server import RpcServer
from agentbench_tui.market.play.actions import METHODS
from agentbench_tui.market.play.clock import Pace
from agentbench_tui.market.play.functions import MOST_CALLS, MOST_ROUNDS, ModelSeat, tools
from agentbench_tui.market.play.player import Player
from agentbench_tui.market.play.seating import seat_of
from agentbench_tui.market.play.seats import InvitedSeat
from agentbench_tui.model.answer import (
    Agent,
    AgentFailure,
    Answer,
    Case,
    FailureKind,
    Request,
    ToolCall,
    Usage,
)


class Invited:
    """Plays over HTTP while it answers."""

    pids: tuple[int, ...] = ()
    peak_memory_mb: float | None = None
    cpu_seconds: float | None = None

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def answer(self, request: Request) -> Answer:
        from aiohttp import ClientSession

        given = request.case.input
        assert set(given) == {"game", "rpc_url"}
        assert "seed" not in request.case.id  # from which the truth could be made again
        assert request.case.expected is None

        async with ClientSession() as session:

            async def call(method: str, **params: Any) -> Any:
                body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                async with session.post(given["rpc_url"], json=body) as response:
                    assert response.status == 200
                    return await response.json()

            state = (await call("observe"))["result"]
            while not state["over"]:
                assert (await call("a2a.getBalance"))["result"]["balance"] > 0
                state = (await call("endTurn", tick=state["tick"]))["result"]
            assert (await call("a2a.nothing"))["error"]["code"] == -32017
            async with session.post(given["rpc_url"] + "x", json={}) as response:
                assert response.status == 404
        return Answer("done", api_calls=3)


async def test_no_address_for_a_game_is_a_failure_of_the_harness() -> None:
    seat = InvitedSeat(Invited())
    seat._server = RpcServer("192.0.2.1")  # kept for documentation: no machine has it
    with pytest.raises(AgentFailure, match="no address for the game: ") as failure:
        await seat.start()
    assert failure.value.kind is FailureKind.HARNESS
    await seat.close()


async def test_an_agent_that_is_invited_plays_over_http() -> None:
    game = match()
    seat = InvitedSeat(Invited())
    await seat.start()
    try:
        answer = await seat.play(game, request())
    finally:
        await seat.close()
    assert answer.api_calls == 3
    assert sum(call.method == "a2a.getBalance" for call in game.game.episode().calls) == (
        CONFIG.ticks
    )


class Scripted:
    """Answers with tool calls, in turn."""

    pids: tuple[int, ...] = ()
    peak_memory_mb: float | None = None
    cpu_seconds: float | None = None

    def __init__(self, *script: tuple[ToolCall, ...], forever: bool = False) -> None:
        self.script = [*script]
        self.forever = forever
        self.asked: list[Request] = []

    async def start(self) -> None: ...

    async def close(self) -> None: ...

    async def answer(self, request: Request) -> Answer:
        self.asked.append(request)
        calls = self.script[0] if self.forever else self.script.pop(0) if self.script else ()
        return Answer("a note", tool_calls=calls, usage=Usage(100, 10), cost_usd=0.5)


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments)


async def test_a_model_plays_by_tool_calls_whose_results_it_is_told() -> None:
    buy = call("a2a_buyShares", marketId="market-0", outcome="YES", amount=10)
    wrong = call("a2a_buyShares", marketId="market-9", outcome="YES", amount=10)
    agent: Any = Scripted((buy, wrong))
    game = match()
    answer = await ModelSeat(agent).play(game, request())
    episode = game.game.episode()
    assert [call.code for call in episode.calls] == [0, -32602]
    assert len(agent.asked) == CONFIG.ticks + 1
    assert answer.usage == Usage(100 * len(agent.asked), 10 * len(agent.asked))
    assert answer.cost_usd == 0.5 * len(agent.asked)
    told = agent.asked[1].case.messages
    assert [message.role for message in told] == ["system", "user", "assistant", "tool", "tool"]
    assert '"shares"' in told[3].content
    assert "-32602" in told[4].content
    assert told[3].tool_call_id == told[2].tool_calls[0].id
    assert "a note" in agent.asked[2].text()  # its own words of the last turn
    assert episode.messages


class Reasoning(Scripted):
    """Says what it thinks before what it answers."""

    async def answer(self, request: Request) -> Answer:
        answer = await super().answer(request)
        return msgspec.structs.replace(
            answer, text=f"<think>a discarded thought</think>{answer.text}"
        )


async def test_a_model_gets_its_notes_without_its_reasoning_and_the_record_keeps_both() -> None:
    agent: Any = Reasoning()
    game = match()
    await ModelSeat(agent).play(game, request())
    assert "a note" in agent.asked[2].text()
    assert "a discarded thought" not in agent.asked[2].text()
    said = [message.content for _, message in game.game.episode().messages]
    assert "<think>a discarded thought</think>a note" in said


class Thinking(Scripted):
    """Takes a second of a clock of its own for each answer."""

    def __init__(self, clock: FakeClock, *script: tuple[ToolCall, ...]) -> None:
        super().__init__(*script)
        self.clock = clock

    async def answer(self, request: Request) -> Answer:
        self.clock.wait(1.0)
        return await super().answer(request)


async def test_the_response_time_of_a_model_is_that_of_an_answer() -> None:
    """However many calls one answer has, also those that are refused."""
    clock = FakeClock()
    calls = (call("a2a_getBalance"),) * (MOST_CALLS + 1)
    agent: Any = Thinking(clock, calls, (call("a2a_no"), call("a2a_buyShares")))
    game = match(now=clock)
    await ModelSeat(agent).play(game, request())
    episode = game.game.episode()
    assert episode.waits_s == pytest.approx([1.0] * len(agent.asked))
    assert episode.turns_s == pytest.approx([3.0] + [1.0] * (CONFIG.ticks - 1))


async def test_requests_of_a_batch_are_one_wait() -> None:
    clock = FakeClock()
    game = match(now=clock)
    one = {"jsonrpc": "2.0", "id": 1}
    look = {**one, "method": "a2a.getBalance"}
    wrong = {**one, "method": "endTurn", "params": {"tick": "now"}}
    await respond(msgspec.json.encode({**one, "method": "observe"}), game.handle)
    for batch in ([look, look, {"no": "request"}], [look, {**one, "method": "endTurn"}, wrong]):
        clock.wait(1.0)
        await respond(msgspec.json.encode(batch), game.handle)
    clock.wait(2.0)
    while not game.game.is_over:
        await game.end_turn()
    assert [wait for wait in game.game.episode().waits_s if wait] == pytest.approx([1.0, 1.0, 2.0])


@pytest.mark.parametrize("name", [b"x", b"content"])
async def test_parameters_that_are_nested_deeply_are_refused(name: bytes) -> None:
    """At the edge of what the decoder takes, what looks at them again gives up before."""
    game = match()
    body = b'{"jsonrpc":"2.0","id":1,"method":"a2a.createPost","params":{"%b":%b}}'
    for depth in range(5, 1_100, 5):
        nested = b"[" * depth + b"]" * depth
        answer = json.loads(await respond(body % (name, nested), game.handle) or b"")
        assert answer["error"]["code"] in {-32602, -32700}
    while not game.game.is_over:
        await game.end_turn()
    assert all(len(json.dumps(call.params)) < 600 for call in game.game.episode().calls)


class Busy(Scripted):
    """Refuses every answer twice before it gives it."""

    def __init__(self, kind: FailureKind) -> None:
        super().__init__()
        self.kind = kind
        self.refused = 0

    async def answer(self, request: Request) -> Answer:
        if self.refused % 3 < 2:
            self.refused += 1
            raise AgentFailure(self.kind, "busy", retry_after_s=0)
        self.refused += 1
        return await super().answer(request)


async def test_what_may_pass_does_not_end_an_episode_and_what_may_not_does() -> None:
    agent: Any = Busy(FailureKind.RATE_LIMITED)
    game = match()
    await ModelSeat(agent).play(game, request())
    assert game.game.is_over
    assert agent.refused == 3 * CONFIG.ticks
    broken: Any = Busy(FailureKind.PARSE)
    with pytest.raises(AgentFailure, match="busy"):
        await ModelSeat(broken).play(match(), request())
    assert broken.refused == 1


async def test_a_model_that_never_ends_its_turn_is_bounded() -> None:
    agent: Any = Scripted((call("a2a_getBalance"),) * (MOST_CALLS + 5), forever=True)
    game = match()
    await ModelSeat(agent).play(game, request())
    assert len(agent.asked) == CONFIG.ticks * MOST_ROUNDS
    assert len(game.game.episode().calls) == CONFIG.ticks * MOST_ROUNDS * MOST_CALLS


def test_tools_are_the_methods_under_names_that_every_api_takes() -> None:
    assert len(tools()) == len(METHODS)
    assert {"a2a_buyShares", "a2a_submitForecast"} <= {tool["name"] for tool in tools()}
    buy = next(tool for tool in tools() if tool["name"] == "a2a_buyShares")
    assert buy["parameters"]["required"] == ["marketId", "outcome", "amount"]


@pytest.mark.parametrize("target", ["reference:perfect", "replay:answers.jsonl"])
async def test_agents_that_cannot_play_say_so_when_they_start(target: str) -> None:
    agent: Agent = Scripted()
    seat = seat_of(agent, parse_agent(target, base_dir=""), None)
    with pytest.raises(AgentFailure, match="cannot play"):
        await seat.start()


async def test_in_real_time_a_turn_that_ended_early_waits_for_its_end() -> None:
    interval_s = 0.03
    game = match(Pace("real-time", speed=CONFIG.interval_ms / 1000 / interval_s))
    began = time.perf_counter()
    state = game.observe()
    while not state["over"]:
        state = await game.end_turn(state["tick"])
    game.close()
    assert time.perf_counter() - began > 0.9 * interval_s * CONFIG.ticks
    episode = game.game.episode()
    assert len(episode.equity) == CONFIG.ticks + 1
    assert episode.pace == "real-time"


async def test_in_real_time_a_baseline_waits_as_everybody_does() -> None:
    interval_s = 0.01
    game = match(Pace("real-time", speed=CONFIG.interval_ms / 1000 / interval_s))
    began = time.perf_counter()
    await BaselineAgent("momentum").play(game, request())
    game.close()
    assert time.perf_counter() - began > 0.9 * interval_s * CONFIG.ticks
    assert game.game.is_over


async def test_an_episode_tells_what_a_model_spent_on_it() -> None:
    (case,) = worlds(7, duration=10.0, markets=2, perpetuals=1)
    agent: Any = Scripted()
    answer = await Player(ModelSeat(agent)).answer(Request(Case(case["id"], case["input"]), 1))
    metrics = answer.data["metrics"]
    assert metrics["input_tokens"] == 100 * len(agent.asked)
    assert metrics["output_tokens"] == 10 * len(agent.asked)
    assert metrics["cost_usd"] == 0.5 * len(agent.asked)
