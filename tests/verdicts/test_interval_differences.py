"""p of differences of estimates, against scipy, pair by pair."""

import math

import numpy as np
import pytest
from scipy import stats

from agentbench_tui.analysis.intervals.estimate import Estimate
from agentbench_tui.verdicts.ranking.interval_differences import interval_differences


def test_each_pair_has_the_p_of_its_facing_interval_ends() -> None:
    draw = np.random.default_rng(5)
    ends = [
        (value, value - below, value + above)
        for value, below, above in draw.uniform(0.01, 1, (12, 3)).tolist()
    ]
    found = interval_differences([Estimate(*one, 10, "made") for one in ends])
    for a in range(len(ends)):
        for b in range(a):
            upper, lower = sorted((ends[a], ends[b]), reverse=True)
            reach = math.hypot(upper[0] - upper[1], lower[2] - lower[0])
            z = stats.norm.ppf(0.975) * (upper[0] - lower[0]) / reach
            assert found[a, b] == found[b, a] == pytest.approx(2 * stats.norm.sf(z))


def test_what_is_allowed_does_not_count() -> None:
    two = [Estimate(0.6, 0.5, 0.7, 10, "made"), Estimate(0.4, 0.3, 0.5, 10, "made")]
    assert interval_differences(two)[0, 1] == pytest.approx(2 * stats.norm.sf(1.96 * 2**0.5), 1e-3)
    assert interval_differences(two, 0.2)[0, 1] == 1.0
    assert interval_differences(two, np.full((2, 2), 0.25))[0, 1] == 1.0


def test_without_a_width_any_difference_is_certain_and_without_an_interval_none_is_tested() -> None:
    exact = [Estimate(one, one, one, 10, "made") for one in (0.5, 0.5, 0.6)]
    found = interval_differences([*exact, Estimate(0.9, None, None, 10, "made")])
    assert found[0, 1] == 1.0
    assert found[0, 2] == 0.0
    assert np.isnan(found[3]).all()
