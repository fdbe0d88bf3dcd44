"""What a radar shows: axes, and who was measured on them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import count


@dataclass(frozen=True, slots=True)
class Shape:
    """One agent's scores."""

    name: str
    values: tuple[float | None, ...]
    """One an axis, 0..100; None where it was not measured."""
    simulated: bool = False
    series: int | None = None
    """Of its colour, marker and letter; None: the first that no other has."""


@dataclass(frozen=True, slots=True)
class Radar:
    """Axes and who was measured on them."""

    axes: tuple[str, ...]
    shapes: tuple[Shape, ...]
    reason: str = "no scores"

    def value(self, shape: int, axis: int) -> float | None:
        """A score; None where it was not measured or is no number."""
        values = self.shapes[shape].values
        found = values[axis] if axis < len(values) else None
        return found if found is not None and math.isfinite(found) else None

    def series(self) -> list[int]:
        """Of each shape its own, or the first that no other has."""
        taken = {one.series for one in self.shapes}
        free = (number for number in count() if number not in taken)
        return [next(free) if one.series is None else one.series for one in self.shapes]
