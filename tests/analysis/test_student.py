"""t tests against scipy, and what they say of constants, where scipy says nothing."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.analysis.differences.alternative import Alternative
from agentbench_tui.analysis.differences.student import TTest, paired_t, student_t, welch
from agentbench_tui.analysis.intervals.interval import Interval

ALTERNATIVES: list[Alternative] = ["two-sided", "greater", "less"]
alternatives = st.sampled_from(ALTERNATIVES)
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
Test = Callable[..., TTest | None]
seeds = st.integers(0, 2**32 - 1)
levels = st.floats(0.5, 0.999)


def run(test: Test, *columns: object, **options: object) -> TTest:
    result = test(*columns, **options)
    assert result is not None
    return result


def close(value: float) -> object:
    return pytest.approx(value, rel=1e-9)


def test_latencies_of_two_versions() -> None:
    result = run(welch, LATENCY_B, LATENCY_A)
    assert result.t == close(1.7507167340945167)
    assert result.df == close(27.69176695742646)
    assert result.p == close(0.09106749323442881)
    ends = (-11.9643073906999, 152.20430739069968)
    assert (result.interval.low, result.interval.high) == close_pair(ends)
    pooled = run(student_t, LATENCY_B, LATENCY_A)
    assert (pooled.t, pooled.df) == (close(1.7507167340945167), 28)
    assert pooled.p == close(0.09094569134837217)


def test_latencies_of_two_versions_pair_by_pair() -> None:
    result = run(paired_t, np.subtract(LATENCY_B, LATENCY_A))
    assert (result.t, result.df) == (close(19.505950449912483), 14)
    assert result.p == close(1.5089858668524904e-11)
    ends = (62.409919789195875, 77.83008021080417)
    assert (result.interval.low, result.interval.high) == close_pair(ends)


def test_rewards_of_two_versions() -> None:
    result = run(welch, CANDIDATE, CONTROL)
    assert (result.t, result.df) == close_pair((2.920557940271, 17.1744448558))
    assert (result.difference, result.p) == close_pair((0.0425, 0.009462578212))
    result = run(paired_t, np.subtract(CANDIDATE, CONTROL))
    assert (result.t, result.p) == close_pair((5.090844711875, 0.000653182882))
    assert (result.interval.low, result.interval.high) == pytest.approx(
        (0.023614788, 0.061385212), abs=5e-10
    )


def close_pair(values: tuple[float, float]) -> object:
    return pytest.approx(values, rel=1e-9)


@given(seeds, st.integers(2, 30), st.integers(2, 30), alternatives, levels)
def test_two_columns_are_scipys(
    seed: int, n: int, m: int, alternative: Alternative, level: float
) -> None:
    generator = np.random.default_rng(seed)
    x, y = generator.normal(0.5, 1, n), generator.normal(0, 3, m)
    for test, equal in ((welch, False), (student_t, True)):
        expected = stats.ttest_ind(x, y, equal_var=equal, alternative=alternative)
        result = run(test, x, y, alternative=alternative, level=level)
        assert (result.t, result.df) == close_pair((expected.statistic, expected.df))
        assert result.p == close(expected.pvalue)
        ends = expected.confidence_interval(level)
        assert result.interval.low == pytest.approx(ends.low, rel=1e-9, abs=1e-12)
        assert result.interval.high == pytest.approx(ends.high, rel=1e-9, abs=1e-12)


@given(seeds, st.integers(2, 30), alternatives, levels)
def test_pairs_are_scipys(seed: int, n: int, alternative: Alternative, level: float) -> None:
    d = np.random.default_rng(seed).normal(0.3, 1, n)
    expected = stats.ttest_1samp(d, 0, alternative=alternative)
    result = run(paired_t, d, alternative=alternative, level=level)
    assert (result.t, result.p) == close_pair((expected.statistic, expected.pvalue))
    ends = expected.confidence_interval(level)
    assert result.interval.low == pytest.approx(ends.low, rel=1e-9, abs=1e-12)
    assert result.interval.high == pytest.approx(ends.high, rel=1e-9, abs=1e-12)


@given(seeds, st.integers(2, 12), st.integers(2, 12), alternatives, st.floats(0.01, 0.99))
def test_the_interval_holds_what_the_test_does_not_reject(
    seed: int, n: int, m: int, alternative: Alternative, level: float
) -> None:
    generator = np.random.default_rng(seed)
    x, y = generator.normal(1, 1, n), generator.normal(0, 1, m)
    for result in (
        run(welch, x, y, alternative=alternative, level=level),
        run(student_t, x, y, alternative=alternative, level=level),
        run(paired_t, x, alternative=alternative, level=level),
    ):
        assert (result.interval.low <= 0 <= result.interval.high) == (result.p >= 1 - level)


@given(seeds, st.integers(2, 30), st.integers(2, 30))
def test_swapping_sides_mirrors_and_units_do_not_matter(seed: int, n: int, m: int) -> None:
    generator = np.random.default_rng(seed)
    x, y = generator.lognormal(0.3, 1, n), generator.lognormal(0, 1, m)
    for test in (welch, student_t):
        result, swapped = run(test, x, y), run(test, y, x)
        assert (swapped.t, swapped.p) == close_pair((-result.t, result.p))
        assert swapped.interval.low == close(-result.interval.high)
        assert run(test, x, y, alternative="less").p == close(
            run(test, y, x, alternative="greater").p
        )
        scaled = run(test, x * 1000, y * 1000)
        assert (scaled.t, scaled.p) == close_pair((result.t, result.p))
        assert scaled.interval.low == pytest.approx(result.interval.low * 1000, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("n", "m", "spread"), [(5, 5, 1.0), (8, 20, 3.0)])
def test_p_is_uniform_without_a_difference(n: int, m: int, spread: float) -> None:
    generator = np.random.default_rng(n)
    x, y = generator.normal(0, 1, (500, n)), generator.normal(0, spread, (500, m))
    rows = list(zip(x, y, strict=True))
    assert stats.kstest([run(welch, *row).p for row in rows], "uniform").pvalue > 0.001
    assert stats.kstest([run(paired_t, row).p for row in x], "uniform").pvalue > 0.001
    if spread == 1.0:
        assert stats.kstest([run(student_t, *row).p for row in rows], "uniform").pvalue > 0.001


@pytest.mark.parametrize("test", [welch, student_t])
def test_constant_columns(test: Test) -> None:
    equal = run(test, [0.1 * 3] * 7, [0.1 * 3] * 3)
    assert (equal.t, equal.df, equal.p, equal.difference) == (0.0, 8, 1.0, 0.0)
    assert (equal.interval.low, equal.interval.high) == (0.0, 0.0)
    above = run(test, [3.0] * 3, [1.0] * 3)
    assert (above.t, above.p, above.interval.low, above.interval.high) == (math.inf, 0.0, 2.0, 2.0)
    assert run(test, [1.0] * 3, [3.0] * 3).t == -math.inf
    assert run(test, [3.0] * 3, [1.0] * 3, alternative="less").p == 1.0
    assert run(test, [1.0] * 3, [1.0] * 3, alternative="greater").p == 1.0
    one_constant = run(test, [1.0, 1.0, 1.0], [0.0, 1.0, 2.0])
    assert one_constant.p == pytest.approx(1.0)


def test_constant_differences() -> None:
    assert run(paired_t, [0.0] * 5).p == 1.0
    result = run(paired_t, [0.1] * 7)
    assert (result.t, result.p, result.difference) == (math.inf, 0.0, 0.1)
    assert result.interval == Interval(0.1, 0.1, 0.95, "paired t")


def test_too_few_values_have_no_test() -> None:
    assert welch([1.0], [1.0, 2.0]) is None
    assert welch([1.0, 2.0], []) is None
    assert student_t([1.0, 2.0], [1.0]) is None
    assert paired_t([1.0]) is None
    assert paired_t([]) is None


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ValueError, match="NaN"):
        welch([1.0, float("nan")], [1.0, 2.0])
    with pytest.raises(ValueError, match="not 'both'"):
        paired_t([1.0, 2.0], "both")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not 'both'"):
        paired_t([0.0, 0.0], "both")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="level between 0 and 1"):
        paired_t([1.0, 2.0], level=95)
