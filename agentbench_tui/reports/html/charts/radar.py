"""Scores of 0..1 in several dimensions, one outline per contender."""

from __future__ import annotations

import math

from agentbench_tui.presentation.charts import Radar
from agentbench_tui.presentation.numbers import of_dimension
from agentbench_tui.reports.html.charts.drawing import (
    WIDTH,
    element,
    label,
    path,
    picture,
    series_class,
    title,
)
from agentbench_tui.reports.palette import Palette

_RADIUS = 120.0
_CENTER = WIDTH / 2, 150.0
_RINGS = (0.25, 0.5, 0.75, 1.0)


def radar_chart(chart: Radar, palette: Palette) -> str:
    """Return the SVG of the chart; empty if no contender has a score."""
    count = len(chart.dimensions)
    if count < 3 or all(value is None for _, values in chart.shapes for value in values):
        return ""
    parts = []
    for ring in _RINGS:
        corners = [_point(place, count, ring) for place in range(count)]
        parts.append(element("path", d=path(corners) + "Z", class_="grid"))
    for place, name in enumerate(chart.dimensions):
        x, y = _point(place, count, 1.0)
        parts.append(element("line", x1=_CENTER[0], y1=_CENTER[1], x2=x, y2=y, class_="grid"))
        x, y = _point(place, count, 1.13)
        offset = x - _CENTER[0]
        anchor = "middle" if abs(offset) < 20 else "start" if offset > 0 else "end"
        parts.append(label(name, x, y + 4, text_anchor=anchor, class_="axis"))
    for number, (name, values) in enumerate(chart.shapes):
        kind = series_class(palette.number(name, number))
        known = [(place, value) for place, value in enumerate(values) if value is not None]
        if len(known) == count:
            # A missing score is no 0: without one the outline is not closed.
            corners = [_point(place, count, value) for place, value in known]
            parts.append(element("path", d=path(corners) + "Z", class_=f"shape {kind}"))
        for place, value in known:
            x, y = _point(place, count, value)
            dimension = chart.dimensions[place]
            hint = title(f"{name}: {dimension} {of_dimension(dimension)(value)}")
            parts.append(element("circle", hint, cx=x, cy=y, r=4, class_=f"dot {kind}"))
    return picture(chart.title, chart.summary, parts)


def _point(place: int, count: int, share: float) -> tuple[float, float]:
    angle = 2 * math.pi * place / count - math.pi / 2
    reach = _RADIUS * min(max(share, 0.0), 1.2)
    return _CENTER[0] + reach * math.cos(angle), _CENTER[1] + reach * math.sin(angle)
