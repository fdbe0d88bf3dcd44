"""Data of a world for the judge only: outcomes, fair values, reliability, best trades.

They are in a separate file, `world.truth.json` next to `world.json`, which no agent's process
opens. The world contains its sha256, which commits to the truth before anything is played.
"""

from __future__ import annotations

from dataclasses import dataclass

SCHEMA = "agentbench.truth/1"


@dataclass(frozen=True, slots=True)
class AuthorTruth:
    """Hidden properties of another agent."""

    id: str
    kind: str
    """informed, noise, momentum, contrarian or market_maker."""
    reliability_ppm: int
    """How often the lean of its posts and messages is right, parts per million."""


@dataclass(frozen=True, slots=True)
class NewsTruth:
    """A jump of a perpetual's price that news explains."""

    ticker: str
    announced: int
    """Tick at which it was drawn: rumors may appear from here on."""
    tick: int
    """Tick of the jump and of the news post."""
    size_ppm: int
    """The index price is multiplied by 1 + size / 1,000,000."""


@dataclass(frozen=True, slots=True)
class OptimalAction:
    """The best single trade of a share, or a dollar of notional, in hindsight, without market
    impact.
    """

    tick: int
    type: str
    """buy_prediction or open_perp."""
    target: str
    """A MarketDef.id or PerpDef.ticker."""
    side: str
    """YES, NO, LONG or SHORT."""
    until: int
    """Tick of resolution, or of the closing."""
    value: int
    """Gain in micro-dollars, fees aside."""


@dataclass(frozen=True, slots=True)
class Truth:
    """Columns have one value a tick, as in the world."""

    world_id: str
    outcomes: dict[str, bool]
    """By MarketDef.id; true is YES."""
    fair: tuple[tuple[int, ...], ...]
    """[market][tick]: probability of YES given all that has happened, parts per million; 0 or
    1,000,000 from resolution."""
    authors: tuple[AuthorTruth, ...]
    news: tuple[NewsTruth, ...]
    optimal_actions: tuple[OptimalAction, ...]
    salt: str = ""
    """Hex digits of the salt that the world was generated with besides its config; empty for a
    public world.
    """
    schema: str = SCHEMA
