"""A level: median and spread by hand, and what outliers do to them."""

from __future__ import annotations

import numpy as np
import pytest

from agentbench_tui.analysis.level import Level, tamed


def test_middle_and_spread_by_hand() -> None:
    level = Level.of(np.array([1.0, 2.0, 3.0, 4.0, 10.0]))
    assert (level.middle, level.runs) == (3.0, 5)
    # deviations 2 1 0 1 7: their median 1; sd = √12.5, half of it is more
    assert level.spread == pytest.approx(np.sqrt(12.5) / 2)
    assert Level.of(np.array([1.0, 2.0, 3.0, 4.0, 5.0])).spread == pytest.approx(1.482602218505602)
    assert Level.of(np.array([0.1] * 3)).spread == Level.of(np.array([7.0])).spread == 0


def test_spread_is_the_standard_deviation_in_spite_of_a_few_outliers() -> None:
    draw = np.random.default_rng(3)
    spreads = []
    for _ in range(200):
        x = draw.normal(0, 1, 40)
        x[:1] = 6
        spreads.append(Level.of(x).spread)
    assert np.mean(spreads) == pytest.approx(1.0, abs=0.1)


def test_errors_of_prediction_and_of_shift() -> None:
    """Against simulation: normal runs, medians of 20 and of 5."""
    draw = np.random.default_rng(4)
    x = draw.normal(0, 1, (4000, 26))
    old, new, one = np.median(x[:, :20], axis=1), np.median(x[:, 20:25], axis=1), x[:, 25]
    level = Level(0.0, 1.0, 20)
    assert level.prediction_error == pytest.approx((one - old).std(), rel=0.04)
    assert level.shift_error(5) == pytest.approx((new - old).std(), rel=0.08)


def test_tamed_draws_in_outliers_only() -> None:
    x = np.array([1.0, 1.1, 0.9, 1.0, 1.05, 0.95, 1.02, 3.0])
    drawn = tamed(x)
    assert drawn[:7].tolist() == x[:7].tolist()
    # median 1.01, deviations 1 1 4 4 6 9 11 199 hundredths: their median is 5
    assert drawn[7] == pytest.approx(1.01 + 4 * 1.482602218505602 * 0.05)


def test_a_second_mode_is_not_made_of_outliers() -> None:
    two_modes = np.array([1.0, 1.1, 0.9, 1.0, 1.05, 3.1, 3.0])
    assert tamed(two_modes).tolist() == two_modes.tolist()
    mostly_equal = np.array([1.0] * 9 + [0.9])
    assert tamed(mostly_equal).tolist() == mostly_equal.tolist()
