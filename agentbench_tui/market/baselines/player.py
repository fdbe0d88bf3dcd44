"""Base class of the built-in players, and how a position is moved to its target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from agentbench_tui.market.world import lmsr

if TYPE_CHECKING:
    from agentbench_tui.market.play.episode import Episode
    from agentbench_tui.market.play.game import Game

Call = Callable[[str, dict[str, Any]], dict[str, Any]]
"""Method and parameters to result; raises MethodError."""

_STEP = 0.001
"""Smallest part of a share that is traded."""


class Player(Protocol):
    """Plays one game; it learns about the game only through `act`."""

    def act(self, observation: dict[str, Any], call: Call) -> None:
        """Play one turn with the observation of this tick."""


def play(game: Game, player: Player) -> Episode:
    """Play the whole game, in lock-step."""
    while not game.is_over:
        player.act(game.observation(), game.call)
        game.advance()
    return game.episode()


@dataclass(frozen=True, slots=True)
class MarketSeat:
    """One open market and the position in it, in shares."""

    id: str
    b: float
    net: float
    """YES minus NO shares of all traders, including this one."""
    yes: float
    no: float
    price: float
    """Price of YES."""
    ticks_left: int
    """Until resolution."""

    @property
    def own(self) -> float:
        """Own YES minus own NO shares."""
        return self.yes - self.no


def seats(observation: dict[str, Any]) -> list[MarketSeat]:
    """The open markets of an observation."""
    held = {
        (row["marketId"], row["outcome"]): row["shares"]
        for row in observation["positions"]["predictionPositions"]
    }
    return [
        MarketSeat(
            id=row["id"],
            b=row["liquidity"],
            net=row["yesShares"] - row["noShares"],
            yes=held.get((row["id"], "YES"), 0.0),
            no=held.get((row["id"], "NO"), 0.0),
            price=row["yesPrice"],
            ticks_left=round(
                (row["resolveAt"] - observation["timestamp"]) / _interval(observation)
            ),
        )
        for row in observation["predictions"]
        if not row["resolved"]
    ]


def move_to(seat: MarketSeat, wanted: float, call: Call) -> None:
    """Sell and buy so that own YES minus NO shares are `wanted`, within a thousandth or two."""
    change = wanted - seat.own
    side, other = ("YES", "NO") if change > 0 else ("NO", "YES")
    sign = 1.0 if change > 0 else -1.0
    rest = abs(change)
    sold = min(rest, seat.no if change > 0 else seat.yes)
    if sold >= _STEP:
        call("a2a.sellShares", {"marketId": seat.id, "outcome": other, "shares": sold})
        rest -= sold
    else:
        sold = 0.0
    if rest >= _STEP:
        cost = lmsr.cost_of(sign * seat.net + sold, rest + 0.4 * _STEP, seat.b)
        if cost >= 1e-6:
            call("a2a.buyShares", {"marketId": seat.id, "outcome": side, "amount": cost})


def forecast_prices(observation: dict[str, Any], call: Call) -> None:
    """State the price of every open market as its probability."""
    for seat in seats(observation):
        call("a2a.submitForecast", {"marketId": seat.id, "probability": seat.price})


def _interval(observation: dict[str, Any]) -> float:
    return float(observation["intervalMs"])
