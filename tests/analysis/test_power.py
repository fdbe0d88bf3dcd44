"""Power and sample size: reference answers, definitions recomputed by scipy, simulation, laws."""

from __future__ import annotations

import math
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.analysis.differences.alternative import Alternative
from agentbench_tui.analysis.power import (
    power_mcnemar,
    power_paired,
    power_two_sample,
    sample_size_mcnemar,
    sample_size_paired,
    sample_size_proportions,
    sample_size_ratio,
    sample_size_two_sample,
    smallest_detectable_paired,
    smallest_detectable_two_sample,
)

SEARCH_ERROR = 5e-6
"""statsmodels ends its search where the power is within 2e-6 of the one asked for: its sizes and
detectable effects carry that error, its powers do not. Ours are held to the power itself below."""

effects = st.floats(0.05, 3).flatmap(lambda size: st.sampled_from([size, -size]))
sizes = st.floats(2, 300)


@pytest.mark.parametrize(
    ("effect", "n_80", "n_90", "power_15", "power_5"),
    [
        (0.2, 393.4056930002526, 526.3331885760532, 0.08264675719749759, 0.05904263425365329),
        (0.5, 63.76561058891169, 85.0312841157341, 0.2624430338652332, 0.10768598979755588),
        (0.8, 25.524571854446116, 33.825542344160304, 0.5617848517410415, 0.2007394526520355),
        (1.2, 11.94225767945852, 15.619669570803465, 0.8871964311137025, 0.38643726101220877),
    ],
)
def test_two_columns_as_statsmodels_has_them(
    effect: float, n_80: float, n_90: float, power_15: float, power_5: float
) -> None:
    size = sample_size_two_sample(effect)
    assert size.exact == pytest.approx(n_80, rel=SEARCH_ERROR)
    assert size.n == math.ceil(n_80)
    assert sample_size_two_sample(-effect, 0.9).exact == pytest.approx(n_90, rel=SEARCH_ERROR)
    assert power_two_sample(effect, 15) == pytest.approx(power_15, rel=1e-9)
    assert power_two_sample(-effect, 5) == pytest.approx(power_5, rel=1e-9)


@pytest.mark.parametrize(
    ("effect", "n"), [(0.2, 198.150820955562), (0.5, 33.36713118431779), (0.8, 14.30276455812943)]
)
def test_pairs_as_statsmodels_has_them(effect: float, n: float) -> None:
    assert sample_size_paired(effect).exact == pytest.approx(n, rel=SEARCH_ERROR)
    assert sample_size_paired(effect).n == math.ceil(n)


@pytest.mark.parametrize(
    ("n", "effect"),
    [
        (5, 2.024440145655355),
        (10, 1.324947368330822),
        (15, 1.0597995923522177),
        (20, 0.9091290410935777),
        (30, 0.7356198334313554),
        (100, 0.3981391138964959),
    ],
)
def test_smallest_detectable_effect_of_two_columns(n: int, effect: float) -> None:
    assert smallest_detectable_two_sample(n) == pytest.approx(effect, rel=SEARCH_ERROR)


@pytest.mark.parametrize(
    ("n", "effect"), [(5, 1.68), (10, 1.00), (15, 0.78), (20, 0.66), (30, 0.53)]
)
def test_smallest_detectable_effect_of_pairs(n: int, effect: float) -> None:
    """The table of the statistics page, to its two digits."""
    assert smallest_detectable_paired(n) == pytest.approx(effect, abs=0.005)


def test_ten_pairs_of_the_control_and_candidate_runs() -> None:
    """Difference 0.02 raw; sds of the differences and of the columns as measured there."""
    paired = 0.02 / 0.026399705386
    unpaired = 0.02 / math.sqrt((0.028751811537**2 + 0.035929715340**2) / 2)
    assert sample_size_paired(paired).n == 16
    assert power_paired(paired, 16) == pytest.approx(0.80835, abs=5e-6)
    assert sample_size_two_sample(unpaired).n == 43
    assert power_two_sample(unpaired, 43) == pytest.approx(0.80436, abs=5e-6)
    assert sample_size_paired(paired, 0.9).n == 21
    assert sample_size_two_sample(unpaired, 0.9).n == 57
    assert power_paired(paired, 10) == pytest.approx(0.570293, abs=5e-7)
    assert power_two_sample(unpaired, 10) == pytest.approx(0.255714, abs=5e-7)


