"""The SVG of any chart, and what its colors stand for."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from agentbench_tui.presentation.charts import (
    Chart,
    Histogram,
    IntervalChart,
    LineChart,
    Radar,
    ScatterChart,
)
from agentbench_tui.reports.html.charts.drawing import series_class
from agentbench_tui.reports.html.charts.intervals import interval_chart
from agentbench_tui.reports.html.charts.lines import histogram, line_chart, line_class
from agentbench_tui.reports.html.charts.radar import radar_chart
from agentbench_tui.reports.html.charts.scatter import scatter_chart
from agentbench_tui.reports.palette import Palette


def svg(chart: Chart, palette: Palette | None = None) -> Markup:
    """Return the chart as an SVG element; empty if it has nothing to draw."""
    drawn = _drawn(chart, palette or Palette())
    return Markup(drawn)  # noqa: S704  # every text in it is escaped where it is put in


def _drawn(chart: Chart, palette: Palette) -> str:
    if isinstance(chart, LineChart):
        return line_chart(chart, palette)
    if isinstance(chart, Histogram):
        return histogram(chart, palette)
    if isinstance(chart, IntervalChart):
        return interval_chart(chart)
    if isinstance(chart, ScatterChart):
        return scatter_chart(chart, palette)
    return radar_chart(chart, palette)


class Key(NamedTuple):
    """An entry of a legend."""

    kind: str
    """Class of the series."""
    name: str
    is_points: bool = False


def legend(chart: Chart, palette: Palette | None = None) -> list[Key]:
    """Return the entry of each series; nothing where names are in the chart."""
    palette = palette or Palette()
    if isinstance(chart, LineChart):
        keys = (
            Key(line_class(one, number, palette), one.name, one.style == "points")
            for number, one in enumerate(chart.lines)
        )
        return [*dict.fromkeys(keys)]
    names: list[str] = []
    if isinstance(chart, Histogram):
        names = [name for name, _ in chart.counts]
    elif isinstance(chart, Radar):
        names = [name for name, _ in chart.shapes]
    places = [palette.number(name, number) for number, name in enumerate(names)]
    return [Key(series_class(place), name) for place, name in zip(places, names, strict=True)]
