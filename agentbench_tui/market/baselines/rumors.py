"""The Bayes player's view of perpetuals: pending news, and the gap to the index."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from agentbench_tui.market.baselines.player import Call

_LEAD = 20
"""News strikes within a twentieth of the world after it is first rumored."""
_PRIOR = 0.04
"""Probability that good news is on the way at a tick; the same for bad."""
_TALK = 6.0
"""Factor on the number of posts about a perpetual while news is pending."""
_SIZE = 0.8
"""Mean size of a jump, in standard deviations of the whole world's return."""


@dataclass(slots=True)
class _Perp:
    """Observations of one perpetual."""

    last: float
    squares: float = 0.0
    moves: int = 0
    heard: list[tuple[int, int, float]] = field(default_factory=list)
    """(tick, lean, probability that the author is right)."""


class Rumors:
    """Beliefs of all perpetuals of a world."""

    def __init__(self, observation: dict[str, Any]) -> None:
        self._window = max(1, observation["ticks"] // _LEAD)
        self._ticks = observation["ticks"]
        self._perps = {row["ticker"]: _Perp(row["price"]) for row in observation["perpetuals"]}

    def watch(self, observation: dict[str, Any]) -> None:
        """Update the volatility of each perpetual with the prices of this tick."""
        for row in observation["perpetuals"]:
            perp = self._perps[row["ticker"]]
            perp.squares += math.log(row["price"] / perp.last) ** 2
            perp.moves += observation["tick"] > 0
            perp.last = row["price"]
            start = observation["tick"] - self._window
            perp.heard = [entry for entry in perp.heard if entry[0] > start]

    def hear(self, said: dict[str, Any], tick: int, right: float) -> None:
        """Update with a post or message; news that has struck ends the rumors before it."""
        perp = self._perps.get(said["subject"])
        if perp is None:
            return
        if said["authorId"] == "news":
            perp.heard.clear()
        else:
            perp.heard.append((tick, said["lean"], right))

    def expected(self, ticker: str) -> float:
        """Mean return that pending news will bring."""
        perp = self._perps[ticker]
        if perp.moves < 2 or not perp.heard:
            return 0.0
        none, up, down = 1.0 - 2.0 * _PRIOR, _PRIOR, _PRIOR
        for _, lean, right in perp.heard:
            wrong = 1.0 - right
            none *= right if lean == 0 else wrong / 2.0
            up *= _TALK * (right if lean > 0 else wrong if lean < 0 else 0.0)
            down *= _TALK * (right if lean < 0 else wrong if lean > 0 else 0.0)
        # Silence of the others speaks for no news: they would be writing more.
        none *= math.exp(0.5 * (_TALK - 1.0) * self._window / self._ticks)
        total = none + up + down
        deviation = math.sqrt(perp.squares / perp.moves * self._ticks)
        return _SIZE * deviation * (up - down) / total if total > 0.0 else 0.0

    def trade(self, observation: dict[str, Any], call: Call) -> None:
        """Open a position if the edge exceeds both fees, close it if the edge has turned."""
        held = {row["ticker"]: row for row in observation["positions"]["perpPositions"]}
        size = observation["account"]["limits"]["notionalPerPerpetual"]
        for row in observation["perpetuals"]:
            ticker = row["ticker"]
            edge = row["indexPrice"] * (1.0 + self.expected(ticker)) / row["price"] - 1.0
            position = held.get(ticker)
            if position is not None and edge * (1 if position["side"] == "LONG" else -1) <= 0.0:
                call("a2a.closePosition", {"positionId": position["positionId"]})
                position = None
            if position is None and abs(edge) > 2.5 * row["takerFee"]:
                order = {
                    "ticker": ticker,
                    "side": "LONG" if edge > 0 else "SHORT",
                    "size": size,
                    "leverage": row["maxLeverage"],
                }
                call("a2a.openPosition", order)
