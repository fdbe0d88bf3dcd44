"""Whoever plays may lose turns or be refused more calls: then the turn is over, not the game."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from playing import CONFIG, match, request, stage
from tiny_worlds import FakeClock

from agentbench_tui.market.baselines import BASELINES
from agentbench_tui.market.client import CallError, Market, play
from agentbench_tui.market.outside import a2a_agent
from agentbench_tui.market.outside.baseline_agent import BaselineAgent
from agentbench_tui.market.outside.rpc import respond
from agentbench_tui.market.play import functions
from agentbench_tui.market.play.actions import RATE_LIMITED, TURN_LOST, MethodError
from agentbench_tui.market.play.clock import Pace
from agentbench_tui.market.play.game import Game, GameConfig, most_calls_of
from agentbench_tui.market.play.match import Match
from agentbench_tui.market.world.generator import MAX_TICKS
from agentbench_tui.model.answer import ToolCall

STEP_S = 1e-4


class Running:
    """A clock that runs on by a step each time somebody looks at it."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        self.time += STEP_S
        return self.time


REAL_TIME = Pace("real-time", speed=CONFIG.interval_ms / 1_000 / (6 * STEP_S))


@pytest.mark.parametrize("pace", [Pace("deadline", 2.5 * STEP_S), REAL_TIME])
@pytest.mark.parametrize("name", BASELINES)
async def test_a_baseline_that_loses_turns_plays_on(name: str, pace: Pace) -> None:
    game = match(pace, Running())
    await BaselineAgent(name).play(game, request())
    game.close()
    episode = game.game.episode()
    assert len(episode.equity) == CONFIG.ticks + 1
    if pace.mode == "deadline" and name != "hold":
        assert {0, TURN_LOST} <= {call.code for call in episode.calls}  # the second is too late


@pytest.mark.parametrize("carried_out", [functions._carried_out, a2a_agent._carried_out])
def test_what_an_answer_asks_when_its_turn_is_lost_is_not_done_in_the_next(
    carried_out: Any,
) -> None:
    game = match(Pace("deadline", 4.5 * STEP_S), Running())
    game.game.observation()
    params = {"marketId": "market-0", "outcome": "YES", "amount": 1}
    calls: Any = [ToolCall("a2a_buyShares", params)] * 6
    if carried_out is a2a_agent._carried_out:
        calls = [{"operation": "a2a.buyShares", "params": params}] * 6
    carried_out(game, tuple(calls))
    assert game.game.tick == 1
    while not game.game.is_over:
        game.game.advance()
    episode = game.game.episode()
    codes = [call.code for call in episode.calls]
    assert codes == [0] * len(episode.trades) + [TURN_LOST]
    assert 0 < len(episode.trades) < 5


BUY = {"method": "a2a.buyShares", "params": {"marketId": "market-0", "outcome": "YES", "amount": 1}}
END = {"method": "endTurn"}
LOOK = {"method": "observe"}


async def answers(game: Match, *requests: dict[str, Any]) -> list[int]:
    """The code of each answer to a batch, 0 for a result."""
    batch = [{"jsonrpc": "2.0", "id": nth, **one} for nth, one in enumerate(requests)]
    told = json.loads(await respond(json.dumps(batch).encode(), game.handle) or b"")
    return [one.get("error", {}).get("code", 0) for one in told]


@pytest.mark.parametrize("told_by", ["its first call", "the clock"])
async def test_what_comes_along_with_a_call_of_a_lost_turn_is_not_done_in_the_next(
    told_by: str,
) -> None:
    clock = FakeClock()
    game = match(Pace("deadline", 1.0), clock)
    assert await answers(game, LOOK, BUY) == [0, 0]
    clock.wait(1.5)
    if told_by == "the clock":
        assert game.game.expire()
    # Neither a look in between, whose answer nobody has seen yet, nor the end of "the" turn helps.
    lost = [TURN_LOST] * 2
    assert await answers(game, BUY, BUY, LOOK, END, BUY) == [*lost, 0, 0, TURN_LOST]
    assert game.game.tick == 1
    assert await answers(game, BUY, END, BUY) == [0, 0, 0]
    assert game.game.tick == 2
    game.close()
    assert [trade.tick for trade in game.game._record.trades] == [0, 1, 2]


