"""The best single trades in hindsight: listed as optimal actions in a world's truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.market.world import bits
from agentbench_tui.market.world.truth import OptimalAction
from agentbench_tui.market.world.world import DOLLAR

if TYPE_CHECKING:
    from agentbench_tui.market.world.perpetuals import PerpPath
    from agentbench_tui.market.world.traders import Tape
    from agentbench_tui.market.world.world import MarketDef


def best_purchase(market: MarketDef, tape: Tape, outcome: bool) -> OptimalAction:
    """Return the purchase of the winning side at its lowest price."""
    sign = -1.0 if outcome else 1.0
    price = 1.0 / (1.0 + bits.exp(tape.log_odds[: market.resolve_tick] * sign))
    tick = int(np.argmin(price))
    return OptimalAction(
        tick=tick,
        type="buy_prediction",
        target=market.id,
        side="YES" if outcome else "NO",
        until=market.resolve_tick,
        value=round((1.0 - float(price[tick])) * DOLLAR),
    )


def best_positions(path: PerpPath) -> list[OptimalAction]:
    """Return the best long and the best short of one dollar of notional, if they gain."""
    mark = np.array(path.mark, dtype=np.float64)
    found = []
    for side, sign in (("LONG", 1.0), ("SHORT", -1.0)):
        # Best entry before each tick, and what a dollar opened there has gained at the tick.
        entry = np.minimum.accumulate(mark * sign) * sign
        gains = (mark - entry) / entry * sign
        until = int(np.argmax(gains))
        if gains[until] > 0.0:
            opened = int(np.flatnonzero(mark[: until + 1] == entry[until])[0])
            value = round(float(gains[until]) * DOLLAR)
            ticker = path.definition.ticker
            found.append(OptimalAction(opened, "open_perp", ticker, side, until, value))
    return found
