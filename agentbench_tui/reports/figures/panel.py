"""Content of a plot before drawing: lines, bands, bars, levels and marks on two axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

Numbers = tuple[float, ...]
_HEADROOM = 0.5
"""How far bands may extend the vertical axis, relative to the range of the lines."""
_MARGIN = 0.04
"""Free room at both ends of an axis, as a share of its length."""


@dataclass(frozen=True, slots=True)
class Line:
    """One series: the points in the order in which they are joined. Gaps are NaN."""

    name: str
    x: Numbers
    y: Numbers


@dataclass(frozen=True, slots=True)
class Band:
    """The room between two curves over the same x; an infinite end leaves the picture."""

    name: str
    x: Numbers
    low: Numbers
    high: Numbers


@dataclass(frozen=True, slots=True)
class Bars:
    """A histogram: `counts[i]` values lie between `edges[i]` and `edges[i + 1]`."""

    edges: Numbers
    counts: Numbers


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes and all that is on it."""

    title: str = ""
    x_label: str = ""
    y_label: str = ""
    lines: tuple[Line, ...] = ()
    bands: tuple[Band, ...] = ()
    bars: Bars | None = None
    levels: dict[str, float] = field(default_factory=dict)
    """Horizontal lines by their name."""
    marks: dict[str, float] = field(default_factory=dict)
    """Vertical lines by their name."""

    def x_range(self) -> tuple[float, float]:
        """The ends of the horizontal axis: everything on it, with a little room."""
        values = [*self.marks.values(), *(self.bars.edges if self.bars else ())]
        values += [x for line in self.lines for x in line.x]
        values += [x for band in self.bands for x in band.x]
        return _with_room(values, _MARGIN)

    def y_range(self) -> tuple[float, float]:
        """The ends of the vertical axis. Lines and levels fit in whole; bands, which may be
        boundless, stretch it by half as much again at most. Bars stand on 0."""
        values = _finite([y for line in self.lines for y in line.y] + [*self.levels.values()])
        if self.bars:
            values += [0.0, *self.bars.counts]
        ends = _finite([end for band in self.bands for end in (*band.low, *band.high)])
        if values and ends:
            room = _HEADROOM * (max(values) - min(values) or abs(values[0]) or 1.0)
            ends = [max(min(values) - room, min(ends)), min(max(values) + room, max(ends))]
        low, high = _with_room(values + ends, _MARGIN)
        return (0.0 if self.bars or (low < 0.0 <= min(values + ends)) else low), high

    def empty(self) -> bool:
        """Whether there is no value to draw."""
        return not self.bars and not any(_finite(line.y) for line in self.lines)


def points(x: Iterable[float], y: Iterable[float]) -> tuple[Numbers, Numbers]:
    """Two columns of one length as plain numbers. Raises ValueError for unequal lengths."""
    across, up = tuple(map(float, x)), tuple(map(float, y))
    if len(across) != len(up):
        raise ValueError(f"{len(across)} values of x for {len(up)} of y")
    return across, up


def _finite(values: Sequence[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]


def _with_room(values: Sequence[float], share: float) -> tuple[float, float]:
    known = _finite(values) or [0.0, 1.0]
    low, high = min(known), max(known)
    room = share * (high - low) or abs(low) * share or 1.0
    return low - room, high + room
