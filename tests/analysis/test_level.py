"""A level: median and spread by hand, and what outliers do to them."""

from __future__ import annotations

import numpy as np
import pytest

from agentbench_tui.analysis.runs.level import Level, dependence, tamed


def test_middle_and_spread_by_hand() -> None:
    level = Level.of(np.array([1.0, 2.0, 3.0, 4.0, 10.0]))
    assert (level.middle, level.runs) == (3.0, 5)
    # one of five is too many for an outlier: sd = √12.5
    assert level.spread == pytest.approx(np.sqrt(12.5))
    # 7 others at 0.9…1.1, of which 3.0 is drawn in to 1.01 + 4 × 1.4826 × 0.05 = 1.3065
    one_off = np.array([1.0, 1.1, 0.9, 1.0, 1.05, 0.95, 1.02, 3.0])
    drawn_in = np.array([*one_off[:7], 1.01 + 4 * 1.482602218505602 * 0.05]).std(ddof=1)
    assert Level.of(one_off).spread == pytest.approx(max(drawn_in, one_off.std(ddof=1) / 2))
    assert Level.of(np.array([0.1] * 3)).spread == Level.of(np.array([7.0])).spread == 0


def test_spread_is_the_standard_deviation_in_spite_of_a_few_outliers() -> None:
    draw = np.random.default_rng(3)
    spreads = []
    for _ in range(200):
        x = draw.normal(0, 1, 40)
        x[:1] = 6
        spreads.append(Level.of(x).spread)
    assert np.mean(spreads) == pytest.approx(1.1, abs=0.1)  # the sd with them: 1.4


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


def test_dependence_is_that_of_a_correlated_series() -> None:
    """Of 0.5 from run to run √3: by simulation, the sd of the mean of many runs over sd/√n."""
    draw = np.random.default_rng(5)
    x = draw.normal(0, 1, 4000)
    for run in range(1, 4000):
        x[run] += 0.5 * x[run - 1]
    means = x.reshape(-1, 40).mean(axis=1)
    assert dependence(x) == pytest.approx(means.std() / (x.std() / np.sqrt(40)), rel=0.15)
    assert dependence(x) == pytest.approx(np.sqrt(3), rel=0.1)
    assert dependence(draw.permutation(x)) == pytest.approx(1, abs=0.05)
    assert dependence(np.array([1.0] * 9)) == 1
