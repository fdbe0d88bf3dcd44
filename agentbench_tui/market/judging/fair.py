"""The value of positions given what could be known, and the largest expected profit from known fair
values.

Fair values are martingales: a market's probability of YES given all that has happened, and of a
perpetual the index price with news that is drawn but has not struck. Measured against them, a
position is worth what it wins on average, whatever luck does later. The sum over an episode is
`fair_value`: skill without luck. Drift of perpetuals (bull, bear, crash) counts as luck.

Markets: with log odds y of the price expected to move by m with variance v in a tick, holding the
inventory that makes the price P earns P m + P (1 - P) v / 2 by Ito's lemma, so the best P is
1/2 + m / v, and at the last tick the fair probability itself. Others close the gap between price
and fair value at a known speed, which gives m. Perpetuals: a trade at the mark price gains the
difference to the fair value. `reference` is the policy that follows these rules, knowing fair
values up to the tick, but neither the outcome nor what others will trade.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

from agentbench_tui.market.judging.oracle import Span
from agentbench_tui.market.play.account import Limits
from agentbench_tui.market.world.traders import QUOTED, closing_speed
from agentbench_tui.market.world.world import DOLLAR, PER_BILLION, PER_MILLION, SHARE_UNITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from agentbench_tui.market.play.episode import Episode
    from agentbench_tui.market.world.truth import Truth
    from agentbench_tui.market.world.world import World

    Floats = NDArray[np.float64]

# What `traders` does, in three numbers, of worlds of eight agents of all kinds, the usual ones:
# drift is met within 7% and variance within a factor of 1.5 at 30 to 1,800 ticks (see test_fair).
NOISE = 0.21
"""Standard deviation of the log odds of a price that blind orders alone would cause: 0.2 of the
crowd, and 0.05 of each of two noise traders."""
ROUGHNESS = 1.6
"""Added variance in long ticks through orders of agents that act rarely; fitted."""
INFORMED = 1.2
"""Speed at which informed traders close a gap, relative to the crowd alone: three informed
agents add 0.1 each, makers and contrarians take some of it; fitted.
"""
_LEAST = 1e-6
"""Probabilities are kept this far from 0 and 1."""
_NODES, _WEIGHTS = hermegauss(9)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
"""Gauss-Hermite quadrature: exact for the mean of polynomials of a normal up to degree 17."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Positions of the policy with fair values, and their profit."""

    shares: tuple[tuple[float, ...], ...]
    """[market][tick]: net shares held from each tick on."""
    spans: tuple[tuple[Span, ...], ...]
    """[perpetual]: positions with the notional of the limit."""
    market_value: float
    """Dollars won on average."""
    perp_value: float
    """Dollars, after fees and funding."""

    @property
    def value(self) -> float:
        """Return the policy's expected profit in dollars."""
        return self.market_value + self.perp_value


def fair_value(episode: Episode, world: World, truth: Truth) -> float:
    """Return the expected profit of the agent's positions in dollars, after funding and fees."""
    total = 0.0
    for place in range(len(world.markets)):
        traded, flow, fair = _tape(world, truth, place)
        held = inventory(episode, place)[traded]
        speed = reversion(world.ticks)
        total += float(expected_gains(flow, fair, held, world.markets[place].b, speed).sum())
    total -= sum(trade.fee for trade in episode.trades) / DOLLAR
    edges = [perp_edges(world, truth, place) for place in range(len(world.perpetuals))]
    for perp in episode.perp_trades:
        edge = edges[perp.perpetual]
        quantity = perp.side * perp.size / perp.entry
        gained = quantity * float(edge[perp.opened] - edge[perp.closed])
        total += gained + (perp.funding - perp.fees) / DOLLAR
    return total


def inventory(episode: Episode, market: int) -> Floats:
    """float64[ticks + 1]: net shares that the agent held from the end of each tick's turn on."""
    column = np.zeros(episode.ticks + 1)
    for trade in episode.trades:
        if trade.market == market:
            column[trade.tick] += trade.outcome * trade.shares / SHARE_UNITS
    return np.cumsum(column)


def reversion(ticks: int) -> float:
    """Return the mean share of the gap between price and fair value that closes in one tick."""
    return min(0.9, INFORMED * closing_speed(ticks))


def blind_variance(speed: float) -> float:
    """Return the variance that orders of uninformed traders add to log odds in one tick.

    The longer a tick, the rougher: traders who act rarely make larger orders.
    """
    return speed * (2.0 - speed) * NOISE**2 * (1.0 + ROUGHNESS * speed)


def perp_edges(world: World, truth: Truth, place: int) -> Floats:
    """float64[ticks + 1]: fair value of a perpetual less its mark price, dollars."""
    pending = np.zeros(world.ticks + 1)
    for news in truth.news:
        if news.ticker == world.perpetuals[place].ticker:
            pending[news.announced : news.tick] = news.size_ppm / PER_MILLION
    index = np.array(world.indexes[place], dtype=np.float64)
    mark = np.array(world.marks[place], dtype=np.float64)
    return (index * (1.0 + pending) - mark) / DOLLAR


