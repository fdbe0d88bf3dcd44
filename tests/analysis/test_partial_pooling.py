"""Partial pooling of group means: Rubin's eight schools, a brute-force integral, and limits."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from agentbench_tui.analysis.groups.partial_pooling import partially_pooled

SCHOOLS = [28.0, 8, -3, 7, -1, 1, 18, 12]
ERRORS = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])


def test_eight_schools_are_as_in_the_literature() -> None:
    # Gelman et al., Bayesian Data Analysis, 3rd ed., table 5.3: medians of the same model
    medians = [10, 8, 7, 8, 5, 7, 10, 8]
    found = partially_pooled(SCHOOLS, ERRORS**2)
    assert found is not None
    assert [one.value for one in found] == pytest.approx(medians, abs=1.5)


def test_the_posterior_is_that_of_a_sum_over_a_grid_of_both_parameters() -> None:
    y, v = np.array([0.9, 0.4, 0.6, 0.7]), np.array([0.01, 0.02, 0.005, 0.04])
    mu = np.linspace(-1.5, 2.5, 801)[:, np.newaxis, np.newaxis]
    tau = np.linspace(1e-6, 4.2, 1201)[np.newaxis, :, np.newaxis]
    spread = v + tau**2
    density = np.exp((-0.5 * np.log(spread) - 0.5 * (y - mu) ** 2 / spread).sum(axis=2))
    mean = (y / v + mu / tau**2) / (1 / v + 1 / tau**2)
    expected = (density[:, :, np.newaxis] * mean).sum(axis=(0, 1)) / density.sum()
    found = partially_pooled(y, v)
    assert found is not None
    assert [one.value for one in found] == pytest.approx(expected.tolist(), abs=0.002)


def test_one_group_that_is_hardly_known_leaves_those_of_the_others_exact() -> None:
    y, v = np.array([0.79, 0.8, 0.805, 0.815, 0.3]), np.array([4e-6, 4e-6, 4e-6, 4e-6, 0.2])

    def integral(of: Callable[[float, np.ndarray], float]) -> float:
        """Over τ, of a function of it and of the precisions of the groups."""

        def at(tau: float) -> float:
            weight = 1 / (v + tau**2)
            center = float(weight @ y / weight.sum())
            likelihood = np.prod(np.sqrt(weight)) / np.sqrt(weight.sum())
            density = likelihood * np.exp(-0.5 * float(weight @ (y - center) ** 2))
            return float(density) * of(tau, weight)

        parts = pairwise([0.0, 0.003, 0.01, 0.03, 0.1, 0.5, 5.8])
        return sum(quad(at, low, high, limit=200)[0] for low, high in parts)

    def mean_of_first(tau: float, weight: np.ndarray) -> float:
        own = tau**2 * float(weight[0])
        return own * float(y[0]) + (1 - own) * float(weight @ y / weight.sum())

    whole = integral(lambda *_: 1.0)
    found = partially_pooled(y, v)
    assert found is not None
    assert found[0].value == pytest.approx(integral(mean_of_first) / whole, rel=1e-6)
    weight = integral(lambda tau, weight: tau**2 * float(weight[0])) / whole
    assert found[0].weight == pytest.approx(weight, rel=1e-4)


def test_two_groups_say_nothing_of_their_spread() -> None:
    assert partially_pooled([0.2, 0.9], [0.01, 0.01]) is None


def test_a_mean_that_is_known_well_stays_and_one_that_is_not_goes_to_the_others() -> None:
    found = partially_pooled([0.5, 0.6, 0.7, 0.1], [1e-6, 1e-6, 1e-6, 1e3])
    assert found is not None
    assert found[0].value == pytest.approx(0.5, abs=0.001)
    assert found[3].value == pytest.approx(0.6, abs=0.05)
    assert found[0].weight > 0.99 > 0.01 > found[3].weight


def test_a_variance_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="variance of 0"):
        partially_pooled([0.1, 0.2, 0.3], [0.01, 0.0, 0.01])


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(1e-4, 1)), min_size=3, max_size=12))
def test_an_estimate_lies_among_the_means_and_inside_its_interval(
    groups: list[tuple[float, float]],
) -> None:
    means = [mean for mean, _ in groups]
    found = partially_pooled(means, [variance for _, variance in groups])
    assert found is not None
    for one in found:
        assert min(means) - 1e-9 <= one.value <= max(means) + 1e-9
        assert one.low < one.value < one.high
        assert 0 <= one.weight <= 1
