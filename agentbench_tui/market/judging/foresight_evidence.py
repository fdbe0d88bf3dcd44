"""A betting test of whether forecasts are better than any information an agent can have.

A gambler bets on every move of a market's fair probability, as the agent's forecast says. Let p be
the fair probability of YES at tick t, p' that at t + 1, and q the forecast that holds at t. The
gambler keeps a share `CASH` and puts the rest on YES and NO as q to 1 - q, at fair odds:

    wealth *= CASH + (1 - CASH) * (q * p' / p + (1 - q) * (1 - p') / (1 - p))

Fair probabilities are a martingale of all that has happened, hidden things included: p' is p on
average, whatever the agent knows of the past. So the expected factor is 1 for any q that does not
depend on the future, and, as markets move independently, the wealth of all markets together is a
martingale that starts at 1. By Markov's inequality it ends at 1 / alpha or more with a probability
of at most alpha (Shafer, "Testing by betting", J. R. Stat. Soc. A 184, 2021). An agent that states
p itself neither wins nor loses, one that is wrong loses, and one that knows the outcome and says so
wins 1 / p at its first forecast's p.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from agentbench_tui.market.judging.forecasts import held_forecasts
from agentbench_tui.market.world.world import PER_MILLION

if TYPE_CHECKING:
    from agentbench_tui.market.play.episode import Episode
    from agentbench_tui.market.world.truth import Truth
    from agentbench_tui.market.world.world import World

CASH = 0.01
"""Share that is never at stake, so that no single wrong forecast ends the game."""
_ROUNDING = 1e-6
"""Fair values are rounded to millionths: p' is at most half of one above, and p half below, what it
is. Added to p, this keeps the expected factor at 1 or less."""


def foresight_log10(episode: Episode, world: World, truth: Truth) -> tuple[int, float]:
    """Return the number of markets with a forecast, and log10 of the gambler's final wealth."""
    held = held_forecasts(episode, world)
    total = 0.0
    for place, (first, forecasts) in held.items():
        fair = truth.fair[place]
        for tick, stated in enumerate(forecasts, start=first):
            total += math.log10(_factor(stated, fair[tick], fair[tick + 1]))
    return len(held), total


def _factor(stated: float, now_ppm: int, next_ppm: int) -> float:
    """Return the factor by which a unit of wealth grows in one tick; at least `CASH`."""
    now, following = now_ppm / PER_MILLION, next_ppm / PER_MILLION
    yes = stated * following / (now + _ROUNDING)
    no = (1.0 - stated) * (1.0 - following) / (1.0 - now + _ROUNDING)
    return CASH + (1.0 - CASH) * (yes + no)
