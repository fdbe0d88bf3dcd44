"""The built-in players, which agents are compared with, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agentbench_tui.market.baselines.bayes import Bayes
from agentbench_tui.market.baselines.clairvoyant import Clairvoyant
from agentbench_tui.market.baselines.player import Player, play
from agentbench_tui.market.baselines.simple import AlwaysLong, Follower, Hold, Random, Trend
from agentbench_tui.model.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from agentbench_tui.market.world.truth import Truth
    from agentbench_tui.market.world.world import World

__all__ = ["BASELINES", "Player", "make", "play"]

BASELINES = {
    "hold": "does nothing",
    "random": "trades and forecasts at random, seeded",
    "always_long": "buys YES and is long everywhere from the start",
    "momentum": "bets that what rose keeps rising",
    "contrarian": "bets that what rose falls back",
    "follower": "states prices as its forecasts, trades nothing",
    "bayes": "weighs prices and what it reads by the public rules of worlds",
    "oracle": "knows the truth: the best in hindsight",
}


def make(name: str, world: World, truth: Truth, seed: int) -> Player:
    """Return a new player for one game. Only `oracle` receives the world and the truth.

    `seed` is used by `random`. Raises UsageError with the nearest name.
    """
    if name == "oracle":
        return Clairvoyant(world, truth)
    if name == "random":
        return Random(seed)
    if name == "momentum":
        return Trend(1)
    if name == "contrarian":
        return Trend(-1)
    plain: dict[str, Callable[[], Player]] = {
        "hold": Hold,
        "always_long": AlwaysLong,
        "follower": Follower,
        "bayes": Bayes,
    }
    if name not in plain:
        hint = did_you_mean(name, BASELINES)
        raise UsageError(f'no baseline "{name}"{hint}: there is {", ".join(BASELINES)}')
    return plain[name]()
