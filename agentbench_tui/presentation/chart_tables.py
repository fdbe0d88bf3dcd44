"""The numbers of a chart as a table, for readers who cannot see the chart or want its values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from agentbench_tui.presentation.charts import (
    Axis,
    Chart,
    Histogram,
    IntervalChart,
    LineChart,
    Radar,
    ScatterChart,
)
from agentbench_tui.presentation.numbers import MISSING, of_dimension, with_interval
from agentbench_tui.presentation.report import Column, Row, Table

_MOST_ROWS = 60


def chart_table(chart: Chart) -> Table:
    """Return the values of a chart, thinned out where there are many."""
    if isinstance(chart, LineChart):
        return _table(("series", chart.x.title, chart.y.title), [*_points(chart)])
    if isinstance(chart, Histogram):
        rows = [
            (name, f"{chart.x.show(low)} to {chart.x.show(high)}", f"{n:,}")
            for name, counts in chart.counts
            for (low, high), n in zip(pairwise(chart.edges), counts, strict=True)
            if n
        ]
        return _table(("series", chart.x.title, "count"), rows)
    if isinstance(chart, IntervalChart):
        show = chart.axis.show
        rows_ = [(one.name, show(one.value), show(one.low), show(one.high), one.note)
                 for one in chart.rows]  # fmt: skip
        return _table(("", chart.axis.title, "low", "high", "verdict"), rows_)
    if isinstance(chart, ScatterChart):
        dots = [
            (one.name, _ended(one.x, one.x_low, one.x_high, chart.x),
             _ended(one.y, one.y_low, one.y_high, chart.y),
             ", ".join(filter(None, ("yes" if one.on_front else "no", one.note))))
            for one in chart.dots
        ]  # fmt: skip
        return _table(("", chart.x.title, chart.y.title, "on the front"), dots)
    return _radar(chart)


def _ended(value: float, low: float | None, high: float | None, axis: Axis) -> str:
    return with_interval(value, low, high, axis.show)


def _radar(chart: Radar) -> Table:
    rows = [
        (name, *(of_dimension(dimension)(value)
               for dimension, value in zip(chart.dimensions, values, strict=True)))
        for name, values in chart.shapes
    ]  # fmt: skip
    return _table(("", *chart.dimensions), rows)


def _points(chart: LineChart) -> Iterator[tuple[str, str, str]]:
    most = max(2, _MOST_ROWS // max(1, len(chart.lines)))
    for line in chart.lines:
        step = max(1, -(-len(line.x) // most))
        for place in range(0, len(line.x), step):
            what = chart.x.show(line.x[place]) if line.labels is None else line.labels[place]
            value = line.y[place]
            yield line.name, what, MISSING if value is None else chart.y.show(value)


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    columns = [Column(str(place), title, right=place > 1) for place, title in enumerate(titles)]
    found: list[Row] = [
        {str(place): value for place, value in enumerate(row)} for row in rows[:_MOST_ROWS]
    ]
    return Table(columns, found)
