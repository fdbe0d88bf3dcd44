"""Agents by two measures, such as cost and quality, with their intervals and the front."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from rich.cells import cell_len
from rich.style import Style

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import quantity
from agentbench_tui.reports.figures.canvas import ACROSS, DOWN
from agentbench_tui.tui.drawing.axis import Axis, axis_of, scale_rows
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.painting import (
    Dots,
    Row,
    aligned,
    fit,
    join,
    notice,
    page,
    row_width,
    shorten,
    span,
)
from agentbench_tui.tui.theme import Palette
from agentbench_tui.tui.widgets.painted import Painted

LEAST_WIDTH, LEAST_HEIGHT = 32, 9
"""Cells below which the points are listed instead."""
_ROOM = 0.06
"""Free share at the ends of an axis."""
_LEAST_LOG, _LARGEST_LOG = -740.0, 709.0
"""Their exponentials are numbers above 0."""
_NAME = 18
_ROWS_PER_TICK = 4
_HOLLOW = 4
"""Markers from this one on are the hollow ones of those before."""
_FRONT, _SIMULATED_FRONT = (True, True, False), (True, False, False, False)


@dataclass(frozen=True, slots=True)
class Point:
    """One agent. Unknown ends of intervals are None."""

    name: str
    x: float
    y: float
    x_low: float | None = None
    x_high: float | None = None
    y_low: float | None = None
    y_high: float | None = None
    group: int = 0
    """Points of a group share color and marker."""
    simulated: bool = False
    on_front: bool = False
    """Whether it is on the Pareto front, according to the document."""


@dataclass(frozen=True, slots=True)
class Scatter:
    """Points on two axes."""

    points: tuple[Point, ...]
    x_label: str
    y_label: str
    x_unit: str = ""
    y_unit: str = ""
    log_x: bool = False
    lower_x_is_better: bool = True
    """Direction in which the front continues beyond its last point; higher y is better."""
    groups: tuple[str, ...] = ()
    """Names of the groups."""
    reason: str = "nothing was measured yet"


@dataclass(frozen=True, slots=True)
class _Place:
    """Positions of values on the canvas."""

    x: Axis
    y: Axis
    canvas: Dots

    def dot(self, x: float, y: float) -> tuple[int, int]:
        across, up = self.x.share(x), self.y.share(y)
        return (
            round(min(1.0, max(0.0, across)) * (self.canvas.width - 1)),
            round((1.0 - min(1.0, max(0.0, up))) * (self.canvas.height - 1)),
        )

    def cell(self, x: float, y: float) -> tuple[int, int]:
        column, row = self.dot(x, y)
        return column // ACROSS, row // DOWN


def paint_scatter(
    scatter: Scatter, width: int, height: int, palette: Palette, glyphs: Glyphs
) -> list[Row]:
    """Paint the points with whiskers and names, the front as steps, and axes with their units.

    Simulated agents are hollow and have a separate front. Names avoid each other; names and points
    that do not fit are counted below. A small panel shows a list instead.
    """
    points = [one for one in scatter.points if math.isfinite(one.x) and math.isfinite(one.y)]
    placed = [one for one in points if one.x > 0 or not scatter.log_x]
    x = axis_of(_ends(placed, across=True), log=scatter.log_x, room=_ROOM)
    y = axis_of(_ends(placed, across=False), room=_ROOM)
    if x is None or y is None:
        return notice(scatter.reason, width, height, palette, glyphs)
    if width < LEAST_WIDTH or height < LEAST_HEIGHT:
        return page(
            _list(scatter, points, width, height, palette, glyphs), width, height, palette.text
        )
    rows = height - 4
    labels = _y_labels(y, rows, scatter.y_unit, glyphs)
    edge = max(map(cell_len, labels.values()), default=0)
    place = _Place(_widened(x), y, Dots(width - edge - 1, rows))
    left_out = _draw(place, scatter, placed, palette, glyphs)
    body = [
        join(
            span(f"{labels.get(row, ''):>{edge}}", palette.dim),
            span(glyphs.tee_left if row in labels else glyphs.vertical, palette.frame),
            *cells,
        )
        for row, cells in enumerate(place.canvas.painted(glyphs, palette.text))
    ]
    scale = scale_rows(place.x, edge + 1, place.canvas.columns, scatter.x_unit, palette, glyphs)
    notes = _notes(len(scatter.points) - len(points), len(points) - len(placed), left_out)
    head = _head(scatter, width, palette, glyphs)
    foot = _foot(scatter, notes, width, palette, glyphs)
    return page([head, *body, *scale, foot], width, height, palette.text)


def _ends(points: Iterable[Point], *, across: bool) -> list[float]:
    found: list[float] = []
    for one in points:
        found += _known(
            *((one.x, one.x_low, one.x_high) if across else (one.y, one.y_low, one.y_high))
        )
    return found


def _widened(axis: Axis) -> Axis:
    """Return a logarithmic axis with the free room at its ends that a linear one already has."""
    if not axis.log:
        return axis
    low, high = math.log(axis.low), math.log(axis.high)
    room = _ROOM * (high - low)
    return Axis(
        math.exp(max(low - room, _LEAST_LOG)), math.exp(min(high + room, _LARGEST_LOG)), log=True
    )


def _y_labels(axis: Axis, rows: int, unit: str, glyphs: Glyphs) -> dict[int, str]:
    ticks = axis.ticks_upright(rows, _ROWS_PER_TICK)
    labels = axis.labels(ticks, unit)
    return {
        round((1 - axis.share(tick)) * (rows * DOWN - 1)) // DOWN: glyphs.plain(label)
        for tick, label in zip(ticks, labels, strict=True)
    }


def _look(point: Point, palette: Palette, glyphs: Glyphs) -> tuple[str, Style]:
    series = palette.of(point.group)
    hollow = series.marker % _HOLLOW + _HOLLOW
    return glyphs.markers[hollow if point.simulated else series.marker % _HOLLOW], series.style


def _draw(
    place: _Place, scatter: Scatter, points: Sequence[Point], palette: Palette, glyphs: Glyphs
) -> int:
    """Draw everything on the canvas; return how many names did not fit."""
    for simulated, pattern in ((True, _SIMULATED_FRONT), (False, _FRONT)):
        front = [one for one in points if one.on_front and one.simulated == simulated]
        _steps(place, scatter, front, palette.accent, pattern)
    for one in points:
        _whiskers(place, one, palette.of(one.group).style)
    taken: set[tuple[int, int]] = set()
    for one in reversed(points):
        marker, style = _look(one, palette, glyphs)
        place.canvas.text(*place.cell(one.x, one.y), marker, style)
        taken.add(place.cell(one.x, one.y))
    named = sorted(points, key=lambda one: (not one.on_front, -one.y))
    found = [_named(place, one, taken, palette, glyphs) for one in named]
    return found.count(False)


def _steps(
    place: _Place, scatter: Scatter, front: list[Point], style: Style, pattern: Sequence[bool]
) -> None:
    """Draw steps from each point along the x axis to the next, then up to it; the last one
    continues to the edge, since agents there cost more without being better.
    """
    way = 1 if scatter.lower_x_is_better else -1
    front = sorted(front, key=lambda one: (way * one.x, one.y))
    corners: list[tuple[int, int]] = []
    for one in front:
        here = place.dot(one.x, one.y)
        corners += [(here[0], corners[-1][1]), here] if corners else [here]
    if corners:
        corners.append((place.canvas.width - 1 if way > 0 else 0, corners[-1][1]))
    phase = 0
    for start, end in pairwise(corners):
        phase = place.canvas.line(start, end, style, pattern, phase)


def _whiskers(place: _Place, one: Point, style: Style) -> None:
    """Draw lines to the ends of both intervals, each with a small bar across."""
    here = place.dot(one.x, one.y)
    for end in _known(one.x_low, one.x_high):
        x, y = place.dot(end, one.y)
        place.canvas.line(here, (x, y), style)
        place.canvas.line((x, y - 1), (x, y + 1), style)
    for end in _known(one.y_low, one.y_high):
        x, y = place.dot(one.x, end)
        place.canvas.line(here, (x, y), style)
        place.canvas.line((x - 1, y), (x + 1, y), style)


def _known(*ends: float | None) -> list[float]:
    """Return the known ends of an interval; infinite ones lie at the edge."""
    return [end for end in ends if end is not None and not math.isnan(end)]


def _named(
    place: _Place, one: Point, taken: set[tuple[int, int]], palette: Palette, glyphs: Glyphs
) -> bool:
    """Write the name near its point: preferably on empty cells, else over lines, never over another
    name or marker. Return whether it fit.
    """
    canvas = place.canvas
    column, row = place.cell(one.x, one.y)
    name = shorten(glyphs.plain(one_line(one.name)), _NAME, glyphs)
    width = cell_len(name)
    right, left = column + 2, column - 1 - width
    if beyond := _known(one.x_low, one.x_high):
        right = max(right, place.cell(max(beyond), one.y)[0] + 2)
        left = min(left, place.cell(min(beyond), one.y)[0] - 1 - width)
    rows = (row, row - 1, row + 1)
    places = [
        *((right, y) for y in rows),
        *((left, y) for y in rows),
        *((x, y) for y in rows[1:] for x in (column + 1, column - width, column - width // 2)),
        (column + 2, row),
        (column - 1 - width, row),
    ]
    inside = [
        (x, y)
        for x, y in places
        if 0 <= y < canvas.rows
        and x >= 0
        and x + width <= canvas.columns
        and not any((cell, y) in taken for cell in range(x, x + width))
    ]
    if not width or not inside:
        return not width
    clear = (spot for spot in inside if canvas.is_free(spot[0] - 1, spot[1], width + 2))
    free = (spot for spot in inside if canvas.is_free(*spot, width))
    x, y = next(chain(clear, free), inside[0])
    canvas.text(x, y, name, palette.of(one.group).style)
    # A cell on either side stays free of other names.
    taken.update((cell, y) for cell in range(x - 1, x + width + 1))
    return True


def _notes(unknown: int, without_log: int, unnamed: int) -> list[str]:
    notes = []
    if unknown:
        notes.append(f"{unknown} without a value")
    if without_log:
        notes.append(f"{without_log} at 0 or below, not on a logarithmic axis")
    if unnamed:
        notes.append(f"{unnamed} unnamed for want of room")
    return notes


def _head(scatter: Scatter, width: int, palette: Palette, glyphs: Glyphs) -> Row:
    """Return the y axis's label, with the legend of markers and lines at the right."""
    items: list[Row] = []
    if any(one.simulated for one in scatter.points):
        items.append([span(f"{glyphs.markers[_HOLLOW]} hollow: simulated", palette.warn)])
    for number, name in enumerate(scatter.groups):
        marker = glyphs.markers[palette.of(number).marker % _HOLLOW]
        text = shorten(glyphs.plain(one_line(name)), _NAME, glyphs)
        items.append([span(f"{marker} ", palette.of(number).style), span(text, palette.text)])
    if any(one.on_front for one in scatter.points):
        rule = glyphs.dashed_horizontal * 2
        items.append([span(rule, palette.accent), span(" front", palette.text)])
    title = [span(shorten(glyphs.plain(scatter.y_label), width, glyphs), palette.dim)]
    gap = span("  ", palette.text)
    legend: Row = []
    for item in items:
        if row_width(title) + row_width(legend) + row_width(item) + 2 <= width:
            legend = join(*legend, gap, *item)
    return [*fit(title, width - row_width(legend), palette.text), *legend]


