"""Markets, perpetuals and positions as the JSON objects that agents receive. Money in dollars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agentbench_tui.market.world import lmsr
from agentbench_tui.market.world.world import DOLLAR, PER_BILLION, PER_MILLION, SHARE_UNITS

if TYPE_CHECKING:
    from agentbench_tui.market.play.account import Account, Holding, PerpPosition
    from agentbench_tui.market.world.world import World

DAY_MS = 86_400_000


def dollars(money: int) -> float:
    """Convert micro-dollars to dollars."""
    return money / DOLLAR


class Board:
    """Quotes of a world's instruments. Their constant parts are built once."""

    def __init__(self, world: World, outcomes: Mapping[str, bool]) -> None:
        self._world = world
        self._outcomes = outcomes
        self._day = DAY_MS // world.config.interval_ms
        self._market_heads = [
            {
                "id": market.id,
                "question": market.question,
                "yesShares": 0.0,
                "noShares": 0.0,
                "yesPrice": 0.0,
                "noPrice": 0.0,
                "liquidity": market.b,
                "totalVolume": 0.0,
                "createdAt": world.time_ms(market.created),
                "resolveAt": world.time_ms(market.resolve_tick),
                "resolved": False,
            }
            for market in world.markets
        ]
        # Looked up once: this is the hottest path of a game.
        self._tapes = [
            (flow, volume, market.b, market.resolve_tick)
            for market, flow, volume in zip(world.markets, world.flows, world.volumes, strict=True)
        ]
        self._perp_heads = [
            {
                "ticker": perp.ticker,
                "price": 0.0,
                "indexPrice": 0.0,
                "priceChange24h": 0.0,
                "openInterest": 0,
                "fundingRate": 0.0,
                "nextFundingTime": 0,
                "maxLeverage": world.rules.max_leverage,
                "takerFee": world.rules.perp_fee_ppm / PER_MILLION,
            }
            for perp in world.perpetuals
        ]

    def prediction(self, market: int, tick: int, own: int) -> dict[str, Any]:
        """Return the current state of a prediction market, with `own` net thousandths of a share
        of the agent in its price. The outcome is included once it is resolved.
        """
        flows, volumes, b, end = self._tapes[market]
        net = (flows[tick] + own) / SHARE_UNITS
        quote: dict[str, Any] = self._market_heads[market].copy()
        if net > 0:
            quote["yesShares"] = net
        elif net < 0:
            quote["noShares"] = -net
        quote["totalVolume"] = volumes[tick] / SHARE_UNITS
        if tick < end:
            price = lmsr.price(net, b)
        else:
            outcome = self._outcomes[quote["id"]]
            price = 1.0 if outcome else 0.0
            quote["resolved"] = True
            quote["outcome"] = "YES" if outcome else "NO"
        quote["yesPrice"] = price
        quote["noPrice"] = 1.0 - price
        return quote

    def perpetual(self, place: int, tick: int) -> dict[str, Any]:
        """Return the current state of a perpetual future, with its change over 24 hours or since
        the first tick.
        """
        world = self._world
        definition = world.perpetuals[place]
        marks = world.marks[place]
        mark, before = marks[tick], marks[max(0, tick - self._day)]
        next_funding = (tick // definition.funding_ticks + 1) * definition.funding_ticks
        quote: dict[str, Any] = self._perp_heads[place].copy()
        quote["price"] = mark / DOLLAR
        quote["indexPrice"] = world.indexes[place][tick] / DOLLAR
        quote["priceChange24h"] = (mark - before) / before * 100.0
        quote["openInterest"] = world.open_interest[place][tick]
        quote["fundingRate"] = world.funding[place][tick] / PER_BILLION
        quote["nextFundingTime"] = world.time_ms(next_funding)
        return quote


def share_positions(world: World, account: Account, tick: int) -> list[dict[str, Any]]:
    """Return the shares held, by market; the value is the proceeds of selling all of them."""
    return [
        _share_position(world, market, holding, outcome, tick)
        for market, holding in enumerate(account.holdings)
        for outcome in (1, -1)
        if holding.of(outcome)
    ]


def _share_position(
    world: World, market: int, holding: Holding, outcome: int, tick: int
) -> dict[str, Any]:
    shares = holding.of(outcome)
    cost = holding.yes_cost if outcome > 0 else holding.no_cost
    definition = world.markets[market]
    net = outcome * (world.flows[market][tick] + holding.net)
    value = -lmsr.cost_of(net / SHARE_UNITS, -shares / SHARE_UNITS, definition.b)
    side = "YES" if outcome > 0 else "NO"
    return {
        "positionId": f"{definition.id}-{side.lower()}",
        "marketId": definition.id,
        "outcome": side,
        "shares": shares / SHARE_UNITS,
        "avgPrice": round(dollars(cost) / (shares / SHARE_UNITS), 6),
        "value": round(value, 6),
    }


def perp_positions(world: World, account: Account, tick: int) -> list[dict[str, Any]]:
    """Return open positions in perpetual futures, in order of opening."""
    return [_perp_position(world, position, tick) for position in account.perps.values()]


def _perp_position(world: World, position: PerpPosition, tick: int) -> dict[str, Any]:
    mark = world.marks[position.perpetual][tick]
    return {
        "positionId": position.id,
        "ticker": world.perpetuals[position.perpetual].ticker,
        "side": "LONG" if position.side > 0 else "SHORT",
        "size": dollars(position.size),
        "leverage": position.leverage,
        "entryPrice": dollars(position.entry),
        "margin": dollars(position.margin),
        "unrealizedPnl": dollars(position.gain(mark)),
        "fundingPaid": dollars(-position.funding),
    }
