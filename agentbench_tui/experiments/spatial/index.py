"""Structures that find points in the plane, with one protocol and equal answers.

Each is built from an (n, 2) array of places and answers with indices into it. A hash of cells and
a KD-tree and quadtree with buckets are here; scipy's cKDTree is taken as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from agentbench_tui.experiments.spatial.trees import KdTree, QuadTree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Structure = Literal["ckdtree", "kdtree", "quadtree", "hash_grid"]

CELL = 20.0


class SpatialIndex(Protocol):
    """Points that can be searched by location."""

    def within(self, x: float, y: float, radius: float) -> Ints:
        """Return the indices of the points no farther than `radius` away, ascending."""
        ...

    def nearest(self, x: float, y: float) -> int:
        """Return the index of the nearest point; any of equally near ones.

        There is at least one point.
        """
        ...

    def move(self, moved: Ints, places: Floats) -> None:
        """Move the points `moved` to `places`, (len(moved), 2)."""
        ...


class HashGrid:
    """Points by square cell."""

    def __init__(self, places: Floats, cell: float = CELL) -> None:
        self._places = places.copy()
        self._cell = cell
        self._cells: dict[tuple[int, int], list[int]] = {}
        self._at = [self._key(x, y) for x, y in places.tolist()]
        for nth, key in enumerate(self._at):
            self._cells.setdefault(key, []).append(nth)

    def within(self, x: float, y: float, radius: float) -> Ints:
        left, top = self._key(x - radius, y - radius)
        right, bottom = self._key(x + radius, y + radius)
        candidates: list[int] = []
        if (right - left + 1) * (bottom - top + 1) > len(self._cells):
            candidates = list(range(len(self._places)))
        else:
            for column in range(left, right + 1):
                for row in range(top, bottom + 1):
                    candidates += self._cells.get((column, row), ())
        found = np.array(candidates, np.int64)
        offset = self._places[found] - (x, y)
        return np.sort(found[(offset**2).sum(axis=1) <= radius**2])

    def nearest(self, x: float, y: float) -> int:
        """Double the search square until it contains a point that is certainly the nearest."""
        radius = self._cell
        while True:
            found = self.within(x, y, radius)
            if len(found):
                offset = self._places[found] - (x, y)
                return int(found[(offset**2).sum(axis=1).argmin()])
            radius *= 2

    def move(self, moved: Ints, places: Floats) -> None:
        for nth, (x, y) in zip(moved.tolist(), places.tolist(), strict=True):
            key = self._key(x, y)
            if key != self._at[nth]:
                left = self._cells[self._at[nth]]
                left.remove(nth)
                if not left:
                    del self._cells[self._at[nth]]
                self._cells.setdefault(key, []).append(nth)
                self._at[nth] = key
        self._places[moved] = places

    def _key(self, x: float, y: float) -> tuple[int, int]:
        return int(x // self._cell), int(y // self._cell)


class ScipyTree:
    """scipy's cKDTree. It cannot move points, so it is rebuilt."""

    def __init__(self, places: Floats) -> None:
        from scipy.spatial import cKDTree

        self._build = cKDTree
        self._places = places.copy()
        self._tree = cKDTree(self._places)

    def within(self, x: float, y: float, radius: float) -> Ints:
        return np.array(
            self._tree.query_ball_point((x, y), radius, return_sorted=True), dtype=np.int64
        )

    def nearest(self, x: float, y: float) -> int:
        return int(self._tree.query((x, y))[1])

    def move(self, moved: Ints, places: Floats) -> None:
        self._places[moved] = places
        self._tree = self._build(self._places)


INDEXES: dict[str, Callable[[Floats], SpatialIndex]] = {
    "ckdtree": ScipyTree,
    "kdtree": KdTree,
    "quadtree": QuadTree,
    "hash_grid": HashGrid,
}
"""Name → what builds it."""