def reference(world: World, truth: Truth) -> Reference:
    """The information-fair policy in that world."""
    limits = Limits.of(world)
    most = limits.shares / SHARE_UNITS
    speed = reversion(world.ticks)
    shares, market_value = [], 0.0
    for place, market in enumerate(world.markets):
        traded, flow, fair = _tape(world, truth, place)
        held = fair_inventory(flow, fair, market.b, most, speed)
        column = np.zeros(world.ticks + 1)
        column[traded] = held
        shares.append(tuple(column.tolist()))
        market_value += float(expected_gains(flow, fair, held, market.b, speed).sum())
    spans, perp_value = [], 0.0
    for place in range(len(world.perpetuals)):
        edges = perp_edges(world, truth, place)
        found, value = _edge_spans(world, place, edges)
        spans.append(tuple(found))
        perp_value += value * limits.notional / DOLLAR
    return Reference(tuple(shares), tuple(spans), market_value, perp_value)


def fair_inventory(flow: Floats, fair: Floats, b: float, most: float, speed: float) -> Floats:
    """float64[n]: net shares to hold from each tick on, given fair probabilities until then."""
    here = flow / b
    left = np.arange(len(flow), 0, -1, dtype=np.float64)
    fair = np.clip(fair, _LEAST, 1.0 - _LEAST)
    move, variance = expected_move(here, fair, left, speed)
    wanted = np.clip(0.5 + move / variance, _LEAST, 1.0 - _LEAST)
    if len(wanted):
        wanted[-1] = fair[-1]
    held = b * (np.log(wanted) - np.log1p(-wanted) - here)
    return np.clip(held, -most, most)


def expected_move(here: Floats, fair: Floats, left: Floats, speed: float) -> tuple[Floats, Floats]:
    """Mean and variance of the next tick's change of a price's log odds `here`.

    `left`: ticks until resolution. The fair probability is Phi(z) of a random walk, so its log odds
    change with variance (phi(z) / (p (1 - p)))**2 / left, and drift by (p - 1/2) times that.
    """
    fair = np.clip(fair, QUOTED, 1.0 - QUOTED)
    odds = np.log(fair) - np.log1p(-fair)
    spread = fair * (1.0 - fair)
    # phi at the quantile of p, by the logistic approximation of the normal: z = odds / 1.702.
    density = np.exp(-0.5 * (odds / 1.702) ** 2) * 0.3989422804014327
    news = np.minimum((density / spread) ** 2 / left, 4.0)
    move = speed * (odds + (fair - 0.5) * news - here)
    return move, speed**2 * news + blind_variance(speed)


def expected_gains(flow: Floats, fair: Floats, held: Floats, b: float, speed: float) -> Floats:
    """float64[n]: expected dollars that net shares `held` after each tick gain until the next.

    The next log odds are taken as normal; at the last tick the payout follows the fair probability.
    """
    here, own = flow / b, held / b
    left = np.arange(len(flow), 0, -1, dtype=np.float64)
    fair = np.clip(fair, _LEAST, 1.0 - _LEAST)
    move, variance = expected_move(here, fair, left, speed)
    later = (here + move)[:, None] + np.sqrt(variance)[:, None] * _NODES
    worth = (np.logaddexp(0.0, later + own[:, None]) - np.logaddexp(0.0, later)) @ _WEIGHTS
    if len(worth):
        worth[-1] = fair[-1] * own[-1]
    return b * (worth - np.logaddexp(0.0, here + own) + np.logaddexp(0.0, here))


def _tape(world: World, truth: Truth, place: int) -> tuple[slice, Floats, Floats]:
    """Ticks at which a market is open; others' net shares and fair probabilities at them."""
    market = world.markets[place]
    traded = slice(market.created, market.resolve_tick)
    flow = np.array(world.flows[place][traded], dtype=np.float64) / SHARE_UNITS
    return traded, flow, np.array(truth.fair[place][traded], dtype=np.float64) / PER_MILLION


def _edge_spans(world: World, place: int, edges: Floats) -> tuple[list[Span], float]:
    """Return positions that open when the edge exceeds both fees and close when it is gone, with
    the value per dollar of size.
    """
    fee = world.rules.perp_fee_ppm / PER_MILLION
    marks = [mark / DOLLAR for mark in world.marks[place]]
    perp = world.perpetuals[place]
    spans: list[Span] = []
    value, opened, side = 0.0, -1, 0
    for tick in range(world.ticks + 1):
        edge = float(edges[tick])
        if side and (edge * side <= 0.0 or tick == world.ticks):
            spans.append(Span(opened, tick, side))
            entry = marks[opened]
            funding = sum(
                world.funding[place][charged] / PER_BILLION * marks[charged] / entry
                for charged in range(opened + 1, tick + 1)
                if charged % perp.funding_ticks == 0
            )
            gained = side * (float(edges[opened]) - edge) / entry
            value += gained - side * funding - fee * (1.0 + marks[tick] / entry)
            side = 0
        if not side and tick < world.ticks and abs(edge) > 2.0 * fee * marks[tick]:
            opened, side = tick, 1 if edge > 0.0 else -1
    return spans, value
