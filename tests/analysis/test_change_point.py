"""Change points: the statistic by brute force, steps of known place, and coverage by simulation."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from agentbench_tui.analysis.runs import change_point
from agentbench_tui.analysis.runs.change_point import Change, changes, energy, locate
from agentbench_tui.analysis.scale import Scale

TIME, SUCCESS = Scale("lower"), Scale("higher", "points")


def history(
    steps: dict[int, float], runs: int = 60, noise: float = 0.02, seed: int = 1
) -> NDArray[np.float64]:
    """ms; `steps` are factors from a run on."""
    logs = np.random.default_rng(seed).normal(math.log(850), noise, runs)
    for run, factor in steps.items():
        logs[run:] += math.log(factor)
    return np.exp(logs)


def runs_of(found: list[Change]) -> list[int]:
    return [change.run for change in found]


@given(st.lists(st.floats(-10, 10), min_size=4, max_size=14))
def test_energy_is_its_definition(values: list[float]) -> None:
    q = energy(np.array(values))
    for cut in range(2, len(values) - 1):
        x, y = values[:cut], values[cut:]
        n, m = len(x), len(y)
        between = 2 / (n * m) * sum(abs(a - b) for a, b in product(x, y))
        within = [np.mean([abs(a - b) for a, b in combinations(side, 2)]) for side in (x, y)]
        assert q[cut] == pytest.approx(n * m / (n + m) * (between - sum(within)), abs=1e-9)
    assert q[[0, 1, -2, -1]].tolist() == [-np.inf] * 4


def test_energy_of_a_long_column_is_that_of_a_short_one_in_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = np.random.default_rng(5).normal(size=101)
    whole = energy(x)
    monkeypatch.setattr(change_point, "_ROWS_AT_ONCE", 7)
    assert energy(x) == pytest.approx(whole)


def test_a_step_is_found_located_and_measured() -> None:
    (change,) = changes(history({38: 1.1}), TIME)
    assert change.first <= 38 <= change.last
    assert change.last - change.first <= 2
    assert change.low < 1.1 < change.high
    assert change.before == pytest.approx(850, rel=0.02)
    assert change.after == pytest.approx(935, rel=0.02)
    assert change.change == pytest.approx(change.after / change.before)
    assert change.worse
    assert change.p < 1e-4


def test_what_goes_up_and_down_again_is_two_changes() -> None:
    found = changes(history({100: 1.15, 112: 1 / 1.15}, runs=400), TIME)
    assert [change.worse for change in found] == [True, False]
    assert runs_of(found) == pytest.approx([100, 112], abs=1)


def test_a_change_below_the_margin_is_none() -> None:
    values = history({100: 1.04}, runs=200, noise=0.005)
    assert changes(values, TIME) == []
    assert runs_of(changes(values, TIME, margin=0.03)) == [100]


def test_outliers_are_neither_changes_nor_hide_them() -> None:
    values = history({38: 1.1}, noise=0.01)
    for run in (7, 21, 44):
        values[run] *= 1.5
    (change,) = changes(values, TIME)
    assert change.first <= 38 <= change.last
    assert change.change == pytest.approx(1.1, rel=0.03)


def test_a_history_of_two_modes_has_no_changes() -> None:
    """Cold starts at random, three in ten: far apart, but nothing changes."""
    for seed in range(15):
        cold = np.random.default_rng([seed, 1]).random(150) < 0.3
        assert changes(history({}, 150, seed=seed) * np.where(cold, 20, 1), TIME) == []


@given(st.integers(0, 1000), st.floats(0.001, 1000))
def test_another_unit_or_the_inverse_changes_nothing(seed: int, unit: float) -> None:
    values = history({30: 1.12}, runs=50, seed=seed)
    found = changes(values, TIME)
    assert runs_of(changes(values * unit, TIME)) == runs_of(found)
    throughput = changes(unit / values, Scale("higher"))
    assert [(c.run, c.worse) for c in throughput] == [(c.run, c.worse) for c in found]
    if found:
        assert throughput[0].change == pytest.approx(1 / found[0].change)


def test_shares_change_by_points() -> None:
    values = [0.90, 0.92, 0.91, 0.89] * 5 + [0.80, 0.82, 0.81] * 4
    (change,) = changes(values, SUCCESS)
    assert (change.run, change.worse) == (20, True)
    assert change.change == pytest.approx(-0.095, abs=0.002)
    perfect = changes([1.0] * 20 + [0.9] * 8, SUCCESS)
    assert [(c.run, c.first, c.last) for c in perfect] == [(20, 20, 20)]


def test_a_few_runs_that_lie_higher_are_no_change_yet() -> None:
    """By Welch on logs p is 0.0004: enough for a gate, not for a place in history."""
    old, new = [100.0, 102.0, 98.0, 101.0, 99.0, 100.0], [110.0, 106.0, 112.0, 106.0, 109.0]
    p = stats.ttest_ind(np.log(new), np.log(old), equal_var=False).pvalue
    assert 1e-4 < p < 1e-2
    assert changes([*old, *new], TIME) == []
    assert runs_of(changes([*old * 3, *new * 2], TIME)) == [18]


@pytest.mark.parametrize("values", [[], [5.0], [5.0, 9.0] * 4, [5.0] * 40, [5.0] * 20 + [6.0] * 4])
def test_without_two_levels_there_is_no_change(values: list[float]) -> None:
    assert changes(values, TIME) == []


def test_white_noise_has_no_changes() -> None:
    """50 histories of 60 runs; however small the margin."""
    found = [changes(history({}, runs=60, seed=seed), TIME, margin=0.0) for seed in range(50)]
    assert sum(map(bool, found)) <= 1


def test_a_place_is_told_without_a_test() -> None:
    """A step of 1.3 spreads, which is too small to be called a change by itself."""
    values = history({34: 1.065}, runs=40, noise=0.05, seed=2)
    assert changes(values, TIME) == []
    change = locate(values, TIME)
    assert change is not None
    assert change.first <= 34 <= change.last
    assert locate([1.0] * 9, TIME) is None
    assert locate([1.0] * 20, TIME) is None


@pytest.mark.parametrize("ratio", [3.0, 5.0])
def test_the_interval_holds_the_place_in_95_of_100(ratio: float) -> None:
    """Steps of 3 and 5 standard deviations of a run."""
    inside, found = 0, 0
    for seed in range(150):
        near = changes(history({38: math.exp(0.02 * ratio)}, seed=seed), TIME, margin=0.0)
        found += len(near) == 1
        inside += len(near) == 1 and near[0].first <= 38 <= near[0].last
    assert found >= 100
    assert inside / found >= 0.92
