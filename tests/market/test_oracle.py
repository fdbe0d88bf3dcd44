"""The best in hindsight, against every possibility tried out."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playing import usual

from agentbench_tui.market.baselines import make, play
from agentbench_tui.market.judging.oracle import best_inventory, best_spans, hindsight
from agentbench_tui.market.play.game import Game

B, MOST = 100.0, 50.0


def cost(yes: float, no: float) -> float:
    """The cost function of two outcomes, straight from its definition."""
    return B * math.log(math.exp(yes / B) + math.exp(no / B))


def profit(flow: list[float], outcome: bool, path: tuple[float, ...], fee: float) -> float:
    """Money of holding these net shares after each tick, NO when negative: one side at a time."""
    yes = no = money = 0.0
    for others, wanted in zip(flow, path, strict=True):
        legs = [("yes", max(wanted, 0.0)), ("no", max(-wanted, 0.0))]
        for side, target in legs if wanted <= 0.0 else reversed(legs):
            before = cost(others + yes, no)
            yes, no = (target, no) if side == "yes" else (yes, target)
            paid = cost(others + yes, no) - before
            money -= paid + fee * abs(paid)
    return money + (yes if outcome else no)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.floats(-150, 150), min_size=1, max_size=4),
    st.booleans(),
    st.sampled_from((0.0, 0.02, 0.2)),
)
def test_inventory_is_the_best_of_all_paths_over_levels(
    flow: list[float], outcome: bool, fee: float
) -> None:
    levels = np.linspace(-MOST, MOST, 5)
    best = max(
        profit(flow, outcome, path, fee)
        for path in itertools.product(levels.tolist(), repeat=len(flow))
    )
    held, gain = best_inventory(np.array(flow), outcome, B, MOST, fee, levels=5)
    assert gain == pytest.approx(best, abs=1e-8)
    assert profit(flow, outcome, tuple(held.tolist()), fee) == pytest.approx(best, abs=1e-8)


def test_without_a_fee_no_finer_levels_do_better_than_the_limits() -> None:
    flow = np.array([0.0, 30.0, -20.0, 10.0, 5.0])
    _, gain = best_inventory(flow, False, B, MOST)
    _, fine = best_inventory(flow, False, B, MOST, fee=1e-15, levels=201)
    assert gain == pytest.approx(fine, abs=1e-9)


def spans_profit(
    marks: list[float], rates: list[float], path: tuple[int, ...], fee: float
) -> float:
    """Dollars of being long, flat or short a dollar of notional after each tick."""
    money, side, entry = 0.0, 0, 0.0
    for tick, wanted in enumerate((*path, 0)):
        if side:
            money -= side * rates[tick] * marks[tick] / entry
        if wanted != side:
            if side:
                money += side * (marks[tick] / entry - 1.0) - fee * marks[tick] / entry
            if wanted:
                entry = marks[tick]
                money -= fee
            side = wanted
    return money


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.floats(90, 110), st.floats(-0.01, 0.01)), min_size=2, max_size=6),
    st.sampled_from((0.0, 0.0005, 0.02)),
)
def test_spans_are_the_best_of_all_ways_to_be_long_flat_or_short(
    rows: list[tuple[float, float]], fee: float
) -> None:
    """Positions are never closed and opened again the same way here: the oracle may do better."""
    marks, rates = [row[0] for row in rows], [row[1] for row in rows]
    best = max(
        spans_profit(marks, rates, path, fee)
        for path in itertools.product((-1, 0, 1), repeat=len(rows) - 1)
    )
    spans, gain = best_spans(np.array(marks), np.array(rates), fee)
    assert gain >= best - 1e-12
    total = 0.0
    for span in spans:
        path = [span.side if span.opened <= tick < span.closed else 0 for tick in range(len(rows))]
        total += spans_profit(marks, rates, tuple(path[:-1]), fee)
    assert total == pytest.approx(gain, abs=1e-12)


def test_a_fee_above_the_move_keeps_the_oracle_flat() -> None:
    assert best_spans(np.array([100.0, 100.05, 100.0]), np.zeros(3), 0.0005) == ([], 0.0)


def test_the_plan_can_be_carried_out_by_an_agent() -> None:
    """To a few cents: shares come in thousandths."""
    for seed in range(3):
        world, truth = usual(seed)
        episode = play(Game(world, truth.outcomes), make("oracle", world, truth, seed))
        gain = hindsight(world, truth.outcomes).gain
        assert episode.pnl / 1e6 == pytest.approx(gain, abs=0.1)
        assert all(call.code == 0 for call in episode.calls)
