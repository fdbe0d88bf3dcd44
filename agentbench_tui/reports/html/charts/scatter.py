"""Contenders in two dimensions, with the front of those that nobody beats in both."""

from __future__ import annotations

from agentbench_tui.presentation.charts import Dot, ScatterChart
from agentbench_tui.reports.html.charts.drawing import (
    WIDTH,
    Area,
    area_of,
    element,
    label,
    path,
    picture,
    series_class,
    title,
)
from agentbench_tui.reports.palette import Palette

_NAMES = 40.0
"""Room for the name of a dot at the right end."""


def scatter_chart(chart: ScatterChart, palette: Palette) -> str:
    """Return the SVG of the chart; empty if there is nothing to draw."""
    xs = [x for one in chart.dots for x in (one.x, one.x_low, one.x_high)]
    ys = [y for one in chart.dots for y in (one.y, one.y_low, one.y_high)]
    area = area_of(chart.x, xs, chart.y, ys, names=_NAMES)
    if area is None:
        return ""
    parts = [*area.axes]
    front = sorted((one for one in chart.dots if one.on_front and area.holds(one.x, one.y)),
                   key=lambda one: one.x)  # fmt: skip
    if len(front) > 1:
        points = [(area.across(one.x), area.up(one.y)) for one in front]
        parts.append(element("path", title("Pareto front"), d=path(points), class_="front"))
    for number, one in enumerate(chart.dots):
        if area.holds(one.x, one.y):
            parts += _dot(one, series_class(palette.number(one.name, number)), area)
    return picture(chart.title, chart.summary, parts)


def _dot(one: Dot, kind: str, area: Area) -> list[str]:
    across, up = area.across, area.up
    x, y = across(one.x), up(one.y)
    parts = []
    if across.holds(one.x_low) and across.holds(one.x_high):
        assert one.x_low is not None
        assert one.x_high is not None
        parts.append(element("line", x1=across(one.x_low), x2=across(one.x_high), y1=y, y2=y,
                             class_=f"bar {kind}"))  # fmt: skip
    if up.holds(one.y_low) and up.holds(one.y_high):
        assert one.y_low is not None
        assert one.y_high is not None
        parts.append(element("line", x1=x, x2=x, y1=up(one.y_low), y2=up(one.y_high),
                             class_=f"bar {kind}"))  # fmt: skip
    front = ", on the Pareto front" if one.on_front else ""
    note = f", {one.note}" if one.note else ""
    hint = title(f"{one.name}: {across.axis.show(one.x)}, {up.axis.show(one.y)}{front}{note}")
    parts.append(element("circle", hint, cx=x, cy=y, r=6, class_=f"dot {kind}"))
    end = x > WIDTH * 0.75
    parts.append(label(one.name, x + (-9 if end else 9), y - 8,
                       text_anchor="end" if end else "start", class_="name"))  # fmt: skip
    return parts
