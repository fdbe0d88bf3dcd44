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
from agentbench_tui.tui.drawing.names import first_differences, shorten_name
from agentbench_tui.tui.drawing.painting import Row, aligned, bar, fit, join, span
from agentbench_tui.tui.theme import Palette

Names = dict[int, dict[str, int]]
"""Number of a column → name → index of the first character that sets it apart."""
_BEFORE_NAME = 3
"""Cells of a marker before a name and an arrow behind it."""


def cells_of(
    row: GridRow,
    layout: Sequence[tuple[int, int]],
    columns: Sequence[Column],
    palette: Palette,
    glyphs: Glyphs,
    names: Names | None = None,
) -> Row:
    """Return the row's cells in those columns that `fitting` gave room. `names`: see `names_of`."""
    names = names or {}
    parts: list[Row] = []
    blank: Cell | str = ""
    for place, (number, cells) in enumerate(layout):
        cell = row.cells[number] if number < len(row.cells) else blank
        if place:
            parts.append([span(" " * GAP, palette.text)])
        align = columns[number].align
        cell = Cell(cell) if isinstance(cell, str) else cell
        parts.append(_cell(cell, row.role, cells, align, palette, glyphs, names.get(number)))
    return join(*parts)


def names_of(
    columns: Sequence[Column], layout: Sequence[tuple[int, int]], rows: Sequence[GridRow]
) -> Names:
    """Return, by the number of a column of names, where each of its names differs from the others;
    nothing for columns whose names fit.
    """
    found: Names = {}
    for number, cells in layout:
        if not columns[number].has_names:
            continue
        texts = [_text(row.cells[number]) for row in rows if number < len(row.cells)]
        if any(len(text) > cells - _BEFORE_NAME for text in texts):
            found[number] = first_differences(texts)
    return found


def _text(cell: Cell | str) -> str:
    return one_line(cell if isinstance(cell, str) else cell.text)


def _style(role: Role, palette: Palette) -> Style:
    style: Style = getattr(palette, role)
    return style


def _cell(
    cell: Cell,
    role: Role,
    cells: int,
    align: Align,
    palette: Palette,
    glyphs: Glyphs,
    names: dict[str, int] | None,
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
    if names is not None:
        text = shorten_name(text, max(0, left), names.get(one_line(cell.text), 0), glyphs)
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
