"""Cells of a table row: text, with a marker, bar, sparkline or arrow."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.grid_data import GAP, Align, Cell, Column, GridRow, Role
from agentbench_tui.tui.drawing.painting import Row, aligned, bar, fit, join, span
from agentbench_tui.tui.theme import Palette


def cells_of(
    row: GridRow,
    layout: Sequence[tuple[int, int]],
    columns: Sequence[Column],
    palette: Palette,
    glyphs: Glyphs,
) -> Row:
    """Return the row's cells in those columns that `fitting` gave room."""
    parts: list[Row] = []
    blank: Cell | str = ""
    for place, (number, cells) in enumerate(layout):
        cell = row.cells[number] if number < len(row.cells) else blank
        if place:
            parts.append([span(" " * GAP, palette.text)])
        align = columns[number].align
        if isinstance(cell, str):
            text = aligned(glyphs.plain(one_line(cell)), cells, align, glyphs)
            parts.append([span(text, _style(row.role, palette))])
        else:
            parts.append(_cell(cell, row.role, cells, align, palette, glyphs))
    return join(*parts)


def _style(role: Role, palette: Palette) -> Style:
    style: Style = getattr(palette, role)
    return style


def _cell(
    cell: Cell, role: Role, cells: int, align: Align, palette: Palette, glyphs: Glyphs
) -> Row:
    if cell.drawn is not None:
        return fit(cell.drawn(cells, palette, glyphs), cells, palette.text)
    style = _style(cell.role or role, palette)
    text = glyphs.plain(one_line(cell.text))
    before: Row = []
    after: Row = []
    if cell.series is not None:
        series = palette.of(cell.series)
        before.append(span(f"{glyphs.markers[series.marker]} ", series.style))
    if cell.change is not None:
        after.append(_arrow(cell.change, palette, glyphs))
    left = cells - 2 * len(before) - len(after)
    # Half of the column whatever the text, so that bars one below the other can be compared; less
    # where numbers would be cut.
    picture = max(0, left - cells // 2 if text else left)
    if cell.bar is not None and text:
        picture = min(picture, left - cell_len(text) - 1)
    if picture >= 2 and cell.bar is not None and math.isfinite(cell.bar):
        before += [*bar(cell.bar, picture, style, palette, glyphs), span(" ", style)]
        align, left = "right", left - picture - 1
    elif picture >= 2 and cell.trend is not None:
        before += [span(_blocks(cell.trend, picture, glyphs) + " ", palette.dim)]
        align, left = "right", left - picture - 1
    words = [span(aligned(text, max(0, left), align, glyphs), style)]
    row = join(*before, *words, *after)
    return fit(row, cells, palette.text)


def _arrow(change: int, palette: Palette, glyphs: Glyphs) -> Segment:
    if change == 0:
        return span(" ", palette.text)
    return span(glyphs.up, palette.good) if change > 0 else span(glyphs.down, palette.warn)


def _blocks(values: Sequence[float | None], cells: int, glyphs: Glyphs) -> str:
    """Return the newest values as blocks, scaled between their minimum and maximum."""
    shown = list(values[-cells:])
    known = [value for value in shown if value is not None and math.isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    full = high / 2 - low / 2

    def block(value: float | None) -> str:
        if value is None or not math.isfinite(value):
            return " "
        return glyphs.rising[1 + round(7 * ((value / 2 - low / 2) / full)) if full > 0 else 4]

    return " " * (cells - len(shown)) + "".join(map(block, shown))
