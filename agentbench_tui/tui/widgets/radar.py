"""Scores of several agents on axes around a center, with their numbers, since areas mislead."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.style import Style

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.reports.figures.canvas import ACROSS, DOWN, SOLID
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.painting import (
    Dots,
    Row,
    aligned,
    join,
    notice,
    page,
    row_width,
    shorten,
    span,
)
from agentbench_tui.tui.drawing.radar_data import Radar, Shape
from agentbench_tui.tui.theme import Palette
from agentbench_tui.tui.widgets.painted import Painted

__all__ = ["Radar", "RadarChart", "Shape", "paint_radar"]
LEAST_WIDTH, LEAST_HEIGHT = 34, 16
"""Size below which a radar chart is unreadable; bars are shown instead."""
FEWEST_AXES, MOST_AXES = 3, 8
FULL = 100.0
"""The score at the rim; the center is 0."""
_RINGS = (25.0, 50.0, 75.0, 100.0)
_RING_PATTERN = (True, False, False)
_PATTERNS: tuple[Sequence[bool], ...] = (
    SOLID,
    (True, True, True, True, False, False),
    (True, False),
    (True, True, True, True, True, False, True, False),
)
_LEAST_RADIUS = 16
"""Dots; axes' names are cut to leave that much."""
_LEAST_NAME = 4
_NUMBER = 7
_AXIS, _NAME = 16, 24
"""Cells of an axis's and an agent's name in the table."""
_GAP = 2
_LEAST_LINE = 5
_MIDDLE, _POLE = 0.3, 0.9
"""Cosine up to which a name is centered on its axis, and sine from which it is above or below."""
_MOST_NUMBERED = 3
"""Agents whose numbers fit below an axis's name."""
_HOLLOW = 4
"""Markers from this one on are the hollow ones of those before."""


