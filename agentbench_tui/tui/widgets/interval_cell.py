"""A value and its interval in a table cell: in figures, and drawn on the column's axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.style import Style

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import bracketed, measure_of
from agentbench_tui.tui.drawing.axis import Axis, axis_of
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.painting import Row, fit, join, shorten, span
from agentbench_tui.tui.theme import Palette

_LEAST_DRAWING = 9
"""Width below which a drawing is unreadable."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with the ends of its interval, as far as known."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    """Reason for a missing value."""


@dataclass(frozen=True, slots=True)
class IntervalColumn:
    """Common scale of the cells of one column, so that they can be compared."""

    axis: Axis | None
    """None if no cell has a value."""
    unit: str
    value_cells: int
    ends_cells: int
    reference: float | None = None
    """A value to which all are held, such as 1 for ratios; drawn as a thin upright."""

    def shows_ends(self, width: int) -> bool:
        """Return whether cells of this width have room for the ends of intervals."""
        return 0 < self.ends_cells <= width - self.value_cells - 1

    def drawing_cells(self, width: int) -> int:
        """Return the width at the right of a cell in which intervals are drawn; 0 for none."""
        figures = self.value_cells + (self.ends_cells + 1 if self.shows_ends(width) else 0)
        room = width - figures - 1
        return room if self.axis is not None and room >= _LEAST_DRAWING else 0


def interval_column(
    intervals: Sequence[Interval],
    unit: str = "",
    *,
    log: bool = False,
    reference: float | None = None,
    centered: bool = False,
) -> IntervalColumn:
    """Return the column of these cells. Unit `share`: written in percent. `centered`: the reference
    is in the middle, so that columns of other units in the same place align.
    """
    values = [
        value
        for one in intervals
        for value in (one.value, one.low, one.high, reference)
        if value is not None
    ]
    if centered and reference is not None:
        values += [_mirrored(value, reference, log) for value in values]
    figures = [_figures(one, unit) for one in intervals if _known(one.value)]
    return IntervalColumn(
        axis_of(values, log=log),
        unit,
        max((cell_len(value) for value, _ in figures), default=1),
        max((cell_len(ends) for _, ends in figures), default=0),
        reference,
    )


def _mirrored(value: float, middle: float, log: bool) -> float:
    """Return the mirror image around the middle; NaN if there is no such value."""
    if not log:
        return 2 * middle - value
    return middle * (middle / value) if value > 0 else math.nan


def paint_interval(
    interval: Interval,
    column: IntervalColumn,
    width: int,
    palette: Palette,
    glyphs: Glyphs,
    style: Style | None = None,
) -> Row:
    """Paint `212 ms [198, 231] ├─●──┤` in exactly `width` cells.

    If there is too little room, the drawing is dropped first, then the ends. `style` is that of the
    drawing. An unknown end has no bar; a line beyond the axis is cut without its bar.
    """
    if not _known(interval.value):
        why = f"{glyphs.nothing} {glyphs.plain(one_line(interval.reason))}".rstrip()
        return fit([span(shorten(why, width, glyphs), palette.dim)], width, palette.text)
    value, ends = (glyphs.plain(text) for text in _figures(interval, column.unit))
    row = [span(f"{value:>{column.value_cells}}", palette.text)]
    if column.shows_ends(width):
        row.append(span(f" {ends:<{column.ends_cells}}", palette.dim))
    if room := column.drawing_cells(width):
        row.append(span(" ", palette.text))
        row += whisker(interval, column, room, palette, glyphs, style or palette.series[0].style)
    return fit(join(*row), width, palette.text)


def whisker(
    interval: Interval,
    column: IntervalColumn,
    width: int,
    palette: Palette,
    glyphs: Glyphs,
    style: Style,
) -> Row:
    """Draw the interval on the column's axis, in `width` cells."""
    axis = column.axis
    cells = [" "] * width
    styles = [palette.frame] * width
    if axis is None:
        return [span("".join(cells), palette.frame)]
    if column.reference is not None and 0 <= axis.share(column.reference) <= 1:
        cells[_cell(axis, column.reference, width)] = glyphs.dashed_vertical
    value = interval.value if _known(interval.value) else None
    low, high = interval.low, interval.high
    if low is not None and high is not None and not math.isnan(low + high):
        first, last = _cell(axis, low, width), _cell(axis, high, width)
        for cell in range(first, last + 1):
            cells[cell], styles[cell] = glyphs.interval_line, style
        if axis.share(low) >= 0 and low > -math.inf:
            cells[first] = glyphs.interval_low
        if axis.share(high) <= 1 and high < math.inf:
            cells[last] = glyphs.interval_high
    if value is not None:
        cell = _cell(axis, value, width)
        cells[cell], styles[cell] = glyphs.interval_center, style
    return join(*(span(cell, style) for cell, style in zip(cells, styles, strict=True)))


def _cell(axis: Axis, value: float, width: int) -> int:
    share = axis.share(value) if math.isfinite(value) else float(value > 0)
    return min(width - 1, int(min(1.0, max(0.0, share)) * width))


def _known(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _figures(interval: Interval, unit: str) -> tuple[str, str]:
    """Format the value, and the ends in brackets, without a repeated unit."""
    show = measure_of(unit)
    value = show(interval.value)
    if interval.low is None or interval.high is None:
        return value, ""
    return value, bracketed(value, show(interval.low), show(interval.high))
