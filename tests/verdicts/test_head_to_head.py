"""One metric of two sides: right numbers, and verdicts that depend on nothing but the evidence."""

import math
from typing import Any

import numpy as np
import pytest
from evidence_made import SHAPES, Repeats, asked, noise
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.verdicts.comparison.comparison import FEW_REPEATS, Asked, Comparison
from agentbench_tui.verdicts.comparison.head_to_head import compare_metric
from agentbench_tui.verdicts.comparison.judgment import judged
from agentbench_tui.verdicts.evidence.evidence import Evidence

QUICK = Asked(resamples=500)


def compared(metric: str, a: Evidence, b: Evidence, **how: Any) -> Comparison:
    found = compare_metric(metric, a, b, Asked(**{"resamples": 500, **how}))
    assert found is not None
    return judged(found, found.p_tested)


def times(draw: np.random.Generator, repeats: int, cases: int, factor: float = 1.0) -> Any:
    hard = np.exp(np.random.default_rng(5).normal(0, 0.5, cases))
    return 100 * factor * hard * np.exp(draw.normal(0, 0.05, (repeats, cases)))


def test_right_and_wrong_is_the_more_cautious_of_mid_p_and_score() -> None:
    a = [1] * 40 + [1] * 2 + [0] * 12 + [0] * 26
    b = [1] * 40 + [0] * 2 + [1] * 12 + [0] * 26
    found = compared("accuracy", asked(80, accuracy=a), asked(80, accuracy=b))
    assert (found.only_a, found.only_b, found.n, found.paired) == (2, 12, 80, True)
    fair = stats.binom(14, 0.5)
    mid, score = 2 * fair.cdf(2) - fair.pmf(2), 2 * stats.norm.sf(10 / math.sqrt(14))
    assert found.p_value == pytest.approx(max(mid, score))
    assert found.difference == pytest.approx(10 / 80)
    assert found.verdict == "better"


def test_a_time_is_a_ratio_of_geometric_means_over_cases() -> None:
    draw = np.random.default_rng(1)
    a, b = times(draw, 1, 10), times(draw, 1, 10, 1.2)
    found = compared("e2e_ms", asked(10, e2e_ms=a), asked(10, e2e_ms=b))
    d = np.log(b / a).ravel()
    low, high = np.exp(stats.t.interval(0.95, 9, d.mean(), stats.sem(d)))
    assert found.ratio == pytest.approx(np.exp(d.mean()))
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.15 * (high - low))
    assert found.p_value == pytest.approx(
        2 / 2**10
    )  # all ten took longer: the extreme of all signs
    assert found.p_rank == pytest.approx(stats.wilcoxon(d).pvalue)
    assert found.verdict == "worse"


def test_a_case_counts_once_however_often_it_was_asked() -> None:
    right = np.zeros((50, 8))
    right[:, :3] = 1
    a, b = asked(8, 50, accuracy=np.zeros((50, 8))), asked(8, 50, accuracy=right)
    found = compared("accuracy", a, b)
    assert found.n == 8
    assert found.p_value == pytest.approx(0.125)  # three cases, all one way: mid-p is 1 / 2^3
    assert found.verdict == "inconclusive"


def test_a_difference_of_one_lucky_repeat_is_no_verdict() -> None:
    draw = np.random.default_rng(2)
    a, b = times(draw, 4, 40), times(draw, 4, 40)
    b[0] *= 2  # in one repeat of four everything took twice as long
    found = compared("e2e_ms", asked(40, 4, e2e_ms=a), asked(40, 4, e2e_ms=b))
    by_case = np.log(b).mean(axis=0) - np.log(a).mean(axis=0)
    assert stats.wilcoxon(by_case).pvalue < 1e-4  # to cases alone it would be clear
    assert found.verdict == "inconclusive"
    assert found.varies_by == "repeats"
    assert found.low is not None
    assert found.low < 1 < found.ratio  # type: ignore[operator]
    shown = stats.ttest_ind(np.log(b).mean(axis=1), np.log(a).mean(axis=1), equal_var=False)
    assert found.p_value == pytest.approx(shown.pvalue, rel=1e-3)  # cases vary by little


def test_few_repeats_are_told() -> None:
    draw = np.random.default_rng(3)
    found = compared(
        "e2e_ms", asked(30, e2e_ms=times(draw, 1, 30)), asked(30, e2e_ms=times(draw, 1, 30))
    )
    assert any(FEW_REPEATS in note for note in found.notes)


