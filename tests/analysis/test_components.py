"""Components of variance: by hand, by scipy, by simulation with known truth, and laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from agentbench_tui.analysis.groups.components import pairing_gain, seed_split, two_level

CONTROL = [0.812, 0.794, 0.851, 0.777, 0.806, 0.839, 0.765, 0.823, 0.798, 0.845]
CANDIDATE = [0.861, 0.822, 0.874, 0.835, 0.829, 0.902, 0.787, 0.858, 0.901, 0.866]

columns = st.lists(st.floats(-1e3, 1e3).map(lambda x: round(x, 3)), min_size=4, max_size=24)


def labels(n: int, groups: int) -> list[int]:
    return [index % groups for index in range(n)]


def test_three_runs_of_two_iterations_by_hand() -> None:
    """Run means 2, 5, 11; squares within 2 + 2 + 8 on 3 df; squares of means 42 on 2 df."""
    found = two_level([1, 3, 4, 6, 9, 13], ["a", "a", "b", "b", "c", "c"], run_cost=8)
    assert found is not None
    assert (found.runs, found.iterations, found.mean) == (3, 2, 6)
    assert (found.within, found.run_means, found.between) == (4, 21, 19)
    assert found.icc == pytest.approx(19 / 23)
    assert found.design_effect == pytest.approx(1 + 19 / 23)
    assert found.best_iterations == pytest.approx(math.sqrt(8 * 4 / 19))
    assert found.by_runs is not None
    half = 4.302652729911275 * math.sqrt(21 / 3)  # t(.975, 2)
    assert (found.by_runs.low, found.by_runs.high) == pytest.approx((6 - half, 6 + half))
    assert found.naive is not None
    half = 2.5705818366147395 * math.sqrt(96 / 5 / 6)  # t(.975, 5); squares 54 + 42
    assert (found.naive.low, found.naive.high) == pytest.approx((6 - half, 6 + half))


def test_runs_of_unequal_length_by_hand() -> None:
    """Lengths 1, 2, 3: harmonic mean 18/11, and 14/6 for the design effect."""
    found = two_level([10, 1, 3, 4, 5, 6], [7, 8, 8, 9, 9, 9])
    assert found is not None
    assert found.iterations == pytest.approx(18 / 11)
    assert found.within == pytest.approx(4 / 3)
    assert found.run_means == pytest.approx(49 / 3)
    assert found.between == pytest.approx(49 / 3 - 4 / 3 * 11 / 18)
    assert found.design_effect == pytest.approx(1 + 8 / 6 * found.icc)


def test_parts_come_back_from_runs_made_of_them() -> None:
    """Within 4, between 1, lengths from 2 to 9; 4,000 runs, means of the estimates to 5%."""
    generator = np.random.default_rng(20261128)
    runs = np.repeat(np.arange(4000), generator.integers(2, 10, 4000))
    x = 50 + generator.normal(0, 1, 4000)[runs] + generator.normal(0, 2, runs.size)
    found = two_level(x, runs)
    assert found is not None
    assert found.within == pytest.approx(4, rel=0.05)
    assert found.between == pytest.approx(1, rel=0.15)
    split = seed_split(x, runs)
    assert split is not None
    assert split.same_seed == found.within
    assert split.between_seeds == pytest.approx(1, rel=0.15)
    assert split.seed_share == pytest.approx(0.2, abs=0.03)


def test_the_interval_by_runs_covers_where_the_naive_one_does_not() -> None:
    """5 runs of 20 with an ICC of one half."""
    generator = np.random.default_rng(20261128)
    runs = np.repeat(np.arange(5), 20)
    hits = np.zeros(2)
    for _ in range(300):
        x = generator.normal(0, 1, 5)[runs] + generator.normal(0, 1, 100)
        found = two_level(x, runs)
        assert found is not None
        for place, interval in enumerate((found.by_runs, found.naive)):
            assert interval is not None
            hits[place] += interval.low <= 0 <= interval.high
    assert hits[0] / 300 == pytest.approx(0.95, abs=0.045)
    assert hits[1] / 300 < 0.6


def test_runs_that_add_nothing_are_best_made_as_long_as_can_be() -> None:
    found = two_level([1, 5, 1, 5, 1, 5], [0, 0, 1, 1, 2, 2])
    assert found is not None
    assert (found.between, found.icc, found.design_effect) == (0, 0, 1)
    assert found.best_iterations == math.inf


def test_iterations_that_repeat_exactly_are_best_made_once() -> None:
    found = two_level([0.1, 0.1, 0.1, 0.7, 0.7, 0.7], [0, 0, 0, 1, 1, 1])
    assert found is not None
    assert (found.within, found.icc, found.best_iterations) == (0, 1, 1)
    assert found.design_effect == 3


@pytest.mark.parametrize(
    ("values", "groups"),
    [([], []), ([1, 2, 3], [0, 0, 0]), ([1, 2, 3], [0, 1, 2]), ([2, 2, 2, 2], [0, 0, 1, 1])],
)
def test_nothing_to_split_gives_nothing(values: list[float], groups: list[int]) -> None:
    assert two_level(values, groups) is None
    assert seed_split(values, groups) is None


@given(columns, st.integers(2, 5), st.sampled_from([0.125, 4.0, 1024.0]), st.booleans())
def test_parts_follow_the_unit_and_ignore_names_and_order(
    x: list[float], groups: int, factor: float, turned: bool
) -> None:
    names = labels(len(x), groups)
    step = -1 if turned else 1
    other_names = [f"run {9 - name}" for name in names][::step]
    other_x = np.array(x)[::step] * factor
    one, other = two_level(x, names), two_level(other_x, other_names)
    first, second = seed_split(x, names), seed_split(other_x, other_names)
    if one is None:
        assert (other, first, second) == (None, None, None)
        return
    assert other is not None
    assert first is not None
    assert second is not None
    near = 1e-6 * one.within + 1e-9 * one.run_means
    assert other.within / factor**2 == pytest.approx(one.within, rel=1e-6, abs=near)
    assert other.between / factor**2 == pytest.approx(one.between, rel=1e-6, abs=near)
    assert other.icc == pytest.approx(one.icc, abs=1e-6)
    assert second.seed_share == pytest.approx(first.seed_share, abs=1e-6)
    assert second.p == pytest.approx(first.p, rel=1e-5, abs=1e-12)


def test_a_split_by_seed_has_the_f_test_of_scipy() -> None:
    groups = [[0.71, 0.74, 0.69], [0.80, 0.83], [0.62, 0.60, 0.66, 0.65], [0.75]]
    seeds = np.repeat([1072, 2043, 3014, 4085], [3, 2, 4, 1])
    found = seed_split(np.concatenate(groups), seeds)
    assert found is not None
    expected = stats.f_oneway(*groups)
    assert (found.runs, found.seeds) == (10, 4)
    assert found.f == pytest.approx(float(expected.statistic), rel=1e-9)
    assert found.p == pytest.approx(float(expected.pvalue), rel=1e-9)
    size = (10 - (9 + 4 + 16 + 1) / 10) / 3
    assert found.between_seeds == pytest.approx((found.f - 1) * found.same_seed / size, rel=1e-9)


def test_the_interval_of_the_seeds_share_is_that_of_shrout_and_fleiss() -> None:
    """ICC(1,1) of their table of 6 targets with 4 judges (1979): .17, interval -.13 to .72."""
    ratings = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    found = seed_split(np.ravel(ratings), np.repeat(range(6), 4))
    assert found is not None
    assert found.seed_share == pytest.approx(0.1657, abs=5e-5)
    assert (found.low, found.high) == pytest.approx((0, 0.7226), abs=5e-4)
    assert found.f == pytest.approx(11.24 / 6.26, abs=2e-3)


def test_the_interval_of_the_seeds_share_covers() -> None:
    """8 seeds run 3 times, a share of 0.6; 4 standard errors of room."""
    generator = np.random.default_rng(20261128)
    seeds = np.repeat(np.arange(8), 3)
    hits = 0
    for _ in range(400):
        x = generator.normal(0, math.sqrt(1.5), 8)[seeds] + generator.normal(0, 1, 24)
        found = seed_split(x, seeds)
        assert found is not None
        hits += found.low <= 0.6 <= found.high
    assert hits / 400 == pytest.approx(0.95, abs=0.044)


def test_equal_seeds_that_repeat_exactly_leave_all_variance_to_the_seed() -> None:
    found = seed_split([0.1, 0.1, 0.1, 0.7, 0.7, 0.7], [1, 1, 1, 2, 2, 2])
    assert found is not None
    assert (found.same_seed, found.seed_share, found.low, found.high) == (0, 1, 1, 1)
    assert (found.f, found.p) == (math.inf, 0)


def test_pairing_of_the_control_and_candidate_runs() -> None:
    found = pairing_gain(CONTROL, CANDIDATE)
    assert found is not None
    assert found.pairs == 10
    assert found.correlation == pytest.approx(0.687611617224, abs=1e-12)
    assert math.sqrt(found.variance_a) == pytest.approx(0.028751811537, abs=1e-12)
    assert math.sqrt(found.variance_b) == pytest.approx(0.035929715340, abs=1e-12)
    assert math.sqrt(found.variance_difference) == pytest.approx(0.026399705386, abs=1e-12)
    total = 0.028751811537**2 + 0.035929715340**2
    assert found.gain == pytest.approx(1 - 0.026399705386**2 / total, abs=1e-9)
    assert found.saved == pytest.approx(total / 0.026399705386**2, rel=1e-9)


@given(columns, st.integers(0, 2**32 - 1), st.sampled_from([0.25, 8.0]))
def test_pairing_gains_two_r_of_the_sds_and_does_not_mind_a_swap_or_the_unit(
    a: list[float], seed: int, factor: float
) -> None:
    b = np.random.default_rng(seed).normal(size=len(a)) * 10
    found, swapped = pairing_gain(a, b), pairing_gain(b * factor, np.array(a) * factor)
    assert found is not None
    assert swapped is not None
    assert swapped.gain == pytest.approx(found.gain, abs=1e-9)
    total = found.variance_a + found.variance_b
    expected = 2 * (found.correlation or 0) * math.sqrt(found.variance_a * found.variance_b) / total
    assert found.gain == pytest.approx(expected, abs=1e-9)
    assert found.saved == pytest.approx(1 / (1 - found.gain), rel=1e-6)


def test_a_shift_is_saved_wholly_and_opposite_moves_do_harm() -> None:
    shifted = pairing_gain([0.1, 0.2, 0.3, 0.7], [0.2, 0.3, 0.4, 0.8])
    assert shifted is not None
    assert (shifted.gain, shifted.saved) == (1, math.inf)
    opposed = pairing_gain([1, 2, 3], [3, 2, 1])
    assert opposed is not None
    assert (opposed.gain, opposed.saved) == (-1, 0.5)


def test_pairs_without_variance_or_of_unequal_number() -> None:
    assert pairing_gain([1], [2]) is None
    assert pairing_gain([1, 1], [2, 2]) is None
    half = pairing_gain([1, 1, 1], [2, 3, 4])
    assert half is not None
    assert (half.correlation, half.gain, half.saved) == (None, 0, 1)
    with pytest.raises(ValueError, match="got 2 and 3"):
        pairing_gain([1, 2], [1, 2, 3])


def test_questions_without_an_answer_are_refused() -> None:
    with pytest.raises(ValueError, match="cost of a run"):
        two_level([1, 2, 3], [0, 0, 1], run_cost=0)
    with pytest.raises(ValueError, match="level"):
        seed_split([1, 2, 3], [0, 0, 1], level=95)
    with pytest.raises(ValueError, match="3 values but 2 labels"):
        seed_split([1, 2, 3], [0, 1])
