"""Whether forecasts are better than any information an agent can have.

For each market, take the first forecast that is sure: at least `SURE` for YES or for NO, stated at
tick t. Let p be the world's fair probability of that side at t, which is what all that has happened
says of it. The market's factor is

    SURE / p              if the side happens,
    (1 - SURE) / (1 - p)  if it does not.

An agent that knows no more than what has happened has an expected factor of 1 in each market,
however it chooses its moment, because fair probabilities are a martingale; and markets are drawn
independently, so the expected product of all factors is 1 too. By Markov's inequality the
probability that the product reaches 1 / alpha is at most alpha: the product is an e-value (Vovk and
Wang, "E-values: calibration, combination and applications", Annals of Statistics, 2021).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from agentbench_tui.market.world import PER_MILLION
from agentbench_tui.model.foresight import SURE

if TYPE_CHECKING:
    from agentbench_tui.market.episode import Episode
    from agentbench_tui.market.truth import Truth
    from agentbench_tui.market.world import World


def sure_forecasts(episode: Episode, world: World, truth: Truth) -> tuple[int, int, float]:
    """Markets with a sure forecast, how many of them came true, and log10 of their product."""
    first: dict[int, tuple[int, bool]] = {}
    for forecast in sorted(episode.forecasts, key=lambda stated: stated.tick):
        side = forecast.probability >= SURE
        if side or forecast.probability <= 1.0 - SURE:
            first.setdefault(forecast.market, (forecast.tick, side))
    right, evidence = 0, 0.0
    for place, (tick, side) in first.items():
        # Rounded to millionths, a fair value may be 0 or 1 before its market resolves.
        fair = min(max(truth.fair[place][tick], 1), PER_MILLION - 1) / PER_MILLION
        chance = fair if side else 1.0 - fair
        happened = truth.outcomes[world.markets[place].id] == side
        right += happened
        evidence += math.log10(SURE / chance if happened else (1.0 - SURE) / (1.0 - chance))
    return len(first), right, evidence