def test_neighbors_that_are_alike_count_as_fewer() -> None:
    steps = np.repeat([1.0, 1.3, 0.9, 1.25, 1.1, 1.2], 10) * np.exp(
        np.random.default_rng(4).normal(0, 0.01, 60)
    )
    a, b = asked(60, e2e_ms=np.full(60, 100.0)), asked(60, e2e_ms=100 * steps)
    found = compared("e2e_ms", a, b)
    assert found.p_value is not None
    assert found.p_value < 0.01
    assert found.p_serial is not None
    assert found.p_serial > 0.05
    assert found.verdict == "inconclusive"
    shuffled = np.random.default_rng(5).permutation(60)
    again = compared("e2e_ms", a, asked(60, e2e_ms=100 * steps[shuffled]))
    assert again.verdict == "worse"


def test_what_only_repeats_have_is_compared_by_repeats() -> None:
    a, b = [10.0, 10.2, 9.9, 10.1, 10.0], [12.0, 12.2, 11.9, 12.1, 12.0]
    found = compared(
        "request_throughput_per_s",
        Repeats({"request_throughput_per_s": a}),
        Repeats({"request_throughput_per_s": b}),
    )
    assert (found.of, found.n, found.verdict) == ("repeats", 5, "better")
    shown = stats.ttest_ind(np.log(b), np.log(a), equal_var=False)
    interval = shown.confidence_interval()
    assert (found.low, found.high) == pytest.approx(np.exp([interval.low, interval.high]))
    assert found.p_value == pytest.approx(shown.pvalue)


def test_repeats_that_never_vary_are_shuffled() -> None:
    a, b = np.full(8, 100.0), np.full(8, 200.0)
    found = compared("tokens_used", Repeats({"tokens_used": a}), Repeats({"tokens_used": b}))
    assert found.p_value == pytest.approx(2 / math.comb(16, 8))


def test_shares_that_never_varied_are_as_sure_as_they_are_many() -> None:
    found = compared(
        "reliability", Repeats({"reliability": [1.0] * 4}), Repeats({"reliability": [1.0] * 4})
    )
    assert found.verdict == "inconclusive"
    assert found.inner_high is not None
    assert found.inner_high > 0.3


def test_a_percentile_is_one_value_of_a_repeat() -> None:
    draw = np.random.default_rng(8)
    a, b = asked(30, e2e_ms=times(draw, 1, 30)), asked(30, e2e_ms=times(draw, 1, 30, 1.5))
    found = compared("e2e_ms.p50", a, b)
    assert (found.of, found.n, found.verdict) == ("repeats", 1, "inconclusive")
    assert any("e2e_ms is compared case by case" in note for note in found.notes)


@pytest.mark.parametrize(
    ("part", "needs"),
    [("p90", 29), ("p95", 59), ("p99", 299), ("p999", 2_995)],
    # 1 - q^n - (1-q)^n >= 95%: the least n of which two values enclose the quantile
)
def test_a_percentile_of_too_few_answers_has_no_value(part: str, needs: int) -> None:
    metric = f"e2e_ms.{part}"
    slow, fast = {metric: [200.0, 201, 202, 203]}, {metric: [100.0, 101, 102, 103]}
    few, enough = Repeats(fast, answers=needs - 1), Repeats(fast, answers=needs)
    control = Repeats(slow, answers=10_000)
    found = compared(metric, control, few)
    assert (found.a, found.b, found.ratio, found.verdict) == (None, None, None, "inconclusive")
    assert found.notes == (f"needs {needs:,} answers per repeat (B has {needs - 1:,})",)
    assert compared(metric, control, enough).verdict == "better"
    assert compared("e2e_ms.p50", asked(9, 3, e2e_ms=np.arange(1, 28)), control) is not None


def test_answers_of_the_repeat_with_fewest_count() -> None:
    column = np.arange(1.0, 41).reshape(2, 20)
    column[1, :5] = np.nan
    side = asked(20, 2, e2e_ms=column)
    assert side.fewest_answers("e2e_ms.p95") == 15
    assert side.fewest_answers("ttft_ms.p95") == 0
    found = compared("e2e_ms.p95", side, side)
    assert found.notes[-1] == "needs 59 answers per repeat (A has 15, B has 15)"


def test_other_cases_are_compared_as_groups() -> None:
    a = asked(100, accuracy=[1] * 50 + [0] * 50)
    b = asked(100, accuracy=[1] * 90 + [0] * 10)
    found = compared("accuracy", a, b, paired="no")
    assert not found.paired
    assert "Newcombe" in found.method
    assert found.verdict == "better"


def test_cases_that_differ_are_what_varies_however_often_they_were_asked() -> None:
    a = asked(20, 5, accuracy=np.tile([1] * 13 + [0] * 7, (5, 1)))
    b = asked(20, 5, accuracy=np.tile([1] * 16 + [0] * 4, (5, 1)))
    b.case[:] += 100
    a.values["accuracy"][0] = 0.5  # repeats differ by a hair, and cases by much
    found = compared("accuracy", a, b)
    assert (found.of, found.n, found.verdict) == ("cases", 20, "inconclusive")


