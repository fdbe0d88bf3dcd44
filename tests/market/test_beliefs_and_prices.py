"""Fair values are calibrated martingales, and prices follow them enough to tell outcomes."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from agentbench_tui.market import bits
from agentbench_tui.market.beliefs import draw_belief
from agentbench_tui.market.bits import Streams
from agentbench_tui.market.traders import draw_kind, trade

Floats = NDArray[np.float64]
TICKS = 48
MARKETS = 2_000


@cache
def drawn() -> tuple[Floats, Floats, Floats]:
    """Fair values and prices, float64[markets, 3] at 1/4, 1/2 and 3/4 of their lives; outcomes."""
    fair, price, outcome = [], [], []
    for market in range(MARKETS):
        streams = Streams(market // 5)
        belief = draw_belief(streams, market % 5, TICKS)
        tape = trade(streams, market % 5, belief, 200, ("informed", "noise"), 1.0)
        at = [belief.resolve_tick * quarter // 4 for quarter in (1, 2, 3)]
        fair.append(belief.fair[at])
        price.append(1.0 / (1.0 + bits.exp(-tape.log_odds[at])))
        outcome.append(float(belief.outcome))
    return np.array(fair), np.array(price), np.array(outcome)


def gap_of_bins(stated: Floats, happened: Floats) -> float:
    """Mean absolute gap between stated and observed frequency over five bins, by their size."""
    place = np.minimum((stated * 5).astype(int), 4)
    return sum(
        abs(float((stated - happened)[place == bin_].sum())) / len(stated) for bin_ in range(5)
    )


def test_fair_values_are_calibrated_within_two_hundredths() -> None:
    fair, _, outcome = drawn()
    happened = np.repeat(outcome, 3)
    assert gap_of_bins(fair.reshape(-1), happened) < 0.02


def test_fair_values_are_unbiased_in_every_bin() -> None:
    fair, _, outcome = drawn()
    for column in fair.T:
        place = np.minimum((column * 5).astype(int), 4)
        for bin_ in range(5):
            chosen = place == bin_
            error = float((outcome - column)[chosen].mean())
            spread = float(np.sqrt((column * (1 - column))[chosen].mean() / chosen.sum()))
            assert abs(error) < 3.5 * spread


def test_prices_are_calibrated_within_two_hundredths() -> None:
    fair, price, outcome = drawn()
    assert gap_of_bins(price.reshape(-1), np.repeat(outcome, 3)) < 0.02
    # Against the fair value, which is what the outcome is drawn from, with far less chance in it.
    assert gap_of_bins(price.reshape(-1), fair.reshape(-1)) < 0.02


def test_half_way_the_price_tells_much_of_the_outcome() -> None:
    _, price, outcome = drawn()
    assert np.corrcoef(price[:, 1], outcome)[0, 1] >= 0.5
    brier = float(((price[:, 1] - outcome) ** 2).mean())
    assert brier < 0.18
    assert float(((price[:, 0] - outcome) ** 2).mean()) > brier


def test_fair_values_are_a_martingale() -> None:
    fair, _, _ = drawn()
    steps = np.diff(fair, axis=1)
    for before, step in zip(fair.T[:2], steps.T, strict=True):
        spread = float(step.std() / MARKETS**0.5)
        assert abs(float(step.mean())) < 3.5 * spread
        # What has happened says nothing of the next step: neither its sign nor its slope.
        slope = float(np.corrcoef(before, step)[0, 1])
        assert abs(slope) < 3.5 / MARKETS**0.5


def test_one_who_knows_the_fair_value_forecasts_better_than_the_price() -> None:
    fair, price, outcome = drawn()
    by_fair = (fair[:, 1] - outcome) ** 2
    by_price = (price[:, 1] - outcome) ** 2
    gain = by_price - by_fair
    assert float(gain.mean()) > 2.5 * float(gain.std()) / MARKETS**0.5


def test_a_fair_value_ends_at_the_outcome_and_is_certain_only_then() -> None:
    for market in range(50):
        belief = draw_belief(Streams(3), market, TICKS)
        end = belief.resolve_tick
        assert TICKS // 2 < end <= TICKS
        assert (belief.fair[end:] == float(belief.outcome)).all()
        # Normal tails beyond seven deviations are cut.
        assert ((belief.fair[: end // 2] > 0.0) & (belief.fair[: end // 2] < 1.0)).all()


def test_markets_resolve_at_staggered_times() -> None:
    ends = [draw_belief(Streams(4), market, 1_000).resolve_tick for market in range(200)]
    assert len(set(ends)) > 150
    assert min(ends) < 550
    assert max(ends) > 950


def test_every_kind_of_agent_occurs() -> None:
    kinds = [draw_kind(Streams(5), agent) for agent in range(800)]
    shares = {kind: kinds.count(kind) / 800 for kind in set(kinds)}
    assert shares["informed"] == pytest.approx(3 / 8, abs=0.06)
    assert set(shares) == {"informed", "noise", "momentum", "contrarian", "market_maker"}


def correlation_of_moves(kind: str, lag: int) -> float:
    """Of price moves `lag` ticks apart when four agents of that kind trade beside the crowd."""
    pairs = []
    for market in range(60):
        belief = draw_belief(Streams(6), market, 200)
        odds = trade(Streams(6), market, belief, 200, (kind,) * 8, 1.0).log_odds
        moves = np.diff(odds[: belief.resolve_tick // 2])
        pairs.append((moves[:-lag], moves[lag:]))
    before, after = (np.concatenate(side) for side in zip(*pairs, strict=True))
    return float(np.corrcoef(before, after)[0, 1])


def test_momentum_prolongs_moves_and_market_makers_damp_them() -> None:
    assert correlation_of_moves("momentum", 1) > correlation_of_moves("market_maker", 1) + 0.02


def test_informed_agents_bring_the_price_nearer_to_the_fair_value() -> None:
    def gap(kind: str) -> float:
        total = []
        for market in range(60):
            belief = draw_belief(Streams(7), market, 200)
            tape = trade(Streams(7), market, belief, 200, (kind,) * 8, 1.0)
            total.append(float(np.abs(tape.gap[: belief.resolve_tick // 2]).mean()))
        return float(np.mean(total))

    assert gap("informed") < 0.9 * gap("noise")


def test_volume_covers_every_move_of_the_flow() -> None:
    belief = draw_belief(Streams(8), 0, 300)
    tape = trade(Streams(8), 0, belief, 150, ("noise", "informed", "contrarian"), 1.0)
    moves, volumes = np.abs(np.diff(tape.flow)), np.diff(tape.volume)
    assert (moves <= volumes + 3).all()
    assert tape.volume[-1] > np.abs(np.diff(tape.flow)).sum()
