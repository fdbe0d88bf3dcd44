"""How an agent uses signals: profit of position changes toward posts and messages that it could
see.

A signal is a post or message that leans on a subject. It is valid for `FRESH_SHARE` of the world,
or until the next on its subject; consecutive ones with the same lean form one signal. The counted
gain, tick by tick, is that of the position minus that of the position held before the first of
them, while the difference is on their side. So a position held anyway counts nothing; whether the
agent would have made the same change without reading cannot be observed. Posts are visible to all,
messages to members of the group: those still valid when the agent joins, and later ones. News that
already moved the price has no lean. Fees and funding are excluded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.market.judging.fair import inventory
from agentbench_tui.market.world.feed import NEWS
from agentbench_tui.market.world.world import DOLLAR, SHARE_UNITS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from agentbench_tui.market.play.episode import Episode
    from agentbench_tui.market.world.world import Message, Post, World

    Floats = NDArray[np.float64]

FRESH_SHARE = 0.1
"""Share of the world's ticks, at least one: how long a signal is valid."""


@dataclass(frozen=True, slots=True)
class Followed:
    """Signals that the agent followed: it moved a position to their side while they were valid."""

    signals: int
    right: int
    """Those in whose time the change gained."""
    gain: float
    """Dollars."""


def followed(episode: Episode, world: World, outcomes: Mapping[str, bool]) -> Followed:
    """Return the result of all followed signals."""
    signals = _signals(episode, world)
    gains: list[float] = []
    for place, market in enumerate(world.markets):
        held = inventory(episode, place)[: market.resolve_tick]
        flow = np.array(world.flows[place][: market.resolve_tick], dtype=np.float64) / SHARE_UNITS
        course = _course(signals.get(market.id, ()), held)
        outcome = outcomes[market.id]
        steps = share_gains(flow, held, market.b, outcome)
        gains += course.gains(held, steps - share_gains(flow, course.before, market.b, outcome))
    for place, perp in enumerate(world.perpetuals):
        held = _quantity(episode, place)[:-1]
        moves = np.diff(np.array(world.marks[place], dtype=np.float64) / DOLLAR)
        course = _course(signals.get(perp.ticker, ()), held)
        gains += course.gains(held, (held - course.before) * moves)
    return Followed(len(gains), sum(gain > 0.0 for gain in gains), float(sum(gains)))


def share_gains(flow: Floats, held: Floats, b: float, outcome: bool) -> Floats:
    """float64[n]: dollars that net shares `held` after each tick's turn gained until the next.

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


@dataclass(frozen=True, slots=True)
class _Signal:
    """A statement that leans to one side."""

    seen: int
    """Tick from which on the agent could see it."""
    until: int
    """First tick at which it holds no longer."""
    lean: int


@dataclass(frozen=True, slots=True)
class _Course:
    """State at each tick of one subject; arrays of equal length."""

    lean: Floats
    """1, -1, or 0 without a valid signal."""
    before: Floats
    """Position before the current signals with the same lean began."""
    signal: NDArray[np.int64]
    """Which of the signals holds; -1 for none."""

    def gains(self, held: Floats, steps: Floats) -> list[float]:
        """Return, for each followed signal, the gain of the change while it was on its side."""
        on_side = (self.lean != 0) & (np.sign(held - self.before) == self.lean)
        return [float(steps[on_side & (self.signal == one)].sum())
                for one in np.unique(self.signal[on_side])]  # fmt: skip


def _course(signals: Sequence[_Signal], held: Floats) -> _Course:
    course = _Course(np.zeros(len(held)), held.copy(), np.full(len(held), -1))
    for number, one in enumerate(signals):
        last = slice(max(0, one.seen - 1), one.seen)
        continued = (course.lean[last] == one.lean).any()
        before = (course.before if continued else held)[last]
        time = slice(one.seen, one.until)
        course.lean[time] = one.lean
        course.before[time] = before[0] if len(before) else 0.0
        course.signal[time] = number
    return course


def _signals(episode: Episode, world: World) -> dict[str, list[_Signal]]:
    """Return the visible leaning signals by subject, in order."""
    fresh = max(1, round(world.ticks * FRESH_SHARE))
    joined = {group: tick for tick, group in episode.joined}
    said: list[tuple[int, int, Post | Message]] = [
        (post.tick, 0, post) for post in world.posts if post.author != NEWS
    ]
    said += [(one.tick, joined[one.group], one) for one in world.messages if one.group in joined]
    found: dict[str, list[_Signal]] = {}
    for tick, since, one in sorted(said, key=lambda row: (max(row[0], row[1]), row[0])):
        if one.lean and one.subject and since < tick + fresh:
            signal = _Signal(max(tick, since), tick + fresh, one.lean)
            found.setdefault(one.subject, []).append(signal)
    return found
