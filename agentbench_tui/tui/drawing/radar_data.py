"""Content of a radar chart: axes and series."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import count


@dataclass(frozen=True, slots=True)
class Shape:
    """One agent's scores."""

    name: str
    values: tuple[float | None, ...]
    """One value per axis, 0..100; None if it was not measured."""
    simulated: bool = False
    series: int | None = None
    """Series for its color, marker and letter; None: the first unused one."""


@dataclass(frozen=True, slots=True)
class Radar:
    """Axes and series of a radar chart."""

    axes: tuple[str, ...]
    shapes: tuple[Shape, ...]
    reason: str = "no scores"

    def value(self, shape: int, axis: int) -> float | None:
        """Return a score; None if it was not measured or is not a number."""
        values = self.shapes[shape].values
        found = values[axis] if axis < len(values) else None
        return found if found is not None and math.isfinite(found) else None

    def series(self) -> list[int]:
        """Return the series of each shape, or the first unused one."""
        taken = {one.series for one in self.shapes}
        free = (number for number in count() if number not in taken)
        return [next(free) if one.series is None else one.series for one in self.shapes]
