"""A player that knows how worlds are made, and of this world only what is public.

Rules it is built on, all public in the documentation: prices close a known part of their gap to the
fair value each tick, fair values are martingales, authors differ in how often they are right, news
of perpetuals is rumored before it strikes. It learns who is right, and holds what `fair` shows to
be best for its beliefs, within the limits of positions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from agentbench_tui.market.baselines.belief import Belief, Trust
from agentbench_tui.market.baselines.player import Call, move_to, seats
from agentbench_tui.market.baselines.rumors import Rumors
from agentbench_tui.market.judging.fair import reversion

if TYPE_CHECKING:
    from agentbench_tui.market.baselines.player import MarketSeat

_LEAST = 1e-4
"""Prices it wants are kept this far from 0 and 1."""


class Bayes:
    """Filters prices, weighs posts by their authors' reliability, joins every group it may."""

    def __init__(self) -> None:
        self._beliefs: dict[str, Belief] = {}
        self._trust: dict[str, Trust] = {}
        self._heard: set[str] = set()
        self._to_judge: list[tuple[int, str, str, int, float]] = []
        """(due tick, author, market, lean, log odds of the price at the time of the post)."""
        self._rumors: Rumors | None = None

    def act(self, observation: dict[str, Any], call: Call) -> None:
        """Update beliefs from the observation, then forecast and trade."""
        open_seats = seats(observation)
        speed = reversion(observation["ticks"])
        for seat in open_seats:
            here = (seat.net - seat.own) / seat.b
            belief = self._beliefs.get(seat.id)
            if belief is None:
                self._beliefs[seat.id] = Belief(here, speed)
            else:
                belief.observe(here, seat.ticks_left)
        self._judge(observation["tick"])
        self._listen(observation, round(1.5 / speed) + 1)
        for chat in observation["chats"]:
            if not chat["joined"]:
                call("a2a.joinGroup", {"groupId": chat["id"]})
        most = observation["account"]["limits"]["netSharesPerMarket"]
        for seat in open_seats:
            self._trade(seat, most, call)
        if self._rumors is not None:
            self._rumors.trade(observation, call)

    def _trade(self, seat: MarketSeat, most: float, call: Call) -> None:
        belief = self._beliefs[seat.id]
        stated = {"marketId": seat.id, "probability": belief.probability}
        call("a2a.submitForecast", stated)
        price = min(1.0 - _LEAST, max(_LEAST, belief.wanted(seat.ticks_left)))
        odds = math.log(price / (1.0 - price))
        held = max(-most, min(most, seat.b * (odds - belief.here)))
        if abs(held - seat.own) > 1.0:
            move_to(seat, held, call)

    def _listen(self, observation: dict[str, Any], delay: int) -> None:
        if self._rumors is None:
            self._rumors = Rumors(observation)
        self._rumors.watch(observation)
        messages = [message for chat in observation["chats"] for message in chat["messages"]]
        now = observation["timestamp"]
        for said in (*observation["posts"], *messages):
            if said["id"] in self._heard:
                continue
            self._heard.add(said["id"])
            fresh = said.get("createdAt", said.get("timestamp")) == now
            author, subject, lean = said["authorId"], said["subject"], said["lean"]
            trust = self._trust.setdefault(author, Trust())
            belief = self._beliefs.get(subject)
            if belief is None:
                self._rumors.hear(said, observation["tick"], trust.mean)
            elif lean and fresh:
                belief.hear(lean, belief.here, trust.mean)
                due = observation["tick"] + delay
                self._to_judge.append((due, author, subject, lean, belief.here))

    def _judge(self, tick: int) -> None:
        waiting = []
        for entry in self._to_judge:
            due, author, market, lean, here = entry
            if due > tick:
                waiting.append(entry)
                continue
            above = self._beliefs[market].above(here)
            self._trust[author].learn(above if lean > 0 else 1.0 - above)
        self._to_judge = waiting
