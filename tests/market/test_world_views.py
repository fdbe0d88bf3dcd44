"""What is public at a tick is what happened until then, and nothing of what comes."""

import json
from dataclasses import replace
from typing import Any

import pytest

from agentbench_tui.market.play.game import Game
from agentbench_tui.market.world.generator import generate
from agentbench_tui.market.world.world import World, WorldConfig

WORLD, TRUTH = generate(WorldConfig(duration_s=3_600))
OUTCOMES = TRUTH.outcomes
LAST = WORLD.ticks
LOOKS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("a2a.getPredictions", {"status": "ALL"}),
    ("a2a.getPerpetuals", {}),
    ("a2a.getFeed", {"limit": 100}),
    ("a2a.getChats", {"limit": 100}),
    ("a2a.getTrendingTags", {}),
    ("a2a.getDashboard", {}),
)


def seen_until(world: World, last: int) -> list[Any]:
    """All that an agent can ask for at each tick, groups joined as soon as it is invited."""
    game = Game(world, OUTCOMES)
    seen: list[Any] = []
    while True:
        for chat in game.call("a2a.getChats")["chats"]:
            game.call("a2a.joinGroup", {"groupId": chat["id"]})
        seen += [game.observation(), *(game.call(method, params) for method, params in LOOKS)]
        if game.tick == last:
            return seen
        game.advance()


def without_future(world: World, tick: int) -> World:
    """The world with every later value destroyed."""
    spoilt = {
        name: tuple(
            column[: tick + 1] + (-1,) * (world.ticks - tick) for column in getattr(world, name)
        )
        for name in ("flows", "volumes", "marks", "indexes", "funding", "open_interest")
    }
    return replace(
        world,
        **spoilt,
        posts=tuple(post for post in world.posts if post.tick <= tick),
        groups=tuple(group for group in world.groups if group.created <= tick),
        invitations=tuple(item for item in world.invitations if item.tick <= tick),
        messages=tuple(message for message in world.messages if message.tick <= tick),
    )


BEFORE_A_MESSAGE = WORLD.messages[-1].tick - 1


@pytest.mark.parametrize("tick", [0, 1, 29, BEFORE_A_MESSAGE])
def test_an_agent_sees_nothing_that_comes_later(tick: int) -> None:
    assert seen_until(without_future(WORLD, tick), tick) == seen_until(WORLD, tick)


def test_an_agent_sees_what_was_until_then() -> None:
    seen = json.dumps(seen_until(WORLD, LAST - 1))
    assert all(f'"{post.id}"' in seen for post in WORLD.posts if post.tick < LAST)
    assert all(f'"{one.id}"' in seen for one in WORLD.messages if one.tick < LAST)
    assert all(f'"price": {mark / 1e6}' in seen for mark in WORLD.marks[0][:LAST])


def test_a_market_is_open_until_the_tick_of_its_resolution() -> None:
    for place, market in enumerate(WORLD.markets):
        assert WORLD.at(market.resolve_tick - 1).is_open(place)
        assert not WORLD.at(market.resolve_tick).is_open(place)


def test_time_runs_from_the_configured_start() -> None:
    assert WORLD.at(0).time_ms == WORLD.config.start_ms
    assert WORLD.at(3).time_ms - WORLD.at(2).time_ms == 60_000


@pytest.mark.parametrize("tick", [-1, LAST + 1])
def test_there_is_nothing_outside_the_world(tick: int) -> None:
    with pytest.raises(IndexError, match="the world has ticks 0 to 60"):
        WORLD.at(tick)
