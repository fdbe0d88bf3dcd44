"""Drawn table cells: a value with its interval, and a change with its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.tui.drawing.grid_data import Cell
from agentbench_tui.tui.widgets.delta_cell import Delta, paint_delta
from agentbench_tui.tui.widgets.interval_cell import (
    Interval,
    IntervalColumn,
    paint_interval,
    whisker,
)

if TYPE_CHECKING:
    from agentbench_tui.tui.drawing.glyphs import Glyphs
    from agentbench_tui.tui.drawing.painting import Row
    from agentbench_tui.tui.theme import Palette


def interval_cell(interval: Interval, column: IntervalColumn) -> Cell:
    """Paint figures and, if there is room, the interval on the axis that its column shares."""

    def draw(width: int, palette: Palette, glyphs: Glyphs) -> Row:
        return paint_interval(interval, column, width, palette, glyphs)

    return Cell(drawn=draw)


def whisker_cell(interval: Interval, column: IntervalColumn, series: int = 0) -> Cell:
    """Paint the interval alone, without figures."""

    def draw(width: int, palette: Palette, glyphs: Glyphs) -> Row:
        return whisker(interval, column, width, palette, glyphs, palette.of(series).style)

    return Cell(drawn=draw)


def delta_cell(delta: Delta) -> Cell:
    """Paint a change with its interval and verdict, as far as there is room."""

    def draw(width: int, palette: Palette, glyphs: Glyphs) -> Row:
        return paint_delta(delta, width, palette, glyphs)

    return Cell(drawn=draw)
