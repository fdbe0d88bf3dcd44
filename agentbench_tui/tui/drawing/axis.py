"""Axes: the position of a value, round values for ticks, and their labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.cells import cell_len

from agentbench_tui.presentation.numbers import abbreviation, has_scale, quantity, scale
from agentbench_tui.reports.figures.canvas import DOWN
from agentbench_tui.reports.figures.drawing import ticks as linear_ticks
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.painting import Row, join, shorten, span
from agentbench_tui.tui.theme import Palette

_SMALLEST, _LARGEST = 1e-290, 1e300
"""Beyond these a span between two values, or one divided by it, would overflow."""
_CLOSE = 1e-9
"""Values that differ by a smaller share are one value."""
_DECADE = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Axis:
    """A range of values, low < high; on a logarithmic one both are positive."""

    low: float
    high: float
    log: bool = False

    def share(self, value: float) -> float:
        """Return the position of a value on the axis.

        0 at the low end, 1 at the high end, beyond outside. A value without a logarithm is at the
        low end.
        """
        if not self.log:
            return (value - self.low) / (self.high - self.low)
        if value <= 0:
            return 0.0
        low = math.log(self.low)
        return (math.log(value) - low) / (math.log(self.high) - low)

    def value(self, share: float) -> float:
        """Return the value at a share of the axis."""
        if self.log:
            low = math.log(self.low)
            return math.exp(low + share * (math.log(self.high) - low))
        return self.low + share * (self.high - self.low)

    def ticks(self, about: int) -> list[float]:
        """Return round values on the axis, about as many as requested, possibly none."""
        if about < 1:
            return []
        return _log_ticks(self.low, self.high, about) if self.log else self._linear(about)

    def ticks_upright(self, rows: int, each: int = 3) -> list[float]:
        """Return round values for a vertical axis, one in about `each` rows; two if possible, since
        one says nothing about distance.
        """
        about = max(2, rows // each)
        found = self.ticks(about)
        if self.log or 2 * len(found) > about + 1:
            return found
        finer = self.ticks(2 * about)
        return finer if len(finer) <= max(2, rows // 2) else found

    def _linear(self, about: int) -> list[float]:
        found = [tick for tick in linear_ticks(self.low, self.high, about) if math.isfinite(tick)]
        return found if len(set(found)) == len(found) else []

    def labels(self, ticks: Sequence[float], unit: str = "") -> list[str]:
        """Return the ticks in words. On a linear axis all have one unit and as many digits as
        distinguish them; on a logarithmic one each has its own.
        """
        if self.log or len(ticks) < 2:
            return [quantity(tick, unit) for tick in ticks]
        largest = max(map(abs, ticks))
        factor, name = _ending(largest, unit)
        step = min(abs(b - a) for a, b in pairwise(ticks)) / factor
        places = min(6, max(0, -math.floor(math.log10(step) + 1e-9))) if step > 0 else 0
        if not step or largest / factor >= 1e6 or step < 1e-6:
            return [quantity(tick, unit) for tick in ticks]
        numbers = [f"{tick / factor:z,.{places}f}" for tick in ticks]
        before = "$" if unit == "$" else ""
        return [f"{before}{number}{name}" if number.strip("0.") else "0" for number in numbers]


def _ending(largest: float, unit: str) -> tuple[float, str]:
    """Return the divisor of numbers of this size, and the suffix."""
    if has_scale(unit):
        factor, name = scale(largest, unit)
        return factor, f" {name}"
    factor, letter = abbreviation(largest)
    if unit in {"", "$"}:
        return factor, letter
    return factor, f"{letter}{unit}" if unit.startswith(("/", "%")) else f"{letter} {unit}"


def _log_ticks(low: float, high: float, about: int) -> list[float]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    decades = math.log10(high) - math.log10(low)
    every = max(1, math.ceil(decades / about))
    factors = _DECADE if decades * 2 <= about else (1,)
    found = [
        factor * 10.0**power
        for power in range(first, last + 1, every)
        for factor in factors
        if low * (1 - 1e-9) <= factor * 10.0**power <= high * (1 + 1e-9)
    ]
    # A range within one decade may hold no or one round power: linear ticks then, which are round.
    return found if len(found) > 1 else linear_ticks(low, high, min(about, 3))


def axis_of(
    values: Iterable[float], *, log: bool = False, from_zero: bool = False, room: float = 0.0
) -> Axis | None:
    """Return the axis that contains all finite values; None if there are none (on a logarithmic
    axis: no positive ones). `room`: free share at both ends of a linear axis. Equal values get
    room.
    """
    known = [
        min(max(value, -_LARGEST), _LARGEST)
        for value in values
        if math.isfinite(value) and not (log and value <= 0)
    ]
    if not known:
        return None
    low, high = min(known), max(known)
    if log:
        low, high = max(low, _SMALLEST), max(high, _SMALLEST)
        apart = 1.5 if high - low < _CLOSE * high else 1.0
        return Axis(low / apart, high * apart, log=True)
    if from_zero:
        low, high = min(low, 0.0), max(high, 0.0)
    largest = max(abs(low), abs(high))
    if largest < _SMALLEST:
        return Axis(0.0 if from_zero else -1.0, 1.0)
    if high - low <= _CLOSE * largest:
        return Axis(low - 0.1 * largest, high + 0.1 * largest)
    extra = room * (high - low)
    return Axis(low if from_zero and low == 0 else low - extra, high + extra)


def scale_rows(
    axis: Axis,
    left: int,
    columns: int,
    unit: str,
    palette: Palette,
    glyphs: Glyphs,
    *,
    names: Sequence[str] = (),
    label: str = "",
) -> list[Row]:
    """Return two rows below a picture whose cells begin at cell `left`: a rule with ticks, and
    their labels, which neither overlap nor exceed `left + columns` cells. `names`: labels of the
    values 0, 1, 2 …, instead of numbers. `label`: name of the axis, written between them, as far
    right as possible.
    """
    rule = [glyphs.horizontal] * columns
    written = [" "] * (left + columns + 2)
    marks = _named(axis, names, columns) if names else _numbered(axis, columns, unit)
    taken = -2
    for tick, words in marks if columns else ():
        cell = min(columns - 1, max(0, int(axis.share(tick) * columns)))
        text = shorten(glyphs.plain(words), columns, glyphs)
        start = min(left + cell - (len(text) - 1) // 2, left + columns - len(text))
        if start > taken + 1 and start >= 0:
            rule[cell] = glyphs.tee_down
            written[start : start + len(text)] = text
            taken = start + len(text)
    label = glyphs.plain(label)
    if label and (place := "".join(written).rfind(" " * (len(label) + 4))) >= 0:
        written[place + 2 : place + 2 + len(label)] = label
    corner = " " * (left - 1) + glyphs.corner_bottom_left if left else ""
    return [
        [span(corner + "".join(rule), palette.frame)],
        [span("".join(written)[: left + columns], palette.dim)],
    ]


def _numbered(axis: Axis, columns: int, unit: str) -> list[tuple[float, str]]:
    ticks = axis.ticks(max(2, columns // 9))
    return list(zip(ticks, axis.labels(ticks, unit), strict=True))


def _named(axis: Axis, names: Sequence[str], columns: int) -> list[tuple[float, str]]:
    """Return every name, or every second, third … as many as fit."""
    shown = [(float(number), name) for number, name in enumerate(names)]
    shown = [(number, name) for number, name in shown if axis.low <= number <= axis.high]
    if len(shown) < 2:
        return shown
    each = (axis.share(shown[1][0]) - axis.share(shown[0][0])) * columns
    widest = max(cell_len(name) for _, name in shown)
    return shown[:: max(1, math.ceil((widest + 2) / each))] if each > 0 else shown[:1]


def upright_rows(
    axis: Axis, rows: int, unit: str, palette: Palette, glyphs: Glyphs
) -> tuple[list[Row], list[int]]:
    """Return the left side of a plot of this many rows, all equally wide: labels and a rule with
    ticks; and the indexes of the rows with a tick.
    """
    ticks = axis.ticks_upright(rows)
    labels = [glyphs.plain(label) for label in axis.labels(ticks, unit)]
    at = {row_of(axis, tick, rows): label for tick, label in zip(ticks, labels, strict=True)}
    edge = max(map(len, at.values()), default=0)
    painted = [
        join(
            span(f"{at.get(row, ''):>{edge}} ", palette.dim),
            span(glyphs.tee_left if row in at else glyphs.vertical, palette.frame),
        )
        for row in range(rows)
    ]
    return painted, sorted(at)


def row_of(axis: Axis, value: float, rows: int) -> int:
    """Return the row, from the top, of a value on an upright axis; the nearest one if it is
    outside.
    """
    down = (1.0 - min(1.0, max(0.0, axis.share(value)))) * (rows * DOWN - 1)
    return min(rows - 1, max(0, round(down) // DOWN))
