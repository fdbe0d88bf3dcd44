"""The game: what is seen, what is refused, what is written down, and how time goes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tiny_worlds import FakeClock, post, tiny_world, truth_of

from agentbench_tui.market.play.actions import (
    GAME_OVER,
    INVALID_PARAMS,
    MARKET_CLOSED,
    NOT_INVITED,
    RATE_LIMITED,
    TURN_LOST,
    UNKNOWN_METHOD,
    UNKNOWN_POSITION,
    MethodError,
)
from agentbench_tui.market.play.clock import Pace
from agentbench_tui.market.play.episode import Episode
from agentbench_tui.market.play.game import Game, GameConfig
from agentbench_tui.market.world.generator import generate
from agentbench_tui.market.world.world import Group, Invitation, Message, World, WorldConfig

BUY = {"marketId": "market-0", "outcome": "YES", "amount": 50}


def game_of(world: World, *outcomes: bool, config: GameConfig | None = None) -> Game:
    return Game(world, truth_of(world, *outcomes).outcomes, config)


def finish(game: Game) -> Episode:
    while not game.is_over:
        game.advance()
    return game.episode()


def refused(game: Game, method: str, params: dict[str, Any]) -> MethodError:
    with pytest.raises(MethodError) as caught:
        game.call(method, params)
    return caught.value


def test_own_purchases_move_the_price_that_is_quoted() -> None:
    game = game_of(tiny_world(), True)
    before = game.call("a2a.getPredictions")["predictions"][0]
    game.call("a2a.buyShares", BUY)
    after = game.call("a2a.getPredictions")["predictions"][0]
    assert before["yesPrice"] == 0.5
    assert after["yesPrice"] == pytest.approx(1 / (1 + 2.71828182845**-0.83179), abs=1e-5)
    assert after["noPrice"] == pytest.approx(1 - after["yesPrice"])


def test_positions_tell_shares_cost_and_what_they_would_sell_for() -> None:
    game = game_of(tiny_world(), True)
    bought = game.call("a2a.buyShares", BUY)
    (row,) = game.call("a2a.getPositions")["predictionPositions"]
    assert row["positionId"] == bought["positionId"] == "market-0-yes"
    assert row["shares"] == bought["shares"]
    assert row["value"] == pytest.approx(50, abs=0.001)
    game.call("a2a.sellShares", {"marketId": "market-0", "shares": row["shares"]})
    assert game.call("a2a.getPositions")["predictionPositions"] == []


def test_a_market_pays_at_its_own_resolution_and_is_closed_then() -> None:
    game = game_of(tiny_world([[0, 0, 0, 0], [0, 0, 0, 0]], resolve=[1, 3]), True, False)
    shares = game.call("a2a.buyShares", BUY)["shares"]
    game.advance()
    assert game.call("a2a.getBalance")["balance"] == pytest.approx(9_950 + shares)
    assert refused(game, "a2a.buyShares", BUY).code == MARKET_CLOSED
    resolved = game.call("a2a.getPredictions", {"status": "resolved"})["predictions"]
    assert [(row["id"], row["outcome"]) for row in resolved] == [("market-0", "YES")]
    active = game.call("a2a.getPredictions")["predictions"]
    assert [row["id"] for row in active] == ["market-1"]
    assert "outcome" not in active[0]


def test_sixty_fast_purchases_are_sixty_trades() -> None:
    """The original named positions by the millisecond and lost all but a few."""
    game = game_of(tiny_world(), True)
    for _ in range(30):
        game.call("a2a.openPosition", {"ticker": "P0", "side": "long", "size": 10})
        game.call("a2a.buyShares", {**BUY, "amount": 1})
    assert len(game.call("a2a.getPositions")["perpPositions"]) == 30
    episode = finish(game)
    assert len(episode.trades) == 30
    assert len({trade.position for trade in episode.perp_trades}) == 30


def test_a_position_is_closed_once() -> None:
    game = game_of(tiny_world(marks=[[100, 110, 110, 110]]), True)
    name = game.call("a2a.openPosition", {"ticker": "P0", "side": "SHORT", "size": 1_000})
    game.advance()
    closed = game.call("a2a.closePosition", {"positionId": name["positionId"]})
    assert closed["pnl"] == pytest.approx(-100 - 0.5 - 0.55)
    assert closed["exitPrice"] == 110
    again = refused(game, "a2a.closePosition", {"positionId": name["positionId"]})
    assert again.code == UNKNOWN_POSITION


def test_funding_is_charged_on_schedule() -> None:
    world = tiny_world(funding=[1_000_000] * 4, funding_ticks=2)
    game = game_of(world, True)
    game.call("a2a.openPosition", {"ticker": "P0", "side": "LONG", "size": 1_000})
    (trade,) = finish(game).perp_trades
    assert trade.funding == -1_000_000  # at tick 2 alone: a thousandth of $1,000
    assert trade.ended == "settled"


def test_a_position_under_its_maintenance_margin_is_liquidated() -> None:
    """$1,000 at 10x: $100 of margin; at 92 it has lost $80, and $20 are less than 2.5% of $920."""
    game = game_of(tiny_world(marks=[[100, 93, 92, 100]]), True)
    game.call("a2a.openPosition", {"ticker": "P0", "side": "LONG", "size": 1_000, "leverage": 10})
    (trade,) = finish(game).perp_trades
    assert (trade.ended, trade.closed) == ("liquidated", 2)
    assert trade.pnl == -80_000_000 - 500_000 - 460_000


def test_every_call_is_kept_right_or_wrong() -> None:
    game = game_of(tiny_world(), True)
    game.call("a2a.getBalance")
    for method, params, code in (
        ("a2a.createComment", {}, UNKNOWN_METHOD),
        ("a2a.buyShares", {**BUY, "marketId": "market-9"}, INVALID_PARAMS),
        ("a2a.buyShares", {**BUY, "amount": "x" * 5_000}, INVALID_PARAMS),
        ("a2a.buyShares", None, INVALID_PARAMS),
    ):
        assert refused(game, method, params).code == code  # type: ignore[arg-type]
    calls = finish(game).calls
    assert [call.code for call in calls] == [0, -32601, -32602, -32602, -32602]
    assert len(json.dumps(calls[3].params)) < 600


def test_calls_beyond_the_limit_are_refused_until_the_next_tick() -> None:
    game = game_of(tiny_world(), True, config=GameConfig(max_calls_per_tick=2, max_calls=5))
    for _ in range(2):
        game.call("a2a.getBalance")
    assert refused(game, "a2a.getBalance", {}).code == RATE_LIMITED
    game.advance()
    for _ in range(2):
        game.call("a2a.getBalance")
    for _ in range(3):
        assert refused(game, "a2a.getBalance", {}).code == RATE_LIMITED
    episode = finish(game)
    assert (len(episode.calls), episode.dropped_calls) == (5, 3)
    assert episode.calls[2].message == "at most 2 calls a tick are answered"
    assert refused(game, "a2a.getBalance", {}).code == GAME_OVER


def test_groups_are_joined_by_invitation_and_read_after_it() -> None:
    world = tiny_world(
        groups=(Group("group-0", "Insiders", 0, ("agent-0",)),),
        invitations=(Invitation("group-0", 1),),
        messages=(Message("m-0", 0, "group-0", "agent-0", "psst", "market-0", 1),),
    )
    game = game_of(world, True)
    assert game.call("a2a.getChats") == {"chats": []}
    assert refused(game, "a2a.joinGroup", {"groupId": "group-0"}).code == NOT_INVITED
    assert refused(game, "a2a.joinGroup", {"groupId": "group-1"}).code == INVALID_PARAMS
    game.advance()
    assert game.call("a2a.getChats")["chats"][0]["messages"] == []
    game.call("a2a.joinGroup", {"groupId": "group-0"})
    (chat,) = game.call("a2a.getChats")["chats"]
    assert [message["content"] for message in chat["messages"]] == ["psst"]
    assert finish(game).joined == ((1, "group-0"),)


def test_the_feed_shows_newest_first_with_own_posts() -> None:
    game = game_of(tiny_world(posts=(post(0, "market-0", 1), post(1, "market-0", -1))), True)
    game.call("a2a.createPost", {"content": "hello", "marketId": "market-0"})
    game.advance()
    feed = game.call("a2a.getFeed")["posts"]
    assert [row["lean"] for row in feed] == [-1, 1, 0]
    assert game.call("a2a.getFeed", {"limit": 1, "offset": 2})["posts"][0]["content"] == "hello"
    assert game.call("a2a.getTrendingTags")["tags"] == [{"tag": "market-0", "posts": 2}]


def test_no_post_of_a_page_comes_again_on_the_next() -> None:
    game = game_of(tiny_world(posts=(post(0, "market-0", 1), post(0, "market-0", -1))), True)
    game.call("a2a.createPost", {"content": "hello"})
    pages = [game.call("a2a.getFeed", {"limit": 1, "offset": n})["posts"] for n in range(3)]
    assert [row["lean"] for (row,) in pages] == [-1, 1, 0]


def test_the_response_time_is_from_hand_over_to_call() -> None:
    clock = FakeClock()
    game = game_of(tiny_world(), True, config=GameConfig(now=clock))
    game.observation()
    clock.wait(0.05)
    game.call("a2a.getBalance")
    clock.wait(0.01)
    game.advance()
    episode = finish(game)
    assert episode.waits_s[:2] == pytest.approx((0.05, 0.01))
    assert episode.calls[0].waited_s == pytest.approx(0.05)
    assert episode.turns_s[0] == pytest.approx(0.06)


def test_calls_that_came_together_are_one_wait() -> None:
    """Of six calls in one answer of a model only the first was waited for."""
    clock = FakeClock()
    game = game_of(tiny_world(), True, config=GameConfig(now=clock))
    game.observation()
    clock.wait(0.05)
    for nth in range(6):
        game.call("a2a.getBalance", more=nth < 5)
        clock.wait(0.5)  # ours
    game.observation()  # looking again is no hand-over
    clock.wait(0.02)
    game.advance()
    episode = finish(game)
    assert episode.waits_s[:2] == pytest.approx((0.05, 0.52))
    assert [call.waited_s for call in episode.calls] == pytest.approx([0.05, 0, 0, 0, 0, 0])


def test_a_late_agent_loses_its_turn() -> None:
    clock = FakeClock()
    config = GameConfig(Pace("deadline", response_timeout_s=1.0), now=clock)
    game = game_of(tiny_world(), True, config=config)
    game.observation()
    clock.wait(0.9)
    game.observation()  # looking again gains no time
    clock.wait(0.2)
    assert refused(game, "a2a.buyShares", BUY).code == TURN_LOST
    assert game.tick == 1
    game.call("a2a.getBalance")
    game.advance()
    game.observation()
    clock.wait(1.1)
    assert game.expire()
    episode = game.episode()
    assert episode.timeouts == (0, 2)
    assert episode.trades == ()


def test_a_turn_that_ends_late_is_lost_once() -> None:
    clock = FakeClock()
    config = GameConfig(Pace("deadline", response_timeout_s=1.0), now=clock)
    game = game_of(tiny_world(), True, config=config)
    game.observation()
    clock.wait(5.0)
    game.advance()
    assert game.tick == 1
    assert finish(game).timeouts == (0,)


def test_in_real_time_ticks_pass_while_the_agent_thinks() -> None:
    clock = FakeClock()
    config = GameConfig(Pace("real-time", speed=2.0), now=clock)  # half a second a tick
    game = game_of(tiny_world(), True, config=config)
    game.observation()
    clock.wait(0.4)
    game.end_turn()
    clock.wait(0.2)
    assert not game.expire()  # it ended in time; its driver waits
    game.advance()
    assert game.tick == 1
    game.observation()
    clock.wait(0.95)
    game.advance()
    assert game.is_over
    assert game.episode().timeouts == (1, 2)


def test_a_pace_without_its_number_is_refused() -> None:
    with pytest.raises(ValueError, match="timeout"):
        Pace("deadline")
    with pytest.raises(ValueError, match="speed"):
        Pace("real-time", speed=0)


def test_nothing_that_is_seen_depends_on_what_comes_later() -> None:
    """A world with another future, and other outcomes, looks the same until that future begins."""
    config = WorldConfig(seed=5)
    cut = 12
    seen = []
    for suffix in (None, 99):
        world, truth = generate(config, suffix_seed=suffix, cut=cut)
        game = Game(world, truth.outcomes)
        rows = []
        for _ in range(cut):
            rows.append(json.dumps(game.observation(), sort_keys=True))
            for chat in game.call("a2a.getChats")["chats"]:
                game.call("a2a.joinGroup", {"groupId": chat["id"]})
            rows.append(json.dumps(game.call("a2a.getFeed", {"limit": 100})))
            game.advance()
        seen.append((rows, truth.outcomes))
    assert seen[0][0] == seen[1][0]
    assert seen[0][1] != seen[1][1]


def test_a_game_that_is_not_over_has_no_episode() -> None:
    with pytest.raises(ValueError, match="tick 0 of 3"):
        game_of(tiny_world(), True).episode()
