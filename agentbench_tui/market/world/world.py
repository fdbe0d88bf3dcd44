"""A world: everything that happens on the markets independently of the tested agent. Holds no
truth.

Time is counted in ticks 0..`ticks`: an agent acts at ticks 0..`ticks`-1, and the state at `ticks`
is the one that closes the game. Every number is an integer, so that equal seeds give equal bytes:

    shares   thousandths of a share (`SHARE_UNITS`)
    money    micro-dollars (`DOLLAR`)
    rates    parts per billion (`PER_BILLION`), fees and margins parts per million

A world is harness data: it holds its seed and its future. Agents get what a `Game` shows.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from agentbench_tui.market.world.world_view import WorldView

SCHEMA = "agentbench.world/1"
SHARE_UNITS = 1_000
DOLLAR = 1_000_000
PER_MILLION = 1_000_000
PER_BILLION = 1_000_000_000
_SALT = "salt_sha256"
EPOCH_MS = 1_767_225_600_000
"""2026-01-01T00:00:00Z: when a world starts, whenever it was made."""

Lean = Literal[-1, 0, 1]
"""Statement of an author on a subject: 1 worth more than its price, -1 worth less, 0 neither."""


@dataclass(frozen=True, slots=True)
class WorldConfig:
    """Configuration of a world; with the same salt, equal ones give the same bytes on any
    machine.
    """

    duration_s: int = 1_800
    interval_ms: int = 60_000
    markets: int = 5
    perpetuals: int = 3
    agents: int = 8
    seed: int = 12_345
    """0..2**64-1."""
    conditions: str = "mixed"
    """A name of `conditions.CONDITIONS`."""
    start_ms: int = EPOCH_MS
    """Milliseconds since 1970."""
    salt_sha256: str = ""
    """Hash of the salt, which is in the truth; empty for a public world, which has none."""

    @property
    def ticks(self) -> int:
        """Return the number of the agent's turns."""
        return self.duration_s * 1_000 // self.interval_ms

    def document(self) -> dict[str, Any]:
        """Return the fields as stored and hashed: a public world has no `salt_sha256`."""
        return {name: value for name, value in asdict(self).items() if name != _SALT or value}


@dataclass(frozen=True, slots=True)
class Rules:
    """Fees and limits of the game."""

    balance: int = 10_000 * DOLLAR
    """Micro-dollars an agent starts with."""
    market_fee_ppm: int = 0
    """Fee on the money of a purchase or sale of shares."""
    perp_fee_ppm: int = 500
    """Fee on the notional of an opening or a closing."""
    max_leverage: int = 10
    """Initial margin is the notional divided by the leverage, a whole number from 1 to this."""
    maintenance_ppm: int = 25_000
    """Margin, of the notional at the mark price, below which a position is liquidated."""


@dataclass(frozen=True, slots=True)
class MarketDef:
    """A prediction market, priced by LMSR."""

    id: str
    """`market-0`, `market-1`, …"""
    question: str
    created: int
    """Tick of its opening."""
    resolve_tick: int
    """First tick at which its outcome is known and it cannot be traded; 1..ticks. Public."""
    b: int
    """LMSR liquidity, in whole shares."""


@dataclass(frozen=True, slots=True)
class PerpDef:
    """A perpetual future."""

    ticker: str
    price_unit: int
    """Micro-dollars: mark and index prices are multiples of it."""
    funding_ticks: int
    """Funding is charged at ticks n, 2n, … for the notional at the mark price of that tick."""


@dataclass(frozen=True, slots=True)
class AgentDef:
    """Another agent of the world. Its strategy and reliability are in the truth."""

    id: str
    """`agent-0`, `agent-1`, …"""
    name: str


@dataclass(frozen=True, slots=True)
class Post:
    """One post in the feed."""

    id: str
    tick: int
    author: str
    """An AgentDef.id, or `news` for what happened and is public."""
    content: str
    subject: str
    """A MarketDef.id, a PerpDef.ticker, or empty."""
    lean: Lean
    likes: int
    comments: int


@dataclass(frozen=True, slots=True)
class Group:
    """A group chat. After it joins, the tested agent reads messages from the tick of its invitation
    on.
    """

    id: str
    name: str
    created: int
    """Tick."""
    members: tuple[str, ...]
    """AgentDef.id of its authors."""


@dataclass(frozen=True, slots=True)
class Invitation:
    """The tested agent may join `group` from `tick` on."""

    group: str
    tick: int


@dataclass(frozen=True, slots=True)
class Message:
    """One message in a group chat."""

    id: str
    tick: int
    group: str
    author: str
    content: str
    subject: str
    """A MarketDef.id, a PerpDef.ticker, or empty."""
    lean: Lean


@dataclass(frozen=True, slots=True)
class World:
    """All columns have `ticks` + 1 values, one a tick; all lists are sorted by tick."""

    id: str
    """First 16 hex digits of the sha256 of schema and config."""
    config: WorldConfig
    truth_sha256: str
    rules: Rules
    markets: tuple[MarketDef, ...]
    perpetuals: tuple[PerpDef, ...]
    agents: tuple[AgentDef, ...]
    flows: tuple[tuple[int, ...], ...]
    """[market][tick]: YES minus NO shares that others hold, in thousandths of a share. The price
    at a tick is `lmsr.price((flow + own inventory) / SHARE_UNITS, b)`. Constant from resolution."""
    volumes: tuple[tuple[int, ...], ...]
    """[market][tick]: shares that others traded since the opening, in thousandths of a share."""
    marks: tuple[tuple[int, ...], ...]
    """[perpetual][tick]: the price that positions open, close and are valued at; micro-dollars."""
    indexes: tuple[tuple[int, ...], ...]
    """[perpetual][tick]: the spot price that the mark hovers around; micro-dollars."""
    funding: tuple[tuple[int, ...], ...]
    """[perpetual][tick]: what longs pay shorts, of the notional, if funding is charged at that
    tick; parts per billion."""
    open_interest: tuple[tuple[int, ...], ...]
    """[perpetual][tick]: notional of others' positions, whole dollars."""
    posts: tuple[Post, ...]
    groups: tuple[Group, ...]
    invitations: tuple[Invitation, ...]
    messages: tuple[Message, ...]
    schema: str = SCHEMA

    @property
    def ticks(self) -> int:
        """Return the number of the agent's turns, at ticks 0..ticks-1."""
        return self.config.ticks

    def time_ms(self, tick: int) -> int:
        """Return the time of the tick in milliseconds since 1970."""
        return self.config.start_ms + tick * self.config.interval_ms

    def at(self, tick: int) -> WorldView:
        """Return the public state at `tick` of 0..ticks, and nothing later.

        Raises IndexError outside.
        """
        from agentbench_tui.market.world.world_view import WorldView

        return WorldView(self, tick)
