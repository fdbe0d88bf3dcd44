"""Draws a line chart of presentation/ as a plot, in characters or into a file."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from agentbench_tui.reports.figures.plot import Plot, line_plot

if TYPE_CHECKING:
    from agentbench_tui.presentation.charts import LineChart, Numbers


def chart_plot(chart: LineChart) -> Plot:
    """Return a chart as a plot: its bounds as horizontal lines, what was not measured as a gap."""
    return line_plot(
        {one.name: (one.x, _known(one.y)) for one in chart.lines if not one.is_limit},
        lines={
            one.name: value
            for one in chart.lines
            if one.is_limit and (value := one.y[0]) is not None
        },
        marks={one.name: one.x for one in chart.marks},
        title=chart.title,
        x_label=chart.x.title,
        y_label=chart.y.title,
    )


def _known(values: Numbers) -> list[float]:
    return [math.nan if value is None else value for value in values]
