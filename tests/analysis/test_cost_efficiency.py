"""What success costs, by hand; its intervals by simulation; savings only at equal quality."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from agentbench_tui.analysis.boards.cost_efficiency import (
    Configuration,
    configurations,
    cost_figures,
)


def same(current: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    return bool(abs(current.mean() - other.mean()) < 0.02)


def test_figures_by_hand() -> None:
    figures = cost_figures([1.0, 2.0, 3.0, 2.0], [1, 0, 1, 1])
    assert (figures.tasks, figures.successes, figures.total) == (4, 3, 8)
    assert figures.per_task.value == 2
    assert figures.per_success.value == pytest.approx(8 / 3)
    assert figures.per_dollar.value == pytest.approx(3 / 8)


def test_a_ratio_of_sums_is_not_a_mean_of_ratios() -> None:
    assert cost_figures([1.0, 9.0], [1, 0.5]).per_success.value == pytest.approx(10 / 1.5)


def test_without_success_the_cost_is_infinite_but_bounded_below() -> None:
    figures = cost_figures([2.0] * 10, [0] * 10)
    bound = 1 - 0.05 ** (1 / 10)
    assert figures.per_success.value == math.inf
    assert figures.per_success.low == pytest.approx(2 / bound)
    assert figures.per_dollar.value == 0
    assert figures.per_dollar.high == pytest.approx(bound / 2)
    assert figures.per_success.reason == "no success in 10: its chance is below 0.26"


def test_without_failure_success_is_not_taken_for_certain() -> None:
    figures = cost_figures([2.0] * 10, [1] * 10)
    assert figures.per_success.value == 2
    assert figures.per_success.low == 2
    assert figures.per_success.high == pytest.approx(2 / 0.05 ** (1 / 10))
    assert figures.per_success.reason == "no failure in 10: its chance is below 0.26"


def test_cases_with_several_tasks_count_once_in_a_bound() -> None:
    figures = cost_figures([2.0] * 12, [0] * 12, clusters=[0, 1, 2, 3] * 3)
    assert figures.per_success.low == pytest.approx(2 / (1 - 0.05 ** (1 / 4)))


def test_one_task_has_a_cost_and_no_interval() -> None:
    figures = cost_figures([2.0], [0.5])
    assert (figures.per_success.value, figures.per_success.low) == (4, None)
    assert figures.per_success.reason == "needs 2 (have 1)"


def test_what_is_free_has_no_worth_per_dollar() -> None:
    figures = cost_figures([0.0] * 5, [1, 0, 1, 1, 1])
    assert figures.per_success.value == 0
    assert (figures.per_dollar.value, figures.per_dollar.reason) == (None, "nothing was paid")


def test_few_successes_leave_the_upper_end_open() -> None:
    figures = cost_figures([1.0] * 6, [1, 0, 0, 0, 0, 0])
    assert figures.per_success.high == math.inf
    assert figures.per_dollar.low == 0


def test_the_interval_holds_the_true_cost_per_success() -> None:
    generator, hits = np.random.default_rng(1), 0
    for _ in range(400):
        right = generator.random(60) < 0.6
        costs = generator.lognormal(0, 0.5, 60) * np.where(right, 1, 2)
        interval = cost_figures(costs, right).per_success
        assert interval.low is not None
        assert interval.high is not None
        truth = math.exp(0.125) * (0.6 + 0.4 * 2) / 0.6
        hits += interval.low <= truth <= interval.high
    assert 0.92 <= hits / 400 <= 0.98


@given(
    st.lists(st.tuples(st.floats(0.01, 100), st.booleans()), min_size=2, max_size=30),
    st.floats(1e-3, 1e3),
)
def test_another_currency_scales_the_costs(tasks: list[tuple[float, bool]], rate: float) -> None:
    costs, right = np.array([c for c, _ in tasks]), np.array([r for _, r in tasks])
    here, there = cost_figures(costs, right), cost_figures(costs * rate, right)
    for end in ("value", "low", "high"):
        old, new = getattr(here.per_success, end), getattr(there.per_success, end)
        if old is not None and new is not None and math.isfinite(old + new):
            assert new == pytest.approx(old * rate, rel=1e-6, abs=1e-9 * rate)


def cases(seed: int, accuracy: list[float], cost: list[float]) -> tuple[NDArray[np.float64], ...]:
    generator = np.random.default_rng(seed)
    scores = np.array([[1.0] * round(40 * a) + [0.0] * (40 - round(40 * a)) for a in accuracy])
    costs = np.array(cost)[:, None] * generator.lognormal(0, 0.3, (1, 40))
    return scores, costs * generator.lognormal(0, 0.05, costs.shape)


def test_efficiency_is_the_share_of_the_best_value() -> None:
    scores = [[1.0, 1, 1, 0], [1, 1, 0, 0], [1, 1, 1, 1]]
    costs = [[1.0] * 4, [1.0] * 4, [2.0] * 4]
    rows = configurations(scores, costs, 0, same)
    assert [row.value for row in rows] == [0.75, 0.5, 0.5]
    assert [row.efficiency for row in rows] == pytest.approx([1, 2 / 3, 2 / 3])
    assert [row.optimal for row in rows] == [True, False, False]


def test_speed_counts_where_times_are_given() -> None:
    scores, costs = [[1.0, 1.0]] * 2, [[2.0, 2.0]] * 2
    rows = configurations(scores, costs, 0, same, seconds=[[4.0, 4.0], [5.0, 3.0]])
    assert [row.value for row in rows] == [1 / 2 / 4, 1 / 2 / 4]
    slow = configurations(scores, costs, 0, same, seconds=[[1.0, 1.0], [2.0, 2.0]])
    assert [row.efficiency for row in slow] == [1, 0.5]


def test_exactly_eight_tenths_is_not_optimal() -> None:
    rows = configurations([[1.0, 1.0], [1.0, 1.0]], [[4.0, 4.0], [5.0, 5.0]], 0, same)
    assert (rows[1].efficiency, rows[1].optimal) == (0.8, False)


def test_savings_are_told_only_at_equal_quality() -> None:
    scores, costs = cases(1, [0.8, 0.8, 0.5, 0.8], [1.0, 0.6, 0.1, 1.5])
    rows = configurations(scores, costs, 0, same)
    assert [row.saving is None for row in rows] == [True, False, True, False]
    cheaper, dearer = rows[1].saving, rows[3].saving
    assert cheaper is not None
    assert cheaper.value == pytest.approx(0.4, abs=0.02)
    assert cheaper.low is not None
    assert cheaper.high is not None
    assert 0 < cheaper.low < 0.4 < cheaper.high < 0.45
    assert dearer is not None
    assert dearer.value == pytest.approx(-0.5, abs=0.05)


def test_the_saving_by_hand() -> None:
    saving = configurations([[1.0] * 4] * 2, [[4.0] * 4, [1.0] * 4], 0, same)[1].saving
    assert saving is not None
    assert (saving.value, saving.low, saving.high) == (0.75, 0.75, 0.75)


def test_the_equality_is_asked_with_the_current_scores_first() -> None:
    asked: list[tuple[list[float], list[float]]] = []

    def equal(current: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
        asked.append((current.tolist(), other.tolist()))
        return False

    rows = configurations([[1.0, 0.0], [0.0, 0.0]], [[1.0, 1.0]] * 2, 1, equal)
    assert asked == [([0.0, 0.0], [1.0, 0.0])]
    assert [row.equal_quality for row in rows] == [False, True]


def test_a_free_configuration_beats_all_that_cost() -> None:
    rows = configurations([[1.0, 1.0]] * 3, [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]], 1, same)
    assert [row.efficiency for row in rows] == [1, 0, 1]
    assert rows[0].saving is not None
    assert rows[0].saving.value == 1
    free = configurations([[1.0, 1.0]] * 2, [[0.0, 0.0], [1.0, 1.0]], 0, same)
    assert free[1].saving is None


def test_when_nothing_succeeds_nothing_is_optimal() -> None:
    rows = configurations([[0.0, 0.0]] * 2, [[1.0, 1.0], [0.0, 0.0]], 0, same)
    assert [(row.efficiency, row.optimal) for row in rows] == [(0, False)] * 2


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.permutations(range(4)), st.floats(1e-3, 1e3))
def test_relabeling_and_other_units_change_nothing_else(
    seed: int, order: list[int], factor: float
) -> None:
    scores, costs = cases(seed, [0.8, 0.8, 0.5, 0.9], [1.0, 0.6, 0.1, 1.5])
    seconds = costs[::-1]
    here = configurations(scores, costs, 0, same, seconds)
    there = configurations(
        scores[order], costs[order] * factor, order.index(0), same, seconds[order] * 60
    )

    def shares(row: Configuration) -> tuple[float, bool, float | None]:
        saving = None if row.saving is None else round(row.saving.value, 9)
        return round(row.efficiency, 9), row.equal_quality, saving

    assert [shares(row) for row in there] == [shares(here[old]) for old in order]


@pytest.mark.parametrize(
    ("costs", "scores", "message"),
    [
        ([], [], "each task needs both"),
        ([1.0], [1, 1], "1 costs but 2 scores"),
        ([-1.0], [1], "negative"),
        ([1.0], [2], "between 0 and 1"),
        ([math.nan], [1], "NaN"),
    ],
)
def test_what_has_no_cost_is_refused(costs: object, scores: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cost_figures(costs, scores)  # type: ignore[arg-type]


def test_unknown_or_unlike_configurations_are_refused() -> None:
    scores = [[1.0, 1.0]]
    with pytest.raises(ValueError, match="no configuration 1"):
        configurations(scores, scores, 1, same)
    with pytest.raises(ValueError, match="shape"):
        configurations(scores, [[1.0]], 0, same)
    with pytest.raises(ValueError, match="above 0"):
        configurations(scores, scores, 0, same, seconds=[[0.0, 1.0]])