@given(effects, sizes, sizes, st.sampled_from(["two-sided", "greater", "less"]))
def test_power_is_the_tail_of_the_noncentral_t(
    effect: float, n: float, other: float, alternative: Alternative
) -> None:
    df, shift = n + other - 2, effect * math.sqrt(n * other / (n + other))
    if abs(shift) > 20:
        return  # scipy's own tails give out
    if alternative == "two-sided":
        critical = stats.t.isf(0.025, df)
        expected = stats.nct.sf(critical, df, abs(shift)) + stats.nct.sf(critical, df, -abs(shift))
    else:
        shift = shift if alternative == "greater" else -shift
        expected = stats.nct.sf(stats.t.isf(0.05, df), df, shift)
    found = power_two_sample(effect, n, other, alternative=alternative)
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_power_is_what_simulated_tests_reach(alternative: Alternative) -> None:
    generator = np.random.default_rng(20261128)
    a, b = generator.standard_normal((2, 20_000, 6))
    p = stats.ttest_ind(b + 1.2, a, axis=1, alternative=alternative).pvalue
    expected = power_two_sample(1.2, 6, alternative=alternative)
    assert np.mean(p < 0.05) == pytest.approx(expected, abs=0.012)


@given(effects, st.floats(0.3, 0.99), st.sampled_from([0.001, 0.05, 0.2]))
def test_sample_size_is_the_least_that_reaches_the_power(
    effect: float, power: float, alpha: float
) -> None:
    exact, n = astuple(sample_size_two_sample(effect, power, alpha=alpha))
    assert exact == 2 or power_two_sample(effect, exact, alpha=alpha) == pytest.approx(power, 1e-9)
    assert power_two_sample(effect, n, alpha=alpha) >= power - 1e-9
    assert n == 2 or power_two_sample(effect, n - 1, alpha=alpha) < power
    pairs = sample_size_paired(effect, power, alpha=alpha).n
    assert power_paired(effect, pairs, alpha=alpha) >= power - 1e-9
    assert pairs == 2 or power_paired(effect, pairs - 1, alpha=alpha) < power


@given(sizes, sizes, st.floats(0.3, 0.99), st.sampled_from(["two-sided", "greater", "less"]))
def test_the_smallest_detectable_effect_has_the_power(
    n: float, other: float, power: float, alternative: Alternative
) -> None:
    effect = smallest_detectable_two_sample(n, other, power=power, alternative=alternative)
    assert power_two_sample(effect, n, other, alternative=alternative) == pytest.approx(power, 1e-9)
    effect = smallest_detectable_paired(n, power=power, alternative=alternative)
    assert power_paired(effect, n, alternative=alternative) == pytest.approx(power, 1e-9)
    assert (effect < 0) == (alternative == "less")


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_an_effect_that_cannot_be_missed_is_found(alternative: Alternative) -> None:
    """Where scipy's noncentral distributions are NaN on the way to 0."""
    for tenths in range(300, 400):
        effect = tenths / 10 / math.sqrt(255 * 285 / 540)
        assert power_two_sample(effect, 255, 285, alternative=alternative) == pytest.approx(1)


@given(effects, sizes, sizes)
def test_power_grows_with_n_and_does_not_care_which_column_is_which(
    effect: float, n: float, other: float
) -> None:
    power = power_two_sample(effect, n, other)
    assert power == pytest.approx(power_two_sample(-effect, other, n), rel=1e-12)
    assert power_two_sample(effect, n + 1, other) >= power - 1e-12
    assert power_two_sample(1.1 * effect, n, other) >= power - 1e-12
    assert power_two_sample(effect, n) == power_two_sample(effect, n, n)


def test_an_obvious_effect_is_always_seen_and_none_at_the_level_of_the_test() -> None:
    for alternative in ("two-sided", "greater"):
        assert power_two_sample(500, 50, alternative=alternative) == 1.0
        assert power_two_sample(0, 8, alternative=alternative) == pytest.approx(0.05)
    assert sample_size_two_sample(500).exact == 2.0