@dataclass(frozen=True, slots=True)
class _Look:
    """Style of a shape."""

    style: Style
    marker: str
    letter: str
    pattern: Sequence[bool]


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Radar chart with the styles, axis names, palette and glyphs used to draw it."""

    radar: Radar
    looks: tuple[_Look, ...]
    """Styles of the shapes."""
    names: tuple[str, ...]
    """Names of the axes."""
    palette: Palette
    glyphs: Glyphs

    def scores(self, axis: int) -> list[float | None]:
        """Return the scores of all shapes on one axis."""
        return [self.radar.value(shape, axis) for shape in range(len(self.looks))]

    def written(self, score: float | None, digits: int = 1) -> str:
        if score is None:
            return self.glyphs.nothing
        return f"{min(max(score, -999.0), 9999.0):.{digits}f}"


def paint_radar(
    radar: Radar, width: int, height: int, palette: Palette, glyphs: Glyphs
) -> list[Row]:
    """Paint the radar, with its numbers in a table beside it or below it, or in the axes' names.

    Where it would be smaller than 34×16 cells, or has other than 3 to 8 axes, bars for each axis.
    A score that is missing leaves a gap in its line.
    """
    looks = tuple(
        _look(shape, series, palette, glyphs)
        for shape, series in zip(radar.shapes, radar.series(), strict=True)
    )
    names = tuple(glyphs.plain(one_line(axis)) or glyphs.nothing for axis in radar.axes)
    drawn = _Drawn(radar, looks, names, palette, glyphs)
    if all(score is None for axis in range(len(names)) for score in drawn.scores(axis)):
        return notice(radar.reason, width, height, palette, glyphs)
    fits = width >= LEAST_WIDTH and height >= LEAST_HEIGHT
    if not fits or not FEWEST_AXES <= len(names) <= MOST_AXES:
        return page(_bars(drawn, width, height), width, height, palette.text)
    table = _table(drawn)
    table_width = max(map(row_width, table))
    room = width - table_width - _GAP
    if room >= LEAST_WIDTH and height >= len(table):
        above = (height - len(table)) // 2
        beside = [*([[]] * above), *table, *([[]] * (height - above - len(table)))]
        gap = span(" " * _GAP, palette.text)
        net = _net(drawn, room, height, numbered=False)
        rows = [join(*left, gap, *right) for left, right in zip(net, beside, strict=True)]
        return page(rows, width, height, palette.text)
    if height - len(table) >= LEAST_HEIGHT and table_width <= width:
        net = _net(drawn, width, height - len(table), numbered=False)
        return page([*net, *table], width, height, palette.text)
    legend = _legend(drawn, width)[: height // 4]
    numbered = len(looks) <= _MOST_NUMBERED
    net = _net(drawn, width, height - len(legend), numbered=numbered)
    return page([*net, *legend], width, height, palette.text)


def _look(shape: Shape, number: int, palette: Palette, glyphs: Glyphs) -> _Look:
    series = palette.of(number)
    hollow = series.marker % _HOLLOW + _HOLLOW
    marker = glyphs.markers[hollow if shape.simulated else series.marker]
    return _Look(series.style, marker, series.letter, _PATTERNS[number % len(_PATTERNS)])


@dataclass(frozen=True, slots=True)
class _Net:
    """Geometry, in dots from the upper left."""

    x: float
    y: float
    """Y of the center."""
    radius: int
    angles: tuple[float, ...]
    names: tuple[str, ...]

    def point(self, axis: int, score: float) -> tuple[float, float]:
        """Return the position of a score on an axis; beyond the rim or the center it is drawn on
        them.
        """
        reach = self.radius * min(1.0, max(0.0, score / FULL))
        angle = self.angles[axis]
        return self.x + reach * math.cos(angle), self.y + reach * math.sin(angle)


Box = tuple[float, float, float, float]
"""Left, top, right and bottom in dots."""


def _label_box(angle: float, radius: int, cells: int, rows: int) -> Box:
    """Return the box of an axis's name around a center at 0: above and below the net in the
    middle, else beside it.
    """
    across, down = math.cos(angle), math.sin(angle)
    x, y, wide, high = radius * across, radius * down, cells * ACROSS, rows * DOWN
    beside = x + ACROSS if across > 0 else x - ACROSS - wide
    left = x - wide / 2 if abs(across) < _MIDDLE else beside
    top = y - high - 2 if down < -_POLE else y + 2 if down > _POLE else y - high / 2
    return left, top, left + wide, top + high


def _around(angles: Sequence[float], radius: int, cells: Sequence[int], rows: int) -> Box:
    """Return the box that holds all names."""
    boxes = [
        _label_box(angle, radius, need, rows) for angle, need in zip(angles, cells, strict=True)
    ]
    left, top, right, bottom = zip(*boxes, strict=True)
    return min(left), min(top), max(right), max(bottom)


def _placed(drawn: _Drawn, width: int, height: int, wide: int) -> _Net:
    """Return the largest net whose names fit in `width` × `height` cells, cropped if it would be
    too small to read. `wide`: cells of the row of numbers below the names; 0 without one.
    """
    count = len(drawn.names)
    angles = tuple(2 * math.pi * number / count - math.pi / 2 for number in range(count))
    longest = max(map(cell_len, drawn.names))
    rows = 2 if wide else 1

    def too_large(radius: int) -> bool:
        left, top, right, bottom = _around(angles, radius, cells, rows)
        return right - left > width * ACROSS or bottom - top > height * DOWN

    while True:
        names = tuple(shorten(name, longest, drawn.glyphs) for name in drawn.names)
        cells = [max(cell_len(name), wide) for name in names]
        radius = max(1, bisect_left(range(height * DOWN), True, key=too_large) - 1)
        if radius >= _LEAST_RADIUS or longest <= _LEAST_NAME:
            break
        longest -= 1
    left, top, right, bottom = _around(angles, radius, cells, rows)
    x, y = (width * ACROSS - left - right) / 2, (height * DOWN - top - bottom) / 2
    return _Net(x, y, radius, angles, names)


def _net(drawn: _Drawn, width: int, height: int, *, numbered: bool) -> list[Row]:
    axes = range(len(drawn.names))
    numbers = [[drawn.written(score, 0) for score in drawn.scores(axis)] for axis in axes]
    wide = max(len(" ".join(one)) for one in numbers) if numbered else 0
    net = _placed(drawn, width, height, wide)
    canvas = Dots(width, height)
    frame = drawn.palette.frame
    for axis in axes:
        for ring in _RINGS:
            end = net.point((axis + 1) % len(axes), ring)
            canvas.line(net.point(axis, ring), end, frame, _RING_PATTERN)
        canvas.line((net.x, net.y), net.point(axis, FULL), frame, _RING_PATTERN)
    # The first is drawn last, so that it lies on top.
    for shape in reversed(range(len(drawn.looks))):
        _outline(canvas, drawn, shape, net)
    for shape, look in reversed(list(enumerate(drawn.looks))):
        for axis in axes:
            score = drawn.radar.value(shape, axis)
            if score is not None:
                x, y = net.point(axis, score)
                canvas.text(round(x) // ACROSS, round(y) // DOWN, look.marker, look.style)
    for axis in axes:
        _label(canvas, drawn, net, axis, numbers[axis] if numbered else [], wide)
    # A name may hold characters that take two cells.
    return page(canvas.painted(drawn.glyphs, drawn.palette.text), width, height, drawn.palette.text)


def _outline(canvas: Dots, drawn: _Drawn, shape: int, net: _Net) -> None:
    phase, look = 0, drawn.looks[shape]
    for axis in range(len(net.names)):
        following = (axis + 1) % len(net.names)
        here, there = drawn.radar.value(shape, axis), drawn.radar.value(shape, following)
        if here is not None and there is not None:
            start, end = net.point(axis, here), net.point(following, there)
            phase = canvas.line(start, end, look.style, look.pattern, phase)


def _label(
    canvas: Dots, drawn: _Drawn, net: _Net, axis: int, numbers: Sequence[str], wide: int
) -> None:
    """Return an axis's name, with its numbers below it if there are any."""
    rows = 2 if numbers else 1
    need = max(cell_len(net.names[axis]), wide)
    angle = net.angles[axis]
    left, top, _, _ = _label_box(angle, net.radius, need, rows)
    row = min(canvas.rows - rows, max(0, round((net.y + top) / DOWN)))
    column = min(canvas.columns - need, max(0, round((net.x + left) / ACROSS)))
    side = 0.5 if abs(math.cos(angle)) < _MIDDLE else 0.0 if math.cos(angle) > 0 else 1.0
    name = net.names[axis]
    canvas.text(column + int(side * (need - cell_len(name))), row, name, drawn.palette.text)
    place = column + int(side * (need - len(" ".join(numbers))))
    for text, look in zip(numbers, drawn.looks, strict=False):
        canvas.text(place, row + 1, text, look.style)
        place += len(text) + 1


