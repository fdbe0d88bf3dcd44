"""Intraclass correlation against published and enumerated values."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_tui.analysis.groups.intraclass import combined_p, intraclass, shuffled_p

RATINGS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
"""Six targets by four judges (Shrout & Fleiss 1979, table 2)."""


def test_correlation_and_interval_are_those_of_shrout_and_fleiss() -> None:
    found = intraclass(np.ravel(RATINGS), np.repeat(np.arange(6), 4))
    assert found is not None
    assert found.icc == pytest.approx(0.17, abs=0.005)
    assert (found.low, found.high) == pytest.approx((-0.133, 0.723), abs=0.001)


def test_pairs_computed_by_hand() -> None:
    """MSB = 2 (4 + 0 + 4) / 2 = 8, MSW = 1.5 / 3 = 0.5, so ICC = 7.5 / 8.5."""
    found = intraclass([1, 2, 3, 4, 5, 6], ["a", "a", "b", "b", "c", "c"])
    assert found is not None
    assert found.icc == pytest.approx(7.5 / 8.5)
    assert found.design_effect == pytest.approx(1 + 7.5 / 8.5)
    assert found.effective_n == pytest.approx(6 / (1 + 7.5 / 8.5))


def test_groups_of_unlike_size_count_by_the_size_that_a_value_is_in() -> None:
    found = intraclass([1.0, 1.2, 0.9, 1.1, 5.0, 7.0], [0, 0, 0, 0, 1, 2])
    assert found is not None
    assert found.mean_size == pytest.approx((16 + 1 + 1) / 6)
    assert found.groups == 3


def test_p_is_close_to_that_of_all_shuffles() -> None:
    values = np.array([1.0, 2, 5, 7, 3, 9, 0, 4])
    groups = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    sizes = np.bincount(groups)

    def between(x: np.ndarray) -> float:
        return float((np.bincount(groups, x) ** 2 / sizes).sum())

    squares = np.array([between(np.array(order)) for order in permutations(values)])
    exact = float((squares >= between(values) - 1e-9).mean())
    found = intraclass(values, groups)
    assert found is not None
    assert found.p == pytest.approx(exact, abs=0.03)
    drawn = shuffled_p(values, groups, seed=1, draws=50_000)
    # It stops after 20 hits or more, so that about a quarter is random.
    assert drawn == pytest.approx(exact, rel=0.5)


def test_p_is_never_below_that_of_the_best_shuffle() -> None:
    """One of six values apart is in a group of its own in one of six shuffles."""
    found = intraclass([0, 0, 1, 0, 0, 0], [0, 0, 1, 0, 0, 0])
    assert found is not None
    assert found.p == pytest.approx(1 / 6)


def test_shuffles_find_groups_that_are_alike_unlikely() -> None:
    values = np.repeat(np.arange(10.0), 5)
    p = shuffled_p(values, np.repeat(np.arange(10), 5), draws=999)
    assert p == pytest.approx(1 / 1000)


@pytest.mark.parametrize(
    ("values", "groups"),
    [
        ([1.0, 2, 3, 4], [0, 0, 0, 0]),
        ([1.0, 2, 3, 4], [0, 1, 2, 3]),
        ([1.0, 1, 1, 1], [0, 0, 1, 1]),
        ([1.0, 2, 3], [0, 0, 1]),
        ([], []),
    ],
)
def test_nothing_is_known_without_groups_or_spread(values: list[float], groups: list[int]) -> None:
    assert intraclass(values, groups) is None
    assert shuffled_p(values, groups) is None


@pytest.mark.parametrize("size", range(2, 8))
@pytest.mark.parametrize("count", [8, 30, 50])
def test_one_value_apart_shows_nothing_in_groups_of_one_size(size: int, count: int) -> None:
    # Every shuffle has the same squares between groups: this is as likely as anything.
    values = np.zeros(size * count)
    values[7] = 1
    groups = np.repeat(np.arange(count), size)
    found = intraclass(values, groups)
    assert found is not None
    assert found.p == 1
    assert shuffled_p(values, groups) == 1


def test_equal_values_within_groups_are_alike_wholly() -> None:
    found = intraclass([1.0, 1, 2, 2, 3, 3], [0, 0, 1, 1, 2, 2])
    assert found is not None
    assert (found.icc, found.low, found.high) == (1.0, 1.0, 1.0)
    assert found.design_effect == pytest.approx(2.0)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(-50, 50)), min_size=6, max_size=40),
    st.floats(-1e3, 1e3),
    st.floats(0.01, 100),
)
def test_shift_and_scale_change_nothing(
    rows: list[tuple[int, int]], shift: float, scale: float
) -> None:
    groups, values = zip(*rows, strict=True)
    found = intraclass(values, groups)
    moved = intraclass(np.array(values) * scale + shift, groups)
    if found is None or moved is None:
        return
    assert moved.icc == pytest.approx(found.icc, abs=1e-6)
    assert moved.p == pytest.approx(found.p, abs=1e-5)
    assert 0 <= found.p <= 1
    assert found.low <= found.icc + 1e-9
    assert found.icc <= found.high + 1e-9
    assert found.design_effect >= 1


def test_two_p_together_are_those_of_chi_square() -> None:
    """Fisher (1932): -2 ln(0.1 × 0.1) = 9.21, of chi-square with 4 degrees of freedom 0.0561."""
    assert combined_p(0.1, 0.1) == pytest.approx(0.0561, abs=5e-5)
    assert combined_p(1, 1) == 1
    assert combined_p(0, 0.5) == 0
