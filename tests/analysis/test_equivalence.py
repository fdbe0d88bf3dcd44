"""Equivalence tests against scipy and PowerTOST, the rule of the verdict, laws, simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.analysis.differences.difference_verdict import Verdict, verdict
from agentbench_tui.analysis.differences.equivalence import (
    power_equivalence,
    tost,
    tost_difference,
    tost_ratio,
    values_needed,
)
from agentbench_tui.analysis.power import sample_size_two_sample
from agentbench_tui.analysis.scale import Better

CONTROL = [0.812, 0.794, 0.851, 0.777, 0.806, 0.839, 0.765, 0.823, 0.798, 0.845]
CANDIDATE = [0.861, 0.822, 0.874, 0.835, 0.829, 0.902, 0.787, 0.858, 0.901, 0.866]

positive = st.lists(st.floats(0.1, 1e3), min_size=4, max_size=20).filter(
    lambda x: float(np.std(np.log(x))) > 1e-3
)
OPPOSITE: dict[Verdict, Verdict] = {
    "better": "worse",
    "worse": "better",
    "equivalent": "equivalent",
    "inconclusive": "inconclusive",
}


@pytest.mark.parametrize("margin", [0.03, 0.06, 0.08])
@pytest.mark.parametrize("paired", [True, False])
def test_tost_is_scipys_two_one_sided_tests(margin: float, paired: bool) -> None:
    found = tost_difference(CONTROL, CANDIDATE, margin, paired=paired)
    assert found is not None
    b, a = np.array(CANDIDATE), np.array(CONTROL)
    if paired:
        lower = stats.ttest_rel(b + margin, a, alternative="greater")
        upper = stats.ttest_rel(b - margin, a, alternative="less")
        interval = stats.ttest_rel(b, a).confidence_interval(0.90)
    else:
        lower = stats.ttest_ind(b + margin, a, alternative="greater", equal_var=False)
        upper = stats.ttest_ind(b - margin, a, alternative="less", equal_var=False)
        interval = stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.90)
    assert (found.p_lower, found.p_upper) == pytest.approx((lower.pvalue, upper.pvalue), rel=1e-8)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), rel=1e-9)
    assert found.estimate == pytest.approx(0.0425)
    assert found.p == max(found.p_lower, found.p_upper)
    assert found.equivalent == (found.p < 0.05)


def test_a_ratio_is_tested_on_logs_with_reciprocal_margins() -> None:
    found = tost_ratio(CONTROL, CANDIDATE, 0.10)
    logs = tost_difference(np.log(CONTROL), np.log(CANDIDATE), math.log(1.1))
    assert found is not None
    assert logs is not None
    assert found.p == pytest.approx(logs.p, rel=1e-9)
    assert found.equivalent is logs.equivalent is True
    assert found.estimate == pytest.approx(stats.gmean(CANDIDATE) / stats.gmean(CONTROL))
    assert (found.low, found.high) == pytest.approx((math.exp(logs.low), math.exp(logs.high)))
    assert (found.lower_margin, found.upper_margin) == (1 / 1.1, 1.1)


@given(positive, positive, st.floats(0.01, 2), st.sampled_from([1e-3, 1.0, 60.0]))
def test_swapping_the_sides_gives_the_reciprocal_and_units_do_not_matter(
    a: list[float], b: list[float], margin: float, factor: float
) -> None:
    one = tost_ratio(a, b, margin)
    other = tost_ratio(np.array(b) * factor, np.array(a) * factor, margin)
    assert one is not None
    assert other is not None
    assert other.estimate == pytest.approx(1 / one.estimate, rel=1e-9)
    assert (other.low, other.high) == pytest.approx((1 / one.high, 1 / one.low), rel=1e-7)
    assert other.p == pytest.approx(one.p, rel=1e-6, abs=1e-12)


@given(
    st.floats(-1, 1),
    st.floats(0.01, 1),
    st.sampled_from([3.0, 27.7, math.inf]),
    st.floats(0.01, 1),
    st.sampled_from([0.01, 0.05, 0.1]),
)
def test_the_interval_and_the_p_value_agree(
    estimate: float, error: float, df: float, margin: float, alpha: float
) -> None:
    found = tost(estimate, error, df, margin, alpha=alpha)
    if abs(found.p - alpha) > 1e-9:
        assert found.equivalent == (found.p < alpha)
    assert tost(estimate, error, df, margin * 1.1, alpha=alpha).p <= found.p
    mirrored = tost(-estimate, error, df, margin, alpha=alpha)
    assert (mirrored.p_lower, mirrored.p_upper) == (found.p_upper, found.p_lower)


def test_constants_are_judged_by_what_they_are() -> None:
    same = tost_difference([2, 2, 2], [2, 2], 0.1)
    assert same is not None
    assert (same.p, same.equivalent, same.low, same.high) == (0, True, 0, 0)
    at_margin = tost(0.5, 0, 3, 0.5)
    assert (at_margin.p, at_margin.equivalent) == (1, False)
    beyond = tost_ratio([1, 1], [2, 2], 0.5, paired=True)
    assert beyond is not None
    assert (beyond.p, beyond.equivalent) == (1, False)


@pytest.mark.parametrize(
    ("effect", "low", "high", "p", "expected"),
    [
        (0.08, 0.05, 0.11, 0.001, "better"),
        (-0.08, -0.11, -0.05, 0.001, "worse"),
        (0.05, 0.01, 0.09, 0.04, "better"),
        (0.05, 0.01, 0.09, 0.05, "inconclusive"),  # p must be below alpha
        (0.025, 0.01, 0.04, 0.01, "better"),  # half the margin is enough, even inside it
        (0.024, 0.01, 0.04, 0.01, "equivalent"),  # sure, and too small to matter
        (0.024, 0.00, 0.06, 0.01, "inconclusive"),
        (0.0, -0.04, 0.04, 1.0, "equivalent"),
        (0.0, -0.05, 0.04, 1.0, "inconclusive"),  # touches the margin
        (0.0, -0.2, 0.2, 1.0, "inconclusive"),
    ],
)
def test_the_rule_with_a_margin_of_five_points(
    effect: float, low: float, high: float, p: float, expected: Verdict
) -> None:
    assert verdict(effect, low, high, p, 0.05, "higher") == expected
    assert verdict(effect, low, high, p, 0.05, "lower") == OPPOSITE[expected]


@pytest.mark.parametrize(
    ("ratio", "low", "high", "p", "expected"),
    [
        (1.10, 1.06, 1.14, 0.001, "worse"),
        (0.90, 0.87, 0.94, 0.001, "better"),
        (1.0251, 1.01, 1.04, 0.01, "worse"),
        (1.0249, 1.01, 1.04, 0.01, "equivalent"),
        (1 / 1.0251, 0.96, 0.99, 0.01, "better"),
        (1 / 1.0249, 0.96, 0.99, 0.01, "equivalent"),
        (1.0, 0.9524, 1.0499, 0.9, "equivalent"),  # 1 / 1.05 = 0.95238
        (1.0, 0.9523, 1.0499, 0.9, "inconclusive"),
        (1.3, 0.0, math.inf, 0.2, "inconclusive"),
    ],
)
def test_the_rule_for_a_time_with_a_margin_of_five_percent(
    ratio: float, low: float, high: float, p: float, expected: Verdict
) -> None:
    assert verdict(ratio, low, high, p, 0.05, "lower", ratio=True) == expected


@given(
    st.floats(0.5, 2),
    st.floats(1.001, 1.5),
    st.floats(0, 1),
    st.floats(0.01, 0.3),
    st.sampled_from(["higher", "lower"]),
)
def test_a_swap_turns_the_verdict_round(
    ratio: float, spread: float, p: float, margin: float, better: Better
) -> None:
    one = verdict(ratio, ratio / spread, ratio * spread, p, margin, better, ratio=True)
    other = verdict(1 / ratio, 1 / (ratio * spread), spread / ratio, p, margin, better, ratio=True)
    edges = [abs(math.log(ratio)) - math.log1p(margin / 2)]
    edges.append(abs(math.log(ratio)) + math.log(spread) - math.log1p(margin))
    if min(abs(edge) for edge in edges) > 1e-9:
        assert other == OPPOSITE[one]


@pytest.mark.parametrize("p", [None, math.nan])
def test_what_is_missing_never_wins(p: float | None) -> None:
    assert verdict(0.9, 0.8, 1.0, p, 0.05, "higher") == "inconclusive"
    assert verdict(0.0, -0.01, 0.01, p, 0.05, "higher") == "equivalent"
    assert verdict(0.0, None, None, p, 0.05, "higher") == "inconclusive"
    assert verdict(0.0, math.nan, math.nan, p, 0.05, "higher") == "inconclusive"
    for missing in (None, math.nan, math.inf):
        assert verdict(missing, 0.0, 0.0, 0.001, 0.05, "higher") == "inconclusive"
    assert verdict(0.0, 0.0, 0.0, 0.001, 0.05, "lower", ratio=True) == "inconclusive"


def test_equivalent_columns_are_wrongly_called_so_in_no_more_than_alpha() -> None:
    """The truth lies on the margin: TOST errs in at most 5%."""
    generator = np.random.default_rng(20261128)
    wrong = 0
    for _ in range(400):
        a, b = generator.normal(0, 0.3, 20), generator.normal(0.5, 0.3, 20)
        found = tost_difference(a, b, 0.5)
        assert found is not None
        wrong += found.equivalent
    assert wrong / 400 == pytest.approx(0.05, abs=0.044)


def test_power_of_equivalence_is_powertosts() -> None:
    """R's PowerTOST for a 2x2 crossover, CV 30%, true ratio 0.95, margins 0.80 … 1.25.

    40 subjects have a power of 0.815845 and 38 degrees of freedom, as two columns of 20 with an
    sd smaller by √2.
    """
    sd = math.sqrt(math.log(1 + 0.3**2)) / math.sqrt(2)
    power = power_equivalence(math.log(1.25) / sd, 20, effect=math.log(0.95) / sd)
    assert power == pytest.approx(0.815845, abs=5e-7)


@pytest.mark.parametrize(("margin", "n", "effect", "paired"), [(1.2, 8, 0.3, False), (1, 6, 0, 1)])
def test_power_of_equivalence_is_what_simulated_tests_reach(
    margin: float, n: int, effect: float, paired: bool
) -> None:
    generator = np.random.default_rng(20261128)
    x = generator.standard_normal((20_000, n)) + effect
    if paired:
        error, df = x.std(axis=1, ddof=1) / math.sqrt(n), n - 1
        estimate = x.mean(axis=1)
    else:
        y = generator.standard_normal((20_000, n))
        estimate, df = x.mean(axis=1) - y.mean(axis=1), 2 * n - 2
        error = np.sqrt((x.var(axis=1, ddof=1) + y.var(axis=1, ddof=1)) / n)
    within = np.abs(estimate) + stats.t.ppf(0.95, df) * error < margin
    found = power_equivalence(margin, n, effect=effect, paired=paired)
    assert within.mean() == pytest.approx(found, abs=0.014)


@given(st.floats(0.2, 3), st.integers(2, 200), st.booleans())
def test_power_of_equivalence_grows_with_n_and_the_margin(
    margin: float, n: int, paired: bool
) -> None:
    """Below a power of 0.2 n may do harm: two values have a small sd by chance more often."""
    power = power_equivalence(margin, n, paired=paired)
    assert 0 <= power <= 1 + 1e-12
    assert power < 0.2 or power_equivalence(margin, n + 1, paired=paired) >= power - 1e-12
    assert power_equivalence(margin * 1.1, n, paired=paired) >= power - 1e-12
    off = power_equivalence(margin, n, effect=0.1, paired=paired)
    assert off <= power + 1e-12
    assert power_equivalence(margin, n, effect=-0.1, paired=paired) == pytest.approx(off, rel=1e-9)


@given(st.floats(0.02, 2), st.floats(0.05, 0.5), st.booleans(), st.sampled_from([0.8, 0.9]))
def test_values_needed_are_the_fewest_that_settle_it_either_way(
    sd: float, margin: float, paired: bool, power: float
) -> None:
    n = values_needed(sd, margin, paired=paired, power=power)
    size = margin / sd
    assert power_equivalence(size, n, paired=paired) >= power
    fewest = 6 if paired else 4
    assert n >= fewest
    if not paired and n > fewest:
        detected = sample_size_two_sample(size, power).n
        assert n == detected or power_equivalence(size, n - 1) < power
        assert n >= detected


def test_values_needed_for_times_with_a_tenth_of_spread_and_five_percent() -> None:
    """By the normal formula 2 (1.645 + 1.282)² 0.01 / log(1.05)² = 71.9 a side; t adds one."""
    assert values_needed(0.1, math.log(1.05)) == 73
    assert values_needed(0.0, 0.05) == 4
    assert values_needed(0.0, 0.05, paired=True) == 6


def test_too_few_values_give_nothing() -> None:
    assert tost_difference([1], [1, 2, 3], 0.1) is None
    assert tost_ratio([1], [2], 0.1, paired=True) is None


def test_questions_without_an_answer_are_refused() -> None:
    for bad in (
        lambda: tost(math.nan, 1, 3, 0.1),
        lambda: tost(0, -1, 3, 0.1),
        lambda: tost(0, 1, 3, 0.1, alpha=0.5),
        lambda: tost(0, 1, 3, 0.0),
        lambda: tost_ratio([0, 1], [1, 2], 0.1),
        lambda: tost_ratio([1, 2], [1, 2], -0.1),
        lambda: tost_difference([1, 2], [1, 2, 3], 0.1, paired=True),
        lambda: verdict(0, 0, 0, 1, -0.1, "higher"),
        lambda: power_equivalence(0.5, 1),
        lambda: values_needed(-1, 0.5),
        lambda: values_needed(math.nan, 0.5),
    ):
        with pytest.raises(ValueError, match="need"):
            bad()
