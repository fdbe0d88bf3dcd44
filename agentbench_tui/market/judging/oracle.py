"""The largest profit attainable in hindsight, exact within the position limits, and the plan that
reaches it.

Prediction markets without fees: buying and selling at the LMSR cost function telescopes. With the
flow d_t of others and own net shares x_t held from tick t on, profit is the sum over ticks of
C(d_{t+1} + x_t) - C(d_t + x_t), less the same with x = 0, and at the end the payout less the cost.
Each term is monotone in its own x_t, so the best x_t is one of the limits: +X or -X. With fees,
levels of inventory are linked: dynamic programming over equally spaced levels finds the best of the
plans that hold one side at a time, selling it before the other is bought.

Perpetuals: nothing the agent does moves the price and all charges are proportional, so the best is
at every time one of long, flat or short, each opened at the limit of notional (bang-bang). Gains of
a position opened at s and closed at t are L / P_s (A_t - B_s), which one pass over ticks maximizes.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agentbench_tui.market.play.account import Limits
from agentbench_tui.market.world.world import DOLLAR, PER_BILLION, PER_MILLION, SHARE_UNITS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from agentbench_tui.market.world.world import World

    Floats = NDArray[np.float64]

LEVELS = 81
"""Number of inventory levels if shares cost a fee."""


@dataclass(frozen=True, slots=True)
class Span:
    """One position in a perpetual, from its opening to its closing."""

    opened: int
    closed: int
    side: int
    """1 long, -1 short."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan with the largest profit in a world."""

    shares: tuple[tuple[float, ...], ...]
    """[market][tick]: net shares to hold from each tick on; 0 before the opening, after the end."""
    spans: tuple[tuple[Span, ...], ...]
    """[perpetual]: positions in order of time, each with the notional of the limit."""
    market_gain: float
    """Dollars."""
    perp_gain: float
    """Dollars."""

    @property
    def gain(self) -> float:
        """Return the profit of the whole plan in dollars."""
        return self.market_gain + self.perp_gain


def hindsight(world: World, outcomes: Mapping[str, bool]) -> Plan:
    """Return the best plan for a world whose outcomes and future are known."""
    limits = Limits.of(world)
    most = limits.shares / SHARE_UNITS
    fee = world.rules.market_fee_ppm / PER_MILLION
    shares, market_gain = [], 0.0
    for place, market in enumerate(world.markets):
        flow = np.array(world.flows[place], dtype=np.float64) / SHARE_UNITS
        traded = flow[market.created : market.resolve_tick]
        held, gain = best_inventory(traded, outcomes[market.id], market.b, most, fee)
        column = np.zeros(world.ticks + 1)
        column[market.created : market.resolve_tick] = held
        shares.append(tuple(column.tolist()))
        market_gain += gain
    spans, perp_gain = [], 0.0
    for place, perp in enumerate(world.perpetuals):
        rates = np.array(world.funding[place], dtype=np.float64) / PER_BILLION
        rates[np.arange(len(rates)) % perp.funding_ticks != 0] = 0.0
        marks = np.array(world.marks[place], dtype=np.float64) / DOLLAR
        found, gain = best_spans(marks, rates, world.rules.perp_fee_ppm / PER_MILLION)
        spans.append(tuple(found))
        perp_gain += gain * limits.notional / DOLLAR
    return Plan(tuple(shares), tuple(spans), market_gain, perp_gain)


def best_inventory(
    flow: Floats, outcome: bool, b: float, most: float, fee: float = 0.0, levels: int = LEVELS
) -> tuple[Floats, float]:
    """Return the net shares to hold from each tick on, within -`most`..`most`, and their profit in
    dollars.

    `flow`: float64[n], others' net shares at the ticks the market is open. `fee`: of the money of
    each trade. With a fee the best among `levels` equally spaced inventories (an odd number, so
    that none is among them) is found, otherwise the best of all.
    """
    if fee > 0.0:
        return _best_levels(flow, outcome, b, most, fee, levels)
    rises = np.append(np.diff(flow), 1.0 if outcome else -1.0)
    held = np.where(rises > 0.0, most, np.where(rises < 0.0, -most, 0.0))
    before = np.append(0.0, held[:-1])
    paid = _potential(flow + held, b) - _potential(flow + before, b)
    payout = held[-1] if outcome else 0.0
    return held, float(payout - paid.sum())


