"""Small worlds, and matches in them."""

import time
from collections.abc import Callable
from functools import cache

from agentbench_tui.market.play.clock import Pace
from agentbench_tui.market.play.game import Game, GameConfig
from agentbench_tui.market.play.match import Match
from agentbench_tui.market.world.generator import generate
from agentbench_tui.market.world.stage import Stage, WorldPlace, open_stage
from agentbench_tui.market.world.truth import Truth
from agentbench_tui.market.world.world import World, WorldConfig
from agentbench_tui.model.answer import Case, Request

CONFIG = WorldConfig(duration_s=600, interval_ms=60_000, markets=2, perpetuals=1, seed=7)


@cache
def usual(seed: int) -> tuple[World, Truth]:
    """A world of the usual size, and its truth; made once for all tests."""
    return generate(WorldConfig(seed=seed))


@cache
def stage() -> Stage:
    return open_stage(WorldPlace(config=CONFIG))


def match(pace: Pace | None = None, now: Callable[[], float] = time.perf_counter) -> Match:
    game = Game(stage().world, stage().truth.outcomes, GameConfig(pace or Pace(), now=now))
    return Match(game, stage())


def request() -> Request:
    return Request(Case("seed-7", {}), 1)
