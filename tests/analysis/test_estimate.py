"""One number and interval for each kind of metric, and no number where there is none."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import fmean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.analysis.intervals.estimate import Estimate, Kind, estimate, quantile_estimate
from agentbench_tui.analysis.intervals.interval import clustered_mean, t_mean, wilson

kinds = st.sampled_from(["time", "share", "amount"])
shares = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=40)


def ends(result: Estimate) -> tuple[float, float]:
    assert result.low is not None
    assert result.high is not None
    return result.low, result.high


def test_yes_no_answers_one_a_case_get_wilsons_interval() -> None:
    result = estimate([1] * 17 + [0] * 3, "share", clusters=np.arange(20))
    assert (result.value, result.n) == (0.85, 20)
    assert ends(result) == pytest.approx((0.639581135259243, 0.9476312541037833), rel=1e-9)
    assert result.method == "share; Wilson"


@pytest.mark.parametrize("times", [2, 3, 10])
def test_the_same_answers_given_again_change_nothing(times: int) -> None:
    """So that a run and a leaderboard, which sees the mean of each case, say the same."""
    once = estimate([1] * 17 + [0] * 3, "share", clusters=np.arange(20))
    answers = np.repeat([1.0] * 17 + [0.0] * 3, times)
    again = estimate(answers, "share", clusters=np.repeat(np.arange(20), times))
    assert ends(again) == pytest.approx(ends(once), rel=1e-12)


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=2, max_size=30))
def test_equally_many_answers_a_case_are_as_good_as_their_means(cases: list[list[bool]]) -> None:
    clusters = np.repeat(np.arange(len(cases)), 3)
    answers = estimate(np.ravel(cases).astype(float), "share", clusters=clusters)
    means = estimate(np.mean(cases, axis=1), "share")
    assert ends(answers) == pytest.approx(ends(means), rel=1e-9, abs=1e-12)


def test_several_answers_a_case_get_wilsons_interval_of_the_effective_number() -> None:
    """Four answers to each of 12 cases; t(11) in the place of z, by the textbook formula."""
    right = np.array([4, 4, 4, 3, 4, 2, 4, 4, 0, 4, 3, 4])
    answers = np.concatenate([np.repeat([1.0, 0.0], [n, 4 - n]) for n in right])
    result = estimate(answers, "share", clusters=np.repeat(np.arange(12), 4))
    p = right.sum() / 48
    phi = np.var(right / 4, ddof=1) / (p * (1 - p))
    weight = 4 * 12 * p * (1 - p)
    n = 12 / ((weight * phi + 0.5) / (weight + 0.5))
    t = stats.t.ppf(0.975, 11)
    center = (p + t * t / (2 * n)) / (1 + t * t / n)
    half = t * math.sqrt(p * (1 - p) / n + t * t / (4 * n * n)) / (1 + t * t / n)
    assert result.value == pytest.approx(p)
    assert ends(result) == pytest.approx((center - half, center + half))
    assert result.method.startswith("share; Wilson (t) on ")


def test_graded_answers_far_from_the_ends_have_about_the_t_interval() -> None:
    grades = 0.5 + 0.1 * stats.norm.ppf((np.arange(200) + 0.5) / 200)
    interval = t_mean(grades)
    assert interval is not None
    low, high = ends(estimate(grades, "share"))
    assert high - low == pytest.approx(interval.high - interval.low, rel=0.05)


def test_all_cases_right_every_time_is_not_certainty() -> None:
    """Five cases, four times each: no better known than five answers."""
    result = estimate([1.0] * 20, "share", clusters=np.repeat(np.arange(5), 4))
    five = wilson(5, 5)
    assert five is not None
    low, high = ends(result)
    assert (low <= five.low, high) == (True, 1.0)


def test_cases_that_agree_without_being_all_right_are_not_certainty_either() -> None:
    low, high = ends(estimate([0.1, 0.9, 0.9, 0.1, 0.3, 0.7], "share", clusters=[0, 0, 1, 1, 2, 2]))
    assert 0 < low < 0.25
    assert 0.75 < high < 1
    same_grade = estimate([0.7] * 6, "share")
    low, high = ends(same_grade)
    assert same_grade.value == pytest.approx(0.7)
    assert low < 0.6 < 0.8 < high


def test_a_single_case_is_its_own_population() -> None:
    repeated, alone = estimate([1, 1, 0, 1], "share", clusters=[7] * 4), wilson(3, 4)
    assert alone is not None
    assert ends(repeated) == (alone.low, alone.high)


@given(shares, st.data())
def test_a_share_and_its_interval_stay_between_0_and_1(x: list[float], data: st.DataObject) -> None:
    labels = st.lists(st.integers(0, 4), min_size=len(x), max_size=len(x))
    cases = data.draw(st.one_of(st.none(), labels))
    result = estimate(x, "share", clusters=cases)
    low, high = ends(result)
    assert result.value is not None
    assert 0 <= low <= result.value <= high <= 1
    assert low < high


def test_times_of_several_repeats_are_judged_by_the_repeats_medians() -> None:
    medians = np.array([100.0, 110.0, 90.0, 105.0, 95.0])
    times = np.concatenate([[m, m - 1, m + 400] for m in medians])
    result = estimate(times, "time", runs=np.repeat(np.arange(5), 3))
    logs = np.log(medians)
    expected = np.exp(stats.t.interval(0.95, 4, logs.mean(), stats.sem(logs)))
    assert result.value == pytest.approx(stats.gmean(medians), rel=1e-12)
    assert ends(result) == pytest.approx(expected, rel=1e-9)
    assert (result.n, result.reason) == (15, "")


def test_more_samples_of_the_same_repeats_do_not_narrow_a_time() -> None:
    few = estimate([10.0, 12.0, 11.0], "time", runs=[0, 1, 2])
    many = estimate(np.repeat([10.0, 12.0, 11.0], 500), "time", runs=np.repeat([0, 1, 2], 500))
    assert ends(many) == pytest.approx(ends(few), rel=1e-12)


def test_times_of_one_repeat_get_the_median_and_order_statistics() -> None:
    times = [float(t) for t in range(1, 16)]  # in order of size, which is not that of time
    for runs in (None, [3] * 15):
        result = estimate(times, "time", runs=runs)
        assert result.value == 8.0
        assert ends(result) == (4.0, 12.0)


def test_five_times_have_a_median_but_no_interval() -> None:
    result = estimate([3.0, 1.0, 2.0, 5.0, 4.0], "time")
    assert (result.value, result.low, result.high) == (3.0, None, None)
    assert result.reason == "needs 6 (have 5)"


def test_a_clock_without_resolution_gives_no_ratio() -> None:
    result = estimate([0.0, 0.0, 1.0, 1.0], "time", runs=[0, 0, 1, 1])
    assert (result.value, result.low) == (0.5, None)
    assert "median is 0" in result.reason


def test_amounts_get_a_t_interval_that_respects_zero() -> None:
    x = [0.0, 1.0, 0.0, 9.0]
    result, interval = estimate(x, "amount"), t_mean(x)
    assert interval is not None
    assert interval.low < 0
    assert (result.value, result.low, result.high) == (2.5, 0.0, interval.high)
    low, _ = ends(estimate([-1.0, 1.0, 2.0], "amount"))
    assert low < 0


def test_amounts_repeated_within_cases_are_clustered() -> None:
    x, cases = [10.0, 10.0, 20.0, 20.0, 31.0, 29.0], [0, 0, 1, 1, 2, 2]
    interval = clustered_mean(x, cases)
    assert interval is not None
    assert ends(estimate(x, "amount", clusters=cases)) == (max(0.0, interval.low), interval.high)


@pytest.mark.parametrize("each", [1, 3])
def test_amounts_of_few_repeats_get_a_t_interval_of_their_means(each: int) -> None:
    """With equally many values each, which is the t interval of the repeats' means."""
    means = [10.0, 11.0, 10.5, 12.0, 30.0]
    half = 2.776445 * stdev(means) / math.sqrt(5)  # t of 4 degrees of freedom, 97.5%
    values = np.concatenate([mean + np.linspace(-1, 1, each) * (each > 1) for mean in means])
    found = estimate(values, "amount", runs=np.repeat(np.arange(5), each))
    assert found.value == pytest.approx(fmean(means))
    assert ends(found) == pytest.approx((fmean(means) - half, fmean(means) + half), rel=1e-6)
    upper = ends(estimate(means, "amount"))[1]
    assert upper > fmean(means) + half  # single cases allow for the skewness of such values


