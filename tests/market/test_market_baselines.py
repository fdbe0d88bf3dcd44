"""The shipped players: ordered by what they know, and knowing only what they may."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from playing import usual
from tiny_worlds import tiny_world, truth_of

from agentbench_tui.market.baselines import BASELINES, make, play
from agentbench_tui.market.baselines.belief import Belief, Trust
from agentbench_tui.market.baselines.player import move_to, seats
from agentbench_tui.market.judging.metrics import attainable, measure
from agentbench_tui.market.play.game import Game
from agentbench_tui.market.world.generator import generate
from agentbench_tui.market.world.world import World, WorldConfig
from agentbench_tui.model.errors import UsageError

WORLDS = 20


@cache
def results() -> dict[str, list[dict[str, Any]]]:
    """Metrics of every baseline in every world, in order of worlds."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in BASELINES}
    for seed in range(WORLDS):
        world, truth = usual(seed)
        could = attainable(world, truth)
        for name in BASELINES:
            game = Game(world, truth.outcomes)
            episode = play(game, make(name, world, truth, seed))
            assert game.account.total == world.rules.balance
            found[name].append(measure(episode, world, truth, could).values)
    return found


def column(name: str, metric: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([values[metric] for values in results()[name]], dtype=np.float64)


def test_who_knows_more_wins_more() -> None:
    means = [column(name, "total_pnl").mean() for name in ("oracle", "bayes", "follower", "random")]
    assert means == sorted(means, reverse=True)
    worth = column("bayes", "fair_pnl")
    assert worth.mean() > 2 * worth.std(ddof=1) / math.sqrt(WORLDS)


def test_always_long_is_not_better_than_random() -> None:
    gap = column("always_long", "total_pnl") - column("random", "total_pnl")
    assert gap.mean() < 2 * gap.std(ddof=1) / math.sqrt(WORLDS)


def test_forecasts_are_ordered_too() -> None:
    briers = [column(name, "brier").mean() for name in ("oracle", "bayes", "follower", "random")]
    assert briers == sorted(briers)
    assert briers[0] == 0.0
    assert column("follower", "brier_skill") == pytest.approx(0.0, abs=1e-9)


def test_credit_by_fair_values_is_between_nothing_and_all_for_who_is_good() -> None:
    assert (column("hold", "optimality_fair") == 0.0).all()
    assert 0.03 < column("bayes", "optimality_fair").mean() < 1.0
    assert (column("bayes", "optimality_fair") < 1.0).all()
    assert column("random", "optimality_fair").mean() < 0.0
    assert column("oracle", "optimality") == pytest.approx(1.0, abs=1e-3)


def test_no_baseline_but_random_is_ever_refused() -> None:
    for name, rows in results().items():
        if name != "random":
            assert all(values["invalid_calls"] == 0 for values in rows), name


def test_a_seed_gives_the_same_game_again() -> None:
    world, truth = usual(1)
    pnl = [
        play(Game(world, truth.outcomes), make("random", world, truth, seed)).pnl
        for seed in (4, 4, 5)
    ]
    assert pnl[0] == pnl[1] != pnl[2]


@given(st.floats(-400, 400), st.floats(-400, 400), st.integers(-200, 200))
def test_a_position_is_moved_to_where_it_is_wanted(first: float, second: float, flow: int) -> None:
    world = tiny_world([[flow, flow]], marks=[[100.0, 100.0]])
    game = Game(world, truth_of(world, True).outcomes)
    for wanted in (first, second):
        (seat,) = seats(game.observation())
        move_to(seat, wanted, game.call)
        assert game.account.holdings[0].net / 1_000 == pytest.approx(wanted, abs=0.003)


def test_hearing_somebody_reliable_moves_a_belief_and_a_guesser_does_not() -> None:
    """With a normal belief at the price, sign known: mean is sqrt(2 / pi) deviations up."""
    for right, shift in ((1.0, math.sqrt(2 / math.pi)), (0.5, 0.0), (0.0, -math.sqrt(2 / math.pi))):
        belief = Belief(0.0, 0.4)
        spread = math.sqrt(belief.variance)
        belief.hear(1, 0.0, right)
        assert belief.mean == pytest.approx(shift * spread)
        assert belief.variance == pytest.approx(spread**2 * (1 - shift**2))


def test_a_price_that_rose_steadily_is_believed_more_than_one_that_jumped() -> None:
    steady, once = Belief(0.0, 0.1), Belief(0.0, 0.1)
    for step in range(1, 9):
        steady.observe(0.1 * step, 400 - step)
        once.observe(0.8 if step == 8 else 0.0, 400 - step)
    assert 0.8 > steady.mean > once.mean > 0.0
    assert steady.wanted(390) > once.wanted(390)


def test_trust_is_learned() -> None:
    trust = Trust()
    start = trust.mean
    for _ in range(20):
        trust.learn(1.0)
    assert start < 0.7 < 0.9 < trust.mean


def test_an_unknown_baseline_is_told_with_the_nearest() -> None:
    world = tiny_world()
    with pytest.raises(UsageError, match="bayes"):
        make("baies", world, truth_of(world, True), 0)


MODULUS = 2**32


def attack(world: World, truth_outcomes: dict[str, bool]) -> tuple[int, int]:
    """What broke the original: two queries, its generator's state from the numbers they show.

    There 3 draws made a market (coin, YES and NO shares), 4 a perpetual, 2 an agent, and then each
    outcome was whether the next draw was above 1/2. Returns right guesses, and all.
    """
    game = Game(world, truth_outcomes)
    markets = game.call("a2a.getPredictions")["predictions"]
    perps = game.call("a2a.getPerpetuals")["perpetuals"]
    shares = markets[-1]["noShares"] or markets[-1]["yesShares"]
    low, span = (100.0, 300.0) if markets[-1]["yesPrice"] > 0.5 else (300.0, 700.0)
    state = int((shares - low) / span * MODULUS) % MODULUS
    for _ in range(4 * len(perps) + 2 * len(world.agents)):
        state = (1_664_525 * state + 1_013_904_223) % MODULUS
    right = 0
    for market in markets:
        state = (1_664_525 * state + 1_013_904_223) % MODULUS
        right += (state / MODULUS > 0.5) == truth_outcomes[market["id"]]
    return right, len(markets)


def test_the_attack_on_the_original_predicts_no_better_than_the_market() -> None:
    guessed = asked = market = 0
    for seed in range(60):
        world, truth = generate(WorldConfig(seed=seed, duration_s=300, agents=0))
        right, count = attack(world, truth.outcomes)
        guessed, asked = guessed + right, asked + count
        market += sum(
            (flow[0] > 0) == truth.outcomes[each.id]
            for flow, each in zip(world.flows, world.markets, strict=True)
        )
    assert guessed < market
    assert guessed / asked < 0.5 + 2 * 0.5 / math.sqrt(asked)
