"""Bootstrap intervals: scipy's and other known answers, laws, and coverage by simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.analysis.intervals.interval import Interval
from agentbench_tui.analysis.resampling.bootstrap import (
    bca_interval,
    bootstrap_difference,
    bootstrap_mean,
    bootstrap_median_ratio,
    bootstrap_paired_difference,
    bootstrap_paired_ratio,
    bootstrap_ratio,
)
from agentbench_tui.analysis.resampling.resampling import (
    Bootstrap,
    Resampling,
    Side,
    bias_correction,
    ends,
)

A = [
    812.4, 795.1, 901.7, 778.3, 850.2, 833.9, 1204.6, 799.8, 841.5, 826.0, 870.3, 788.9, 915.2,
    806.7, 848.8,
]  # fmt: skip
B = [
    880.9, 861.3, 968.2, 842.7, 930.1, 899.5, 1310.4, 858.2, 905.6, 872.3, 955.0, 851.1, 998.8,
    869.4, 921.7,
]  # fmt: skip
CONTROL = [0.812, 0.794, 0.851, 0.777, 0.806, 0.839, 0.765, 0.823, 0.798, 0.845]
CANDIDATE = [0.861, 0.822, 0.874, 0.835, 0.829, 0.902, 0.787, 0.858, 0.901, 0.866]
SEVEN = Resampling(seed=7)
QUICK = Resampling(seed=3, resamples=200, at_least=2)
SIDES: tuple[Side, ...] = ("greater", "less")
PERCENTILE = replace(SEVEN, method="percentile")

positive = st.floats(0.01, 1e6)
columns = st.lists(positive, min_size=2, max_size=30)
twins = st.lists(st.tuples(positive, positive), min_size=2, max_size=30)


def of(found: Bootstrap | None) -> tuple[float, float]:
    assert found is not None
    return found.interval.low, found.interval.high


@pytest.mark.parametrize(
    ("found", "low", "high", "slack"),
    [
        (bootstrap_mean(A, SEVEN), 825.6333, 950.0363, 0.03),
        (bootstrap_mean(A, PERCENTILE), 818.6733, 916.1267, 0.03),
        (bootstrap_difference(A, B, SEVEN), -2.0933, 151.1067, 0.03),
        (bootstrap_paired_difference(A, B, SEVEN), 64.4533, 78.3867, 0.03),
        (bootstrap_median_ratio(A, B, SEVEN), 1.0235, 1.1449, 0.10),
    ],
)
def test_ends_are_scipys(found: Bootstrap | None, low: float, high: float, slack: float) -> None:
    """200,000 resamples by scipy; what fewer may differ is told as a share of the width."""
    assert of(found) == pytest.approx((low, high), abs=slack * (high - low))


def test_ends_from_the_same_resamples_as_another_computation() -> None:
    """10 pairs, resampled by numpy's legacy generator with seed 12345."""
    d = np.array(CANDIDATE) - np.array(CONTROL)
    rows = np.random.RandomState(12345).randint(0, 10, (10_000, 10))
    resampled = d[rows].mean(axis=1)
    bias = bias_correction(resampled, float(d.mean()), 1e-12)
    u = d - d.mean()
    acceleration = float((u**3).sum() / (6 * (u**2).sum() ** 1.5))
    how = Resampling()
    assert bias == pytest.approx(0.04576, abs=5e-6)
    assert acceleration == pytest.approx(0.06616155, abs=5e-9)
    assert ends(resampled, how) == pytest.approx((0.0288, 0.0598), abs=1e-9)
    counted_strictly = 0.04438189  # as in that computation: without the ties
    both = ends(resampled, how, counted_strictly, acceleration)
    assert both == pytest.approx((0.0303, 0.0637436), abs=1e-7)
    greater, less = (ends(resampled, replace(how, side=side)) for side in SIDES)
    assert (greater[1], less[0]) == (math.inf, -math.inf)
    assert (greater[0], less[1]) == pytest.approx((0.0304, 0.056705), abs=1e-9)


