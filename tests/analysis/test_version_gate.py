"""The two-version gate: scipy's Welch, laws of units and labels, and power by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.analysis.differences.multiplicity import benjamini_hochberg
from agentbench_tui.analysis.runs.version_gate import VersionTest, compare_versions, with_adjusted
from agentbench_tui.analysis.scale import Better, Scale

TIME, SUCCESS = Scale("lower"), Scale("higher", "points")
OLD = [812.4, 795.1, 801.7, 778.3, 850.2, 833.9, 804.6]
NEW = [880.9, 861.3, 968.2, 842.7, 930.1, 899.5]

run_values = st.lists(st.floats(1, 1000), min_size=5, max_size=12)


def test_p_and_interval_are_those_of_welch_on_logs() -> None:
    test = compare_versions(OLD, NEW, TIME)
    expected = stats.ttest_ind(np.log(NEW), np.log(OLD), equal_var=False)
    interval = expected.confidence_interval(0.95)
    assert test.verdict == "regression"
    assert test.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert test.change == pytest.approx(stats.gmean(NEW) / stats.gmean(OLD))
    assert (test.low, test.high) == pytest.approx((math.exp(interval.low), math.exp(interval.high)))
    assert test.runs == (7, 6)


@given(run_values, run_values, st.floats(0.001, 1000))
def test_another_unit_changes_nothing(old: list[float], new: list[float], unit: float) -> None:
    first = compare_versions(old, new, TIME)
    second = compare_versions(np.array(old) * unit, np.array(new) * unit, TIME)
    assert second.change == pytest.approx(first.change)
    assert second.p == pytest.approx(first.p, abs=1e-9)


@given(run_values, run_values, st.sampled_from(["lower", "higher"]))
def test_swapped_labels_give_the_reciprocal_and_the_opposite(
    old: list[float], new: list[float], better: Better
) -> None:
    there, back = (compare_versions(a, b, Scale(better)) for a, b in ((old, new), (new, old)))
    opposite = {"regression": "improvement", "improvement": "regression"}
    assert back.verdict == opposite.get(there.verdict, there.verdict)
    for one, other in ((there.change, back.change), (there.low, back.high)):
        assert one is not None
        assert other == pytest.approx(1 / one)


@given(run_values, run_values)
def test_a_throughput_is_judged_as_the_time_it_stands_for(
    old: list[float], new: list[float]
) -> None:
    time = compare_versions(old, new, TIME)
    throughput = compare_versions(1 / np.array(old), 1 / np.array(new), Scale("higher"))
    assert throughput.verdict == time.verdict
    assert throughput.smallest == pytest.approx(time.smallest)


def test_a_sure_change_of_less_than_half_the_margin_does_not_count() -> None:
    old = np.linspace(99.9, 100.1, 9)
    below, above = (compare_versions(old, old * factor, TIME) for factor in (1.024, 1.026))
    assert (below.verdict, above.verdict) == ("no change seen", "regression")
    assert below.p is not None
    assert below.p < 1e-6
    assert below.gate == pytest.approx(0.025)
    assert compare_versions(old, old * 1.024, TIME, margin=0.04).verdict == "regression"


def test_shares_are_compared_by_points() -> None:
    old, new = [0.90, 0.91, 0.89, 0.92, 0.90], [0.86, 0.85, 0.87, 0.86, 0.88]
    test = compare_versions(old, new, SUCCESS)
    expected = stats.ttest_ind(new, old, equal_var=False)
    assert test.verdict == "regression"
    assert test.change == pytest.approx(-0.04)
    assert test.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert (test.low, test.high) == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert compare_versions(new, old, SUCCESS).verdict == "improvement"
    assert compare_versions([0.0] * 5, [0.0] * 5, SUCCESS).verdict == "no change seen"


@pytest.mark.parametrize(("old", "new"), [(4, 9), (9, 4), (1, 9), (1, 1), (0, 5)])
def test_fewer_than_five_runs_are_not_enough_however_clear(old: int, new: int) -> None:
    test = compare_versions(OLD[:1] * old, [10 * value for value in OLD[:1] * new], TIME)
    assert test.verdict == "not enough data"
    assert test.reason == f"needs 5 runs of each version (have {old} and {new})"
    assert (test.change is None) == (old == 0)
    assert with_adjusted(test, 0.001, TIME, 9) == test


def test_runs_that_repeat_exactly_count_as_so_many_runs() -> None:
    """A deterministic agent: Welch has no spread to divide by, the ranks still tell."""
    same = compare_versions([0.9] * 5, [0.9] * 5, SUCCESS)
    worse = compare_versions([0.9] * 5, [0.8] * 5, SUCCESS)
    assert (same.verdict, same.p, same.change) == ("no change seen", 1.0, 0.0)
    assert (worse.verdict, worse.low) == ("regression", pytest.approx(-0.1))
    assert worse.p == pytest.approx(2 / math.comb(10, 5))
    half = compare_versions([0.9] * 5, [0.8, 0.8, 0.8, 0.8, 0.81], SUCCESS)
    assert half.verdict == "regression"
    assert (same.smallest, with_adjusted(same, 1.0, SUCCESS, 3).smallest) == (None, None)


def test_a_scan_of_many_decides_by_the_adjusted_p() -> None:
    test = compare_versions(OLD, NEW, TIME)
    assert with_adjusted(test, 0.06, TIME, 2).verdict == "no change seen"
    adjusted = with_adjusted(test, 0.04, TIME, 2)
    assert (adjusted.verdict, adjusted.p, adjusted.low) == ("regression", 0.04, test.low)


def test_times_of_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="no ratio"):
        compare_versions([0.0, *OLD], NEW, TIME)


def smallest_of(test: VersionTest) -> float:
    assert test.smallest is not None
    return test.smallest


@pytest.mark.parametrize(("runs", "sds"), [(5, 2.02), (10, 1.32), (15, 1.06), (30, 0.74)])
def test_smallest_change_is_that_of_the_noncentral_t(runs: int, sds: float) -> None:
    """In standard deviations of a run; the published figures have two decimals."""
    draw = np.random.default_rng(1)
    x = draw.normal(size=runs)
    old = np.exp(0.2 * (x - x.mean()) / x.std(ddof=1))
    assert math.log1p(smallest_of(compare_versions(old, old, TIME))) / 0.2 == pytest.approx(
        sds, abs=0.012
    )


def test_a_worsening_of_the_smallest_size_is_seen_in_four_of_five() -> None:
    draw = np.random.default_rng(20261128)
    for runs, noise in ((15, 0.06), (15, 0.01)):
        size = math.sqrt(2 / runs) * noise
        t, z = stats.t.ppf([0.975, 0.8], 2 * runs - 2)
        shift = max(math.log(1.025), t * size) + z * size
        old = np.exp(draw.normal(0, noise, (400, runs)))
        new = np.exp(draw.normal(shift, noise, (400, runs)))
        tests = [compare_versions(a, b, TIME) for a, b in zip(old, new, strict=True)]
        seen = np.mean([test.verdict == "regression" for test in tests])
        assert seen == pytest.approx(0.8, abs=0.06)
        assert np.median([smallest_of(test) for test in tests]) == pytest.approx(
            math.expm1(shift), rel=0.05
        )


@pytest.mark.parametrize("tests", [1, 9, 40])
def test_the_smallest_size_among_many_is_seen_in_four_of_five_as_well(tests: int) -> None:
    """One true change, the others none; told at the level that the scan decides by."""
    draw = np.random.default_rng(15)
    runs, noise, trials = 8, 0.04, 150
    size = math.sqrt(2 / runs) * noise
    t, z = stats.t.ppf([1 - 0.025 / tests, 0.8], 2 * runs - 2)
    shift = max(math.log(1.025), t * size) + z * size
    seen, told = [], []
    for _ in range(trials):
        old = np.exp(draw.normal(0, noise, (tests, runs)))
        new = np.exp(draw.normal(0, noise, (tests, runs)))
        new[0] *= math.exp(shift)
        p = stats.ttest_ind(np.log(new), np.log(old), axis=1, equal_var=False).pvalue
        test = compare_versions(old[0], new[0], TIME)
        among = with_adjusted(test, benjamini_hochberg(p.tolist())[0], TIME, tests)
        seen.append(among.verdict == "regression")
        told.append(smallest_of(among))
    assert np.mean(seen) == pytest.approx(0.8, abs=0.1)
    assert np.median(told) == pytest.approx(math.expm1(shift), rel=0.07)
