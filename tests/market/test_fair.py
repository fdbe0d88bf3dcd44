"""What positions are worth by fair values: agrees with generated worlds, and with sums by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from playing import usual
from tiny_worlds import tiny_world, truth_of

from agentbench_tui.market.judging.fair import (
    expected_gains,
    expected_move,
    fair_inventory,
    perp_edges,
    reference,
    reversion,
)
from agentbench_tui.market.play.signals import share_gains
from agentbench_tui.market.world.beliefs import draw_belief
from agentbench_tui.market.world.bits import Streams
from agentbench_tui.market.world.traders import draw_kind, draw_liquidity, trade
from agentbench_tui.market.world.truth import NewsTruth

WORLDS = 30


@pytest.mark.parametrize(("ticks", "worlds"), [(30, 40), (120, 15), (600, 5)])
def test_prices_move_as_is_expected_whatever_a_tick_is(ticks: int, worlds: int) -> None:
    """Regression of moves on expected moves: slope 1; their variance within a factor of 1.5.

    If it fails, `traders` trades otherwise than the constants of `fair` were fitted to.
    """
    expected, moved, variances = [], [], []
    for seed in range(worlds):
        streams = Streams(seed)
        kinds = [draw_kind(streams, agent) for agent in range(8)]
        for place in range(5):
            belief = draw_belief(streams, place, ticks)
            tape = trade(streams, place, belief, draw_liquidity(streams, place), kinds, 1.0)
            here = tape.log_odds[: belief.resolve_tick]
            fair, left = belief.fair[: len(here)], np.arange(len(here), 0, -1.0)
            move, variance = expected_move(here, fair, left, reversion(ticks))
            # Beyond, quotes end where fair values go on.
            usual = (fair[:-1] > 0.1) & (fair[:-1] < 0.9)
            expected += move[:-1][usual].tolist()
            moved += np.diff(here)[usual].tolist()
            variances += variance[:-1][usual].tolist()
    means, moves = np.array(expected), np.array(moved)
    assert (means * moves).sum() / (means**2).sum() == pytest.approx(1.0, abs=0.07)
    assert 1 / 1.5 < ((moves - means) ** 2).mean() / np.mean(variances) < 1.5


def test_the_reference_wins_what_it_is_expected_to() -> None:
    gaps = []
    for seed in range(WORLDS):
        world, truth = usual(seed)
        found = reference(world, truth)
        won = 0.0
        for place, market in enumerate(world.markets):
            flow = np.array(world.flows[place][: market.resolve_tick]) / 1_000
            held = np.array(found.shares[place][: market.resolve_tick])
            won += share_gains(flow, held, market.b, truth.outcomes[market.id]).sum()
        gaps.append(won - found.market_value)
    assert abs(np.mean(gaps)) < 3 * np.std(gaps, ddof=1) / math.sqrt(WORLDS)


def test_no_other_inventory_is_worth_more() -> None:
    world, truth = usual(1)
    speed = reversion(world.ticks)
    for place, market in enumerate(world.markets):
        flow = np.array(world.flows[place][: market.resolve_tick]) / 1_000
        fair = np.array(truth.fair[place][: market.resolve_tick]) / 1e6
        held = fair_inventory(flow, fair, market.b, 1_000, speed)
        best = expected_gains(flow, fair, held, market.b, speed)
        tried = [
            expected_gains(flow, fair, np.full(len(flow), level), market.b, speed)
            for level in np.linspace(-1_000, 1_000, 41)
        ]
        assert best.sum() >= 0.99 * np.max(tried, axis=0).sum()


def test_at_the_last_tick_the_best_price_is_the_fair_one() -> None:
    held = fair_inventory(np.array([0.0]), np.array([0.8]), 100.0, 1_000.0, 0.5)
    assert held == pytest.approx([100 * math.log(0.8 / 0.2)])


def test_holding_nothing_is_worth_nothing() -> None:
    gains = expected_gains(np.array([5.0, -3.0]), np.array([0.4, 0.6]), np.zeros(2), 100.0, 0.4)
    assert gains == pytest.approx([0.0, 0.0], abs=1e-12)


def test_news_that_is_drawn_is_in_a_perpetual_s_fair_value_until_it_strikes() -> None:
    world = tiny_world(marks=[[100.0, 100.0, 100.0, 102.0]])
    news = NewsTruth("P0", announced=1, tick=3, size_ppm=20_000)
    truth = replace(truth_of(world, True), news=(news,))
    assert perp_edges(world, truth, 0) == pytest.approx([0.0, 2.0, 2.0, 0.0])
    found = reference(world, truth)
    assert [(s.opened, s.closed, s.side) for s in found.spans[0]] == [(1, 3, 1)]
    fees = 0.0005 * (1 + 1.02)
    assert found.perp_value == pytest.approx(25_000 * (0.02 - fees))
