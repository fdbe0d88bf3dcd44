"""Perpetuals move per unit of time, with fat tails, together, without drift, and pay funding."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kstest, t

from agentbench_tui.market.world.bits import Streams
from agentbench_tui.market.world.conditions import CONDITIONS, Conditions
from agentbench_tui.market.world.perpetuals import (
    DEGREES,
    FUNDING_CAP,
    YEAR_S,
    PerpPath,
    draw_backdrop,
    draw_perpetual,
)
from agentbench_tui.market.world.world import WorldConfig

QUIET = Conditions(news=0.0)
"""Neither regimes nor news nor drift: shocks alone."""


@cache
def paths(
    conditions: Conditions, interval_ms: int = 60_000, worlds: int = 150, perpetuals: int = 2
) -> list[list[PerpPath]]:
    config = WorldConfig(interval_ms=interval_ms)
    drawn = []
    for seed in range(worlds):
        streams = Streams(seed)
        backdrop = draw_backdrop(streams, config.ticks, conditions)
        drawn.append(
            [
                draw_perpetual(streams, place, config, conditions, backdrop)
                for place in range(perpetuals)
            ]
        )
    return drawn


def steps(path: PerpPath) -> NDArray[np.float64]:
    """Log returns of the index, one a tick."""
    return np.diff(np.log(np.array(path.index, dtype=np.float64)))


def totals(conditions: Conditions) -> NDArray[np.float64]:
    """Simple return of the index over the whole world, the mean of its perpetuals."""
    return np.array(
        [
            np.mean([path.index[-1] / path.index[0] - 1.0 for path in world])
            for world in paths(conditions)
        ]
    )


def deviation(interval_ms: int, worlds: int) -> float:
    drawn = paths(QUIET, interval_ms, worlds)
    return float(np.std(np.concatenate([steps(path) for world in drawn for path in world])))


def test_deviation_of_a_tick_grows_with_the_square_root_of_its_length() -> None:
    minute, quarter = deviation(60_000, 150), deviation(15_000, 60)
    assert minute / quarter == pytest.approx(2.0, rel=0.08)
    # Yearly volatilities are uniform in 0.6..1.2, whose mean square is 0.84.
    assert minute == pytest.approx((0.84 * 60 / YEAR_S) ** 0.5, rel=0.06)


def test_shocks_are_student_t_with_variance_one() -> None:
    backdrop = draw_backdrop(Streams(1), 20_000, QUIET)
    shocks = backdrop.factor * backdrop.stretch
    scale = (DEGREES / (DEGREES - 2)) ** 0.5
    assert kstest(shocks * scale, t(DEGREES).cdf).pvalue > 0.001
    assert kstest(shocks, "norm").pvalue < 0.001


def test_regimes_keep_the_mean_variance_and_cluster_what_is_large() -> None:
    ratios, clusters = [], []
    for seed in range(60):
        stretch = draw_backdrop(Streams(seed), 500, Conditions(switching=True)).stretch
        quiet = draw_backdrop(Streams(seed), 500, QUIET).stretch
        factor = np.round(stretch / quiet, 9)
        assert set(factor.tolist()) <= {0.7, 1.6}
        ratios.append(float((factor**2).mean()))
        clusters.append(float((factor[1:] == factor[:-1]).mean()))
    assert np.mean(ratios) == pytest.approx(1.0, abs=3.5 * np.std(ratios) / 60**0.5)
    assert np.mean(clusters) > 0.95


def test_two_perpetuals_correlate_by_six_tenths() -> None:
    drawn = paths(QUIET)
    # Each divided by its own deviation first: volatilities differ from world to world.
    pairs = [[steps(path) / steps(path).std() for path in world] for world in drawn]
    one, other = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
    assert np.corrcoef(one, other)[0, 1] == pytest.approx(0.6, abs=0.04)


def test_holding_long_gains_nothing_on_average() -> None:
    gains = totals(CONDITIONS["mixed"])
    assert abs(float(gains.mean())) < 3.0 * float(gains.std()) / len(gains) ** 0.5
    assert 0.4 < float((gains > 0).mean()) < 0.6


@pytest.mark.parametrize(("name", "sign"), [("bull", 1), ("bear", -1), ("crash", -1)])
def test_conditions_with_a_direction_have_it(name: str, sign: int) -> None:
    gains = totals(CONDITIONS[name]) * sign
    assert float(gains.mean()) > 3.0 * float(gains.std()) / len(gains) ** 0.5


def test_volatile_worlds_move_more_than_mixed_ones_and_those_more_than_calm_ones() -> None:
    spreads = [float(totals(CONDITIONS[name]).std()) for name in ("volatile", "mixed", "calm")]
    assert spreads[0] > 1.4 * spreads[1] > 1.4 * 1.4 * spreads[2]


def test_a_crash_falls_near_the_middle_of_the_world() -> None:
    for world in paths(CONDITIONS["crash"], worlds=20):
        for path in world:
            worst = int(np.argmin(steps(path)))
            assert 0.3 < worst / 30 < 0.75


def test_news_strikes_after_it_was_announced_and_moves_the_price_its_way() -> None:
    config = WorldConfig(interval_ms=5_000)
    conditions = Conditions(news=4.0)
    moved, other = [], []
    for seed in range(20):
        streams = Streams(seed)
        backdrop = draw_backdrop(streams, config.ticks, conditions)
        path = draw_perpetual(streams, 0, config, conditions, backdrop)
        assert all(0 <= item.announced < item.tick <= config.ticks for item in path.news)
        assert all(a.tick < b.announced for a, b in zip(path.news, path.news[1:], strict=False))
        returns = steps(path)
        for item in path.news:
            moved.append(float(returns[item.tick - 1]) * (1 if item.size_ppm > 0 else -1))
            assert 1_000 < abs(item.size_ppm) < 20_000
        struck = {item.tick - 1 for item in path.news}
        other += [abs(float(r)) for place, r in enumerate(returns) if place not in struck]
    assert 40 < len(moved) < 100
    assert np.mean(moved) > 5 * np.mean(other)
    assert np.mean(np.array(moved) > 0) > 0.95


def test_news_is_good_as_often_as_bad() -> None:
    signs = [
        item.size_ppm > 0 for world in paths(CONDITIONS["mixed"]) for p in world for item in p.news
    ]
    assert abs(np.mean(signs) - 0.5) < 3.0 * 0.5 / len(signs) ** 0.5


def test_funding_is_the_gap_of_mark_and_index_clamped() -> None:
    rates = []
    for world in paths(QUIET):
        path = world[0]
        for mark, index, rate in zip(path.mark, path.index, path.funding, strict=True):
            gap = (mark / index - 1.0) * 1e9
            rounding = 2e9 * path.definition.price_unit / index
            assert rate == pytest.approx(max(-FUNDING_CAP, min(FUNDING_CAP, gap)), abs=rounding)
            rates.append(rate)
    assert max(rates) == FUNDING_CAP
    assert min(rates) == -FUNDING_CAP
    assert abs(float(np.mean(rates))) < 0.1 * FUNDING_CAP


def test_funding_is_charged_every_eight_hours_or_six_times_in_a_shorter_world() -> None:
    month = WorldConfig(duration_s=30 * 86_400, interval_ms=3_600_000)
    for config, ticks in ((month, 8), (WorldConfig(), 5), (WorldConfig(duration_s=120), 1)):
        backdrop = draw_backdrop(Streams(1), config.ticks, QUIET)
        path = draw_perpetual(Streams(1), 0, config, QUIET, backdrop)
        assert path.definition.funding_ticks == ticks


def test_perpetuals_have_tickers_of_their_own_however_many_there_are() -> None:
    drawn = paths(QUIET, worlds=1, perpetuals=20)[0]
    assert len({path.definition.ticker for path in drawn}) == 20
    assert [path.definition.ticker for path in drawn[:3]] == ["BTC", "ETH", "SOL"]