def test_times_that_are_of_no_case_are_compared_by_repeats() -> None:
    draw = np.random.default_rng(9)
    a, b = (asked(30, 5, e2e_ms=draw.lognormal(4, 0.2, 150)) for _ in range(2))
    a.case[:], b.case[:] = np.arange(150), np.arange(150) + 1000
    found = compared("e2e_ms", a, b)
    assert (found.of, found.n) == ("repeats", 5)


def test_pairs_that_were_asked_for_and_do_not_exist() -> None:
    a, b = asked(9, accuracy=np.ones(9)), asked(9, accuracy=np.zeros(9))
    b.case[:] += 100
    found = compared("accuracy", a, b, paired="yes")
    assert found.verdict == "inconclusive"
    assert found.notes == ("no case has a value on both sides",)


def test_the_margin_decides_what_matters() -> None:
    draw = np.random.default_rng(6)
    a, b = times(draw, 5, 50), times(draw, 5, 50, 1.04)
    sides = asked(50, 5, e2e_ms=a), asked(50, 5, e2e_ms=b)
    assert compared("e2e_ms", *sides).verdict == "worse"
    assert compared("e2e_ms", *sides, margin=0.3).verdict == "equivalent"


def test_more_pairs_than_a_verdict_needs_are_named_where_it_is_open() -> None:
    draw = np.random.default_rng(7)
    a = (draw.random(40) < 0.7).astype(float)
    b = (draw.random(40) < 0.7).astype(float)
    found = compared("accuracy", asked(40, accuracy=a), asked(40, accuracy=b))
    assert found.verdict == "inconclusive"
    assert found.n_needed is not None
    assert found.n_needed > 40


def test_what_is_needed_is_enough_where_nothing_varied() -> None:
    def all_right(n: int) -> Comparison:
        return compared("accuracy", asked(n, accuracy=np.ones(n)), asked(n, accuracy=np.ones(n)))

    needed = all_right(40).n_needed
    assert needed is not None
    assert all_right(needed).verdict == "equivalent"
    assert all_right(needed - 5).verdict == "inconclusive"


@pytest.mark.parametrize("n", [0, 1, 2, 5, 6, 20])
@pytest.mark.parametrize("kind", ["ties", "zeros", "constants", "unknown", "failed"])
def test_what_says_nothing_never_wins(kind: str, n: int) -> None:
    values = {
        "ties": np.arange(n) + 1.0,
        "zeros": np.zeros(n),
        "constants": np.full(n, 3.0),
        "unknown": np.full(n, math.nan),
        "failed": np.full(n, math.nan),
    }[kind]
    share = np.zeros(n) if kind == "failed" else np.minimum(values, 1)
    side = asked(n, e2e_ms=values, output_tokens=values, accuracy=share, cost_usd_per_task=values)
    for metric in ("e2e_ms", "output_tokens", "accuracy", "cost_usd_per_task"):
        for paired in ("auto", "yes", "no"):
            found = compare_metric(metric, side, side, Asked(paired, resamples=200))
            if found is not None:
                assert judged(found, found.p_tested).verdict in {"equivalent", "inconclusive"}


def test_the_side_that_answered_nothing_wins_nothing() -> None:
    good = asked(20, accuracy=np.ones(20), reliability=np.ones(20), e2e_ms=np.full(20, 9.0))
    dead = asked(20, accuracy=np.zeros(20), reliability=np.zeros(20), e2e_ms=np.full(20, math.nan))
    for metric in ("accuracy", "reliability"):
        assert compared(metric, good, dead).verdict == "worse"
        assert compared(metric, dead, good).verdict == "better"
    assert compared("e2e_ms", good, dead).verdict == "inconclusive"


def test_two_values_a_side_that_never_varied_are_too_few() -> None:
    a, b = Repeats({"tokens_used": [500, 500]}), Repeats({"tokens_used": [600, 600]})
    assert compared("tokens_used", a, b).verdict == "inconclusive"


def test_an_interval_that_is_shown_is_not_said_to_be_lacking() -> None:
    share = compared("accuracy", asked(1, accuracy=[1]), asked(1, accuracy=[0]))
    assert (share.low, share.high) == (-1, pytest.approx(0.122, abs=0.001))
    assert share.notes == ()
    time = compared("e2e_ms", asked(1, e2e_ms=[1]), asked(1, e2e_ms=[2]))
    assert time.low is None
    assert "an interval needs 2 values in each group (have 1)" in time.notes


def test_what_one_side_lacks_has_no_verdict() -> None:
    a, b = Repeats({"ttft_ms.p50": [1.0, 2.0, 3.0]}), Repeats({})
    found = compared("ttft_ms.p50", a, b)
    assert (found.verdict, found.notes) == ("inconclusive", ("B has no value of it",))
    assert compare_metric("ttft_ms.p50", b, b, QUICK) is None


