"""Traders on prediction markets, and how their orders move the price.

In the log odds of a price LMSR is linear: an order of d shares moves them by d / b. So every
trader's order is stated as the move it wants, and all orders of a tick are added up. Speeds are
set for the length of a world: a gap between price and fair value halves in about a sixtieth of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.market.world import bits
from agentbench_tui.market.world.world import SHARE_UNITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.market.world.beliefs import Belief
    from agentbench_tui.market.world.bits import Floats, Streams

KINDS = ("informed", "noise", "momentum", "contrarian", "market_maker")
_KIND_OF = (0, 0, 0, 1, 1, 2, 3, 4)
"""An agent is of one of these kinds, each equally likely."""

_SPEEDS = 40.0
"""The crowd closes a gap at this rate a world, if ticks are short against that."""
_FASTEST = 0.55
"""Maximum share of the gap closed in one tick."""
_CROWD_NOISE = 0.2
"""Standard deviation of the log odds that the crowd's noise alone would cause."""
_AGENT_NOISE = 0.05
_AGENT_WEIGHT = 0.1
"""Weight of one agent that always trades, relative to the crowd."""
_ACTIVE = 0.25
"""How often an agent trades a given market."""
QUOTED = 0.003
"""Informed traders move a price no closer to 0 or 1 than this."""
_FURTHEST = 6.0
"""Limit of trading in log odds: prices between 0.0025 and 0.9975."""


@dataclass(frozen=True, slots=True)
class Tape:
    """Trades of others on one market."""

    flow: list[int]
    """[ticks + 1]: cumulative net YES shares, thousandths."""
    volume: list[int]
    """[ticks + 1]: cumulative shares traded, thousandths."""
    log_odds: Floats
    """float64[ticks + 1] of the price."""
    gap: Floats
    """float64[ticks + 1]: log odds of the fair value less those of the price; 0 from resolution."""


@dataclass(frozen=True, slots=True)
class _Pulls:
    """Orders of all active traders, in log odds, at each tick: float64[ticks + 1] each."""

    informed: Floats
    """Times the gap to the fair value."""
    noise: Floats
    """The blind orders themselves."""
    momentum: Floats
    """Times the move of the last while."""
    contrarian: Floats
    """Times the distance from a slow average, against it."""
    maker: Floats
    """Times the last tick's move, against it."""


def draw_kind(streams: Streams, agent: int) -> str:
    """Draw how that agent trades."""
    return KINDS[_KIND_OF[int(bits.below(streams.fixed("kind", agent, 1), len(_KIND_OF))[0])]]


def draw_liquidity(streams: Streams, market: int) -> int:
    """Draw the LMSR b of that market, in whole shares."""
    return (100, 150, 200, 300, 500)[int(bits.below(streams.fixed("liquidity", market, 1), 5)[0])]


def closing_speed(ticks: int) -> float:
    """Return the share of the gap between price and fair value that the crowd closes in one
    tick.
    """
    return min(_FASTEST, _SPEEDS / ticks)


def trade(
    streams: Streams, market: int, belief: Belief, b: int, kinds: Sequence[str], noise: float
) -> Tape:
    """Draw the trades of the crowd and agents of these `kinds` on a market; `noise` scales
    uninformed orders.
    """
    ticks = len(belief.fair) - 1
    speed = closing_speed(ticks)
    pulls = _pulls(streams, market, kinds, ticks, noise)
    target = bits.logit(np.minimum(np.maximum(belief.fair, QUOTED), 1.0 - QUOTED))
    flow, volume = _run(target, pulls, belief.resolve_tick, speed, float(b * SHARE_UNITS))
    log_odds = np.array(flow, dtype=np.float64) / (b * SHARE_UNITS)
    gap = target - log_odds
    gap[belief.resolve_tick :] = 0.0
    return Tape(flow, volume, log_odds, gap)


def _pulls(streams: Streams, market: int, kinds: Sequence[str], ticks: int, noise: float) -> _Pulls:
    speed = closing_speed(ticks)
    # A gap that closes at `speed` turns blind orders of this size into the stated spread.
    spread = noise * sqrt(speed * (2.0 - speed))
    crowd = bits.normal(streams.by_tick("crowd", market, ticks + 1))[:, 0]
    informed = np.full(ticks + 1, speed)
    blind = crowd * (_CROWD_NOISE * spread)
    others = {kind: np.zeros(ticks + 1) for kind in KINDS[2:]}
    weight = _AGENT_WEIGHT * speed * min(1.0, 8.0 / max(1, len(kinds))) / _ACTIVE
    for agent, kind in enumerate(kinds):
        words = streams.by_tick(f"trader-{agent}", market, ticks + 1, 2)
        active = bits.uniform(words[:, 0]) < _ACTIVE
        if kind == "informed":
            informed += weight * active
        elif kind == "noise":
            blind += bits.normal(words[:, 1]) * active * (_AGENT_NOISE * spread / sqrt(_ACTIVE))
        else:
            others[kind] += weight * active
    # Together they go as far as the fair value, where what they know is used up.
    return _Pulls(
        np.minimum(informed, 1.0),
        blind,
        others["momentum"],
        others["contrarian"],
        others["market_maker"],
    )


def _run(
    target: Floats, pulls: _Pulls, end: int, speed: float, scale: float
) -> tuple[list[int], list[int]]:
    """Return cumulative flow and volume. `scale`: thousandths of a share per unit of log odds."""
    lag = max(1, int(1.0 / speed))
    held = round(float(target[0] + pulls.noise[0]) * scale)
    here = last = slow = held / scale
    flow, path, slows = [held], [here] * (lag + 1), [slow]
    # Every order is linear in the state: what the price is multiplied by, and what is added.
    kept = 1.0 - pulls.informed + pulls.momentum - pulls.contrarian - pulls.maker
    given = pulls.noise + pulls.informed * target
    columns = (kept, given, pulls.momentum, pulls.contrarian, pulls.maker)
    rows = zip(*(column[1:end].tolist() for column in columns), strict=True)
    for tick, (keep, add, momentum, contrarian, maker) in enumerate(rows, 1):
        wanted = here * keep + add - momentum * path[tick - 1] + contrarian * slow + maker * last
        slow += 0.25 * speed * (here - slow)
        if not -_FURTHEST < wanted < _FURTHEST:
            wanted = _FURTHEST if wanted > 0.0 else -_FURTHEST
        held = round(wanted * scale)
        last, here = here, held / scale
        flow.append(held)
        path.append(here)
        slows.append(slow)
    rest = len(target) - end
    volume = _volume(target, pulls, np.array(path), np.array(slows), lag, scale)
    return flow + [held] * rest, volume + [volume[-1]] * rest


def _volume(
    target: Floats, pulls: _Pulls, path: Floats, slows: Floats, lag: int, scale: float
) -> list[int]:
    """Return cumulative shares of all orders, in thousandths. `path` begins with the opening `lag`
    times.
    """
    end = len(slows)
    now = slice(1, end)
    before, earlier, lagged = path[lag:-1], path[lag - 1 : -2], path[: end - 1]
    size = np.abs(pulls.noise[now]) + np.abs(pulls.informed[now] * (target[now] - before))
    size = size + np.abs(pulls.momentum[now] * (before - lagged))
    size = size + np.abs(pulls.contrarian[now] * (slows[:-1] - before))
    size = size + np.abs(pulls.maker[now] * (earlier - before))
    orders = np.rint(size * scale).astype(np.int64)
    opening = abs(round(float(path[0]) * scale))
    return [opening, *(np.add.accumulate(orders) + opening).tolist()]
