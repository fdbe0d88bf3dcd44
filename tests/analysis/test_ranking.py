"""Ranks and positions: scipy's sign-flip test, hand-made tables, known truth, relabeling."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from agentbench_tui.analysis.boards.ranking import case_weights, ranking, separation


def seeded(seed: int, agents: int, cases: int) -> NDArray[np.float64]:
    generator = np.random.default_rng(seed)
    return generator.integers(0, 5, (agents, cases)) / 4 + np.linspace(0, 0.5, agents)[:, None]


def test_clear_differences_give_clear_places() -> None:
    noise = np.random.default_rng(1).normal(0, 0.05, (3, 40))
    places = ranking(noise + np.array([[0.2], [0.9], [0.5]]), seed=1)
    assert [place.position for place in places] == [3, 1, 2]
    assert [place.rank for place in places] == [3, 1, 2]
    assert [(place.low, place.high) for place in places] == [(3, 3), (1, 1), (2, 2)]
    assert places[2].ahead == (1,)
    assert places[2].behind == (0,)


def test_equal_scores_share_a_position_and_the_next_is_skipped() -> None:
    scores = np.array([[1, 0, 1, 1], [1, 1, 0, 1], [0, 0, 1, 0], [1, 1, 1, 1]] * 1, dtype=float)
    places = ranking(scores, seed=1)
    assert [place.position for place in places] == [2, 2, 4, 1]
    assert [place.rank for place in places] == [1, 1, 1, 1]
    assert places[0].reason == "needs 15 (have 4)"
    assert (places[0].low, places[0].high) == (None, None)


def test_identical_agents_are_tied_over_all_their_places() -> None:
    row = np.random.default_rng(2).random(30)
    places = ranking(np.stack([row, row, row]), seed=1)
    for place in places:
        assert (place.position, place.rank, place.low, place.high) == (1, 1, 1, 3)


def test_agents_that_the_cases_do_not_tell_apart_share_a_rank() -> None:
    generator = np.random.default_rng(3)
    scores = generator.normal(0, 1, (3, 40)) + np.array([[0.0], [0.05], [5.0]])
    places = ranking(scores, seed=1)
    assert sorted(place.position for place in places) == [1, 2, 3]
    assert [place.rank for place in places] == [2, 2, 1]


def test_of_costs_the_lowest_is_first() -> None:
    costs = np.random.default_rng(1).uniform(0.9, 1.1, (2, 20)) * np.array([[3.0], [1.0]])
    places = ranking(costs, seed=1, higher_is_better=False)
    assert [place.position for place in places] == [2, 1]
    assert [place.rank for place in places] == [2, 1]
    assert places[0].score == pytest.approx(costs[0].mean())


@given(st.integers(0, 2**32 - 1), st.integers(6, 11))
def test_two_agents_have_scipys_exact_sign_flip_p(seed: int, cases: int) -> None:
    scores = seeded(seed, 2, cases)
    expected = stats.permutation_test(
        (scores[0] - scores[1],), np.sum, permutation_type="samples", n_resamples=np.inf
    ).pvalue
    assert separation(scores, seed=1)[0, 1] == pytest.approx(min(1.0, expected), rel=1e-9)


def test_cases_without_a_difference_do_not_count() -> None:
    """Cases in which no agent differs from another have no part in the test of signs."""
    few = [[1.0] * 9, [0.0] * 8 + [1.0]]
    many = [[*few[0], *[1.0] * 900], [*few[1], *[1.0] * 900]]
    assert separation(many, seed=1)[0, 1] == separation(few, seed=1)[0, 1] == 2 / 2**8


def test_agents_with_equal_sums_are_not_told_apart_by_rounding() -> None:
    scores = [[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], [0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]]
    assert separation(scores, seed=1)[0, 1] == 1


def test_many_cases_are_near_the_exact_p() -> None:
    scores = np.random.default_rng(4).random((2, 16)) + np.array([[0.0], [0.15]])
    difference = scores[0] - scores[1]
    flips = np.array(list(product([-1, 1], repeat=16)))
    exact = (np.abs(flips @ difference) >= abs(difference.sum()) - 1e-9).mean()
    assert 0.01 < exact < 0.5
    assert separation(scores, seed=1)[0, 1] == pytest.approx(exact, abs=0.02)


@pytest.mark.parametrize("seed", range(5))
def test_three_agents_are_adjusted_by_the_maximum_over_pairs_not_clearer(seed: int) -> None:
    scores = np.random.default_rng(seed).normal([[0], [0.5], [1]], 1, (3, 8))
    pairs = [(0, 1), (0, 2), (1, 2)]
    differences = np.array([scores[a] - scores[b] for a, b in pairs])
    size = np.sqrt((differences**2).sum(axis=1))
    seen = np.abs(differences.sum(axis=1)) / size
    flips = np.array(list(product([-1, 1], repeat=8)))
    under = np.abs(flips @ differences.T) / size
    expected = {}
    running = 0.0
    for at in np.argsort(-seen):
        rest = under[:, seen <= seen[at] + 1e-12].max(axis=1)
        running = max(running, float((rest >= seen[at] - 1e-9).mean()))
        expected[pairs[at]] = running
    p = separation(scores, seed=1)
    for pair, value in expected.items():
        assert p[pair] == pytest.approx(value)


def test_many_agents_are_held_to_the_range_of_all_their_sums() -> None:
    """Among so many, 4 agents that are right where nobody else is stand clear of all others."""
    scores = np.random.default_rng(5).random((120, 9)) * 0.2
    scores[:4] += 1
    centered = scores - scores.mean(axis=0)
    flips = np.array(list(product([-1, 1], repeat=9)))
    ranges = np.ptp(flips @ centered.T, axis=1)
    p = separation(scores, seed=1)
    for a, b in ((0, 1), (0, 50), (60, 70)):
        apart = abs(scores[a].sum() - scores[b].sum())
        assert p[a, b] == p[b, a] == pytest.approx((ranges >= apart - 1e-9).mean())
    assert (p[:4, 4:] < 0.05).all()
    assert (p[:4, :4] > 0.05).all()
    assert (np.diagonal(p) == 1).all()


@pytest.mark.parametrize("agents", [20, 120])
def test_equal_agents_are_seldom_told_apart_however_many_there_are(agents: int) -> None:
    generator = np.random.default_rng(6)
    told = 0
    for number in range(60):
        scores = (generator.random((agents, 60)) < 0.6).astype(float)
        told += (separation(scores, seed=number, resamples=400) < 0.05).any()
    assert told <= 8  # 3 of 60 are expected at 5%


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(6, 12))
def test_adjusting_never_makes_a_pair_clearer(seed: int, agents: int, cases: int) -> None:
    scores = seeded(seed, agents, cases)
    together = separation(scores, seed=1)
    assert (together == together.T).all()
    for a in range(agents):
        for b in range(a):
            assert together[a, b] >= separation(scores[[a, b]], seed=1)[0, 1] - 1e-12


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.data())
def test_relabeling_agents_relabels_places(seed: int, agents: int, data: st.DataObject) -> None:
    scores = seeded(seed, agents, 20)
    scores[0, :3] = math.nan
    order = data.draw(st.permutations(range(agents)))
    here, there = (ranking(table, seed=1, resamples=200) for table in (scores, scores[order]))
    for place, old in zip(there, order, strict=True):
        was = here[old]
        assert place.score == was.score
        assert (place.position, place.low, place.high) == (was.position, was.low, was.high)
        assert place.rank == was.rank
        assert {order[row] for row in place.ahead} == set(was.ahead)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 1e3), st.floats(-10, 10))
def test_another_unit_changes_no_place(seed: int, factor: float, shift: float) -> None:
    scores = seeded(seed, 4, 20)
    here = ranking(scores, seed=1, resamples=200)
    there = ranking(scores * factor + shift, seed=1, resamples=200)
    for a, b in zip(here, there, strict=True):
        assert (a.position, a.low, a.high, a.rank) == (b.position, b.low, b.high, b.rank)


def test_no_agent_is_separated_on_fewer_than_six_shared_cases() -> None:
    scores = np.full((2, 20), math.nan)
    scores[0, :12], scores[1, 7:] = 1.0, 0.0
    assert separation(scores, seed=1)[0, 1] == 1
    scores[1, 6] = 0.0
    assert separation(scores, seed=1)[0, 1] < 0.05
    assert [place.cases for place in ranking(scores, seed=1)] == [12, 14]


def test_comparison_is_on_the_shared_cases_even_against_the_means() -> None:
    generator = np.random.default_rng(5)
    hard, easy = generator.uniform(0.2, 0.3, 20), generator.uniform(0.9, 1.0, 20)
    better = np.concatenate([hard + 0.1, np.full(20, math.nan)])  # ran the hard ones only
    places = ranking(np.stack([better, np.concatenate([hard, easy])]), seed=1)
    assert [place.position for place in places] == [2, 1]
    assert [place.rank for place in places] == [1, 2]


def test_rounding_is_no_difference() -> None:
    scores = np.tile([[0.1 + 0.2], [0.3]], 20)
    assert scores[0, 0] != scores[1, 0]
    assert [(p.position, p.rank) for p in ranking(scores, seed=1)] == [(1, 1), (1, 1)]


def test_equal_agents_are_seldom_told_apart_and_different_ones_are_found() -> None:
    generator = np.random.default_rng(6)
    wrong = right = 0
    for _ in range(60):
        scores = generator.normal(0, 1, (5, 25)) + generator.normal(0, 2, (1, 25))
        wrong += any(place.rank > 1 for place in ranking(scores, seed=1, resamples=500))
        scores[0] += 1.5
        right += ranking(scores, seed=1, resamples=500)[1].rank == 2
    assert wrong <= 7  # 3 expected
    assert right >= 54


def test_the_bootstrap_interval_of_two_agents_is_the_chance_of_the_order() -> None:
    difference = stats.zscore(np.random.default_rng(7).normal(0, 1, 40)) + 0.16
    scores = np.stack([difference, np.zeros(40)])
    chance = stats.norm.cdf(-0.16 * math.sqrt(40))  # 0.156, that the second comes out first
    for tail, high in ((0.75 * chance, 2), (1.3 * chance, 1)):
        first = ranking(scores, seed=1, level=1 - 2 * tail)[0]
        assert (first.position, first.low, first.high) == (1, 1, high)


def test_the_same_seed_gives_the_same_places() -> None:
    scores = seeded(8, 4, 30)
    assert ranking(scores, seed=5) == ranking(scores, seed=5)


def test_resamples_draw_as_many_cases_as_there_are() -> None:
    weights = np.concatenate(list(case_weights(7, 1000, seed=1, width=5000)))
    assert weights.shape == (1000, 7)
    assert (weights.sum(axis=1) == 7).all()
    assert weights.mean(axis=0) == pytest.approx(np.ones(7), abs=0.15)


def test_one_agent_is_first() -> None:
    place = ranking(np.ones((1, 20)), seed=1)[0]
    assert (place.position, place.rank, place.low, place.high) == (1, 1, 1, 1)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0, 2.0], "agents by cases"),
        ([[]], "agents by cases"),
        ([[1.0, math.inf]], "infinity"),
        ([[1.0, 2.0], [math.nan, math.nan]], "agent 1 of the table has no case"),
    ],
)
def test_what_is_no_table_is_refused(scores: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ranking(scores, seed=1)  # type: ignore[arg-type]


def test_many_agents_have_the_places_that_few_have() -> None:
    # Each of 40 distinct scores three times: 120 agents, more than are compared one by one, have
    # the places of the 40 times three, and each its equals beside it in every resample.
    generator = np.random.default_rng(4)
    few = generator.integers(0, 3, (40, 20)).astype(float)
    few[:, 0] += np.arange(40) % 7 / 10
    few[3, 5] = few[8, 2] = np.nan
    many = ranking(np.repeat(few, 3, axis=0), seed=1, resamples=1_000)
    for index, one in enumerate(ranking(few, seed=1, resamples=1_000)):
        assert one.low is not None
        assert one.high is not None
        for other in many[3 * index : 3 * index + 3]:
            assert (other.position, other.low) == (3 * one.position - 2, 3 * one.low - 2)
            assert other.high == 3 * one.high


@pytest.mark.parametrize("unit", [1e-12, 1e9])
def test_the_unit_of_the_scores_of_many_agents_does_not_matter(unit: float) -> None:
    scores = np.random.default_rng(0).normal(size=(120, 8))
    scores[0] += 5
    assert separation(scores * unit, seed=1).tolist() == separation(scores, seed=1).tolist()