MIRRORED = {"better": "worse", "worse": "better"}


def sides(shape: str, n: int, repeats: int, factor: float, seed: int) -> tuple[Any, Any]:
    draw = np.random.default_rng(seed)
    a = asked(n, repeats, e2e_ms=noise(shape, repeats, n, draw))
    return a, asked(n, repeats, e2e_ms=factor * noise(shape, repeats, n, draw))


@given(
    st.sampled_from(SHAPES),
    st.integers(1, 30),
    st.sampled_from([1, 3]),
    st.sampled_from([1.0, 1.05, 1.5]),
    st.integers(0, 10**6),
)
def test_who_is_called_a_makes_no_difference(
    shape: str, n: int, repeats: int, factor: float, seed: int
) -> None:
    a, b = sides(shape, n, repeats, factor, seed)
    there, back = compared("e2e_ms", a, b), compared("e2e_ms", b, a)
    assert back.verdict == MIRRORED.get(there.verdict, there.verdict)
    assert there.ratio is not None
    assert back.ratio == pytest.approx(1 / there.ratio)
    if there.low is not None:
        assert back.high == pytest.approx(1 / there.low)
    assert back.n_needed == there.n_needed


@given(st.sampled_from(SHAPES), st.integers(1, 30), st.sampled_from([1, 3]), st.integers(0, 10**6))
def test_seconds_tell_the_same_as_milliseconds(shape: str, n: int, repeats: int, seed: int) -> None:
    a, b = sides(shape, n, repeats, 1.1, seed)
    ms = compared("e2e_ms", a, b)
    for side in (a, b):
        side.values["e2e_ms"] /= 1000
    s = compared("e2e_ms", a, b)
    assert (s.verdict, s.n_needed) == (ms.verdict, ms.n_needed)
    assert (s.ratio, s.p_value) == pytest.approx((ms.ratio, ms.p_value))


odd = st.sampled_from([0.0, 1.0, math.nan, 1e-9, 1e12]) | st.floats(0, 1e9)


@given(
    st.integers(0, 12),
    st.sampled_from([1, 2, 3]),
    st.sampled_from(["e2e_ms", "output_tokens", "accuracy"]),
    st.sampled_from(["auto", "yes", "no"]),
    st.data(),
)
def test_no_numbers_are_too_odd(
    cases: int, repeats: int, metric: str, paired: Any, data: st.DataObject
) -> None:
    size = cases * repeats
    a, b = (np.array(data.draw(st.lists(odd, min_size=size, max_size=size))) for _ in range(2))
    if metric == "accuracy":
        a, b = (np.minimum(x, 1) for x in (a, b))
    there = compare_metric(
        metric,
        asked(cases, repeats, **{metric: a}),
        asked(cases, repeats, **{metric: b}),
        Asked(paired, resamples=200),
    )
    if there is not None:
        found = judged(there, there.p_tested)
        assert found.verdict in {"better", "worse", "equivalent", "inconclusive"}
        if np.array_equal(a, b, equal_nan=True):
            assert found.verdict in {"equivalent", "inconclusive"}


@pytest.mark.parametrize("paired", ["auto", "no"])
@pytest.mark.parametrize("least", [4.514648794205237e-159, 1e-300, 5e-324])
def test_totals_may_differ_beyond_what_a_float_can_square(least: float, paired: Any) -> None:
    small, large = (np.array([0.0] * 7 + [last]) for last in (least, 1.0))
    for a, b in ((small, large), (large, small)):
        sides = asked(8, output_tokens=a), asked(8, output_tokens=b)
        found = compare_metric("output_tokens", *sides, Asked(paired, resamples=200))
        assert found is not None
        assert judged(found, found.p_tested).verdict == "inconclusive"


def test_the_same_agent_measured_twice_is_hardly_ever_called_different() -> None:
    """Small beside benchmarks/compare_rates.py: 7 shapes, 3 sizes, 2 designs, 5 trials each."""
    draw = np.random.default_rng(11)
    called = trials = 0
    for shape in SHAPES:
        for n in (5, 15, 30):
            for _ in range(5):
                a, b = noise(shape, n, 20, draw), noise(shape, n, 20, draw)
                medians = [Repeats({"e2e_ms.p50": np.median(x, axis=1)}) for x in (a, b)]
                of_cases = [asked(n, e2e_ms=noise(shape, 1, n, draw)) for _ in range(2)]
                for metric, (x, y) in (("e2e_ms.p50", medians), ("e2e_ms", of_cases)):
                    found = compare_metric(metric, x, y, QUICK)
                    assert found is not None
                    called += judged(found, found.p_tested).verdict in MIRRORED
                    trials += 1
    assert called <= stats.binom.ppf(0.999, trials, 0.05)
