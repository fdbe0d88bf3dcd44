"""What is public at a tick is what happened until then, and nothing of what comes."""

from dataclasses import replace
from typing import Any

import pytest

from agentbench_tui.market.generator import generate
from agentbench_tui.market.world import World, WorldConfig
from agentbench_tui.market.world_view import WorldView

WORLD, _ = generate(WorldConfig(duration_s=3_600))
LAST = WORLD.ticks


def everything(view: WorldView, world: World) -> dict[str, Any]:
    """All that a view can be asked for."""
    markets, perpetuals = range(len(world.markets)), range(len(world.perpetuals))
    return {
        "time": view.time_ms,
        "markets": view.markets,
        "open": [view.is_open(market) for market in markets],
        "flow": [view.flow(market) for market in markets],
        "volume": [view.volume(market) for market in markets],
        "flows": [view.flow_history(market, 10**6) for market in markets],
        "mark": [view.mark(perpetual) for perpetual in perpetuals],
        "marks": [view.mark_history(perpetual, 10**6) for perpetual in perpetuals],
        "index": [view.index(perpetual) for perpetual in perpetuals],
        "funding": [view.funding(perpetual) for perpetual in perpetuals],
        "interest": [view.open_interest(perpetual) for perpetual in perpetuals],
        "posts": view.posts(10**6),
        "new": view.new_posts(),
        "groups": view.groups(),
        "invited": [view.invited(group.id) for group in world.groups],
        "messages": [view.messages(group.id) for group in world.groups],
    }


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


@pytest.mark.parametrize("tick", [0, 1, 17, 30, 59, 60])
def test_a_view_gives_nothing_that_comes_later(tick: int) -> None:
    spoilt = without_future(WORLD, tick)
    assert everything(spoilt.at(tick), WORLD) == everything(WORLD.at(tick), WORLD)


def test_views_are_not_blind() -> None:
    seen = everything(WORLD.at(LAST), WORLD)
    assert seen["flows"] == list(WORLD.flows)
    assert seen["marks"] == list(WORLD.marks)
    assert seen["posts"] == WORLD.posts[::-1]
    assert seen["groups"] == WORLD.groups
    assert all(seen["invited"])
    assert sum(map(len, seen["messages"])) == len(WORLD.messages)
    assert seen["messages"] != [(), (), ()]
    assert [len(WORLD.at(tick).new_posts()) for tick in range(LAST + 1)] == [
        sum(post.tick == tick for post in WORLD.posts) for tick in range(LAST + 1)
    ]


def test_pages_of_the_feed_follow_each_other() -> None:
    view = WORLD.at(40)
    whole = view.posts(10**6)
    assert len(whole) > 20
    assert view.posts(5) == whole[:5]
    assert view.posts(5, 5) == whole[5:10]
    assert view.posts(5, len(whole) - 2) == whole[-2:]
    assert view.posts(5, len(whole)) == ()
    assert view.posts(5, 10**6) == ()


def test_a_market_is_open_until_the_tick_of_its_resolution() -> None:
    for place, market in enumerate(WORLD.markets):
        assert WORLD.at(market.resolve_tick - 1).is_open(place)
        assert not WORLD.at(market.resolve_tick).is_open(place)


def test_an_invitation_holds_from_its_tick_on() -> None:
    for invitation in WORLD.invitations:
        if invitation.tick:
            assert not WORLD.at(invitation.tick - 1).invited(invitation.group)
        assert WORLD.at(invitation.tick).invited(invitation.group)


def test_histories_are_as_long_as_asked_where_there_is_that_much() -> None:
    view = WORLD.at(20)
    assert view.flow_history(0, 5) == WORLD.flows[0][16:21]
    assert len(view.mark_history(0, 50)) == 21


def test_time_runs_from_the_configured_start() -> None:
    assert WORLD.at(0).time_ms == WORLD.config.start_ms
    assert WORLD.at(3).time_ms - WORLD.at(2).time_ms == 60_000


@pytest.mark.parametrize("tick", [-1, LAST + 1])
def test_there_is_nothing_outside_the_world(tick: int) -> None:
    with pytest.raises(IndexError, match="the world has ticks 0 to 60"):
        WORLD.at(tick)