def _table(drawn: _Drawn) -> list[Row]:
    """Return scores by axis and agent, then the legend."""
    palette, glyphs = drawn.palette, drawn.glyphs
    edge = min(_AXIS, max(map(cell_len, drawn.names)))
    heads = [
        span(f"{look.marker} {look.letter}".rjust(_NUMBER), look.style) for look in drawn.looks
    ]
    rows = [join(span(" " * edge, palette.text), *heads)]
    missing = False
    for axis, name in enumerate(drawn.names):
        scores = drawn.scores(axis)
        missing = missing or None in scores
        values = "".join(drawn.written(score).rjust(_NUMBER) for score in scores)
        named = span(aligned(name, edge, "left", glyphs), palette.dim)
        rows.append([named, span(values, palette.text)])
    rows.append([])
    rows += [_who(drawn, shape) for shape in range(len(drawn.looks))]
    rows.append([span("rings at 25, 50, 75, 100", palette.dim)])
    return [*rows, [span(f"{glyphs.nothing} not measured", palette.dim)]] if missing else rows


def _who(drawn: _Drawn, shape: int) -> Row:
    one, look, palette = drawn.radar.shapes[shape], drawn.looks[shape], drawn.palette
    name = shorten(drawn.glyphs.plain(one_line(one.name)), _NAME, drawn.glyphs)
    said = [span(f"{look.marker} {look.letter} ", look.style), span(name, palette.text)]
    return [*said, span(" simulated", palette.warn)] if one.simulated else said