def test_ten_pairs_and_two_groups_of_ten_when_asked_for() -> None:
    """scipy, 100,000 resamples."""
    how = replace(SEVEN, at_least=10)
    paired = bootstrap_paired_difference(CONTROL, CANDIDATE, how)
    assert paired is not None
    d = np.subtract(CANDIDATE, CONTROL)
    assert bca_interval(d, seed=7) is None
    assert bca_interval(d, seed=7, at_least=10) == replace(
        paired.interval, method="BCa bootstrap of the mean, 100,000 resamples, seed 7"
    )
    assert paired.acceleration == pytest.approx(0.06616155, abs=5e-9)
    assert of(paired) == pytest.approx((0.0307, 0.0639), abs=0.001)
    assert of(bootstrap_difference(CONTROL, CANDIDATE, how)) == pytest.approx(
        (0.0148, 0.0689), abs=0.0015
    )


@pytest.mark.parametrize("sizes", [(15, 60), (60, 15)])
def test_groups_of_unequal_size_agree_with_scipy(sizes: tuple[int, int]) -> None:
    """Pooling both jackknives without weights moves the ends by more than is allowed here."""
    generator = np.random.default_rng(5)
    a, b = generator.exponential(size=sizes[0]), generator.exponential(size=sizes[1])

    def difference(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray(np.mean(y, axis=axis) - np.mean(x, axis=axis))

    expected = stats.bootstrap(
        (a, b), difference, n_resamples=20_000, method="BCa", rng=np.random.default_rng(1)
    ).confidence_interval
    width = expected.high - expected.low
    assert of(bootstrap_difference(a, b, replace(SEVEN, resamples=20_000))) == pytest.approx(
        (expected.low, expected.high), abs=0.03 * width
    )


def test_ratio_of_geometric_means_agrees_with_scipy() -> None:
    def ratio(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray(np.exp(np.log(y).mean(axis=axis) - np.log(x).mean(axis=axis)))

    low, high = stats.bootstrap(
        (A, B), ratio, n_resamples=20_000, method="BCa", rng=np.random.default_rng(1)
    ).confidence_interval
    found = bootstrap_ratio(A, B, SEVEN)
    assert found is not None
    assert found.estimate == pytest.approx(stats.gmean(B) / stats.gmean(A), rel=1e-9)
    assert of(found) == pytest.approx((low, high), abs=0.03 * (high - low))


def test_whole_clusters_are_drawn() -> None:
    """The ratio Σ sums / Σ sizes over clusters, by scipy's paired bootstrap of sums and sizes."""
    generator = np.random.default_rng(8)
    sizes = generator.integers(1, 6, 25)
    clusters = np.repeat(np.arange(25), sizes)
    values = np.repeat(generator.lognormal(size=25), sizes) + generator.normal(size=sizes.sum())
    sums = np.bincount(clusters, weights=values)

    def ratio(x: np.ndarray, n: np.ndarray, axis: int) -> np.ndarray:
        return np.asarray(np.sum(x, axis=axis) / np.sum(n, axis=axis))

    expected = stats.bootstrap(
        (sums, sizes), ratio, n_resamples=20_000, method="BCa", paired=True,
        rng=np.random.default_rng(1),
    )  # fmt: skip
    low, high = expected.confidence_interval
    found = bootstrap_mean(values, SEVEN, clusters)
    assert found is not None
    assert found.estimate == pytest.approx(values.mean())
    assert of(found) == pytest.approx((low, high), abs=0.03 * (high - low))


@given(columns, st.integers(2, 4))
@settings(max_examples=25)
def test_repeating_every_value_within_its_cluster_changes_nothing(x: list[float], k: int) -> None:
    plain = bootstrap_mean(x, QUICK)
    repeated = bootstrap_mean(np.repeat(x, k), QUICK, np.repeat(np.arange(len(x)), k))
    assert of(repeated) == pytest.approx(of(plain), rel=1e-9)


def test_what_was_resampled_is_kept() -> None:
    found = bootstrap_paired_ratio(A, B, SEVEN)
    assert found is not None
    assert found.resampled.shape == (100_000,)
    assert (found.seed, found.interval.level) == (7, 0.95)
    assert found.estimate == pytest.approx(stats.gmean(B) / stats.gmean(A), rel=1e-9)
    assert np.std(found.resampled) == pytest.approx(
        found.estimate * np.std(np.log(B) - np.log(A)) / math.sqrt(15), rel=0.03
    )
    assert found.bias != 0
    assert found.acceleration != 0


def test_long_columns_get_ten_thousand_resamples_and_short_ones_more() -> None:
    assert [Resampling().count(n) for n in (15, 40, 100, 400, 5000)] == [
        100_000, 100_000, 40_000, 10_000, 10_000,
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_another_seed_hardly_moves_the_ends(seed: int) -> None:
    low, high = of(bootstrap_mean(A, Resampling(seed)))
    assert low == pytest.approx(825.6333, abs=0.01 * 124.4)
    assert high == pytest.approx(950.0363, abs=0.03 * 124.4)


def test_a_seed_repeats_and_is_told() -> None:
    first, again, other = (bca_interval(A, seed=seed, resamples=500) for seed in (1, 1, 2))
    assert first == again
    assert first is not None
    assert other is not None
    assert (first.low, first.high) != (other.low, other.high)
    assert first.method == "BCa bootstrap of the mean, 500 resamples, seed 1"


def test_mirrored_data_give_mirrored_ends() -> None:
    low, high = of(bootstrap_mean(A, SEVEN))
    assert of(bootstrap_mean(-np.array(A), SEVEN)) == pytest.approx((-high, -low), rel=1e-9)


def test_ties_with_the_estimate_count_half() -> None:
    """Symmetric yes/no data has no bias, so its interval is symmetric too, also when sums round."""
    for no, yes in ((0.0, 1.0), (0.1, 0.3), (0.7, 0.9)):
        low, high = of(bootstrap_mean([no, yes] * 10, replace(SEVEN, resamples=20_000)))
        assert low == pytest.approx(no + 0.3 * (yes - no))
        assert high == pytest.approx(no + 0.7 * (yes - no))


def test_blocks_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    statistics: list[Callable[[], Bootstrap | None]] = [
        lambda: bootstrap_mean(A, QUICK),
        lambda: bootstrap_difference(A, B[:9], QUICK),
        lambda: bootstrap_median_ratio(A, B[:9], QUICK),
    ]
    whole = [of(statistic()) for statistic in statistics]
    monkeypatch.setattr("agentbench_tui.analysis.resampling.resampling._DRAWN_AT_ONCE", 100)
    assert [of(statistic()) for statistic in statistics] == whole


@given(twins)
@settings(max_examples=30)
def test_swapped_labels_give_the_reciprocal_ratio(x: list[tuple[float, float]]) -> None:
    a, b = zip(*x, strict=True)
    for statistic in (bootstrap_paired_ratio, bootstrap_ratio):
        forth, back = statistic(a, b, QUICK), statistic(b, a, QUICK)
        assert forth is not None
        assert back is not None
        if a != b:
            low, high = of(back)
            assert of(forth) == pytest.approx((1 / high, 1 / low), rel=1e-6)
            assert forth.estimate == pytest.approx(1 / back.estimate, rel=1e-9)


@given(twins, st.floats(1e-3, 1e3))
@settings(max_examples=30)
def test_a_change_of_unit_changes_no_ratio(x: list[tuple[float, float]], factor: float) -> None:
    a, b = (np.array(column) for column in zip(*x, strict=True))
    for statistic in (bootstrap_paired_ratio, bootstrap_ratio, bootstrap_median_ratio):
        here, there = statistic(a, b, QUICK), statistic(a * factor, b * factor, QUICK)
        assert of(there) == pytest.approx(of(here), rel=1e-6)


@given(columns, st.sampled_from(["bca", "percentile"]), st.floats(0.5, 0.9999))
@settings(max_examples=50)
def test_ends_lie_among_what_was_resampled(x: list[float], method: str, level: float) -> None:
    found = bootstrap_mean(x, replace(QUICK, method=method, level=level))  # type: ignore[arg-type]
    assert found is not None
    low, high = of(found)
    assert found.resampled.min() <= low <= high <= found.resampled.max()


def test_one_sided_ends_are_those_of_a_two_sided_interval_of_twice_the_error() -> None:
    low, high = of(bootstrap_mean(A, replace(SEVEN, level=0.9)))
    greater, less = (of(bootstrap_mean(A, replace(SEVEN, side=side))) for side in SIDES)
    assert (greater[1], less[0]) == (math.inf, -math.inf)
    assert (greater[0], less[1]) == pytest.approx((low, high), rel=1e-12)
    ratio = bootstrap_paired_ratio(A, B, replace(SEVEN, side="less"))
    assert of(ratio)[0] == 0.0


def test_equal_values_give_no_width() -> None:
    same, more = [0.1] * 15, [0.3] * 20
    assert of(bootstrap_mean(same)) == (0.1, 0.1)
    assert of(bootstrap_mean(same, QUICK, [1, 2, 2] * 5)) == (0.1, 0.1)
    assert of(bootstrap_mean(same, QUICK, widened=True)) == (0.1, 0.1)
    assert of(bootstrap_difference(same, more)) == pytest.approx((0.2, 0.2))
    assert of(bootstrap_ratio(same, more)) == pytest.approx((3.0, 3.0))
    assert of(bootstrap_median_ratio(same, more)) == pytest.approx((3.0, 3.0))
    assert of(bootstrap_paired_ratio(A, np.array(A) * 1.05)) == pytest.approx((1.05, 1.05))


def test_too_few_values_give_none() -> None:
    assert bca_interval(A[:14]) is None
    assert bootstrap_mean([], QUICK) is None
    assert bootstrap_mean([1.0], replace(QUICK, at_least=0)) is None
    assert bootstrap_mean(A, clusters=[1, 2, 3] * 5) is None
    assert bootstrap_difference(A, B[:14]) is None
    assert bootstrap_median_ratio(A[:14], B) is None


def _coverage(truth: float, n: int, draw: Callable[[np.ndarray], Interval]) -> float:
    generator = np.random.default_rng(20261128)
    intervals = (draw(generator.lognormal(0, 0.3, n)) for _ in range(500))
    return float(np.mean([found.low <= truth <= found.high for found in intervals]))


@pytest.mark.parametrize("n", [15, 30])
def test_a_widened_interval_covers_where_the_plain_one_falls_short(n: int) -> None:
    def draw(x: np.ndarray, widened: bool) -> Interval:
        found = bootstrap_mean(x, Resampling(resamples=1000), widened=widened)
        assert found is not None
        return found.interval

    truth = math.exp(0.045)
    plain = _coverage(truth, n, lambda x: draw(x, False))
    widened = _coverage(truth, n, lambda x: draw(x, True))
    assert 0.88 <= plain < widened
    assert 0.92 <= widened <= 0.98


@pytest.mark.parametrize(
    "call",
    [
        lambda: bootstrap_mean([1.0] * 14 + [math.nan]),
        lambda: bootstrap_paired_difference([1.0, 2.0], [1.0]),
        lambda: bootstrap_paired_ratio([1.0, 0.0], [1.0, 2.0]),
        lambda: bootstrap_median_ratio([1.0, 0.0], [1.0, 2.0]),
        lambda: bootstrap_mean([1.0, 2.0], QUICK, [1]),
        lambda: Resampling(resamples=0),
        lambda: Resampling(level=1.0),
        lambda: Resampling(side="both"),  # type: ignore[arg-type]
        lambda: Resampling(method="basic"),  # type: ignore[arg-type]
    ],
)
def test_wrong_input_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"needs|needed|NaN|but"):
        call()
