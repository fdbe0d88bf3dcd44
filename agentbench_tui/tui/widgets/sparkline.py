"""Recent values of one number: a line of blocks, the current value, and the usual range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.style import Style

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import quantity
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.painting import (
    Row,
    aligned,
    fit,
    join,
    page,
    row_width,
    runs,
    shorten,
    span,
)
from agentbench_tui.tui.theme import Palette

_VALUE_CELLS = 11
"""Room of the value, so that several sparklines one below the other line up."""
_LEAST_LINE = 4
"""Fewer cells than this show no course of anything."""


@dataclass(frozen=True, slots=True)
class SparklineData:
    """Values, oldest first, one per cell; the newest are shown if they do not all fit.

    None and nonfinite values are gaps.
    """

    label: str = ""
    values: Sequence[float | None] = ()
    unit: str = ""
    band: tuple[float, float] | None = None
    """Usual range, such as from the 5th to the 95th percentile; values outside are marked."""
    errors: bool = False
    """The values count failures: every nonzero one is marked."""
    from_zero: bool = True
    label_cells: int = 12
    """Room of the label when all is on one row."""
    reason: str = "no data yet"
    """Shown while there are no values."""


def paint_sparkline(
    data: SparklineData, width: int, height: int, palette: Palette, glyphs: Glyphs
) -> list[Row]:
    """Paint label, line and value in one row; with more rows, label and value above the line."""
    if width < 1 or height < 1:
        return page([], max(0, width), max(0, height), palette.text)
    if height > 1:
        head = _head(data, width, palette, glyphs)
        return page([head, *_line(data, width, height - 1, palette, glyphs)], width, height,
                    palette.text)  # fmt: skip
    label = aligned(glyphs.plain(one_line(data.label)), data.label_cells, "left", glyphs)
    value = _value(data, palette, glyphs)
    room = width - cell_len(label) - 1 - _VALUE_CELLS - 1
    if not _known(data.values):
        reason = shorten(glyphs.plain(data.reason), max(0, width - cell_len(label) - 1), glyphs)
        row = [span(f"{label} ", palette.text), span(reason, palette.dim)]
    elif room < _LEAST_LINE:
        row = join(span(f"{label.rstrip()} ", palette.text), value)
    else:
        gap = span(" " * max(1, 1 + _VALUE_CELLS - row_width(value)), palette.text)
        line = _line(data, room, 1, palette, glyphs)[0]
        row = join(span(f"{label} ", palette.text), line, gap, value)
    return [fit(row, width, palette.text)]


def _known(values: Sequence[float | None]) -> list[float]:
    return [value for value in values if value is not None and math.isfinite(value)]


def _is_marked(data: SparklineData, value: float) -> bool:
    if data.errors:
        return value > 0
    return data.band is not None and not data.band[0] <= value <= data.band[1]


def _value(data: SparklineData, palette: Palette, glyphs: Glyphs) -> Row:
    """Return the newest value, with a mark if it deserves attention."""
    newest = data.values[-1] if data.values else None
    if newest is None or not math.isfinite(newest):
        return [span(glyphs.nothing, palette.dim)]
    text = glyphs.plain(quantity(newest, data.unit))
    if not _is_marked(data, newest):
        return [span(text, palette.title)]
    return [span(f"{glyphs.warn} {text}", palette.bad if data.errors else palette.warn)]


def _head(data: SparklineData, width: int, palette: Palette, glyphs: Glyphs) -> Row:
    value = _value(data, palette, glyphs)
    usual: Row = []
    if data.band is not None:
        low, high = (quantity(end, data.unit) for end in data.band)
        unit = high.partition(" ")[1:]
        low = low.removesuffix("".join(unit))
        usual = [span(glyphs.plain(f"   usual {low} – {high}"), palette.dim)]
    label = glyphs.plain(one_line(data.label))
    room = width - row_width(value) - (1 if label else 0)
    row = join(span(shorten(label, max(0, room), glyphs) + (" " if label else ""), palette.text))
    row = join(row, value)
    return row + usual if row_width(row) + row_width(usual) <= width else row


def _line(
    data: SparklineData, width: int, rows: int, palette: Palette, glyphs: Glyphs
) -> list[Row]:
    """Return blocks over this many rows, the newest value in the last cell."""
    shown = list(data.values[-width:])
    known = _known(shown)
    if not known:
        reason = "" if _known(data.values) else glyphs.plain(data.reason)
        blank: list[Row] = [[] for _ in range(rows)]
        blank[(rows - 1) // 2] = [span(aligned(reason, width, "center", glyphs), palette.dim)]
        return blank
    low, high = _range(data, known)
    lead = span(" " * (width - len(shown)), palette.text)
    painted = []
    for row in range(rows):
        cells = [_cell(data, value, (low, high), rows, row, palette, glyphs) for value in shown]
        painted.append(join(lead, runs(cells)))
    return painted


def _range(data: SparklineData, known: Sequence[float]) -> tuple[float, float]:
    """Return minimum and maximum of what is shown; never empty."""
    band = [end for end in data.band or () if math.isfinite(end)]
    low, high = min([*known, *band]), max([*known, *band])
    if data.from_zero or data.errors:
        low, high = min(low, 0.0), max(high, 0.0)
    return (low, high) if high > low else (low, low + (abs(low) or 1.0))


def _share(value: float, ends: tuple[float, float]) -> float:
    """Return the position of the value between the ends; halved first, because their span may
    overflow a float.
    """
    low, high = ends[0] / 2, ends[1] / 2
    return (value / 2 - low) / (high - low) if high > low else 0.0


def _cell(
    data: SparklineData,
    value: float | None,
    ends: tuple[float, float],
    rows: int,
    row: int,
    palette: Palette,
    glyphs: Glyphs,
) -> tuple[str, Style]:
    """Return one value's cell in a row from the top."""
    if value is None or not math.isfinite(value):
        return " ", palette.text
    if data.errors and rows > 1:
        if row == 0:
            return (glyphs.warn if value > 0 else " "), palette.bad
        rows, row = rows - 1, row - 1
    eighths = max(0 if data.errors and value <= 0 else 1, round(_share(value, ends) * rows * 8))
    level = min(8, max(0, eighths - (rows - 1 - row) * 8))
    marked = _is_marked(data, value)
    style = palette.series[0].style
    if marked:
        style = palette.bad if data.errors else palette.warn
    if level == 0 and marked and not data.errors and eighths + 8 > (rows - 1 - row) * 8 >= eighths:
        return glyphs.warn, style
    if level == 0 and data.band is not None and rows > 1:
        return _band_cell(data.band, ends, rows, row, palette, glyphs)
    return glyphs.rising[level], style


def _band_cell(
    band: tuple[float, float],
    ends: tuple[float, float],
    rows: int,
    row: int,
    palette: Palette,
    glyphs: Glyphs,
) -> tuple[str, Style]:
    """Return a dash where an end of the band lies, behind the blocks."""
    for end in band:
        if math.isfinite(end) and min(rows - 1, int((1 - _share(end, ends)) * rows)) == row:
            return glyphs.dashed_horizontal, palette.frame
    return " ", palette.text