def _legend(drawn: _Drawn, width: int) -> list[Row]:
    """Return the legend, with as many entries per row as fit."""
    rows: list[Row] = []
    for shape in range(len(drawn.looks)):
        one = _who(drawn, shape)
        if rows and row_width(rows[-1]) + _GAP + row_width(one) <= width:
            rows[-1] = [*rows[-1], span(" " * _GAP, drawn.palette.text), *one]
        else:
            rows.append(one)
    return rows


def _bars(drawn: _Drawn, width: int, height: int) -> list[Row]:
    """Draw one bar per agent and axis if there are enough rows; otherwise one line per axis with
    the agents' markers.
    """
    legend = _legend(drawn, width)
    axes, shapes = range(len(drawn.names)), range(len(drawn.looks))
    rows: list[Row] = []
    if height >= len(axes) * (len(shapes) + 1) + len(legend):
        for axis in axes:
            name = shorten(drawn.names[axis], width, drawn.glyphs)
            rows.append([span(name, drawn.palette.title)])
            rows += [_bar(drawn, shape, axis, width) for shape in shapes]
    else:
        rows = [_line(drawn, axis, width) for axis in axes]
    if len(rows) > height:
        left = f"{drawn.glyphs.ellipsis} {len(rows) - height + 1} more"
        return [*rows[: height - 1], [span(left, drawn.palette.dim)]]
    return [*rows, *legend]


def _bar(drawn: _Drawn, shape: int, axis: int, width: int) -> Row:
    look, glyphs = drawn.looks[shape], drawn.glyphs
    head = f" {look.marker} {look.letter} "
    score = drawn.radar.value(shape, axis)
    room = max(0, width - len(head) - _NUMBER)
    whole, eighths = divmod(round(min(1.0, max(0.0, (score or 0.0) / FULL)) * room * 8), 8)
    bar = glyphs.full * whole + (glyphs.growing[eighths] if eighths else "")
    return [
        span(head + bar, look.style),
        span(glyphs.light * (room - len(bar)), drawn.palette.frame),
        span(drawn.written(score).rjust(_NUMBER), drawn.palette.text),
    ]


def _line(drawn: _Drawn, axis: int, width: int) -> Row:
    """Draw an axis from 0 to 100 with the agents' markers, followed by their numbers."""
    edge = min(max(map(cell_len, drawn.names)), _AXIS, width // 3)
    name = span(aligned(drawn.names[axis], edge, "left", drawn.glyphs) + " ", drawn.palette.dim)
    found = list(zip(drawn.scores(axis), drawn.looks, strict=True))
    numbers = [span(f" {drawn.written(score, 0):>3}", look.style) for score, look in found]
    room = width - edge - 1 - row_width(numbers)
    if room < _LEAST_LINE:
        return [name, *numbers]
    cells = [span(drawn.glyphs.light, drawn.palette.frame)] * room
    for score, look in reversed(found):
        if score is not None:
            at = round(min(1.0, max(0.0, score / FULL)) * (room - 1))
            cells[at] = span(look.marker, look.style)
    return join(name, *cells, *numbers)


class RadarChart(Painted):
    """A radar chart, as large as its room allows."""

    radar = Radar((), ())

    def show(self, radar: Radar) -> None:
        """Show other scores."""
        self.radar = radar
        self.redraw()

    def paint(self, width: int, height: int) -> list[Row]:
        return paint_radar(self.radar, width, height, self.palette, self.glyphs)
