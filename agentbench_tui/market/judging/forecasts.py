"""Quality of stated probabilities: proper scores, their decomposition, and the market's scores for
comparison.

A forecast is in force from the tick it is stated until the next one of its market, or its
resolution. Every market with a forecast has equal weight, and within it every tick from the first
forecast on. Stating late does not help, because the market's price is scored over the same ticks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.market.world.world import SHARE_UNITS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from agentbench_tui.market.play.episode import Episode
    from agentbench_tui.market.world.world import World

    Floats = NDArray[np.float64]

BINS = 10
"""Number of probability bins of equal width, for reliability and ECE."""
LEAST = 1e-4
"""The log score takes probabilities this far from 0 and 1: being sure and wrong costs 9.2 nats."""


@dataclass(frozen=True, slots=True)
class Stated:
    """Forecasts in force at each tick of each market; all columns of equal length."""

    probability: Floats
    price: Floats
    """Price of YES at that tick, without the agent's own shares."""
    outcome: Floats
    """0 or 1."""
    weight: Floats
    """Sums to 1."""
    coverage: float
    """Share of all ticks of open markets that a forecast held at."""


@dataclass(frozen=True, slots=True)
class ForecastScores:
    """Scores of probabilities; Brier = reliability - resolution + uncertainty + within_bins."""

    brier: float
    """Mean square error, 0 to 1: 0.25 for always saying 1/2."""
    reliability: float
    """Squared distance of outcomes from forecasts, over bins; lower is better."""
    resolution: float
    """Squared distance of the bins' outcomes from their mean; higher is better."""
    uncertainty: float
    """Variance of the outcomes themselves."""
    within_bins: float
    """Remainder due to bins of finite width (Stephenson et al. 2008)."""
    log_score: float
    """Mean of -ln of the probability of what happened, nats."""
    ece: float
    """Mean distance of forecasts from outcomes, over bins."""


def stated(episode: Episode, world: World, outcomes: Mapping[str, bool]) -> Stated | None:
    """Return the agent's forecasts, tick by tick. None without any."""
    forecasts = held_forecasts(episode, world)
    if not forecasts:
        return None
    columns = [
        _columns(place, first, held, world, outcomes) for place, (first, held) in forecasts.items()
    ]
    weights = [np.full(len(held), 1.0 / len(held) / len(columns)) for held, _, _ in columns]
    open_ticks = sum(market.resolve_tick - market.created for market in world.markets)
    return Stated(
        probability=np.concatenate([held for held, _, _ in columns]),
        price=np.concatenate([price for _, price, _ in columns]),
        outcome=np.concatenate([outcome for _, _, outcome in columns]),
        weight=np.concatenate(weights),
        coverage=sum(len(held) for held, _, _ in columns) / open_ticks,
    )


def held_forecasts(episode: Episode, world: World) -> dict[int, tuple[int, list[float]]]:
    """By market: the tick of the first forecast, and what held at each tick from there until the
    market's resolution."""
    by_market: dict[int, dict[int, float]] = {}
    for forecast in episode.forecasts:
        by_market.setdefault(forecast.market, {})[forecast.tick] = forecast.probability
    found = {}
    for place, by_tick in by_market.items():
        first = min(by_tick)
        last, held = by_tick[first], []
        for tick in range(first, world.markets[place].resolve_tick):
            last = by_tick.get(tick, last)
            held.append(last)
        found[place] = (first, held)
    return found


def score(probability: Floats, outcome: Floats, weight: Floats, bins: int = BINS) -> ForecastScores:
    """Scores of probabilities 0..1 against outcomes 0 or 1; weights sum to 1. Columns not empty."""
    error = probability - outcome
    brier = float((weight * error**2).sum())
    place = np.minimum((probability * bins).astype(np.intp), bins - 1)
    total = np.bincount(place, weight, bins)
    filled = total > 0.0
    total = total[filled]
    said = np.bincount(place, weight * probability, bins)[filled] / total
    happened = np.bincount(place, weight * outcome, bins)[filled] / total
    base = float((weight * outcome).sum())
    reliability = float((total * (said - happened) ** 2).sum())
    resolution = float((total * (happened - base) ** 2).sum())
    uncertainty = base * (1.0 - base)
    clipped = np.clip(probability, LEAST, 1.0 - LEAST)
    right = np.where(outcome > 0.5, clipped, 1.0 - clipped)
    return ForecastScores(
        brier=brier,
        reliability=reliability,
        resolution=resolution,
        uncertainty=uncertainty,
        within_bins=brier - (reliability - resolution + uncertainty),
        log_score=float(-(weight * np.log(right)).sum()),
        ece=float((total * np.abs(said - happened)).sum()),
    )


def _columns(
    place: int, first: int, held: list[float], world: World, outcomes: Mapping[str, bool]
) -> tuple[Floats, Floats, Floats]:
    """Probability, price and outcome at each tick from the first forecast on."""
    market = world.markets[place]
    flow = np.array(world.flows[place][first : market.resolve_tick], dtype=np.float64)
    price = 1.0 / (1.0 + np.exp(-flow / (SHARE_UNITS * market.b)))
    return np.array(held), price, np.full(len(held), float(outcomes[market.id]))
