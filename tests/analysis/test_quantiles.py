"""Quantiles found together are those found one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.analysis.intervals.estimate import quantile_estimate
from agentbench_tui.analysis.intervals.quantiles import quantile_estimates, weighted_quantiles

SHARES = (0.5, 0.9, 0.95, 0.99, 0.999)


@given(st.lists(st.floats(-1e6, 1e6), max_size=400), st.lists(st.sampled_from(SHARES), max_size=5))
def test_together_and_one_by_one_are_the_same(values: list[float], shares: list[float]) -> None:
    together = quantile_estimates(values, shares)
    for q, found in zip(shares, together, strict=True):
        alone = quantile_estimate(values, q)
        assert found.value == (None if alone.value is None else pytest.approx(alone.value))
        assert (found.low, found.high, found.n) == (alone.low, alone.high, alone.n)
        assert (found.method, found.reason) == (alone.method, alone.reason)


def test_a_long_column_has_every_quantile_as_numpy_finds_it() -> None:
    values = np.random.default_rng(7).lognormal(3, 1, 5000)
    found = quantile_estimates(values, SHARES)
    np.testing.assert_allclose([one.value for one in found], np.quantile(values, SHARES))
    for one in found:
        assert one.low is not None
        assert one.value is not None
        assert one.high is not None
        assert one.low < one.value < one.high


@pytest.mark.parametrize(("share", "count"), [(0.95, 59), (0.99, 299), (0.999, 2995)])
def test_a_quantile_that_n_cannot_support_says_how_many_it_needs(share: float, count: int) -> None:
    assert quantile_estimates(range(count), [share])[0].value is not None
    (short,) = quantile_estimates(range(count - 1), [share])
    assert short.value is None
    assert short.reason == f"needs {count:,} (have {count - 1:,})"


@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 9)), min_size=1, max_size=400),
    st.sampled_from(SHARES),
)
def test_a_weight_of_n_is_n_equal_values(pairs: list[tuple[int, int]], share: float) -> None:
    values, weights = zip(*pairs, strict=True)
    (found,) = weighted_quantiles(values, weights, [share])
    repeated = np.repeat(values, weights)
    expected = float(np.quantile(repeated, share, method="inverted_cdf"))
    if found.value is None:
        assert found.reason == quantile_estimate(values, share).reason
    else:
        assert found.value == expected


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=3100), st.sampled_from(SHARES))
def test_equal_weights_are_none(values: list[int], share: float) -> None:
    (found,) = weighted_quantiles(values, [0.3] * len(values), [share])
    if found.value is not None:
        assert found.value == float(np.quantile(values, share, method="inverted_cdf"))


def test_every_value_has_its_weight() -> None:
    with pytest.raises(ValueError, match="3 values but 2 weights"):
        weighted_quantiles([1, 2, 3], [1, 1], [0.5])
