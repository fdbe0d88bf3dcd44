"""Fair values are calibrated martingales, and prices follow them enough to tell outcomes."""

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from agentbench_tui.market.world import bits
from agentbench_tui.market.world.beliefs import draw_belief
from agentbench_tui.market.world.bits import Streams
from agentbench_tui.market.world.conditions import CONDITIONS
from agentbench_tui.market.world.traders import draw_kind, draw_liquidity, trade
from agentbench_tui.market.world.world import WorldConfig

Floats = NDArray[np.float64]
TICKS = WorldConfig().ticks
WORLDS, OF_EACH = 400, WorldConfig().markets
MARKETS = WORLDS * OF_EACH
AT_CHANCE = 0.0095
"""Mean of `gap_of_bins` over 60 lists of 2,000 random walks that are calibrated by their making and
were drawn without this package; 0.0144 was its 95th percentile, 0.0154 the highest."""


class Drawn(NamedTuple):
    """2,000 markets of default worlds, of the seeds 0 to 399."""

    fair: Floats
    """float64[markets, 3]: at 1/4, 1/2 and 3/4 of their lives."""
    price: Floats
    """As `fair`."""
    outcome: Floats
    every_fair: Floats
    """Of all ticks at which a market can be traded, one market after the other."""
    every_price: Floats
    every_outcome: Floats


@cache
def drawn() -> Drawn:
    fair, price, outcome = [], [], []
    fairs, prices, outcomes = [], [], []
    for seed in range(WORLDS):
        streams = Streams(seed)
        kinds = [draw_kind(streams, agent) for agent in range(WorldConfig().agents)]
        for market in range(OF_EACH):
            belief = draw_belief(streams, market, TICKS)
            end, b = belief.resolve_tick, draw_liquidity(streams, market)
            tape = trade(streams, market, belief, b, kinds, CONDITIONS["mixed"].noise)
            stated = 1.0 / (1.0 + bits.exp(-tape.log_odds))
            at = [end * quarter // 4 for quarter in (1, 2, 3)]
            fair.append(belief.fair[at])
            price.append(stated[at])
            outcome.append(float(belief.outcome))
            fairs.append(belief.fair[:end])
            prices.append(stated[:end])
            outcomes.append(np.full(end, outcome[-1]))
    return Drawn(
        np.array(fair), np.array(price), np.array(outcome),
        np.concatenate(fairs), np.concatenate(prices), np.concatenate(outcomes),
    )  # fmt: skip


def gap_of_bins(stated: Floats, happened: Floats) -> float:
    """Expected calibration error over ten bins of equal mass: the mean over bins of the absolute
    gap between the mean stated probability and the frequency of what happened.

    Bins of equal mass: Nguyen and O'Connor, EMNLP 2015; Nixon et al., CVPR workshops 2019. All
    ticks of a market are stated probabilities, so all count: at one tick of each of 2,000 markets
    chance alone makes a calibrated forecaster 0.014 to 0.019.
    """
    bins = np.array_split(np.argsort(stated, kind="stable"), 10)
    return sum(abs(float((stated - happened)[one].sum())) for one in bins) / len(stated)


def test_fair_values_are_calibrated_within_two_hundredths() -> None:
    found = drawn()
    assert gap_of_bins(found.every_fair, found.every_outcome) < 0.02


def test_prices_are_calibrated_within_two_hundredths() -> None:
    found = drawn()
    assert gap_of_bins(found.every_price, found.every_outcome) < 0.02
    # Against the fair value, which is what the outcome is drawn from, with far less chance in it.
    assert gap_of_bins(found.every_price, found.every_fair) < 0.01


def test_what_is_not_calibrated_is_seen_to_be_so() -> None:
    found = drawn()
    odds = bits.logit(np.clip(found.every_fair, 1e-6, 1.0 - 1e-6))
    for wrong in (1.0 / (1.0 + np.exp(-1.3 * odds)), 1.0 / (1.0 + np.exp(-odds - 0.2))):
        assert gap_of_bins(wrong, found.every_outcome) > 0.02


def test_chance_alone_is_well_below_the_bar() -> None:
    """Calibrated by its making: the sign of a walk, and its probability by the normal law."""
    chance = np.random.default_rng(1)
    gaps = []
    for _ in range(5):
        end = np.minimum(TICKS, 1 + (TICKS * (0.5 + 0.5 * chance.random(MARKETS))).astype(int))
        steps = chance.normal(size=(MARKETS, TICKS + 1))
        steps[:, 0] *= 0.6 * np.sqrt(end)
        walk = steps.cumsum(axis=1)
        left = end[:, None] - np.arange(TICKS + 1)
        is_open = left > 0
        fair = bits.normal_cdf((walk / np.sqrt(np.where(is_open, left, 1)))[is_open])
        outcome = (walk[np.arange(MARKETS), end] > 0.0).astype(float)
        gaps.append(gap_of_bins(fair, np.repeat(outcome, end)))
    assert np.mean(gaps) == pytest.approx(AT_CHANCE, abs=0.004)


def test_fair_values_are_unbiased_in_every_bin() -> None:
    fair, outcome = drawn().fair, drawn().outcome
    for column in fair.T:
        place = np.minimum((column * 5).astype(int), 4)
        for bin_ in range(5):
            chosen = place == bin_
            error = float((outcome - column)[chosen].mean())
            spread = float(np.sqrt((column * (1 - column))[chosen].mean() / chosen.sum()))
            assert abs(error) < 3.5 * spread


def test_half_way_the_price_tells_much_of_the_outcome() -> None:
    price, outcome = drawn().price, drawn().outcome
    assert np.corrcoef(price[:, 1], outcome)[0, 1] >= 0.5
    brier = float(((price[:, 1] - outcome) ** 2).mean())
    assert brier < 0.18
    assert float(((price[:, 0] - outcome) ** 2).mean()) > brier


def test_fair_values_are_a_martingale() -> None:
    fair = drawn().fair
    steps = np.diff(fair, axis=1)
    for before, step in zip(fair.T[:2], steps.T, strict=True):
        spread = float(step.std() / MARKETS**0.5)
        assert abs(float(step.mean())) < 3.5 * spread
        # What has happened says nothing of the next step: neither its sign nor its slope.
        slope = float(np.corrcoef(before, step)[0, 1])
        assert abs(slope) < 3.5 / MARKETS**0.5


def test_one_who_knows_the_fair_value_forecasts_better_than_the_price() -> None:
    fair, price, outcome = drawn()[:3]
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
