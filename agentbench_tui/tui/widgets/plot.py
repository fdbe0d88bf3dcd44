"""Lines and steps on two axes, in braille dots, with bands, marks and limits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.cells import cell_len

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import quantity
from agentbench_tui.reports.figures.canvas import ACROSS
from agentbench_tui.tui.drawing.axis import Axis, row_of, scale_rows, upright_rows
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.painting import (
    Dots,
    Row,
    join,
    notice,
    page,
    row_width,
    shorten,
    span,
)
from agentbench_tui.tui.drawing.plot_data import (
    Band,
    Limit,
    Line,
    Mark,
    PlotData,
    axes_of,
    cdf_plot,
    cdf_plot_of_buckets,
    has_place,
)
from agentbench_tui.tui.theme import Palette
from agentbench_tui.tui.widgets.painted import Painted

__all__ = [
    "Band", "Limit", "Line", "Mark", "Plot", "PlotData", "cdf_plot", "cdf_plot_of_buckets",
    "paint_plot",
]  # fmt: skip
_SPARSE = 4
"""A line with fewer points than one per this many cells shows each of them."""
_MARKER_EVERY = 16
"""Cells between the markers of a line of many points."""
_LONGEST_NAME = 200
_LEAST_COLUMNS, _LEAST_ROWS = 16, 5
"""A smaller picture has no axes."""


def paint_plot(
    data: PlotData, width: int, height: int, palette: Palette, glyphs: Glyphs
) -> list[Row]:
    """Paint the plot in `height` rows of `width` cells, or the reason if there is nothing to
    draw.
    """
    axes = axes_of(data)
    title = one_line(data.title)
    if axes is None or width < 1 or height < 1:
        return notice(data.reason, max(0, width), max(0, height), palette, glyphs, title)
    if width < _LEAST_COLUMNS or height < _LEAST_ROWS:
        dots = _picture(data, axes, width, height, [], palette, glyphs)
        return page(dots.painted(glyphs, palette.text), width, height, palette.text)
    head = _head(data, width, 1 if height < 10 else 2, palette, glyphs)
    rows = height - len(head) - 2
    edge, ticks = upright_rows(axes[1], rows, data.y_unit, palette, glyphs)
    left = sum(len(piece.text) for piece in edge[0])
    columns = width - left
    if columns < _LEAST_COLUMNS // 2:
        left, columns, edge = 0, width, [[] for _ in range(rows)]
    dots = _picture(data, axes, columns, rows, ticks, palette, glyphs)
    body = [join(*pair) for pair in zip(edge, dots.painted(glyphs, palette.text), strict=True)]
    below = scale_rows(
        axes[0], left, columns, data.x_unit, palette, glyphs,
        names=[one_line(name, 24) for name in data.x_names], label=one_line(data.x_label),
    )  # fmt: skip
    return page([*head, *body, *below], width, height, palette.text)


def _head(data: PlotData, width: int, most: int, palette: Palette, glyphs: Glyphs) -> list[Row]:
    """Return title and legend in `most` rows; series that do not fit are counted."""
    title = shorten(glyphs.plain(one_line(data.title)), width, glyphs)
    rows: list[Row] = [[span(title + "   ", palette.title)] if title else []]
    room = width - row_width(rows[0])
    named = [
        (
            palette.of(number if line.series is None else line.series),
            one_line(line.name, _LONGEST_NAME),
        )
        for number, line in enumerate(data.lines)
        if line.name and not (title and len(data.lines) == 1)
    ]
    more = f"{glyphs.ellipsis} {len(named)} in all"
    for place, (series, written) in enumerate(named):
        name = shorten(glyphs.plain(written), max(4, width - 4), glyphs)
        need = cell_len(name) + 4
        is_last_row, is_last = len(rows) == most, place == len(named) - 1
        if need > room - (len(more) if is_last_row and not is_last else 0):
            if is_last_row:
                rows[-1].append(span(shorten(more, room, glyphs), palette.dim))
                break
            rows.append([])
            room = width
            if len(rows) == most and not is_last:
                name = shorten(name, max(4, width - 4 - len(more)), glyphs)
                need = cell_len(name) + 4
        rows[-1].append(span(f"{glyphs.markers[series.marker]} ", series.style))
        rows[-1].append(span(f"{name}  ", palette.text))
        room -= need
    return rows if any(rows) else []


def _picture(
    data: PlotData,
    axes: tuple[Axis, Axis],
    columns: int,
    rows: int,
    ticks: Sequence[int],
    palette: Palette,
    glyphs: Glyphs,
) -> Dots:
    dots, behind = Dots(columns, rows), Dots(columns, rows)
    for row in ticks:
        for column in range(0, columns, 4):
            behind.text(column, row, glyphs.dashed_horizontal, palette.frame)
    for band in data.bands:
        _band(behind, band, axes, palette)
    for number, line in enumerate(data.lines):
        _line(dots, line, number, axes, palette)
    for number, line in enumerate(data.lines):
        _markers(dots, line, number, len(data.lines), axes, palette, glyphs)
    _limits(dots, data, axes[1], palette, glyphs)
    _marks(dots, data, axes[0], palette, glyphs)
    dots.underlay(behind)
    return dots


def _places(
    line_x: Sequence[float], line_y: Sequence[float], axes: tuple[Axis, Axis], dots: Dots
) -> Iterator[tuple[float, float] | None]:
    """Yield the positions of points in dots; None for a gap. Points far outside are moved
    closer.
    """
    across, up = axes
    for x, y in zip(line_x, line_y, strict=False):
        if not (has_place(x, across.log) and has_place(y, up.log)):
            yield None
            continue
        share_x = min(2.0, max(-1.0, across.share(x)))
        share_y = min(2.0, max(-1.0, up.share(y)))
        yield share_x * (dots.width - 1), (1.0 - share_y) * (dots.height - 1)


def _line(dots: Dots, line: Line, number: int, axes: tuple[Axis, Axis], palette: Palette) -> None:
    style = palette.of(number if line.series is None else line.series).style
    previous: tuple[float, float] | None = None
    for here in _places(line.x, line.y, axes, dots):
        if here is not None and previous is None:
            dots.dot(round(here[0]), round(here[1]), style)
        elif here is not None and previous is not None:
            if line.step:
                corner = (here[0], previous[1])
                dots.line(previous, corner, style)
                previous = corner
            dots.line(previous, here, style)
        previous = here


def _markers(
    dots: Dots,
    line: Line,
    number: int,
    lines: int,
    axes: tuple[Axis, Axis],
    palette: Palette,
    glyphs: Glyphs,
) -> None:
    """Draw markers: on each point of a sparse line; on a dense one at intervals, if there are
    other lines, and never in the column of another line's marker.
    """
    series = palette.of(number if line.series is None else line.series)
    cells = [
        (round(place[0]) // ACROSS, round(place[1]) // 4)
        for place in _places(line.x, line.y, axes, dots)
        if place is not None
    ]
    every = 1
    if line.step or len(cells) * _SPARSE > dots.columns:
        if lines == 1:
            return
        every = _MARKER_EVERY
    free_from = number * _MARKER_EVERY // max(1, lines) if every > 1 else 0
    for column, row in sorted(cells):
        if column >= free_from:
            dots.text(column, row, glyphs.markers[series.marker], series.style)
            free_from = column + every if every > 1 else 0


def _band(dots: Dots, band: Band, axes: tuple[Axis, Axis], palette: Palette) -> None:
    """Draw every other dot between both curves, which are straight between their points."""
    style = palette.of(band.series).faint
    lows = [
        axes[1].low if value == -math.inf or (axes[1].log and value <= 0) else value
        for value in band.low
    ]
    highs = [axes[1].high if value == math.inf else value for value in band.high]
    corners = zip(
        _places(band.x, lows, axes, dots), _places(band.x, highs, axes, dots), strict=False
    )
    for (low, high), (to_low, to_high) in pairwise(corners):
        if low is None or high is None or to_low is None or to_high is None:
            continue
        start, end = low[0], to_low[0]
        for x in range(max(0, round(start)), min(dots.width - 1, round(end)) + 1):
            share = min(1.0, max(0.0, (x - start) / (end - start))) if end > start else 0.0
            top = max(0, round(high[1] + share * (to_high[1] - high[1])))
            bottom = min(dots.height - 1, round(low[1] + share * (to_low[1] - low[1])))
            for y in range(top + (top + x) % 2, bottom + 1, 2):
                dots.dot(x, y, style)


def _limits(dots: Dots, data: PlotData, axis: Axis, palette: Palette, glyphs: Glyphs) -> None:
    """Draw dashed lines with names at the right end; one that is far away becomes an arrow."""
    for limit in data.limits:
        if not has_place(limit.at, axis.log):
            continue
        words = f"{one_line(limit.text, 40)} {quantity(limit.at, data.y_unit)}".strip()
        row = row_of(axis, limit.at, dots.rows)
        is_near = axis.low <= limit.at <= axis.high
        if not is_near:
            words += f" {glyphs.up if limit.at > axis.high else glyphs.down}"
        text = shorten(glyphs.plain(f" {words}"), dots.columns, glyphs)
        place = _room_for(dots, row, cell_len(text))
        if is_near:
            for column in range(dots.columns):
                if dots.is_free(column, row):
                    dots.text(column, row, glyphs.dashed_horizontal, palette.warn)
        dots.text(*place, text, palette.warn)


def _room_for(dots: Dots, row: int, cells: int) -> tuple[int, int]:
    """Return (column, row) of a limit's name: at its right or left end, or a row above or below,
    where it hides neither a line nor a point; if there is no such place, at the end without
    lines.
    """
    end = dots.columns - cells
    for near in (row, row - 1, row + 1):
        for column in (end, 0):
            if 0 <= near < dots.rows and dots.is_free(column, near, cells):
                return column, near
    return (0 if dots.is_lined(end, row, cells) else end), row


def _marks(dots: Dots, data: PlotData, axis: Axis, palette: Palette, glyphs: Glyphs) -> None:
    """Draw dashed vertical lines with their labels at the top, in the first row with room."""
    for mark in data.marks:
        share = axis.share(mark.at) if has_place(mark.at, axis.log) else -1.0
        if not 0.0 <= share <= 1.0:
            continue
        column = min(dots.columns - 1, int(share * dots.columns))
        own = [row for row in range(dots.rows) if dots.is_free(column, row)]
        for row in own:
            dots.text(column, row, glyphs.dashed_vertical, palette.accent)
        text = glyphs.plain(one_line(mark.text, 40))
        if not text:
            continue
        cells, upper = cell_len(text), range(dots.rows // 2)
        # First where its own upright shows beside it: the words of another mark may end there.
        places = [
            (start, row)
            for rows in ([row for row in own if row in upper], upper)
            for start in (column + 1, column - cells)
            for row in rows
        ]
        for start, row in places:
            if dots.is_free(start, row, cells):
                dots.text(start, row, text, palette.accent)
                break


class Plot(Painted):
    """Shows a `PlotData`."""

    def __init__(self, data: PlotData | None = None, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._data = data or PlotData()

    def show(self, data: PlotData) -> None:
        """Show this from now on."""
        self._data = data
        self.redraw()

    def paint(self, width: int, height: int) -> list[Row]:
        return paint_plot(self._data, width, height, self.palette, self.glyphs)