def _best_levels(
    flow: Floats, outcome: bool, b: float, most: float, fee: float, levels: int
) -> tuple[Floats, float]:
    """Solve backward over ticks: value[i] is the largest profit from inventory i onward.

    Moving from i to j sells what is held of one side before buying the other: both legs pay.
    """
    grid = np.linspace(-most, most, levels)
    value = grid if outcome else np.zeros(levels)
    choices = np.empty((len(flow), levels), dtype=np.intp)
    for tick in range(len(flow) - 1, -1, -1):
        cost = _potential(flow[tick] + grid, b)
        at_zero = float(_potential(flow[tick : tick + 1], b)[0])
        # A NO share costs 1 less the price of YES: its leg is the potential's and 1 a share.
        yes_side = np.where(grid > 0.0, cost - at_zero, 0.0)
        no_side = np.where(grid < 0.0, cost - at_zero - grid, 0.0)
        legs = np.abs(yes_side[:, None] - yes_side[None, :])
        legs = legs + np.abs(no_side[:, None] - no_side[None, :])
        moves = value[None, :] - (cost[None, :] - cost[:, None]) - fee * legs
        choices[tick] = moves.argmax(axis=1)
        value = np.take_along_axis(moves, choices[tick][:, None], axis=1)[:, 0]
    held = np.empty(len(flow))
    level = start = levels // 2
    for tick, choice in enumerate(choices):
        level = int(choice[level])
        held[tick] = grid[level]
    return held, float(value[start])


def best_spans(marks: Floats, rates: Floats, fee: float) -> tuple[list[Span], float]:
    """Return the best sequence of positions of 1 dollar of notional each, and their profit in
    dollars.

    `marks`: float64[n], prices at ticks 0..n-1; a position opens at one and closes at a later one,
    the last at most. `rates`: float64[n], what a long pays of the notional at that tick when it was
    opened before. `fee`: of the notional at opening and at closing.

    Backward over ticks: opened at s and closed at t, a position and the best that comes after it
    win (closing[t] - opening[s]) / marks[s] + best[t]: of each t a line over 1 / marks[s]. The
    highest line at a place is found in an upper envelope, so that all takes O(n log n).
    """
    last = len(marks) - 1
    paid = np.cumsum(rates * marks)
    closing = {1: marks * (1.0 - fee) - paid, -1: -marks * (1.0 + fee) + paid}
    opening = {1: marks * (1.0 + fee) - paid, -1: -marks * (1.0 - fee) + paid}
    closings = {side: values.tolist() for side, values in closing.items()}
    openings = {side: values.tolist() for side, values in opening.items()}
    prices = marks.tolist()
    best = [0.0] * (last + 1)
    choice: list[Span | None] = [None] * (last + 1)
    envelopes = {side: _Envelope() for side in closings}
    for tick in range(last - 1, -1, -1):
        best[tick] = best[tick + 1]
        for side, envelope in envelopes.items():
            envelope.add(closings[side][tick + 1], best[tick + 1], tick + 1)
            closed = envelope.highest(1.0 / prices[tick])
            gain = (closings[side][closed] - openings[side][tick]) / prices[tick] + best[closed]
            if gain > best[tick]:
                best[tick] = gain
                choice[tick] = Span(tick, closed, side)
    spans = []
    tick = 0
    while tick < last:
        span = choice[tick]
        if span is not None:
            spans.append(span)
            tick = span.closed
        else:
            tick += 1
    return spans, best[0]


class _Envelope:
    """Upper envelope of lines for x > 0; each added line meets x = 0 at or above all
    earlier ones.

    So a new one is the highest from 0 to where a steeper one crosses it, and those that are no
    steeper are never the highest again. The list holds the steepest first.
    """

    def __init__(self) -> None:
        self._lines: list[tuple[float, float, int]] = []
        """Slope, value at 0, name."""
        self._until: list[float] = []
        """-x up to which each is the highest: ascending, as `bisect` needs it."""

    def add(self, slope: float, value: float, name: int) -> None:
        """Add the line `value` + `slope` x."""
        lines, until = self._lines, self._until
        while lines:
            steeper, below, _ = lines[-1]
            if steeper > slope:
                crossing = (value - below) / (steeper - slope)
                if -crossing > until[-1]:
                    break
            lines.pop()
            until.pop()
        until.append(-crossing if lines else -math.inf)
        lines.append((slope, value, name))

    def highest(self, x: float) -> int:
        """Return the name of the highest line at x."""
        return self._lines[bisect_right(self._until, -x) - 1][2]


def _potential(net: Floats, b: float) -> Floats:
    """C(q) - q_no: b ln(1 + e^(net / b))."""
    return b * np.logaddexp(0.0, net / b)
