"""Metrics of an episode, against numbers worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tiny_worlds import FakeClock, post, tiny_world, truth_of

from agentbench_tui.market.judging.forecasts import score
from agentbench_tui.market.judging.metrics import Metrics, measure
from agentbench_tui.market.play.actions import MethodError
from agentbench_tui.market.play.episode import Episode
from agentbench_tui.market.play.game import Game, GameConfig
from agentbench_tui.market.play.signals import share_gains
from agentbench_tui.market.world.truth import Truth
from agentbench_tui.market.world.world import Group, Invitation, Message, World


def played(
    world: World, truth: Truth, turns: dict[int, list[tuple[str, dict[str, Any]]]]
) -> Episode:
    game = Game(world, truth.outcomes)
    while not game.is_over:
        for method, params in turns.get(game.tick, []):
            game.call(method, params)
        game.advance()
    return game.episode()


def buy(amount: float, outcome: str = "YES", market: int = 0) -> tuple[str, dict[str, Any]]:
    return "a2a.buyShares", {"marketId": f"market-{market}", "outcome": outcome, "amount": amount}


def forecast(probability: float, market: int = 0) -> tuple[str, dict[str, Any]]:
    return "a2a.submitForecast", {"marketId": f"market-{market}", "probability": probability}


def metrics_of(
    world: World, truth: Truth, turns: dict[int, list[tuple[str, dict[str, Any]]]]
) -> Metrics:
    return measure(played(world, truth, turns), world, truth)


def test_profit_is_shares_times_a_dollar_less_what_they_cost() -> None:
    """$50 buy 100 ln(2 e^0.5 - 1) shares at b = 100 and price 1/2."""
    world = tiny_world()
    shares = 100 * math.log(2 * math.exp(0.5) - 1)
    values = metrics_of(world, truth_of(world, True), {0: [buy(50)]}).values
    assert values["total_pnl"] == pytest.approx(shares - 50, abs=0.001)
    assert values["pnl_percent"] == pytest.approx((shares - 50) / 100, abs=1e-5)
    assert values["turnover"] == pytest.approx(0.005)
    values = metrics_of(world, truth_of(world, False), {0: [buy(50)]}).values
    assert values["total_pnl"] == pytest.approx(-50)


def test_accuracy_is_of_markets_that_resolved_while_shares_were_held() -> None:
    world = tiny_world([[0] * 4] * 3)
    turns = {0: [buy(10), buy(10, "NO", 1), buy(10, "YES", 2)]}
    turns[1] = [("a2a.sellShares", {"marketId": "market-2", "shares": 19.0})]
    found = metrics_of(world, truth_of(world, True, True, False), turns).values
    assert found["positions_resolved"] == 3
    assert found["prediction_accuracy"] == pytest.approx(1 / 3)


def test_the_win_rate_has_wilson_s_interval() -> None:
    """1 of 2: 0.5 and 0.0945 to 0.9055 (Wilson 1927)."""
    world = tiny_world(marks=[[100, 110, 110, 110]])
    order = {"ticker": "P0", "size": 100}
    turns = {0: [("a2a.openPosition", {**order, "side": side}) for side in ("LONG", "SHORT")]}
    values = metrics_of(world, truth_of(world, True), turns).values
    assert values["perp_win_rate"] == 0.5
    interval = values["perp_win_rate_interval"]
    assert interval == {
        "low": pytest.approx(0.0945, abs=1e-4),
        "high": pytest.approx(0.9055, abs=1e-4),
    }
    assert values["fees"] == pytest.approx(0.05 * 2 + 0.055 * 2)
    assert values["perp_pnl"] == pytest.approx(-0.21)


def test_what_cannot_be_had_is_none_with_a_reason() -> None:
    world = tiny_world()
    metrics = metrics_of(world, truth_of(world, True), {})
    for name in ("prediction_accuracy", "perp_win_rate", "brier", "sharpe", "social_value"):
        assert metrics.values[name] is None
        assert metrics.missing[name]
    nothing = {name for name, value in metrics.values.items() if value is None}
    assert nothing == set(metrics.missing)


def test_forecasts_hold_until_the_next_and_weigh_markets_alike() -> None:
    """Market 0: 0.8, 0.8, 0.5 of YES; market 1: 0.4 of NO at its last tick only."""
    world = tiny_world([[0] * 4] * 2)
    turns = {0: [forecast(0.8)], 2: [forecast(0.5), forecast(0.4, 1)]}
    values = metrics_of(world, truth_of(world, True, False), turns).values
    assert values["brier"] == pytest.approx(((0.04 + 0.04 + 0.25) / 3 + 0.16) / 2)
    logs = (2 * math.log(0.8) + math.log(0.5)) / 3 + math.log(0.6)
    assert values["log_score"] == pytest.approx(-logs / 2)
    assert values["brier_market"] == pytest.approx(0.25)
    assert values["forecast_coverage"] == pytest.approx(4 / 6)
    parts = values["brier_reliability"] - values["brier_resolution"] + values["brier_uncertainty"]
    assert parts + values["brier_within_bins"] == pytest.approx(values["brier"])


def test_parts_of_the_brier_score_are_murphy_s() -> None:
    """Two said 0.2 (none happened), two 0.6 (one happened): base rate 1/4."""
    scores = score(np.array([0.2, 0.2, 0.6, 0.6]), np.array([0.0, 0.0, 1.0, 0.0]), np.full(4, 0.25))
    assert scores.reliability == pytest.approx((0.04 + 0.01) / 2)
    assert scores.resolution == pytest.approx((0.25**2 + 0.25**2) / 2)
    assert scores.uncertainty == pytest.approx(0.1875)
    assert scores.brier == pytest.approx((0.04 + 0.04 + 0.16 + 0.36) / 4)
    assert scores.within_bins == pytest.approx(0.0, abs=1e-12)
    assert scores.ece == pytest.approx((0.2 + 0.1) / 2)


def test_being_sure_and_wrong_has_a_finite_price() -> None:
    scores = score(np.array([1.0]), np.array([0.0]), np.array([1.0]))
    assert scores.brier == 1.0
    assert scores.log_score == pytest.approx(-math.log(1e-4))


def test_drawdown_and_sharpe_are_of_the_equity_curve() -> None:
    """A long of $1,000: +100, -150, +50 dollars; from a peak of 10,099.5 down to 9,949.5."""
    world = tiny_world(marks=[[100, 110, 95, 100]])
    order = {"ticker": "P0", "side": "LONG", "size": 1_000}
    values = metrics_of(world, truth_of(world, True), {0: [("a2a.openPosition", order)]}).values
    assert values["max_drawdown_usd"] == pytest.approx(150.0)
    assert values["max_drawdown"] == pytest.approx(150.0 / 10_099.5)
    equity = np.array([10_000, 10_099.5, 9_949.5, 9_999.0])
    returns = equity[1:] / equity[:-1] - 1
    sharpe = returns.mean() / returns.std(ddof=1) * math.sqrt(3)
    assert values["sharpe"] == pytest.approx(sharpe)


def test_gains_of_ticks_add_up_to_the_profit() -> None:
    world = tiny_world([[0, 40, -20, 10, 10]], marks=[[100.0] * 5])
    truth = truth_of(world, True)
    turns = {
        0: [buy(30)],
        2: [("a2a.sellShares", {"marketId": "market-0", "shares": 20}), buy(10, "NO")],
    }
    episode = played(world, truth, turns)
    held = np.cumsum(
        [
            sum(t.outcome * t.shares / 1e3 for t in episode.trades if t.tick == tick)
            for tick in range(4)
        ]
    )
    gains = share_gains(np.array([0.0, 40, -20, 10]), held, 100, outcome=True)
    assert gains.sum() == pytest.approx(episode.pnl / 1e6, abs=0.01)
    assert np.diff(episode.equity)[:3] / 1e6 == pytest.approx(gains[:3], abs=0.01)


def test_social_value_is_what_positions_on_the_side_of_signals_gained() -> None:
    """The first lean is followed and gains; the second is against the position."""
    flow = [0, 40, 40, 0, 0, 0, 0, 0, 0, 0, 0]
    posts = (post(0, "market-0", 1), post(2, "market-0", -1))
    world = tiny_world([flow], marks=[[100.0] * 11], posts=posts)
    values = metrics_of(world, truth_of(world, True), {0: [buy(30)]}).values
    assert values["signals_followed"] == 1
    assert values["signal_precision"] == 1.0
    shares = 100 * math.log(2 * math.exp(0.3) - 1)

    def worth(net: float) -> float:
        return 100 * (math.log1p(math.exp((net + shares) / 100)) - math.log1p(math.exp(net / 100)))

    assert values["social_value"] == pytest.approx(worth(40) - worth(0), abs=0.01)


def social(world: World, *turns: tuple[int, str, Any]) -> tuple[int, float]:
    """Signals followed and their value, 0 where it has none.

    Turns are a tick with YES or NO and an amount, or with a method and its parameters.
    """
    game: dict[int, list[tuple[str, dict[str, Any]]]] = {}
    for tick, what, given in turns:
        call = buy(given, what) if what in {"YES", "NO"} else (what, given)
        game.setdefault(tick, []).append(call)
    values = metrics_of(world, truth_of(world, True), game).values
    return values["signals_followed"], values["social_value"] or 0.0


def test_only_what_was_changed_after_a_signal_follows_it() -> None:
    """With 30 ticks a signal holds for 3; the price moves at tick 7 alone."""
    flow = [0] * 7 + [40] * 24
    world = tiny_world([flow], marks=[[100.0] * 31], posts=(post(5, "market-0", 1),))
    assert social(world, (4, "YES", 30)) == (0, 0.0)
    assert social(world, (5, "NO", 30)) == (0, 0.0)
    assert social(world, (8, "YES", 30)) == (0, 0.0)
    after = social(world, (5, "YES", 30))
    assert after[0] == 1
    held_before = social(world, (4, "YES", 30), (6, "YES", 30))
    both = social(world, (5, "YES", 30), (6, "YES", 30))
    assert held_before[0] == both[0] == 1
    assert 0 < held_before[1] < both[1]
    assert held_before[1] + after[1] == pytest.approx(both[1], abs=0.1)


def test_signals_that_lean_alike_are_one_course_and_news_is_none() -> None:
    flow = [0] * 7 + [40] * 24
    posts = (post(5, "market-0", 1), post(6, "market-0", 1))
    world = tiny_world([flow], marks=[[100.0] * 31], posts=posts)
    signals, value = social(world, (5, "YES", 30))
    assert signals == 2
    alone = tiny_world([flow], marks=[[100.0] * 31], posts=posts[:1])
    assert value == pytest.approx(social(alone, (5, "YES", 30))[1])
    news = tiny_world([flow], marks=[[100.0] * 31], posts=(post(5, "market-0", 1, "news"),))
    assert social(news, (5, "YES", 30)) == (0, 0.0)


@pytest.mark.parametrize(("joined", "followed"), [(5, 1), (7, 1), (8, 0)])
def test_a_message_is_a_signal_from_joining_on_while_it_is_fresh(
    joined: int, followed: int
) -> None:
    world = tiny_world(
        [[0] * 31],
        marks=[[100.0] * 31],
        groups=(Group("g", "Group", 0, ("agent-0",)),),
        invitations=(Invitation("g", 0),),
        messages=(Message("m", 5, "g", "agent-0", "words", "market-0", 1),),
    )
    join = (joined, "a2a.joinGroup", {"groupId": "g"})
    assert social(world, join, (joined, "YES", 30))[0] == followed


def test_optimality_counts_the_side() -> None:
    """The original gave 100 for buying the wrong side of everything."""
    world = tiny_world(marks=[[100.0] * 4])
    right = metrics_of(world, truth_of(world, True), {0: [buy(300)]}).values
    wrong = metrics_of(world, truth_of(world, True), {0: [buy(300, "NO")]}).values
    assert 0 < right["optimality"] < 1
    assert wrong["optimality"] < 0
    assert right["hindsight_pnl"] == pytest.approx(
        5_000 - 100 * (math.log1p(math.exp(50)) - math.log(2))
    )


def test_fair_value_is_free_of_luck() -> None:
    """At fair value 0.7 and price 1/2 buying YES is worth the same, whatever the outcome is."""
    world = tiny_world([[0, 0]], marks=[[100.0, 100.0]])
    shares = 100 * math.log(2 * math.exp(0.2) - 1)
    found = []
    for outcome in (True, False):
        truth = truth_of(world, outcome, fair=0.7)
        values = metrics_of(world, truth, {0: [buy(20)]}).values
        found.append(values["fair_pnl"])
        assert values["fair_pnl"] == pytest.approx(0.7 * shares - 20, abs=0.001)
        best = 100 * (math.log1p(0.7 / 0.3) - math.log(2))
        held = 100 * math.log(0.7 / 0.3)
        assert values["reference_pnl"] == pytest.approx(0.7 * held - best, abs=0.001)
    assert found[0] == found[1]


def test_response_times_time_outs_and_invalid_calls_are_counted() -> None:
    clock = FakeClock()
    world = tiny_world()
    truth = truth_of(world, True)
    game = Game(world, truth.outcomes, GameConfig(now=clock))
    while not game.is_over:
        game.observation()
        clock.wait(0.05)
        with pytest.raises(MethodError):
            game.call("a2a.buyShares", {})
        game.call("a2a.getFeed")
        game.advance()
    values = measure(game.episode(), world, truth).values
    assert values["response_ms"]["p99"] == pytest.approx(50)
    assert values["turn_ms"]["p50"] == pytest.approx(50)
    assert (values["calls"], values["invalid_calls"], values["invalid_rate"]) == (6, 3, 0.5)
    assert values["feed_reads"] == values["social_engagement"] == 3
