"""A KD-tree and a quadtree of points in the plane, with buckets at the leaves.

Both are boxes within boxes: they differ in how a box is divided, and are asked in the same way.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BUCKET = 16
"""Points in a leaf, at most."""
DEEPEST = 32
"""Maximum levels of a quadtree, for coinciding points."""


@dataclass(slots=True)
class Box:
    """A rectangle and its content: boxes, or points in a leaf."""

    left: float
    top: float
    right: float
    bottom: float
    points: Ints
    parts: list[Box] = field(default_factory=list)

    def away(self, x: float, y: float) -> float:
        """Return the squared distance from a point to the rectangle; 0 inside."""
        dx = max(self.left - x, 0.0, x - self.right)
        dy = max(self.top - y, 0.0, y - self.bottom)
        return dx * dx + dy * dy


class _Tree:
    """Nested boxes. Moving points rebuilds the tree."""

    def __init__(self, places: Floats) -> None:
        self._places = places.copy()
        self._root = self._built()

    def within(self, x: float, y: float, radius: float) -> Ints:
        """Return the indices of the points no farther than `radius` away, ascending."""
        limit, open_boxes, leaves = radius**2, [self._root], []
        while open_boxes:
            box = open_boxes.pop()
            if box.away(x, y) > limit:
                continue
            if box.parts:
                open_boxes += box.parts
            else:
                leaves.append(box.points)
        if not leaves:
            return np.empty(0, np.int64)
        found = np.concatenate(leaves)
        near = found[self._squares(found, x, y) <= limit]
        near.sort()
        return near

    def nearest(self, x: float, y: float) -> int:
        """Return the index of the nearest point, searching the nearest box first."""
        best, best_square = -1, np.inf
        order = 0  # boxes cannot be compared
        queue: list[tuple[float, int, Box]] = [(0.0, 0, self._root)]
        while queue:
            away, _, box = heapq.heappop(queue)
            if away >= best_square:
                break
            for part in box.parts:
                order += 1
                heapq.heappush(queue, (part.away(x, y), order, part))
            if not box.parts and len(box.points):
                squares = self._squares(box.points, x, y)
                nth = int(squares.argmin())
                if squares[nth] < best_square:
                    best, best_square = int(box.points[nth]), float(squares[nth])
        return best

    def move(self, moved: Ints, places: Floats) -> None:
        """Move the points `moved` to `places`."""
        self._places[moved] = places
        self._root = self._built()

    def _squares(self, points: Ints, x: float, y: float) -> Floats:
        offset = self._places[points] - (x, y)
        return np.asarray((offset**2).sum(axis=1))

    def _built(self) -> Box:
        everything = np.arange(len(self._places))
        if not len(everything):
            return Box(0.0, 0.0, 0.0, 0.0, everything)
        (left, top), (right, bottom) = self._places.min(axis=0), self._places.max(axis=0)
        root = Box(float(left), float(top), float(right), float(bottom), everything)
        pending = [(root, 0)]
        while pending:
            box, depth = pending.pop()
            if len(box.points) > BUCKET and depth < DEEPEST:
                box.parts = self._divided(box, depth)
                box.points = np.empty(0, np.int64)
                pending += [(part, depth + 1) for part in box.parts]
        return root

    def _divided(self, box: Box, depth: int) -> list[Box]:
        raise NotImplementedError


class KdTree(_Tree):
    """Splits each box at the median of its points, across its longer extent."""

    def _divided(self, box: Box, depth: int) -> list[Box]:  # noqa: ARG002
        inside = self._places[box.points]
        axis = int(np.ptp(inside, axis=0).argmax())
        half = len(box.points) // 2
        order = np.argpartition(inside[:, axis], half)
        return [self._fitted(box.points[order[:half]]), self._fitted(box.points[order[half:]])]

    def _fitted(self, points: Ints) -> Box:
        (left, top), (right, bottom) = (
            self._places[points].min(axis=0).tolist(),
            self._places[points].max(axis=0).tolist(),
        )
        return Box(left, top, right, bottom, points)


class QuadTree(_Tree):
    """Splits each box into quarters at its center."""

    def _divided(self, box: Box, depth: int) -> list[Box]:  # noqa: ARG002
        x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
        inside = self._places[box.points]
        east, south = inside[:, 0] > x, inside[:, 1] > y
        quarters = (
            (box.left, box.top, x, y, ~east & ~south),
            (x, box.top, box.right, y, east & ~south),
            (box.left, y, x, box.bottom, ~east & south),
            (x, y, box.right, box.bottom, east & south),
        )
        return [
            Box(left, top, right, bottom, box.points[which])
            for left, top, right, bottom, which in quarters
            if which.any()
        ]
