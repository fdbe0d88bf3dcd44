"""Prices of perpetual futures: index, mark and funding.

Index returns are multivariate Student-t with a common factor, their deviation scaled by the square
root of a tick's length, in a calm or turbulent regime; jumps come with news, drawn some ticks ahead
so that rumors can precede them. All of it has mean zero unless conditions say otherwise: holding
long gains nothing on average. The mark hovers around the index, and funding is that gap, clamped.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.market.world import bits
from agentbench_tui.market.world.truth import NewsTruth
from agentbench_tui.market.world.world import DOLLAR, PER_BILLION, PER_MILLION, PerpDef

if TYPE_CHECKING:
    from agentbench_tui.market.world.bits import Floats, Streams
    from agentbench_tui.market.world.conditions import Conditions
    from agentbench_tui.market.world.world import WorldConfig

_TICKERS = (
    ("BTC", 65_000.0, 10_000),
    ("ETH", 3_200.0, 1_000),
    ("SOL", 140.0, 100),
    ("AVAX", 35.0, 10),
    ("MATIC", 0.9, 1),
    ("LINK", 15.0, 10),
    ("DOT", 6.0, 1),
    ("LTC", 80.0, 10),
)
"""Ticker, typical price in dollars, and price unit in micro-dollars."""

YEAR_S = 365 * 86_400
CORRELATION = 0.6
"""Correlation of index returns of two perpetuals, without jumps."""
DEGREES = 6
"""Degrees of freedom of the Student-t shocks."""
FUNDING_CAP = 750_000
"""Largest funding rate either way, parts per billion."""

_CALM, _TURBULENT, _TURBULENT_SHARE = 0.7, 1.6, 0.51 / 2.07
"""Factors on the deviation; the share of time in turbulence that makes the mean square 1."""
_PREMIUM = 0.0005
"""Standard deviation of mark / index - 1."""
_CROWDING = 0.2
"""Standard deviation of open interest, relative to its mean."""
_FUNDING_S = 8 * 3_600


@dataclass(frozen=True, slots=True)
class Backdrop:
    """Common factors of all perpetuals of a world, tick by tick."""

    factor: Floats
    """float64[ticks + 1]: standard normal."""
    stretch: Floats
    """float64[ticks + 1]: turns normal into Student-t shocks of variance 1, times the regime."""
    crash_tick: int
    """Start of the fall, if there is one."""


@dataclass(frozen=True, slots=True)
class PerpPath:
    """One perpetual's columns of ticks + 1 values, and its news."""

    definition: PerpDef
    mark: list[int]
    index: list[int]
    funding: list[int]
    open_interest: list[int]
    news: tuple[NewsTruth, ...]


