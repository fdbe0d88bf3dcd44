"""Record of one game: every call, the trades, and the account tick by tick.

It contains nothing of the truth except the agent's payments. Money is in micro-dollars.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agentbench_tui.model.answer import Message


@dataclass(frozen=True, slots=True)
class Call:
    """One call, answered or refused."""

    tick: int
    method: str
    params: dict[str, Any]
    """As validated; for a refused call as sent, cut to a useful length."""
    code: int
    """0, or the code of the MethodError."""
    message: str
    """Message of the MethodError, or empty."""
    waited_s: float
    """From the moment the agent had the observation, or its last result, to this call."""
    result: dict[str, Any] | None
    """Result of an action; results of queries follow from the world and the actions."""


@dataclass(frozen=True, slots=True)
class ShareTrade:
    """A purchase or sale of shares."""

    tick: int
    market: int
    """Place in World.markets."""
    outcome: int
    """1 YES, -1 NO."""
    shares: int
    """Thousandths; negative when sold."""
    money: int
    """Paid without the fee; negative when received."""
    fee: int


@dataclass(frozen=True, slots=True)
class Settlement:
    """Payment of a market to the agent at its resolution."""

    tick: int
    market: int
    yes: int
    """Thousandths of a share held."""
    no: int
    outcome: bool
    paid: int


@dataclass(frozen=True, slots=True)
class PerpTrade:
    """A position in a perpetual future, from its opening to its closing."""

    position: str
    perpetual: int
    """Place in World.perpetuals."""
    side: int
    """1 long, -1 short."""
    size: int
    """Notional at the opening."""
    leverage: int
    opened: int
    closed: int
    entry: int
    exit: int
    gain: int
    """Gain from the price alone."""
    funding: int
    """Received; negative when paid."""
    fees: int
    ended: str
    """`closed` by the agent, `liquidated`, or `settled` at the end of the game."""

    @property
    def pnl(self) -> int:
        """Return the profit or loss after funding and fees."""
        return self.gain + self.funding - self.fees


@dataclass(frozen=True, slots=True)
class Forecast:
    """A stated probability of YES."""

    tick: int
    market: int
    probability: float


@dataclass(frozen=True, slots=True)
class Episode:
    """One game played to its end. Columns have one value a tick 0..ticks."""

    world_id: str
    ticks: int
    pace: str
    """lock-step, real-time or deadline."""
    initial: int
    """Balance at the start."""
    balance: tuple[int, ...]
    """Money that can be spent, when the tick came."""
    equity: tuple[int, ...]
    """Balance plus the proceeds of closing every position, without fees, at the start of the
    tick.
    """
    open_positions: tuple[int, ...]
    calls: tuple[Call, ...]
    dropped_calls: int
    """Calls beyond the limits of calls: refused and counted, not kept."""
    waits_s: tuple[float, ...]
    """From each hand-over of an observation or a result to the agent's next call or end of turn."""
    turns_s: tuple[float, ...]
    """From each hand-over of an observation to the end of that turn."""
    timeouts: tuple[int, ...]
    """Ticks at which the agent lost its turn."""
    trades: tuple[ShareTrade, ...]
    settlements: tuple[Settlement, ...]
    resolutions: tuple[tuple[int, int, bool], ...]
    """(tick, market, outcome) of every market, as it became public."""
    perp_trades: tuple[PerpTrade, ...]
    forecasts: tuple[Forecast, ...]
    joined: tuple[tuple[int, str], ...]
    """(tick, group)."""
    messages: tuple[tuple[int, Message], ...] = field(default=())
    """(tick, turn) of a conversation with a model, if the agent has one."""

    @property
    def pnl(self) -> int:
        """Profit or loss over the whole game."""
        return self.equity[-1] - self.initial
