"""The SVG of any chart, and what its colors stand for."""

from __future__ import annotations

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
from agentbench_tui.reports.html.charts.lines import histogram, line_chart
from agentbench_tui.reports.html.charts.radar import radar_chart
from agentbench_tui.reports.html.charts.scatter import scatter_chart


def svg(chart: Chart) -> Markup:
    """Return the chart as an SVG element; empty if it has nothing to draw."""
    return Markup(_drawn(chart))  # noqa: S704  # every text in it is escaped where it is put in


def _drawn(chart: Chart) -> str:
    if isinstance(chart, LineChart):
        return line_chart(chart)
    if isinstance(chart, Histogram):
        return histogram(chart)
    if isinstance(chart, IntervalChart):
        return interval_chart(chart)
    if isinstance(chart, ScatterChart):
        return scatter_chart(chart)
    return radar_chart(chart)


def legend(chart: Chart) -> list[tuple[str, str]]:
    """Return (class, name) of each series; empty where names are in the chart."""
    names: list[str] = []
    if isinstance(chart, LineChart):
        names = [one.name for one in chart.lines]
    elif isinstance(chart, Histogram):
        names = [name for name, _ in chart.counts]
    elif isinstance(chart, Radar):
        names = [name for name, _ in chart.shapes]
    return [(series_class(number), name) for number, name in enumerate(names)]
