"""Distribution of values: bars with percentile marks, and the outline of a baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.style import Style

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import quantity
from agentbench_tui.tui.drawing.axis import Axis, scale_rows, upright_rows
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.histogram_data import (
    HistogramData,
    Percentile,
    axis_for,
    baseline_heights,
    heights_of,
    total_of,
)
from agentbench_tui.tui.drawing.painting import (
    Row,
    fit,
    join,
    notice,
    page,
    row_width,
    runs,
    shorten,
    span,
)
from agentbench_tui.tui.theme import Palette
from agentbench_tui.tui.widgets.painted import Painted

__all__ = ["HistogramData", "HistogramView", "Percentile", "paint_histogram"]
_LEAST_COLUMNS, _LEAST_ROWS = 20, 6
"""A smaller picture has no axes and no marks."""


def paint_histogram(
    data: HistogramData, width: int, height: int, palette: Palette, glyphs: Glyphs
) -> list[Row]:
    """Paint the histogram in `height` rows of `width` cells, or the reason if it is empty."""
    axis = axis_for(data)
    if axis is None or width < 1 or height < 1:
        title = one_line(data.title)
        return notice(data.reason, max(0, width), max(0, height), palette, glyphs, title)
    if width < _LEAST_COLUMNS or height < _LEAST_ROWS:
        heights = heights_of(data.buckets, axis, width)
        return page(_bars(heights, height, palette, glyphs), width, height, palette.text)
    head = _head(data, axis, width, palette, glyphs)
    left = max(4, len(quantity(total_of(data.buckets)))) + 2
    columns = width - left
    marks = _mark_columns(data, axis, columns)
    labels = _label_rows(marks, columns, data.unit, height - len(head) - 2, glyphs)
    rows = height - len(head) - len(labels) - 2
    heights = heights_of(data.buckets, axis, columns)
    outline = baseline_heights(data, axis, columns)
    counts = Axis(0.0, max(1.0, *heights, *outline) * 1.02)
    edge, _ = upright_rows(counts, rows, "", palette, glyphs)
    edge = [[span(" " * left, palette.dim)] for _ in labels] + [
        join(span(" " * (left - sum(len(piece.text) for piece in row)), palette.dim), *row)
        for row in edge
    ]
    cells = _Cells(columns, len(labels) + rows, palette, glyphs)
    cells.bars(heights, counts.high, rows, cells.bar_styles(data, axis))
    cells.outline(outline, counts.high, rows, _outline_style(data, palette))
    cells.marks(marks, labels)
    body = [join(row, *across) for row, across in zip(edge, cells.rows(), strict=True)]
    below = scale_rows(axis, left, columns, data.unit, palette, glyphs)
    return page([*head, *body, *below], width, height, palette.text)


def _head(
    data: HistogramData, axis: Axis, width: int, palette: Palette, glyphs: Glyphs
) -> list[Row]:
    """Return the title, the number of values, and what the picture cannot show."""
    total = total_of(data.buckets)
    facts = [f"{total:,} value" + ("s" if total != 1 else "")]
    zeros = sum(count for low, high, count in data.buckets if high <= 0)
    if zeros and axis.log:
        facts.append(f"{zeros:,} at 0")
    beyond = sum(count for low, _, count in data.buckets if low > axis.high)
    if beyond:
        facts.append(f"{beyond:,} beyond {quantity(axis.high, data.unit)}")
    title = glyphs.plain(one_line(data.title))
    row = [span(f"{title}  ", palette.title)] if title else []
    told = glyphs.plain(f" {glyphs.separator} ".join(facts))
    row.append(span(shorten(told, max(0, width - row_width(row)), glyphs), palette.dim))
    if total_of(data.baseline):
        rule = span(f"  {glyphs.horizontal}{glyphs.horizontal} ", _outline_style(data, palette))
        name = glyphs.plain(one_line(data.baseline_name, 30))
        scaled = f"{name}, scaled from {total_of(data.baseline):,}"
        room = width - row_width(row) - 5
        row += [rule, span(scaled if cell_len(scaled) <= room else name, palette.dim)]
    return [fit(row, width, palette.text)]


def _outline_style(data: HistogramData, palette: Palette) -> Style:
    return palette.title if data.series is None else palette.of(data.series[1]).style


def _mark_columns(data: HistogramData, axis: Axis, columns: int) -> list[tuple[int, Percentile]]:
    found = []
    for mark in sorted(data.percentiles, key=lambda one: one.value):
        share = axis.share(mark.value) if math.isfinite(mark.value) else -1.0
        if 0.0 <= share <= 1.0:
            found.append((min(columns - 1, int(share * columns)), mark))
    return found


@dataclass(frozen=True, slots=True)
class _Label:
    start: int
    text: str


def _label_rows(
    marks: Sequence[tuple[int, Percentile]], columns: int, unit: str, room: int, glyphs: Glyphs
) -> list[dict[int, _Label]]:
    """Return the positions of the marks' labels: rows from the top, label by the number of its
    mark. Each begins at its mark, or ends there near the right edge; a label that would touch
    another, or cover another's line, moves up a row. They take at most half of the room; more are
    dropped.
    """
    rows: list[dict[int, _Label]] = []
    for number, (column, mark) in enumerate(marks):
        text = shorten(glyphs.plain(f"{mark.name} {quantity(mark.value, unit)}"), columns, glyphs)
        start = column if column + len(text) <= columns else max(0, column - len(text) + 1)
        for row in reversed(rows):
            if all(_apart(start, text, other) for other in row.values()) and _clear(
                start, text, marks, rows, row
            ):
                row[number] = _Label(start, text)
                break
        else:
            if len(rows) < room // 2:
                rows.insert(0, {number: _Label(start, text)})
    return rows


def _apart(start: int, text: str, other: _Label) -> bool:
    return start + len(text) < other.start or other.start + len(other.text) < start


def _clear(
    start: int,
    text: str,
    marks: Sequence[tuple[int, Percentile]],
    rows: Sequence[dict[int, _Label]],
    row: dict[int, _Label],
) -> bool:
    """Return whether no line of a label in a higher row passes through these cells."""
    higher = rows[: next(place for place, one in enumerate(rows) if one is row)]
    return not any(
        start <= marks[other][0] < start + len(text) for above in higher for other in above
    )


def _bars(heights: Sequence[float], rows: int, palette: Palette, glyphs: Glyphs) -> list[Row]:
    """Draw bars alone, the highest as high as the picture."""
    styles = [palette.series[0].style] * len(heights)
    cells = _Cells(len(heights), rows, palette, glyphs)
    cells.bars(heights, max(heights, default=0.0), rows, styles)
    return cells.rows()


class _Cells:
    """The picture's cells, drawn over each other: bars, outline, marks."""

    def __init__(self, columns: int, rows: int, palette: Palette, glyphs: Glyphs) -> None:
        self._columns, self._palette, self._glyphs = columns, palette, glyphs
        self._cells = [[(" ", palette.text)] * columns for _ in range(rows)]

    def bars(
        self, heights: Sequence[float], most: float, rows: int, styles: Sequence[Style]
    ) -> None:
        """Draw bars in the last `rows` rows, scaled to `most`; every nonzero count is visible."""
        rising, full = self._glyphs.rising, self._glyphs.full
        for column, (height, style) in enumerate(zip(heights, styles, strict=True)):
            if height <= 0 or most <= 0:
                continue
            cells, eighths = divmod(max(1, round(height / most * rows * 8)), 8)
            for row in range(1, min(rows, cells) + 1):
                self._cells[-row][column] = (full, style)
            if eighths and cells < rows:
                self._cells[-cells - 1][column] = (rising[eighths], style)

    def bar_styles(self, data: HistogramData, axis: Axis) -> list[Style]:
        """Return a style per column: that of the bars' owner; the tail has the color of its
        percentile.
        """
        if data.series is not None:
            return [self._palette.of(data.series[0]).style] * self._columns
        styles = [self._palette.series[0].style] * self._columns
        for share, style in ((0.95, self._palette.warn), (0.99, self._palette.bad)):
            for column, mark in _mark_columns(data, axis, self._columns):
                if mark.share == share:
                    styles[column:] = [style] * (self._columns - column)
        return styles

    def outline(self, heights: Sequence[float], most: float, rows: int, style: Style) -> None:
        """Draw the upper edge of bars of these heights as a line over the picture."""
        tops = [
            rows - 1 - min(rows - 1, max(0, math.ceil(height / most * rows - 0.5) - 1))
            if height > 0
            else rows
            for height in heights
        ]
        base = len(self._cells) - rows
        for column, top in enumerate(tops):
            before = tops[column - 1] if column else rows
            for row in range(min(top, before), max(top, before) + 1):
                if row < rows:
                    self._over(base + row, column, self._edge(row, top, before), style)

    def _edge(self, row: int, top: int, before: int) -> str:
        """Return the character of the outline from height `before` to `top`."""
        if top == before:
            return self._glyphs.horizontal
        if row == top:
            glyphs = self._glyphs
            return glyphs.corner_top_left if top < before else glyphs.corner_bottom_left
        if row == before:
            glyphs = self._glyphs
            return glyphs.corner_bottom_right if top < before else glyphs.corner_top_right
        return self._glyphs.vertical

    def _over(self, row: int, column: int, character: str, outlined: Style) -> None:
        below, style = self._cells[row][column]
        level = self._glyphs.rising.find(below)
        if level > 0 and character == self._glyphs.horizontal and below != self._glyphs.full:
            return  # Else the outline of a few hid the bars of a few, which is what a tail is.
        if level > 4 and self._glyphs.braille:
            outlined = Style(color=style.color, reverse=True)
        self._cells[row][column] = (character, outlined)

    def marks(
        self, marks: Sequence[tuple[int, Percentile]], labels: Sequence[dict[int, _Label]]
    ) -> None:
        """Draw vertical lines from each label down to the bars."""
        for row, of_row in enumerate(labels):
            for number, label in of_row.items():
                column, mark = marks[number]
                style = self._mark_style(mark)
                for place, character in enumerate(label.text, start=label.start):
                    self._cells[row][place] = (character, style)
                for below in range(row + 1, len(self._cells)):
                    if self._cells[below][column][0] != " ":
                        break
                    self._cells[below][column] = (self._glyphs.dashed_vertical, style)

    def _mark_style(self, mark: Percentile) -> Style:
        if mark.share >= 0.99:
            return self._palette.bad
        return self._palette.warn if mark.share >= 0.95 else self._palette.title

    def rows(self) -> list[Row]:
        return [runs(row) for row in self._cells]


class HistogramView(Painted):
    """Shows a `HistogramData`."""

    def __init__(self, data: HistogramData | None = None, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._data = data or HistogramData()

    def show(self, data: HistogramData) -> None:
        """Show this from now on."""
        self._data = data
        self.redraw()

    def paint(self, width: int, height: int) -> list[Row]:
        return paint_histogram(self._data, width, height, self.palette, self.glyphs)
