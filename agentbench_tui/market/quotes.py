"""Markets, perpetuals and positions as the JSON objects that agents get. Money in dollars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agentbench_tui.market import lmsr
from agentbench_tui.market.world import DOLLAR, PER_BILLION, PER_MILLION, SHARE_UNITS

if TYPE_CHECKING:
    from agentbench_tui.market.account import Account, Holding, PerpPosition
    from agentbench_tui.market.world import World

DAY_MS = 86_400_000


def dollars(money: int) -> float:
    """Micro-dollars as dollars."""
    return money / DOLLAR


def yes_price(world: World, market: int, tick: int, own: int) -> float:
    """Price of a YES share, 0..1, when the agent holds `own` net thousandths of a share."""
    flow = world.flows[market][tick]
    return round(lmsr.price((flow + own) / SHARE_UNITS, world.markets[market].b), 6)


def prediction(
    world: World, market: int, tick: int, own: int, outcomes: Mapping[str, bool]
) -> dict[str, Any]:
    """A prediction market now; the outcome only once it is resolved."""
    definition = world.markets[market]
    resolved = tick >= definition.resolve_tick
    price = yes_price(world, market, tick, own)
    if resolved:
        price = 1.0 if outcomes[definition.id] else 0.0
    net = (world.flows[market][tick] + own) / SHARE_UNITS
    quote = {
        "id": definition.id,
        "question": definition.question,
        "yesShares": max(net, 0.0),
        "noShares": max(-net, 0.0),
        "yesPrice": price,
        "noPrice": round(1.0 - price, 6),
        "liquidity": definition.b,
        "totalVolume": world.volumes[market][tick] / SHARE_UNITS,
        "createdAt": world.time_ms(definition.created),
        "resolveAt": world.time_ms(definition.resolve_tick),
        "resolved": resolved,
    }
    if resolved:
        quote["outcome"] = "YES" if outcomes[definition.id] else "NO"
    return quote


def perpetual(world: World, place: int, tick: int) -> dict[str, Any]:
    """A perpetual future now. The change is since 24 hours ago, or since the first tick."""
    definition = world.perpetuals[place]
    marks = world.marks[place]
    before = marks[max(0, tick - DAY_MS // world.config.interval_ms)]
    next_funding = (tick // definition.funding_ticks + 1) * definition.funding_ticks
    return {
        "ticker": definition.ticker,
        "price": dollars(marks[tick]),
        "indexPrice": dollars(world.indexes[place][tick]),
        "priceChange24h": round((marks[tick] / before - 1.0) * 100.0, 4),
        "openInterest": world.open_interest[place][tick],
        "fundingRate": world.funding[place][tick] / PER_BILLION,
        "nextFundingTime": world.time_ms(next_funding),
        "maxLeverage": world.rules.max_leverage,
        "takerFee": world.rules.perp_fee_ppm / PER_MILLION,
    }


def share_positions(world: World, account: Account, tick: int) -> list[dict[str, Any]]:
    """Shares held, by market; the value is what selling all of them would give."""
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
    """Open positions in perpetual futures, in the order of their opening."""
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
