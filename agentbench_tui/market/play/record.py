"""Records a game while it is played, in columns that only grow, and makes the Episode at
the end.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agentbench_tui.market.play.actions import shown
from agentbench_tui.market.play.episode import (
    Call,
    Episode,
    Forecast,
    PerpTrade,
    Settlement,
    ShareTrade,
)

if TYPE_CHECKING:
    from agentbench_tui.market.play.actions import Method, MethodError
    from agentbench_tui.market.world.world import World
    from agentbench_tui.model.answer import Message

KEPT_CHARACTERS = 500
"""Maximum characters of a refused call's parameters, as JSON."""


class Record:
    """Everything recorded so far."""

    def __init__(self, world: World, pace: str, max_calls: int) -> None:
        self._world = world
        self._pace = pace
        self._max_calls = max_calls
        self._balance: list[int] = []
        self._equity: list[int] = []
        self.open_positions: list[int] = []
        self._calls: list[tuple[Any, ...]] = []
        self._dropped = 0
        self._waits: list[float] = []
        self._turns: list[float] = []
        self._handed: float | None = None
        """Since when it is the agent's move; None while it is not."""
        self._turn_began: float | None = None
        self.timeouts: list[int] = []
        self.trades: list[ShareTrade] = []
        self.settlements: list[Settlement] = []
        self.resolutions: list[tuple[int, int, bool]] = []
        self.perp_trades: list[PerpTrade] = []
        self.forecasts: list[Forecast] = []
        self.messages: list[tuple[int, Message]] = []

    @property
    def is_full(self) -> bool:
        """Return whether no further call is kept."""
        return len(self._calls) >= self._max_calls

    def mark(self, balance: int, equity: int, open_positions: int) -> None:
        """Record the account at the start of a tick."""
        self._balance.append(balance)
        self._equity.append(equity)
        self.open_positions.append(open_positions)

    def hand_over(self, now: float) -> None:
        """Start the response time: the agent has received an observation or a result.

        A repeated observation does not restart it.
        """
        if self._handed is None:
            self._handed = now
        if self._turn_began is None:
            self._turn_began = now

    def waited(self, now: float) -> float:
        """Return the seconds that the agent took until this call; 0 if none was handed over
        before.
        """
        if self._handed is None:
            return 0.0
        waited = now - self._handed
        self._handed = None
        if len(self._waits) < self._max_calls:
            self._waits.append(waited)
        return waited

    def end_turn(self, now: float) -> None:
        """Record the end or the expiry of the agent's turn."""
        if self._handed is not None:
            self._waits.append(now - self._handed)
            self._handed = None
        if self._turn_began is not None:
            self._turns.append(now - self._turn_began)
            self._turn_began = None

    def answered(
        self, tick: int, method: Method, params: object, waited: float, result: dict[str, Any]
    ) -> None:
        """Record an answered call; results of read-only calls are not kept."""
        kept = result if method.changes else None
        self._calls.append((tick, method.name, params, 0, "", waited, kept))

    def refused(
        self, tick: int, method: object, params: object, error: MethodError, waited: float
    ) -> None:
        """Record a refused call."""
        if self.is_full:
            self._dropped += 1
            return
        name = str(method)[:64]
        self._calls.append((tick, name, _kept(params), error.code, error.message, waited, None))

    def episode(self, joined: Mapping[str, int]) -> Episode:
        """Return the current columns."""
        return Episode(
            world_id=self._world.id,
            ticks=self._world.ticks,
            pace=self._pace,
            initial=self._world.rules.balance,
            balance=tuple(self._balance),
            equity=tuple(self._equity),
            open_positions=tuple(self.open_positions),
            calls=tuple(Call(*values) for values in self._calls),
            dropped_calls=self._dropped,
            waits_s=tuple(self._waits),
            turns_s=tuple(self._turns),
            timeouts=tuple(self.timeouts),
            trades=tuple(self.trades),
            settlements=tuple(self.settlements),
            resolutions=tuple(self.resolutions),
            perp_trades=tuple(self.perp_trades),
            forecasts=tuple(self.forecasts),
            joined=tuple((tick, group) for group, tick in joined.items()),
            messages=tuple(self.messages),
        )


def _kept(params: object) -> dict[str, Any]:
    """Return the kept part of unvalidated parameters: all if small, else the beginning."""
    if not params:
        return {}
    try:
        text = json.dumps(params, allow_nan=True)
    except (TypeError, ValueError, RecursionError):
        return {"sent": shown(params, KEPT_CHARACTERS)}
    if isinstance(params, Mapping) and len(text) <= KEPT_CHARACTERS:
        return {str(key): value for key, value in params.items()}
    return {"sent": text[:KEPT_CHARACTERS]}
