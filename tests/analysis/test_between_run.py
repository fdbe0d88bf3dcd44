"""The allowance for what runs differ by, where they are too few to show it."""

import math

import numpy as np
import pytest
from scipy import stats

from agentbench_tui.analysis.runs.between_run import (
    between_run_error,
    between_run_sd,
    interval_with_error,
    outlasts_run_variance,
    p_of_interval,
    ratio_interval_with_error,
)
from agentbench_tui.analysis.scale import Scale


def test_runs_vary_by_five_percent_unless_they_show_more() -> None:
    assert between_run_sd(np.zeros(1), np.ones(1)) == 0.05
    assert between_run_sd(np.array([0.0, 0.01]), np.array([0.3, 0.31])) == 0.05
    # two runs 0.2 apart and two that agree: (0.02 + 0) / 2 degrees of freedom
    assert between_run_sd(np.array([0.0, 0.2]), np.array([1.0, 1.0])) == pytest.approx(0.1)


def test_the_error_of_two_means_is_that_of_their_runs() -> None:
    assert between_run_error((1, 1)) == pytest.approx(0.05 * math.sqrt(2))
    assert between_run_error((2, 2)) == pytest.approx(0.05)
    assert between_run_error((4, 1), 0.1) == pytest.approx(0.1 * math.sqrt(1.25))


def test_an_interval_with_an_error_is_that_of_the_sum_of_two_normals() -> None:
    z = stats.norm.ppf(0.975)
    low, high = interval_with_error(0.3, 0.3 - z * 0.03, 0.3 + z * 0.03, 0.04, 0.95)
    assert (low, high) == pytest.approx((0.3 - z * 0.05, 0.3 + z * 0.05))
    assert p_of_interval(0.3, low, high) == pytest.approx(2 * stats.norm.sf(0.3 / 0.05))
    assert p_of_interval(-0.3, -high, -low) == pytest.approx(2 * stats.norm.sf(0.3 / 0.05))
    beyond = p_of_interval(0.3, low, high, allowed=0.1)
    assert beyond == pytest.approx(2 * stats.norm.sf(0.2 / 0.05))
    assert p_of_interval(0.1, 0.0, 0.2, allowed=0.2) == 1.0
    assert p_of_interval(0.0, -0.1, 0.1) == 1.0


@pytest.mark.parametrize("rounding", [0.0, 1e-15, -1e-15])
def test_an_interval_without_width_gets_that_of_the_error_on_both_sides(rounding: float) -> None:
    end = 1.2 * (1 + rounding)
    low, high = ratio_interval_with_error(1.2, end, end, 0.04, 0.95)
    factor = math.exp(stats.norm.ppf(0.975) * 0.04)
    assert (low, high) == pytest.approx((1.2 / factor, 1.2 * factor))
    assert ratio_interval_with_error(1.2, 0.0, math.inf, 0.04, 0.95) == (0.0, math.inf)


@pytest.mark.parametrize(
    ("change", "draws", "is_believed"),
    [
        # exp(log 1.10 + 1.96 × 0.0707) = 1.26 for one run each, 1.21 for two, in either direction
        (1.25, (1, 1), False),
        (1.28, (1, 1), True),
        (1 / 1.25, (1, 1), False),
        (1 / 1.28, (1, 1), True),
        (1.20, (2, 2), False),
        (1.23, (2, 2), True),
        (1.03, (3, 3), True),
        (1.20, (5, 1), False),
    ],
)
def test_what_few_runs_show(change: float, draws: tuple[int, int], is_believed: bool) -> None:
    low, high = change * 0.995, change * 1.005
    for better in ("lower", "higher"):
        scale = Scale(better)  # type: ignore[arg-type]  # a literal
        assert outlasts_run_variance(change, low, high, scale, draws) == is_believed


def test_few_runs_never_decide_on_points() -> None:
    assert not outlasts_run_variance(0.5, 0.4, 0.6, Scale("higher", "points"), (1, 1))
    assert outlasts_run_variance(0.5, 0.4, 0.6, Scale("higher", "points"), (3, 3))