def test_one_amount_has_no_interval() -> None:
    result = estimate([5.0], "amount")
    assert (result.value, result.low, result.n) == (5.0, None, 1)
    assert result.reason == "needs 2 (have 1)"


@given(kinds)
def test_without_observations_there_is_no_number(kind: Kind) -> None:
    result = estimate([], kind, clusters=[], runs=[])
    assert (result.value, result.low, result.high, result.n) == (None, None, None, 0)
    assert result.reason == "no observations"


@given(
    st.sampled_from(["share", "amount"]),  # of times of one repeat the order tells something
    st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_of_observations_does_not_matter(
    kind: Kind, rows: list[tuple[float, int, int]], random: object
) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    results = []
    for order in (rows, shuffled):
        values, cases, runs = zip(*order, strict=True)
        results.append(estimate(values, kind, clusters=cases, runs=runs))
    first, second = results
    assert (first.n, first.method, first.reason) == (second.n, second.method, second.reason)
    for name in ("value", "low", "high"):
        here, there = getattr(first, name), getattr(second, name)
        assert (here is None) == (there is None)
        assert here is None or there == pytest.approx(here, rel=1e-6, abs=1e-9)


def test_a_percentile_is_printed_only_with_enough_values() -> None:
    few = quantile_estimate(np.arange(58), 0.95)
    assert (few.value, few.low, few.n, few.reason) == (None, None, 58, "needs 59 (have 58)")
    enough = quantile_estimate(np.arange(59), 0.95)
    assert enough.value == pytest.approx(55.1)
    assert ends(enough)[1] == 58.0
    assert quantile_estimate([], 0.999).reason == "needs 2,995 (have 0)"


def test_the_interval_of_a_median_needs_one_value_more() -> None:
    five = quantile_estimate([1, 2, 3, 4, 5], 0.5)
    assert (five.value, five.low, five.reason) == (3.0, None, "needs 6 (have 5)")
    assert ends(quantile_estimate([1, 2, 3, 4, 5, 6], 0.5)) == (1.0, 6.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: estimate([math.nan], "time"),
        lambda: estimate([-1.0], "time"),
        lambda: estimate([1.1], "share"),
        lambda: estimate([1.0, 2.0], "amount", clusters=[1]),
        lambda: estimate([1.0, 2.0], "time", runs=[1]),
        lambda: quantile_estimate([math.inf], 0.5),
        lambda: quantile_estimate([1.0], 1.0),
    ],
)
def test_wrong_input_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"NaN|negative|between|labels"):
        call()
