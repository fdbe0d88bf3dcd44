"""The cost–quality front: by hand, by definition, and how sure it is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from agentbench_tui.analysis.boards.pareto import dominance, pareto_front

agents = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=7)


def spread(means: list[float], cases: int, noise: float, seed: int) -> NDArray[np.float64]:
    drawn = np.random.default_rng(seed).normal(0, noise, (len(means), cases))
    return np.asarray(np.array(means)[:, None] + drawn)


def test_a_front_by_hand() -> None:
    quality = [0.9, 0.8, 0.8, 0.5]
    cost = [3.0, 1.0, 2.0, 1.0]
    assert np.argwhere(dominance(quality, cost)).tolist() == [[1, 2], [1, 3]]
    case = np.random.default_rng(1).normal(0, 0.1, 20)
    points = pareto_front(np.add.outer(quality, case), np.add.outer(cost, case), seed=1)
    assert [point.on_front for point in points] == [True, True, False, False]
    assert [point.dominated_by for point in points] == [(), (), (1,), (1,)]


@given(agents)
def test_dominance_is_its_definition(pairs: list[tuple[int, int]]) -> None:
    quality, cost = [q for q, _ in pairs], [c for _, c in pairs]
    table = dominance(quality, cost)
    for i, (q, c) in enumerate(pairs):
        for j, (other_q, other_c) in enumerate(pairs):
            assert table[i, j] == (q >= other_q and c <= other_c and (q, c) != (other_q, other_c))


@given(agents)
def test_somebody_is_always_on_the_front(pairs: list[tuple[int, int]]) -> None:
    table = dominance([q for q, _ in pairs], [c for _, c in pairs])
    assert not table.any(axis=0).all()
    assert not (table & table.T).any()


def test_equal_agents_are_both_on_the_front() -> None:
    row = np.random.default_rng(1).random((1, 20))
    points = pareto_front(np.repeat(row, 2, axis=0), np.repeat(row, 2, axis=0), seed=1)
    assert [point.standing for point in points] == ["on the front", "on the front"]


def test_what_is_clear_is_told_for_sure() -> None:
    points = pareto_front(
        spread([0.9, 0.5, 0.4], 30, 0.05, 1), spread([3.0, 1.0, 2.0], 30, 0.05, 2), seed=1
    )
    assert [point.standing for point in points] == ["on the front", "on the front", "off the front"]
    assert points[2].surely_dominated_by == (1,)
    assert [point.front_share for point in points] == [1, 1, 0]


def test_what_is_close_is_possible_with_the_share_of_the_normal_law() -> None:
    """Of equal quality, the dearer is on the front when the resampled difference turns over."""
    generator = np.random.default_rng(3)
    difference = generator.normal(0.15, 1, 50)
    costs = np.stack([10 + difference, np.full(50, 10.0)])
    dearer, cheaper = pareto_front(np.ones((2, 50)), costs, seed=1)
    z = difference.mean() / (difference.std() / math.sqrt(50))
    chance = 0.5 * math.erfc(z / math.sqrt(2))
    assert 0.05 < chance < 0.5
    assert dearer.front_share == pytest.approx(chance, abs=0.03)
    assert (dearer.standing, cheaper.standing) == ("possibly on the front",) * 2
    assert not dearer.on_front
    assert dearer.dominated_by == (1,)
    assert dearer.surely_dominated_by == ()


def test_cases_are_resampled_whole() -> None:
    """A dear case is dear for both: their order by cost never changes."""
    case = np.random.default_rng(4).exponential(1, 20)
    dear, cheap = pareto_front(np.ones((2, 20)), np.stack([case * 1.01, case]), seed=1)
    assert (dear.front_share, cheap.front_share) == (0, 1)


def test_few_cases_leave_the_standing_open() -> None:
    point = pareto_front([[1.0] * 14], [[1.0] * 14], seed=1)[0]
    assert (point.standing, point.front_share) == ("unknown", None)
    assert point.reason == "needs 15 (have 14)"
    assert point.on_front


def test_intervals_are_those_of_the_metric() -> None:
    right = np.array([[1.0] * 15 + [0.0] * 5])
    point = pareto_front(right, np.ones((1, 20)), seed=1)[0]
    assert point.quality.method == "share; Wilson"
    expected = stats.binomtest(15, 20).proportion_ci(method="wilson")
    assert (point.quality.low, point.quality.high) == pytest.approx(tuple(expected))
    assert (point.cost.low, point.cost.high) == (1, 1)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.data(), st.floats(1e-3, 1e3))
def test_relabeling_and_another_currency_change_nothing_else(
    seed: int, data: st.DataObject, factor: float
) -> None:
    quality, cost = np.random.default_rng(seed).random((2, 4, 20))
    order = data.draw(st.permutations(range(4)))
    here = pareto_front(quality, cost, seed=1, resamples=200)
    there = pareto_front(quality[order], cost[order] * factor, seed=1, resamples=200)
    for point, old in zip(there, order, strict=True):
        was = here[old]
        assert (point.on_front, point.standing) == (was.on_front, was.standing)
        assert point.front_share == was.front_share
        assert {order[row] for row in point.dominated_by} == set(was.dominated_by)


def test_the_same_seed_gives_the_same_shares() -> None:
    quality, cost = np.random.default_rng(1).random((2, 3, 20))
    assert pareto_front(quality, cost, seed=2) == pareto_front(quality, cost, seed=2)


@pytest.mark.parametrize(
    ("quality", "cost", "message"),
    [
        ([[1.0, 0.0]], [[1.0]], "shape"),
        ([[1.0, math.nan]], [[1.0, 1.0]], "NaN"),
        ([[1.0]], [[-1.0]], "negative"),
    ],
)
def test_what_cannot_be_compared_is_refused(quality: object, cost: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pareto_front(quality, cost, seed=1)  # type: ignore[arg-type]


def test_of_many_cases_fewer_resamples_say_the_same() -> None:
    """Two agents whose 3,000 cases differ on few: P(X > Y) + P(X = Y) for Poisson X, Y of mean 2,
    with the modified Bessel function: (1 + exp(-4) I0(4)) / 2 = 0.603, I0(4) = 11.302."""
    quality = np.ones((2, 3_000))
    quality[0, :2] = 0
    quality[1, 2:4] = 0
    cost = np.array([np.full(3_000, 1.0), np.full(3_000, 2.0)])
    cheap, dear = pareto_front(quality, cost, seed=1)
    assert cheap.front_share == 1
    assert dear.front_share == pytest.approx(1 - 0.603, abs=0.03)
