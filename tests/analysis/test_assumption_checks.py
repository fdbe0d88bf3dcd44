"""Checks of assumptions against scipy, and None where there is nothing to check."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.analysis.differences.assumption_checks import (
    GoodnessTest,
    ks_2samp,
    levene,
    shapiro,
)

LATENCY_A = [
    812.4, 795.1, 901.7, 778.3, 850.2, 833.9, 1204.6, 799.8, 841.5, 826.0, 870.3, 788.9, 915.2,
    806.7, 848.8,
]  # fmt: skip
LATENCY_B = [
    880.9, 861.3, 968.2, 842.7, 930.1, 899.5, 1310.4, 858.2, 905.6, 872.3, 955.0, 851.1, 998.8,
    869.4, 921.7,
]  # fmt: skip
CONTROL = [0.812, 0.794, 0.851, 0.777, 0.806, 0.839, 0.765, 0.823, 0.798, 0.845]
CANDIDATE = [0.861, 0.822, 0.874, 0.835, 0.829, 0.902, 0.787, 0.858, 0.901, 0.866]


def close(test: GoodnessTest | None, statistic: float, p: float) -> bool:
    assert test is not None
    return (test.statistic, test.p) == pytest.approx((statistic, p), rel=1e-7)


def test_rewards_of_two_versions() -> None:
    gains = np.subtract(CANDIDATE, CONTROL)
    assert close(shapiro(gains), 0.815203072550, 0.022171288138)
    assert close(shapiro(CONTROL), 0.963472488303, 0.824624181121)
    assert close(shapiro(CANDIDATE), 0.958672297411, 0.770633239115)
    assert close(levene(CONTROL, CANDIDATE), 0.418424717594, 0.525887664200)


def test_latencies_of_two_versions() -> None:
    assert close(ks_2samp(LATENCY_A, LATENCY_B), 0.6666666666666666, 0.0018373939965002021)
    assert ks_2samp(LATENCY_B, LATENCY_A) == ks_2samp(LATENCY_A, LATENCY_B)


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(3, 20), min_size=2, max_size=4))
def test_levene_is_scipys(seed: int, sizes: list[int]) -> None:
    generator = np.random.default_rng(seed)
    columns = [generator.normal(100, 1 + place, size) for place, size in enumerate(sizes)]
    expected = stats.levene(*columns, center="mean")
    assert close(levene(*columns), expected.statistic, expected.pvalue)
    scaled = levene(*(column * 1024 for column in columns))
    assert close(scaled, expected.statistic, expected.pvalue)


@pytest.mark.parametrize(("n", "m", "method"), [(1000, 30, "exact"), (1001, 30, "asymp")])
def test_distributions_of_long_columns_are_compared_by_the_limit_law(
    n: int, m: int, method: str
) -> None:
    generator = np.random.default_rng(n)
    x, y = generator.normal(0, 1, n), generator.normal(0.4, 1, m)
    expected = stats.ks_2samp(x, y, method=method)
    assert close(ks_2samp(x, y), expected.statistic, expected.pvalue)
    other = stats.ks_2samp(x, y, method={"exact": "asymp", "asymp": "exact"}[method])
    assert not close(ks_2samp(x, y), other.statistic, other.pvalue)


def test_skewed_data_look_less_normal_than_normal_ones() -> None:
    normal = np.random.default_rng(1).normal(0, 1, 60)
    even, skewed = shapiro(normal), shapiro(np.exp(normal))
    assert even is not None
    assert skewed is not None
    assert even.p > 0.05 > 1e-4 > skewed.p
    assert skewed.statistic < even.statistic <= 1


def test_where_there_is_nothing_to_check() -> None:
    constant = [0.1 * 3] * 7
    assert shapiro([1.0, 2.0]) is None
    assert shapiro(constant) is None
    assert shapiro(np.arange(5001)) is None
    assert shapiro(np.arange(5000)) is not None
    assert ks_2samp([], [1.0]) is None
    assert ks_2samp([1.0], []) is None
    assert ks_2samp(constant, constant) == GoodnessTest(0.0, 1.0)
    assert levene(constant, constant) is None
    assert levene([0.1, 0.3], [0.7, 1.2]) is None
    assert levene([1.0], [1.0, 2.0, 4.0]) is None
    assert levene(constant, [1.0, 2.0, 4.0]) is not None
    with pytest.raises(ValueError, match="two columns or more, got 1"):
        levene([1.0, 2.0])
    with pytest.raises(ValueError, match="NaN"):
        shapiro([1.0, 2.0, float("nan")])
