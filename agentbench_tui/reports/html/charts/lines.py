"""Lines, points and bands over x."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from agentbench_tui.presentation.charts import Axis, Histogram, Line, LineChart, Mark
from agentbench_tui.presentation.numbers import count
from agentbench_tui.reports.html.charts.drawing import (
    BOTTOM,
    HEIGHT,
    TOP,
    WIDTH,
    Area,
    Scale,
    area_of,
    element,
    label,
    path,
    picture,
    series_class,
    title,
)
from agentbench_tui.reports.palette import Palette

_MOST_POINTS = 600
"""Points of a line; more are not distinguishable."""
_MOST_DOTS = 120
"""Points that show their value under a pointer."""


def line_chart(chart: LineChart, palette: Palette) -> str:
    """Return the SVG of the chart; empty if there is nothing to draw."""
    lines = [_thinned(one, _MOST_POINTS) for one in chart.lines]
    xs = [x for one in lines for x in one.x] + [mark.x for mark in chart.marks]
    ys = [y for one in lines for part in (one.y, one.low or (), one.high or ()) for y in part]
    area = area_of(chart.x, xs, chart.y, ys, from_zero=_is_near_zero(ys))
    if area is None:
        return ""
    parts = [*area.axes, *_marks(chart.marks, area.across)]
    for number, one in enumerate(lines):
        parts += _line(one, line_class(one, number, palette), area)
    return picture(chart.title, chart.summary, parts)


def line_class(line: Line, number: int, palette: Palette) -> str:
    """Return the class of a line: that of its contender, or of a limit."""
    if line.is_limit:
        return "limit"
    return series_class(palette.number(line.contender or line.name, number))


def _marks(marks: Sequence[Mark], across: Scale) -> list[str]:
    parts = []
    for mark in marks:
        if across.holds(mark.x):
            x, kind = across(mark.x), mark.tone
            parts.append(
                element("line", title(mark.name), x1=x, x2=x, y1=TOP, y2=HEIGHT - BOTTOM,
                        class_=f"mark {kind}")
            )  # fmt: skip
            anchor = "end" if x > WIDTH * 0.7 else "start"
            parts.append(label(mark.name, x + (-4 if anchor == "end" else 4), TOP + 10,
                               text_anchor=anchor, class_=f"mark-name {kind}"))  # fmt: skip
    return parts


def _is_near_zero(values: Sequence[float | None]) -> bool:
    """Return whether a scale that begins at 0 leaves most of its room to the values."""
    known = [one for one in values if one is not None]
    return bool(known) and min(known) < max(known) / 2


def _line(one: Line, kind: str, area: Area) -> list[str]:
    across, up = area.across, area.up
    parts = []
    if one.low is not None and one.high is not None:
        parts.append(_band(one, kind, across, up))
    if one.style != "points":
        for piece in _pieces(one, across, up):
            points = _steps(piece) if one.style == "steps" else piece
            parts.append(element("path", d=path(points), class_=f"line {kind}"))
    radius = 4 if one.style == "points" else 3
    shown = one if one.style == "points" else _thinned(one, _MOST_DOTS)
    for place, (x, y) in enumerate(zip(shown.x, shown.y, strict=True)):
        if y is None or not area.holds(x, y):
            continue
        what = shown.labels[place] if shown.labels is not None else across.axis.show(x)
        hint = title(f"{one.name}: {what}: {up.axis.show(y)}")
        kinds = f"dot {kind}" if one.style == "points" else f"hover {kind}"
        parts.append(element("circle", hint, cx=across(x), cy=up(y), r=radius, class_=kinds))
    return parts


def _pieces(one: Line, across: Scale, up: Scale) -> list[list[tuple[float, float]]]:
    """Return the points of a line, apart where a value is missing."""
    pieces: list[list[tuple[float, float]]] = [[]]
    for x, y in zip(one.x, one.y, strict=True):
        if y is None or not (across.holds(x) and up.holds(y)):
            if pieces[-1]:
                pieces.append([])
            continue
        pieces[-1].append((across(x), up(y)))
    return [piece for piece in pieces if piece]


def _steps(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    found = list(points[:1])
    for (_, before), (x, y) in pairwise(points):
        found += [(x, before), (x, y)]
    return found


def _band(one: Line, kind: str, across: Scale, up: Scale) -> str:
    assert one.low is not None
    assert one.high is not None
    ends = [
        (x, low, high)
        for x, low, high in zip(one.x, one.low, one.high, strict=True)
        if low is not None and high is not None and across.holds(x)
    ]
    if one.style == "points":
        return "".join(
            element("line", x1=across(x), x2=across(x), y1=up.clamped(low), y2=up.clamped(high),
                    class_=f"bar {kind}")
            for x, low, high in ends
        )  # fmt: skip
    if not ends:
        return ""
    upper = [(across(x), up.clamped(high)) for x, _, high in ends]
    lower = [(across(x), up.clamped(low)) for x, low, _ in reversed(ends)]
    return element("path", d=path([*upper, *lower]) + "Z", class_=f"band {kind}")


def _thinned(one: Line, most: int) -> Line:
    """Return the line with at most `most` points, first and last included."""
    n = len(one.x)
    if n <= most:
        return one
    places = sorted({round(place * (n - 1) / (most - 1)) for place in range(most)})

    def some(values: Sequence[float | None]) -> list[float | None]:
        return [values[place] for place in places]

    return Line(
        one.name,
        [one.x[place] for place in places],
        some(one.y),
        None if one.low is None else some(one.low),
        None if one.high is None else some(one.high),
        one.style,
        None if one.labels is None else [one.labels[place] for place in places],
        one.contender,
        one.is_limit,
    )


def histogram(chart: Histogram, palette: Palette) -> str:
    """Return the SVG of counts between edges; empty if there is nothing to draw."""
    counts = [float(n) for _, of_group in chart.counts for n in of_group]
    area = area_of(chart.x, chart.edges, Axis("answers", count), counts, from_zero=True)
    if area is None or not any(counts):
        return ""
    parts = [*area.axes]
    for number, (name, of_group) in enumerate(chart.counts):
        parts += _columns(chart, name, of_group, series_class(palette.number(name, number)), area)
    return picture(chart.title, chart.summary, parts)


def _columns(
    chart: Histogram, name: str, counts: Sequence[int], kind: str, area: Area
) -> list[str]:
    """Return the outline of a group's counts, and a cell for each that says what it holds."""
    across, up = area.across, area.up
    outline = [(across(chart.edges[0]), up(0.0))]
    cells = []
    for (low, high), n in zip(pairwise(chart.edges), counts, strict=True):
        left, right = across(low), across(high)
        outline += [(left, up(n)), (right, up(n))]
        if n:
            between = f"{chart.x.show(low)} to {chart.x.show(high)}"
            cells.append(
                element("rect", title(f"{name}: {between}: {n:,}"), x=left, width=right - left,
                        y=up(n), height=up(0.0) - up(n), class_=f"cell {kind}")
            )  # fmt: skip
    outline.append((across(chart.edges[-1]), up(0.0)))
    return [element("path", d=path(outline), class_=f"column {kind}"), *cells]
