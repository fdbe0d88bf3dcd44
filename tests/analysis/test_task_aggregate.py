"""Figures over tasks: rliable's answers, hand computation, laws, and coverage by simulation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.analysis.boards.task_aggregate import (
    Aggregate,
    aggregate,
    bootstrap_aggregate,
    bootstrap_aggregate_difference,
    performance_profile,
    probability_of_improvement,
)
from agentbench_tui.analysis.resampling.resampling import Bootstrap, Resampling

# runs × tasks
X = np.array([
    [0.6016, 0.7042, 0.7623, 0.6793, 0.7961, 0.848],
    [0.6793, 0.5164, 0.8095, 0.9032, 0.5818, 0.6743],
    [0.9131, 0.6799, 0.8817, 0.5906, 0.5001, 0.7002],
    [0.7708, 0.6822, 0.8456, 0.5453, 0.8122, 0.7308],
    [0.7856, 0.8059, 0.4151, 0.8186, 0.6572, 0.9203],
    [0.5782, 0.8819, 0.5305, 0.4177, 0.7987, 0.5259],
    [0.4307, 0.9171, 0.6595, 0.7983, 0.7588, 0.7963],
    [0.69, 0.2705, 0.4636, 0.5624, 0.8994, 0.8686],
    [0.4219, 0.6307, 0.9567, 0.7472, 0.7701, 0.7856],
    [0.7648, 0.6308, 0.3392, 0.8494, 0.8284, 0.5857],
])  # fmt: skip
Y = np.array([
    [0.7422, 0.7077, 0.7485, 0.7046, 0.7382, 0.8046],
    [0.8158, 0.482, 0.7847, 1.0, 0.7571, 0.6457],
    [0.9247, 0.727, 0.9981, 0.5713, 0.5178, 0.7691],
    [0.8225, 0.6934, 0.8689, 0.5066, 0.8303, 0.7475],
    [0.8272, 0.8081, 0.4687, 0.8992, 0.695, 0.9679],
    [0.6109, 0.9119, 0.5244, 0.4635, 0.8238, 0.6606],
    [0.5394, 0.9664, 0.6513, 0.7727, 0.8484, 0.8394],
    [0.744, 0.2133, 0.54, 0.6151, 0.8739, 0.875],
    [0.4651, 0.6633, 0.9721, 0.772, 0.7875, 0.8232],
    [0.8684, 0.5325, 0.3574, 0.8882, 0.8732, 0.5971],
])  # fmt: skip
KINDS: tuple[Aggregate, ...] = get_args(Aggregate)
SEVEN = Resampling(seed=7)
QUICK = Resampling(seed=3, resamples=200)

ragged = st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=6), min_size=1, max_size=5)
twins = ragged.flatmap(
    lambda tasks: st.tuples(
        st.just(tasks),
        st.lists(
            st.lists(st.floats(0, 1), min_size=1, max_size=6),
            min_size=len(tasks),
            max_size=len(tasks),
        ),
    )
)


def ends(found: Bootstrap | None) -> tuple[float, float]:
    assert found is not None
    return found.interval.low, found.interval.high


@pytest.mark.parametrize(
    ("kind", "value", "low", "high"),
    [
        ("iqm", 0.7175433333333333, 0.66817, 0.76121),
        ("median_of_task_means", 0.68158, 0.64909, 0.74537),
        ("mean", 0.6961633333333334, 0.65633, 0.73512),
        ("optimality_gap", 0.30383666666666653, 0.26488, 0.34367),
    ],
)
def test_aggregates_are_rliables(kind: Aggregate, value: float, low: float, high: float) -> None:
    """Ends with 20,000 resamples; 0.003 is for Monte Carlo error."""
    assert aggregate(X.T, kind) == pytest.approx(value, rel=1e-9)
    assert ends(bootstrap_aggregate(X.T, kind, SEVEN)) == pytest.approx((low, high), abs=0.003)


def test_probability_of_improvement_is_rliables() -> None:
    """Ends with 2,000 resamples."""
    found = probability_of_improvement(Y.T, X.T, SEVEN)
    assert found is not None
    assert found.estimate == pytest.approx(0.5716666666666667, rel=1e-9)
    assert ends(found) == pytest.approx((0.4617, 0.675), abs=0.006)


def test_probability_of_improvement_is_mann_whitneys_u() -> None:
    """With ties, and tasks that differ in their runs."""
    x, y = [[1, 2, 2, 5], [3, 3]], [[2, 2, 4], [3, 1, 2, 3]]
    shares = [
        stats.mannwhitneyu(a, b).statistic / (len(a) * len(b)) for a, b in zip(x, y, strict=True)
    ]
    found = probability_of_improvement(x, y, QUICK)
    assert found is not None
    assert found.estimate == pytest.approx(np.mean(shares))


def test_profile_is_rliables() -> None:
    profile = performance_profile(X.T, [0.3, 0.5, 0.7, 0.9], SEVEN)
    expected = (0.9833333333333333, 0.8833333333333333, 0.5333333333333333, 0.08333333333333333)
    assert profile.share == pytest.approx(expected)
    assert profile.low is not None
    assert profile.high is not None
    assert (profile.low <= profile.share).all()
    assert (profile.share <= profile.high).all()
    # 6 independent tasks of 10 runs at 0.7: a binomial sd for each
    shares = (X > 0.7).mean(axis=0)
    sd = np.sqrt((shares * (1 - shares) / 10).sum()) / 6
    assert profile.high[2] - profile.low[2] == pytest.approx(2 * 1.96 * sd, rel=0.1)


def test_interquartile_mean_is_scipys_trimmed_mean() -> None:
    tasks = [[0.1, 0.9, 0.4], [0.7], [0.2, 0.8, 0.6, 0.5, 0.3]]
    assert aggregate(tasks, "iqm") == pytest.approx(stats.trim_mean(np.concatenate(tasks), 0.25))


def test_ragged_tasks_weigh_alike_in_means() -> None:
    tasks = [[1.0, 1.0, 1.0, 1.0], [0.0], [0.25, 0.75]]
    assert aggregate(tasks, "mean") == aggregate(tasks, "median_of_task_means") == 0.5
    assert aggregate(tasks, "optimality_gap") == 0.5
    assert aggregate([[2.0, 0.5], [3.0]], "optimality_gap") == 0.125
    assert aggregate([[2.0, 0.5], [3.0]], "optimality_gap", target=4.0) == 1.875
    assert performance_profile(tasks, [0.5]).share == pytest.approx([0.5])


def test_difference_of_means_spreads_as_its_standard_error() -> None:
    found = bootstrap_aggregate_difference(X.T, Y.T, "mean", SEVEN)
    assert found is not None
    assert found.estimate == pytest.approx(Y.mean() - X.mean())
    variances = (X.var(axis=0) + Y.var(axis=0)) / 10
    assert np.std(found.resampled) == pytest.approx(np.sqrt(variances.sum()) / 6, rel=0.03)
    assert "difference in mean over tasks" in found.interval.method
    assert "seed 7" in found.interval.method


@given(twins, st.sampled_from(KINDS))
@settings(max_examples=40)
def test_swapped_labels_mirror(
    tasks: tuple[list[list[float]], list[list[float]]], kind: Aggregate
) -> None:
    a, b = tasks
    forth, back = (bootstrap_aggregate_difference(*ab, kind, QUICK) for ab in ((a, b), (b, a)))
    if forth is not None and a != b:
        low, high = ends(back)
        assert ends(forth) == pytest.approx((-high, -low), abs=1e-9)
    forth, back = (probability_of_improvement(*ab, QUICK) for ab in ((a, b), (b, a)))
    if forth is not None and a != b:
        low, high = ends(back)
        assert ends(forth) == pytest.approx((1 - high, 1 - low), abs=1e-9)


@given(ragged, st.sampled_from(KINDS))
@settings(max_examples=40)
def test_figures_lie_between_the_least_and_the_largest_score(
    tasks: list[list[float]], kind: Aggregate
) -> None:
    scores = np.concatenate(tasks)
    low, high = scores.min() - 1e-9, scores.max() + 1e-9
    value = aggregate(tasks, kind)
    found = bootstrap_aggregate(tasks, kind, QUICK)
    values = [value] if found is None else [value, *ends(found)]
    if kind == "optimality_gap":
        values = [1 - value for value in values]
    assert all(low <= value <= high for value in values)


def test_a_seed_repeats() -> None:
    first, again, other = (
        ends(bootstrap_aggregate(X.T, "iqm", replace(QUICK, seed=seed))) for seed in (1, 1, 2)
    )
    assert first == again != other


def test_blocks_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    figures: list[Callable[[], Bootstrap | None]] = [
        lambda: probability_of_improvement(X.T, Y.T, QUICK),
        lambda: bootstrap_aggregate_difference(X[:, :1].T, Y[:, :1].T, "iqm", QUICK),
    ]
    whole = [ends(figure()) for figure in figures]
    profile = performance_profile(X[:, :1].T, [0.7], QUICK)
    monkeypatch.setattr("agentbench_tui.analysis.resampling.resampling._DRAWN_AT_ONCE", 100)
    assert [ends(figure()) for figure in figures] == whole
    assert performance_profile(X[:, :1].T, [0.7], QUICK).low == profile.low


def test_an_interval_of_ten_runs_covers_the_figure_of_many() -> None:
    generator, levels, hits = np.random.default_rng(20261128), np.linspace(0.3, 0.9, 10), 0
    many = generator.normal(levels[:, np.newaxis], 0.1, (10, 20_000))
    truth = aggregate(many, "iqm")
    for _ in range(300):
        runs = generator.normal(levels[:, np.newaxis], 0.1, (10, 10))
        low, high = ends(bootstrap_aggregate(runs, "iqm", Resampling(resamples=400)))
        hits += low <= truth <= high
    assert 0.88 <= hits / 300 <= 0.97


def test_one_run_a_task_gives_no_interval() -> None:
    once = [[0.5], [0.7]]
    assert bootstrap_aggregate(once, "mean") is None
    assert bootstrap_aggregate_difference(once, once, "iqm") is None
    assert probability_of_improvement(once, once) is None
    profile = performance_profile(once, [0.6])
    assert (profile.share.tolist(), profile.low, profile.high) == ([0.5], None, None)
    assert bootstrap_aggregate_difference(once, [[0.5, 0.6], [0.7]], "mean", QUICK) is not None


def test_equal_runs_give_no_width() -> None:
    same = [[0.5] * 3, [0.25] * 4]
    for kind in KINDS:
        low, high = ends(bootstrap_aggregate(same, kind, QUICK))
        assert low == pytest.approx(high)
        assert low == pytest.approx(aggregate(same, kind))
    assert ends(probability_of_improvement(same, same, QUICK)) == (0.5, 0.5)


@pytest.mark.parametrize(
    "call",
    [
        lambda: aggregate([], "mean"),
        lambda: aggregate([[1.0], []], "mean"),
        lambda: aggregate([[float("nan")]], "mean"),
        lambda: aggregate([[1.0]], "mode"),  # type: ignore[arg-type]
        lambda: probability_of_improvement([[1.0]], [[1.0], [2.0]]),
    ],
)
def test_wrong_input_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"needs|needed|NaN|but"):
        call()
