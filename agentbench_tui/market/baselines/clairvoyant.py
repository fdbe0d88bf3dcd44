"""The oracle as a player: it executes the plan that is best in hindsight, inside the harness."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentbench_tui.market.baselines.player import Call, move_to, seats
from agentbench_tui.market.judging.oracle import hindsight

if TYPE_CHECKING:
    from agentbench_tui.market.world.truth import Truth
    from agentbench_tui.market.world.world import World


class Clairvoyant:
    """A player that knows the truth; no other player may."""

    def __init__(self, world: World, truth: Truth) -> None:
        self._plan = hindsight(world, truth.outcomes)
        self._outcomes = truth.outcomes
        self._places = {market.id: place for place, market in enumerate(world.markets)}
        self._tickers = [perp.ticker for perp in world.perpetuals]
        self._open: dict[str, tuple[str, int]] = {}
        """Ticker to position id and the tick at which it ends."""

    def act(self, observation: dict[str, Any], call: Call) -> None:
        """Take the plan's positions of this tick and forecast the true outcome."""
        tick = observation["tick"]
        for ticker, (position, end) in list(self._open.items()):
            if end == tick:
                call("a2a.closePosition", {"positionId": position})
                del self._open[ticker]
        for seat in seats(observation):
            wanted = self._plan.shares[self._places[seat.id]][tick]
            move_to(seat, wanted, call)
            certain = 1.0 if self._outcomes[seat.id] else 0.0
            call("a2a.submitForecast", {"marketId": seat.id, "probability": certain})
        limits = observation["account"]["limits"]
        for ticker, spans in zip(self._tickers, self._plan.spans, strict=True):
            for span in spans:
                if span.opened == tick:
                    order = {
                        "ticker": ticker,
                        "side": "LONG" if span.side > 0 else "SHORT",
                        "size": limits["notionalPerPerpetual"],
                        "leverage": observation["perpetuals"][0]["maxLeverage"],
                    }
                    opened = call("a2a.openPosition", order)
                    self._open[ticker] = (opened["positionId"], span.closed)
