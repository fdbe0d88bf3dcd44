"""What an agent made of what it read: gains of positions on the side of what it could see.

The P&L of a position is the sum of what it gained from tick to tick. A tick's gain is counted here
when the position is on the side of the newest lean on its subject, said at most `FRESH_SHARE` of
the world before. Posts are seen by everybody; messages by members of the group, from the tick after
joining on. Fees and funding are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.market.fair import inventory
from agentbench_tui.market.world import DOLLAR, SHARE_UNITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from agentbench_tui.market.episode import Episode
    from agentbench_tui.market.world import World

    Floats = NDArray[np.float64]

FRESH_SHARE = 0.1
"""Of the world's ticks, one tick at least: how long a signal can be acted on."""


@dataclass(frozen=True, slots=True)
class Followed:
    """Signals that a position was on the side of while they were fresh."""

    signals: int
    right: int
    """Those in whose time the position gained."""
    gain: float
    """Dollars."""


def followed(episode: Episode, world: World, outcomes: Mapping[str, bool]) -> Followed:
    """What came of all signals that were followed."""
    leans = _seen(episode, world)
    fresh = max(1, round(world.ticks * FRESH_SHARE))
    gains: list[float] = []
    for place, market in enumerate(world.markets):
        held = inventory(episode, place)[: market.resolve_tick]
        flow = np.array(world.flows[place][: market.resolve_tick], dtype=np.float64) / SHARE_UNITS
        steps = share_gains(flow, held, market.b, outcomes[market.id])
        gains += _by_signal(leans.get(market.id, ()), np.sign(held), steps, fresh)
    for place, perp in enumerate(world.perpetuals):
        held = _quantity(episode, place)
        marks = np.array(world.marks[place], dtype=np.float64) / DOLLAR
        steps = held[:-1] * np.diff(marks)
        gains += _by_signal(leans.get(perp.ticker, ()), np.sign(held[:-1]), steps, fresh)
    return Followed(len(gains), sum(gain > 0.0 for gain in gains), float(sum(gains)))


def share_gains(flow: Floats, held: Floats, b: float, outcome: bool) -> Floats:
    """float64[n]: what net shares `held` after each tick's turn gained until the next, dollars.

    The value of shares is what selling them would give; at the last tick it is the payout.
    """
    later = np.append(flow[1:], 0.0)
    worth = b * (np.logaddexp(0.0, (later + held) / b) - np.logaddexp(0.0, later / b))
    worth[-1:] = held[-1:] * outcome
    return worth - b * (np.logaddexp(0.0, (flow + held) / b) - np.logaddexp(0.0, flow / b))


def _quantity(episode: Episode, perpetual: int) -> Floats:
    """float64[ticks + 1]: units of the asset held after each tick's turn; negative when short."""
    change = np.zeros(episode.ticks + 1)
    for trade in episode.perp_trades:
        if trade.perpetual == perpetual:
            units = trade.side * trade.size / trade.entry
            change[trade.opened] += units
            change[trade.closed] -= units
    held = np.cumsum(change)
    return np.where(np.abs(held) < 1e-12, 0.0, held)


def _by_signal(
    leans: Sequence[tuple[int, int]], side: Floats, steps: Floats, fresh: int
) -> list[float]:
    """Gains in the time of each signal that was followed."""
    gains = []
    for number, (tick, lean) in enumerate(leans):
        newer = leans[number + 1][0] if number + 1 < len(leans) else len(steps)
        time = slice(tick, min(newer, tick + fresh))
        on_side = side[time] == lean
        if on_side.any():
            gains.append(float(steps[time][on_side].sum()))
    return gains


def _seen(episode: Episode, world: World) -> dict[str, list[tuple[int, int]]]:
    """Subject to (tick, lean) by tick: what the agent could see that leans either way."""
    joined = {group: tick for tick, group in episode.joined}
    rows = [(post.tick, post.subject, post.lean) for post in world.posts]
    for message in world.messages:
        since = joined.get(message.group)
        if since is not None:
            rows.append((max(message.tick, since + 1), message.subject, message.lean))
    leans: dict[str, list[tuple[int, int]]] = {}
    for tick, subject, lean in sorted(rows, key=lambda row: row[0]):
        if lean and subject:
            leans.setdefault(subject, []).append((tick, lean))
    return leans