def draw_backdrop(streams: Streams, ticks: int, conditions: Conditions) -> Backdrop:
    """Draw the factor, tails and regime that move all perpetuals."""
    words = streams.by_tick("backdrop", 0, ticks + 1, 2 + DEGREES // 2)
    # Chi-squared with 2k degrees of freedom is -2 ln of the product of k uniforms.
    product = bits.uniform(words[:, 2])
    for place in range(3, 2 + DEGREES // 2):
        product = product * bits.uniform(words[:, place])
    stretch = np.sqrt((DEGREES - 2) / (-2.0 * bits.log(product)))
    if conditions.switching:
        stretch = stretch * _regime(streams, bits.uniform(words[:, 1]), ticks)
    crash = float(bits.uniform(streams.fixed("crash", 0, 1))[0])
    return Backdrop(bits.normal(words[:, 0]), stretch, int(ticks * (0.35 + 0.3 * crash)))


def _regime(streams: Streams, chances: Floats, ticks: int) -> Floats:
    """float64[ticks + 1]: a Markov chain of two states, started in equilibrium."""
    leave = min(0.5, 8.0 / ticks)
    enter = leave * _TURBULENT_SHARE / (1.0 - _TURBULENT_SHARE)
    turbulent = float(bits.uniform(streams.fixed("regime", 0, 1))[0]) < _TURBULENT_SHARE
    factors = []
    for chance in chances.tolist():
        if chance < (leave if turbulent else enter):
            turbulent = not turbulent
        factors.append(_TURBULENT if turbulent else _CALM)
    return np.array(factors)


def draw_perpetual(
    streams: Streams, place: int, config: WorldConfig, conditions: Conditions, backdrop: Backdrop
) -> PerpPath:
    """Draw the prices of the perpetual at that index, from separate streams and the common
    factors.
    """
    ticks = config.ticks
    ticker, typical, unit = _listing(place)
    start, yearly, interest, _ = bits.uniform(streams.fixed("perpetual", place, 4)).tolist()
    volatility = (0.6 + 0.6 * yearly) * conditions.volatility
    tick_sd = volatility * sqrt(config.interval_ms / (1_000 * YEAR_S))
    world_sd = tick_sd * sqrt(ticks)
    words = streams.by_tick("index", place, ticks + 1, 4)
    own = bits.normal(words[:, 0])
    shock = backdrop.factor * sqrt(CORRELATION) + own * sqrt(1.0 - CORRELATION)
    returns = shock * backdrop.stretch * tick_sd + conditions.drift * world_sd / ticks
    returns[0] = 0.0
    if conditions.crash:
        length = max(1, ticks // 50)
        fall = slice(backdrop.crash_tick + 1, backdrop.crash_tick + 1 + length)
        returns[fall] -= conditions.crash * world_sd / length
    # Cut at a half either way, so that a price stays above zero and its mean where it was.
    returns = np.minimum(np.maximum(returns, -0.5), 0.5)
    news = _draw_news(words, ticker, ticks, conditions.news / ticks, world_sd)
    for item in news:
        returns[item.tick] = (1.0 + returns[item.tick]) * (1.0 + item.size_ppm / PER_MILLION) - 1.0
    dollars = typical * (0.8 + 0.4 * start) * np.multiply.accumulate(1.0 + returns)
    index, mark, funding, open_interest = _quoted(
        streams, place, dollars * (DOLLAR / unit), 500_000.0 + 1_000_000.0 * interest
    )
    charged = max(1, min(_FUNDING_S * 1_000 // config.interval_ms, ticks // 6))
    return PerpPath(
        definition=PerpDef(ticker, unit, charged),
        mark=[price * unit for price in mark],
        index=[price * unit for price in index],
        funding=funding,
        open_interest=open_interest,
        news=news,
    )


def _listing(place: int) -> tuple[str, float, int]:
    ticker, typical, unit = _TICKERS[place % len(_TICKERS)]
    again = place // len(_TICKERS)
    return (f"{ticker}{again + 1}" if again else ticker), typical, unit


def _draw_news(
    words: bits.Words, ticker: str, ticks: int, rate: float, world_sd: float
) -> tuple[NewsTruth, ...]:
    """Draw news one at a time: each strikes up to a twentieth of the world after it is drawn.

    None is drawn after one that would have struck past the end.
    """
    news: list[NewsTruth] = []
    chances = bits.uniform(words[:, 1])
    for tick in np.flatnonzero(chances < rate).tolist():
        if news and tick <= news[-1].tick:
            continue
        lead = 1 + int(bits.below(words[tick : tick + 1, 2], max(1, ticks // 20))[0])
        if tick + lead > ticks:
            break
        share = float(bits.uniform(words[tick : tick + 1, 3])[0])
        # One word gives sign and size: symmetric about zero, 0.5 to 1.1 of the world's deviations.
        side = share - 0.5
        size = world_sd * (0.5 + 1.2 * abs(side)) * (1.0 if side > 0.0 else -1.0)
        clamped = max(-0.5, min(0.5, size))
        news.append(NewsTruth(ticker, tick, tick + lead, round(clamped * PER_MILLION)))
    return tuple(news)


def _quoted(
    streams: Streams, place: int, index: Floats, interest: float
) -> tuple[list[int], list[int], list[int], list[int]]:
    """Index and mark in price units, funding in parts per billion, open interest in dollars."""
    ticks = len(index) - 1
    shocks = bits.normal(streams.by_tick("mark", place, ticks + 1, 2))
    speed = min(0.5, 60.0 / ticks)
    spread = sqrt(speed * (2.0 - speed))
    rows = (shocks * (spread * np.array([_PREMIUM, _CROWDING]))).tolist()
    premium = crowd = 0.0
    states = []
    for premium_shock, crowd_shock in rows:
        premium += premium_shock - speed * premium
        crowd += crowd_shock - speed * crowd
        states.append((premium, crowd))
    premiums, crowds = np.array(states).T
    rates = np.minimum(np.maximum(np.rint(premiums * PER_BILLION), -FUNDING_CAP), FUNDING_CAP)
    columns = (
        np.maximum(np.rint(index), 1.0),
        np.maximum(np.rint(index * (1.0 + premiums)), 1.0),
        rates,
        np.rint(interest * np.maximum(1.0 + crowds, 0.1)),
    )
    indexes, marks, funding, open_interest = (
        column.astype(np.int64).tolist() for column in columns
    )
    return indexes, marks, funding, open_interest