@pytest.mark.parametrize("told_by", ["the end of it", "the clock"])
async def test_the_end_of_a_turn_that_was_lost_does_not_end_the_next(told_by: str) -> None:
    clock = FakeClock()
    game = match(Pace("deadline", 1.0), clock)
    assert await answers(game, LOOK) == [0]
    clock.wait(1.5)
    if told_by == "the clock":
        assert game.game.expire()
    assert await answers(game, END) == [0]
    assert game.game.tick == 1
    assert await answers(game, END) == [0]
    assert game.game.tick == 2
    game.close()


async def test_who_has_looked_since_a_turn_was_lost_is_not_refused() -> None:
    clock = FakeClock()
    game = match(Pace("deadline", 1.0), clock)
    game.observe()
    clock.wait(1.5)
    assert game.game.expire()
    assert await answers(game, LOOK) == [0]
    assert await answers(game, BUY) == [0]
    game.close()


@pytest.mark.parametrize("limits", [{"max_calls": 3}, {"max_calls_per_tick": 1}])
async def test_a_baseline_that_may_call_no_more_plays_on(limits: dict[str, Any]) -> None:
    game = Game(stage().world, stage().truth.outcomes, GameConfig(**limits))
    await BaselineAgent("bayes").play(Match(game, stage()), request())
    codes = [call.code for call in game.episode().calls]
    assert codes.count(0) == (3 if "max_calls" in limits else CONFIG.ticks)
    refused = game.episode().dropped_calls + codes.count(RATE_LIMITED)
    assert refused > CONFIG.ticks / 2


def test_calls_beyond_those_of_a_game_are_refused_in_words_of_their_own() -> None:
    game = Game(stage().world, stage().truth.outcomes, GameConfig(max_calls=3))
    for _ in range(3):
        game.call("a2a.getBalance")
    with pytest.raises(MethodError, match="at most 3 calls of a game") as refused:
        game.call("a2a.getBalance")
    assert refused.value.code == RATE_LIMITED


def test_a_long_world_with_many_markets_allows_more_calls() -> None:
    """The longest there may be, of the usual five markets, with a forecast of each at each tick."""
    longest = replace(CONFIG, duration_s=60 * MAX_TICKS, markets=5)
    assert most_calls_of(longest) > 3 * 5 * MAX_TICKS
    assert most_calls_of(replace(longest, markets=100)) > 100 * MAX_TICKS
    assert most_calls_of(CONFIG) == 200_000


@pytest.mark.parametrize("slow_tick", [1, CONFIG.ticks - 1])
def test_a_program_that_is_late_loses_the_turn_and_plays_on(slow_tick: int) -> None:
    clock = FakeClock()
    game = match(Pace("deadline", 1.0), clock)
    seen: list[int] = []

    def turn(market: Market) -> None:
        seen.append(market.state["tick"])
        if market.state["tick"] == slow_tick:
            clock.wait(1.5)
        market.call("a2a.getBalance")
        assert market.state["tick"] != slow_tick

    with asyncio.Runner() as runner:
        play(turn, lambda body: runner.run(respond(body, game.handle)) or b"")
    game.close()
    assert seen == [*range(CONFIG.ticks)]
    assert game.game.episode().timeouts == (slow_tick,)


def test_what_else_the_market_refuses_ends_a_program_that_does_not_mind_it() -> None:
    game = match()
    with asyncio.Runner() as runner, pytest.raises(CallError, match="no method"):
        play(
            lambda it: it.call("a2a.no"), lambda body: runner.run(respond(body, game.handle)) or b""
        )