def _foot(
    scatter: Scatter, notes: Sequence[str], width: int, palette: Palette, glyphs: Glyphs
) -> Row:
    """Describe what is not visible, with the x axis's label at the right."""
    label = shorten(glyphs.plain(scatter.x_label), width, glyphs)
    room = width - cell_len(label)
    said = shorten(glyphs.plain(", ".join(notes)), room - 2, glyphs)
    return [span(aligned(said, room, "left", glyphs) + label, palette.dim)]


def _list(
    scatter: Scatter,
    points: Sequence[Point],
    width: int,
    height: int,
    palette: Palette,
    glyphs: Glyphs,
) -> list[Row]:
    """Return a row for each point: marker, name, y and x; those on the front first."""
    ordered = sorted(points, key=lambda one: (not one.on_front, -one.y))
    figures = [
        f" {glyphs.plain(quantity(one.y, scatter.y_unit)):>7}"
        f" {glyphs.plain(quantity(one.x, scatter.x_unit)):>8}"
        for one in ordered
    ]
    rows: list[Row] = []
    for one, numbers in zip(ordered, figures, strict=True):
        marker, style = _look(one, palette, glyphs)
        name = glyphs.plain(one_line(one.name))
        room = max(1, width - 2 - len(numbers))
        rows.append(
            [
                span(f"{marker} {aligned(name, room, 'left', glyphs)}", style),
                span(numbers, palette.text),
            ]
        )
    if len(rows) > height:
        more = f"{glyphs.ellipsis} {len(rows) - height + 1} more"
        return [*rows[: height - 1], [span(more, palette.dim)]]
    return rows


class ScatterPlot(Painted):
    """A scatter plot, as large as its room allows."""

    scatter = Scatter((), "", "")

    def show(self, scatter: Scatter) -> None:
        """Show other points."""
        self.scatter = scatter
        self.redraw()

    def paint(self, width: int, height: int) -> list[Row]:
        return paint_scatter(self.scatter, width, height, self.palette, self.glyphs)
