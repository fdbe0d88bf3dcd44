"""Bradley–Terry: closed forms, an independent algorithm, and laws of relabeling."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import optimize

from agentbench_tui.analysis.boards.rating import (
    POINTS,
    Ratings,
    bradley_terry,
    bradley_terry_by_case,
    expected_score,
    outcomes_by_case,
)


@st.composite
def tables(draw: st.DrawFn) -> NDArray[np.float64]:
    players = draw(st.integers(2, 6))
    row = st.lists(st.integers(0, 8), min_size=players, max_size=players)
    table = np.array(draw(st.lists(row, min_size=players, max_size=players)), dtype=float) / 2
    np.fill_diagonal(table, 0)
    return table


def scale(result: Ratings) -> list[float]:
    return [math.nan if p.rating is None else p.rating for p in result.players]


def hunters(wins: NDArray[np.float64]) -> NDArray[np.float64]:
    """Maximum likelihood by minorization (Hunter 2004, eq. 3), as ratings around 1000."""
    games, strength = wins + wins.T, np.ones(len(wins))
    for _ in range(5000):
        strength = wins.sum(axis=1) / (games / np.add.outer(strength, strength)).sum(axis=1)
        strength /= np.exp(np.log(strength).mean())
    return np.asarray(1000 + 400 * np.log10(strength))


def test_two_players_without_a_prior_are_their_odds_apart() -> None:
    first, second = scale(bradley_terry([[0, 30], [10, 0]], prior=0))
    assert first - second == pytest.approx(400 * math.log10(3))
    assert first + second == pytest.approx(2000)


def test_two_players_have_the_interval_of_their_log_odds() -> None:
    player = bradley_terry([[0, 30], [10, 0]], prior=0).players[0]
    # Woolf's error of log odds, halved: each is half of the difference away from the mean
    half = 1.959963984540054 * math.sqrt(1 / 30 + 1 / 10) / 2 * 400 / math.log(10)
    assert player.rating is not None
    assert player.low == pytest.approx(player.rating - half)
    assert player.high == pytest.approx(player.rating + half)


def test_ten_to_one_is_400_points() -> None:
    assert expected_score(1400, 1000) == pytest.approx(10 / 11)
    assert expected_score(1000, 1400) + expected_score(1400, 1000) == pytest.approx(1)
    assert expected_score(-1e9, 1e9) == 0


def test_without_a_prior_it_is_the_maximum_likelihood() -> None:
    wins = np.array([[0, 7, 3.5, 9], [3, 0, 6, 4], [2.5, 4, 0, 8], [1, 2, 2, 0]])
    assert scale(bradley_terry(wins, prior=0)) == pytest.approx(hunters(wins), rel=1e-9)


@settings(max_examples=15, deadline=None)
@given(tables(), st.floats(0.1, 5))
def test_with_a_prior_it_is_the_posterior_mode(wins: NDArray[np.float64], prior: float) -> None:
    def loss(theta: NDArray[np.float64]) -> float:
        lost = wins * np.logaddexp(0, np.subtract.outer(theta, theta).T)
        imaginary = prior / 2 * (np.logaddexp(0, theta) + np.logaddexp(0, -theta))
        return float(lost.sum() + imaginary.sum())

    result = bradley_terry(wins, prior=prior)
    if result.groups == 1:
        found = optimize.minimize(loss, np.zeros(len(wins)), tol=1e-12).x
        expected = 1000 + POINTS * (found - found.mean())
        assert scale(result) == pytest.approx(expected, abs=0.05)


@given(tables(), st.data())
def test_relabeling_players_relabels_ratings(
    wins: NDArray[np.float64], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(wins))))
    here = bradley_terry(wins)
    there = bradley_terry(wins[np.ix_(order, order)])
    assert scale(there) == pytest.approx([scale(here)[o] for o in order], nan_ok=True)
    assert (here.groups, here.prior_decides) == (there.groups, there.prior_decides)


@given(tables())
def test_swapping_wins_and_losses_mirrors_the_ratings(wins: NDArray[np.float64]) -> None:
    here, there = scale(bradley_terry(wins)), scale(bradley_terry(wins.T))
    assert there == pytest.approx([2000 - rating for rating in here], nan_ok=True)


def test_an_undefeated_player_is_finite_only_through_the_prior() -> None:
    wins = [[0, 5, 5], [0, 0, 3], [0, 2, 0]]
    result = bradley_terry(wins)
    assert result.prior_decides
    assert scale(result)[0] < 1000 + 800
    assert (result.players[0].wins, result.players[0].losses) == (10, 0)
    weaker = bradley_terry(wins, prior=0.01)
    assert scale(weaker)[0] > scale(result)[0]
    with pytest.raises(ValueError, match="give a prior above 0"):
        bradley_terry(wins, prior=0)


def test_a_draw_is_half_a_win_for_each() -> None:
    result = bradley_terry([[0, 2], [2, 0]])
    assert scale(result) == pytest.approx([1000, 1000])
    assert not result.prior_decides


def test_players_who_never_met_are_told_apart_in_groups() -> None:
    wins = np.zeros((5, 5))
    wins[0, 1], wins[1, 0], wins[2, 3], wins[3, 2] = 3, 1, 50, 1
    result = bradley_terry(wins)
    assert [player.group for player in result.players] == [0, 0, 1, 1, 2]
    assert result.groups == 3
    alone = result.players[4]
    assert (alone.rating, alone.low, alone.high) == (None, None, None)
    assert sum(scale(result)[:2]) == pytest.approx(2000)
    assert scale(result)[:2] == pytest.approx(scale(bradley_terry(wins[:2, :2])))


def test_a_chain_of_comparisons_is_one_group() -> None:
    wins = np.diag([1.0] * 9, 1) + np.diag([1.0] * 9, -1)
    result = bradley_terry(wins, prior=0)
    assert (result.groups, result.prior_decides) == (1, False)
    assert scale(result) == pytest.approx([1000] * 10)


def test_a_million_wins_to_one_converge() -> None:
    first, second = scale(bradley_terry([[0, 1e6], [1, 0]], prior=0))
    assert first - second == pytest.approx(2400)


def test_outcomes_of_cases_count_ties_half_and_skip_what_was_not_run() -> None:
    outcomes = outcomes_by_case([[1, 0.5, 1], [0, 0.5, math.nan]])
    assert outcomes.tolist() == [[[0, 1], [0, 0]], [[0, 0.5], [0.5, 0]], [[0, 0], [0, 0]]]
    costs = outcomes_by_case([[1.0], [2.0]], higher_is_better=False)
    assert costs.tolist() == [[[0, 1], [0, 0]]]


def test_over_cases_the_ratings_are_those_of_the_sum() -> None:
    scores = np.random.default_rng(1).random((4, 30)) + np.array([[0], [0.2], [0.4], [0.6]])
    outcomes = outcomes_by_case(scores)
    by_case = bradley_terry_by_case(outcomes, seed=3, resamples=200)
    assert scale(by_case) == pytest.approx(scale(bradley_terry(outcomes.sum(axis=0))))
    assert by_case == bradley_terry_by_case(outcomes, seed=3, resamples=200)
    for player in by_case.players:
        assert player.low is not None
        assert player.high is not None
        assert player.rating is not None
        assert player.low < player.rating < player.high


def test_few_cases_have_ratings_but_no_interval() -> None:
    scores = np.random.default_rng(1).random((3, 14))
    result = bradley_terry_by_case(outcomes_by_case(scores), seed=1)
    assert all(player.rating is not None and player.low is None for player in result.players)
    assert result.method.endswith("no interval")


def test_intervals_over_cases_hold_the_truth_about_as_often_as_they_say() -> None:
    generator, ability = np.random.default_rng(11), np.array([[-0.6], [0.0], [0.6]])

    def draw(cases: int) -> NDArray[np.float64]:
        hard = generator.normal(0, 2, (1, cases))
        right = generator.random((3, cases)) < 1 / (1 + np.exp(hard - ability))
        return outcomes_by_case(right.astype(float))

    truth = scale(bradley_terry(draw(50_000).sum(axis=0)))
    hits = 0
    for _ in range(60):
        result = bradley_terry_by_case(draw(25), seed=1, resamples=200)
        for player, value in zip(result.players, truth, strict=True):
            assert player.low is not None
            assert player.high is not None
            hits += player.low <= value <= player.high
    assert hits >= 0.88 * 180


@pytest.mark.parametrize(
    ("wins", "message"),
    [
        ([[0, 1, 2]], "square"),
        ([[1, 0], [0, 0]], "itself"),
        ([[0, -1], [0, 0]], "0 or more"),
        ([[0, math.nan], [0, 0]], "finite"),
    ],
)
def test_what_is_no_table_of_wins_is_refused(wins: list[list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bradley_terry(wins)


def test_a_prior_below_zero_or_lost_to_rounding_is_refused() -> None:
    with pytest.raises(ValueError, match="0 or more, got -1"):
        bradley_terry([[0, 1], [1, 0]], prior=-1)
    with pytest.raises(ValueError, match="give 0 or at least 1"):
        bradley_terry([[0, 1e9], [0, 0]], prior=0.1)


def test_a_very_weak_prior_leaves_an_undefeated_player_far_but_exactly_placed() -> None:
    """Of two players who are θ and -θ: 10 (1 - p(2θ)) = prior/2 · tanh(θ/2)."""

    def slope(theta: float) -> float:
        return 10 / (1 + math.exp(2 * theta)) - 0.5e-6 * math.tanh(theta / 2)

    theta = optimize.brentq(slope, 0, 50, xtol=1e-13)
    first = scale(bradley_terry([[0, 10], [0, 0]], prior=1e-6))[0]
    assert first == pytest.approx(1000 + POINTS * theta, rel=1e-9)