@pytest.mark.parametrize(("sd", "delta", "n"), [(0.1, 0.05, 66), (0.3, 0.10, 156)])
def test_values_for_a_ratio(sd: float, delta: float, n: int) -> None:
    size = sample_size_ratio(sd, delta)
    assert math.ceil(size.normal) == n
    assert n <= size.n <= n + 2
    assert size.n == sample_size_two_sample(math.log1p(delta) / sd).n


@given(st.floats(0.01, 1), st.floats(0.02, 0.5))
def test_a_ratio_and_its_reciprocal_need_the_same_and_pairs_half(sd: float, delta: float) -> None:
    up, down = sample_size_ratio(sd, delta), sample_size_ratio(sd, 1 / (1 + delta) - 1)
    assert up.normal == pytest.approx(down.normal, rel=1e-9)
    pairs = sample_size_ratio(sd, delta, paired=True)
    assert pairs.normal == pytest.approx(up.normal / 2, rel=1e-12)


def test_values_for_shares() -> None:
    assert sample_size_proportions(0.7, 0.8) == 292
    assert sample_size_proportions(0.9, 0.95) == 424
    assert sample_size_proportions(0.8, 0.7) == sample_size_proportions(0.2, 0.3) == 292


def test_power_of_mcnemar_is_the_share_of_all_outcomes_that_reject() -> None:
    """Every split of 12 pairs into right in A alone, in B alone, and the rest."""
    expected = 0.0
    for a in range(13):
        for b in range(13 - a):
            if a + b and stats.binomtest(a, a + b).pvalue <= 0.05 + 1e-12:
                chances = [0.1, 0.55, 0.35]
                expected += float(stats.multinomial.pmf([a, b, 12 - a - b], 12, chances))
    assert power_mcnemar(0.1, 0.55, 12) == pytest.approx(expected, rel=1e-9)
    assert power_mcnemar(0.55, 0.1, 12) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("only_a", "only_b"), [(0.05, 0.15), (0.3, 0.2), (0.0, 0.1), (0.0, 1.0)])
def test_pairs_for_mcnemar_are_the_fewest_that_reach_the_power(
    only_a: float, only_b: float
) -> None:
    n = sample_size_mcnemar(only_a, only_b)
    assert power_mcnemar(only_a, only_b, n) >= 0.8
    assert power_mcnemar(only_a, only_b, n - 1) < 0.8
    assert n == sample_size_mcnemar(only_b, only_a)


def test_very_many_pairs_for_mcnemar_have_the_power_within_a_ten_thousandth() -> None:
    n = sample_size_mcnemar(0.1, 0.104)
    assert n > 100_000
    assert power_mcnemar(0.1, 0.104, n) == pytest.approx(0.8, abs=1e-4)


def test_six_pairs_that_all_go_one_way_are_the_fewest_that_can_reject() -> None:
    assert sample_size_mcnemar(0.0, 1.0) == 6
    assert power_mcnemar(0.0, 1.0, 5) == 0.0
    assert power_mcnemar(0.0, 1.0, 6) == pytest.approx(1.0)


def test_questions_without_an_answer_are_refused() -> None:
    for bad in (
        lambda: sample_size_two_sample(0),
        lambda: sample_size_paired(math.nan),
        lambda: sample_size_paired(-0.5, alternative="greater"),
        lambda: sample_size_two_sample(0.5, power=1.0),
        lambda: sample_size_two_sample(0.5, power=0.01),
        lambda: power_two_sample(0.5, 1),
        lambda: power_paired(0.5, math.nan),
        lambda: power_paired(0.5, 5, alpha=0.0),
        lambda: power_paired(0.5, 5, alternative="both"),  # type: ignore[arg-type]
        lambda: sample_size_ratio(0.0, 0.1),
        lambda: sample_size_ratio(0.1, -1.0),
        lambda: sample_size_proportions(0.7, 0.7),
        lambda: sample_size_proportions(0.7, 1.2),
        lambda: sample_size_mcnemar(0.2, 0.2),
        lambda: power_mcnemar(0.7, 0.7, 10),
    ):
        with pytest.raises(ValueError, match=r"needed|needs|find|distinguish|two-sided"):
            bad()
