"""Baselines without a belief: holding, trading at random, and following prices."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

from agentbench_tui.market.baselines.player import Call, forecast_prices, move_to, seats
from agentbench_tui.market.play.actions import MethodError

BET_SHARES = 200.0
"""Net shares of a market that these players hold, if its limit lets them."""
BET_NOTIONAL = 2_000.0
"""Dollars of notional of a perpetual that these players hold, if its limit lets them."""
LEVERAGE = 5
TREND_SHARE = 20
"""Trends are looked at over a twentieth of the world, 2 ticks at least."""


class Hold:
    """Does nothing."""

    def act(self, observation: dict[str, Any], call: Call) -> None:
        """Do nothing."""


class Follower:
    """States prices as its forecasts and trades nothing."""

    def act(self, observation: dict[str, Any], call: Call) -> None:
        """Forecast the price of every open market."""
        forecast_prices(observation, call)


class Random:
    """Trades at random, seeded: markets, sides and sizes mean nothing."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - a game, no secret

    def act(self, observation: dict[str, Any], call: Call) -> None:
        """Sometimes trade shares, sometimes a perpetual, and forecast every market."""
        draw = self._random
        for seat in seats(observation):
            call("a2a.submitForecast", {"marketId": seat.id, "probability": draw.random()})
            if draw.random() < 0.3:
                wanted = draw.uniform(-BET_SHARES, BET_SHARES)
                self._try(lambda seat=seat, wanted=wanted: move_to(seat, wanted, call))
        for perp in observation["perpetuals"]:
            if draw.random() < 0.15:
                order = {
                    "ticker": perp["ticker"],
                    "side": draw.choice(("LONG", "SHORT")),
                    "size": draw.uniform(100.0, BET_NOTIONAL),
                    "leverage": draw.randint(1, LEVERAGE),
                }
                self._try(lambda order=order: call("a2a.openPosition", order))
        for position in observation["positions"]["perpPositions"]:
            if draw.random() < 0.15:
                call("a2a.closePosition", {"positionId": position["positionId"]})

    def _try(self, trade: Any) -> None:
        try:
            trade()
        except MethodError:
            return  # no money or no room: a random trader tries again another time


def _stakes(observation: dict[str, Any]) -> tuple[float, float]:
    """Net shares of each market, and dollars of notional of each perpetual."""
    limits = observation["account"]["limits"]
    return (
        min(BET_SHARES, limits["netSharesPerMarket"]),
        min(BET_NOTIONAL, limits["notionalPerPerpetual"]),
    )


class AlwaysLong:
    """Buys YES everywhere and is long every perpetual from the first tick on."""

    def act(self, observation: dict[str, Any], call: Call) -> None:
        """Buy everything at the first tick; forecast prices."""
        if observation["tick"] == 0:
            shares, notional = _stakes(observation)
            for seat in seats(observation):
                move_to(seat, shares, call)
            for perp in observation["perpetuals"]:
                call(
                    "a2a.openPosition",
                    {
                        "ticker": perp["ticker"],
                        "side": "LONG",
                        "size": notional,
                        "leverage": LEVERAGE,
                    },
                )
        forecast_prices(observation, call)


class Trend:
    """Bets on a continued trend (`sign` 1), or on its reversal (`sign` -1)."""

    def __init__(self, sign: int) -> None:
        self._sign = sign
        self._past: dict[str, deque[float]] = {}

    def act(self, observation: dict[str, Any], call: Call) -> None:
        """Hold a fixed position on the side of each trend; change it when the trend turns."""
        length = max(2, observation["ticks"] // TREND_SHARE)
        shares, notional = _stakes(observation)
        for seat in seats(observation):
            side = self._side(seat.id, seat.net - seat.own, length)
            if side * seat.own <= 0.0 and side:
                move_to(seat, side * shares, call)
        open_now = {row["ticker"]: row for row in observation["positions"]["perpPositions"]}
        for perp in observation["perpetuals"]:
            ticker = perp["ticker"]
            side = self._side(ticker, perp["price"], length)
            held = open_now.get(ticker)
            wanted = "LONG" if side > 0 else "SHORT"
            if side == 0 or (held is not None and held["side"] == wanted):
                continue
            if held is not None:
                call("a2a.closePosition", {"positionId": held["positionId"]})
            order = {"ticker": ticker, "side": wanted, "size": notional, "leverage": LEVERAGE}
            call("a2a.openPosition", order)
        forecast_prices(observation, call)

    def _side(self, name: str, value: float, length: int) -> int:
        past = self._past.setdefault(name, deque(maxlen=length))
        past.append(value)
        if len(past) < length:
            return 0
        move = past[-1] - past[0]
        return self._sign * ((move > 0) - (move < 0))
