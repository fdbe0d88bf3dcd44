"""Spatial structures: all give the answers of a search through every point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from agentbench_tui.experiments.spatial.index import INDEXES, HashGrid
from agentbench_tui.experiments.spatial.places import SIDE, draw_places

PLACES = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 80), st.just(2)),
    # Few values, so that many places are equal or in line.
    elements=st.sampled_from([0.0, 1.0, 19.0, 20.0, 40.0, 333.25, 999.0, 1000.0]),
)


def distances(places, x, y):
    return ((places - (x, y)) ** 2).sum(axis=1)


def agrees(index, places, x, y, radius):
    squares = distances(places, x, y)
    assert index.within(x, y, radius).tolist() == np.flatnonzero(squares <= radius**2).tolist()
    assert squares[index.nearest(x, y)] == squares.min()


@pytest.mark.parametrize("name", INDEXES)
@settings(max_examples=60, deadline=None)
@given(PLACES, st.sampled_from([0.0, 20.0, 500.5, 1000.0]), st.sampled_from([0.5, 20.0, 700.0]))
def test_answers_are_those_of_a_full_search(name, places, x, radius):
    agrees(INDEXES[name](places), places, x, 20.0, radius)


@pytest.mark.parametrize("name", INDEXES)
@pytest.mark.parametrize("distribution", ["uniform", "clustered", "linear", "sparse"])
def test_answers_stay_right_when_points_have_moved(name, distribution):
    places = draw_places(400, distribution, 5)
    index = INDEXES[name](places)
    random = np.random.default_rng(6)
    for _ in range(3):
        moved = random.choice(400, 40, replace=False)
        places[moved] = random.uniform(0, SIDE, (40, 2))
        index.move(moved, places[moved])
        for x, y in random.uniform(0, SIDE, (5, 2)).tolist():
            agrees(index, places, x, y, 75.0)


@pytest.mark.parametrize("name", INDEXES)
def test_many_points_at_one_place_are_all_found(name):
    index = INDEXES[name](np.full((300, 2), 7.0))
    assert index.within(7.0, 7.0, 0.0).tolist() == list(range(300))


def test_a_grid_keeps_no_cell_that_all_have_left():
    grid = HashGrid(np.full((2, 2), 5.0), cell=10.0)
    for place in (15.0, 25.0, 35.0):
        grid.move(np.array([0, 1]), np.full((2, 2), place))
    assert list(grid._cells) == [(3, 3)]
    assert grid.within(35.0, 35.0, 1.0).tolist() == [0, 1]


def test_distributions_are_what_their_names_say():
    drawn = {one: draw_places(900, one, 3) for one in ("uniform", "clustered", "linear", "sparse")}
    for places in drawn.values():
        assert places.shape == (900, 2)
        assert ((places >= 0) & (places <= SIDE)).all()
    gaps = {}
    for name, places in drawn.items():
        squares = ((places[:, None] - places[None]) ** 2).sum(axis=2)
        np.fill_diagonal(squares, np.inf)
        gaps[name] = np.sqrt(squares.min(axis=1))
    # No two closer than half the lattice's gap of 1000 / 30.
    assert gaps["sparse"].min() >= 1000 / 30 / 2 - 1e-9
    # 0.5 / sqrt(density) is the mean distance to the nearest of uniform points.
    assert gaps["uniform"].mean() == pytest.approx(0.5 * SIDE / 30, rel=0.15)
    assert gaps["clustered"].mean() < gaps["uniform"].mean()
    x, y = drawn["linear"].T
    assert np.minimum(abs(x - y), abs(x + y - SIDE)).max() < 30
