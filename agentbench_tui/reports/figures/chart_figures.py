"""Charts as figures of matplotlib, in the colors of the page."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.charts import (
    Chart,
    Histogram,
    IntervalChart,
    LineChart,
    Radar,
    ScatterChart,
)
from agentbench_tui.reports.palette import COLORS, DASHES, Palette

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis as DrawnAxis
    from matplotlib.figure import Figure

    from agentbench_tui.presentation.charts import Axis, Dot, Line, Mark

_INCHES = (6.4, 3.6)
_ROW_INCHES = 0.32
"""Height of a row of an interval chart."""
_CHARACTER_INCHES = 0.08
"""Width of a character of its names."""
_MARGIN_INCHES = 0.2
"""Room at both sides of the legend."""
_LONGEST = 80
"""Characters of a text."""
_QUIET = "#57606a"
_GOOD, _BAD = "#1a7f37", "#b42318"
_TONES = {"good": _GOOD, "bad": _BAD, "plain": _QUIET}
_VERDICTS = {"better": _GOOD, "worse": _BAD}
_SHADE = 0.13
_FEW_DECADES = 100.0
"""Ratio of the ends of a logarithmic axis up to which 2 and 5 are labeled, too."""


def figure_of(chart: Chart, palette: Palette) -> Figure | None:
    """Return a figure of the chart; None if it has nothing to draw.

    Raises ImportError without matplotlib.
    """
    from matplotlib.figure import Figure

    if not _has_values(chart):
        return None
    width, height = _INCHES
    if isinstance(chart, IntervalChart):
        width += _CHARACTER_INCHES * max(len(_text(row.name)) for row in chart.rows)
        height = 1.4 + _ROW_INCHES * len(chart.rows)
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot(projection="polar" if isinstance(chart, Radar) else None)
    axes.set_title(_text(chart.title), fontsize="medium")
    if isinstance(chart, LineChart):
        _draw_lines(axes, chart, palette)
    elif isinstance(chart, Histogram):
        _draw_histogram(axes, chart, palette)
    elif isinstance(chart, IntervalChart):
        _draw_intervals(axes, chart)
    elif isinstance(chart, ScatterChart):
        _draw_dots(axes, chart, palette)
    else:
        _draw_radar(axes, chart, palette)
    if entries := _legend_entries(axes):
        _add_legend(figure, entries)
    return figure


def _legend_entries(axes: Axes) -> dict[str, Any]:
    """Return what is drawn of each name, once for several lines of one group."""
    handles, names = axes.get_legend_handles_labels()
    return dict(zip(reversed(names), reversed(handles), strict=True))


def _add_legend(figure: Figure, entries: dict[str, Any]) -> None:
    """Add the legend below the axes, which keep their size, and where a long name has its place.

    A place within the axes can hide values, and takes long to find among many.
    """
    names = [*reversed(entries)]
    handles = [entries[name] for name in names]
    legend = figure.legend(handles, names, fontsize="small", loc="outside lower left")
    size = legend.get_window_extent()
    width = max(figure.get_figwidth(), size.width / figure.dpi + _MARGIN_INCHES)
    figure.set_size_inches(width, figure.get_figheight() + size.height / figure.dpi)


def _has_values(chart: Chart) -> bool:
    values: Iterable[float | None]
    if isinstance(chart, LineChart):
        values = [y for line in chart.lines for y in line.y]
    elif isinstance(chart, Histogram):
        values = [n or None for _, counts in chart.counts for n in counts]
    elif isinstance(chart, IntervalChart):
        values = [row.value for row in chart.rows]
    elif isinstance(chart, ScatterChart):
        values = [dot.y for dot in chart.dots]
    else:
        values = [value for _, of_shape in chart.shapes for value in of_shape]
    return any(value is not None and math.isfinite(value) for value in values)


def _text(text: str) -> str:
    """Return untrusted text on one line; a legend would leave out one that begins with `_`."""
    return one_line(text, _LONGEST).lstrip("_") or "–"


def _numbers(values: Iterable[float | None]) -> list[float]:
    """Return the values with gaps where one is missing."""
    return [math.nan if value is None else value for value in values]


def _prepare(axes: Axes, x: Axis, y: Axis) -> None:
    for name, axis in (("x", x), ("y", y)):
        if axis.log:
            getattr(axes, f"set_{name}scale")("log")
        getattr(axes, f"set_{name}lim")(axis.low, axis.high)
        _label(getattr(axes, f"{name}axis"), axis)
    axes.grid(visible=True, alpha=0.3)


def _label(drawn: DrawnAxis, axis: Axis) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    drawn.set_label_text(_text(axis.title))
    if axis.log:
        low, high = drawn.get_view_interval()
        if 0 < low < high <= low * _FEW_DECADES:
            drawn.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    drawn.set_major_formatter(FuncFormatter(lambda value, _: axis.show(value)))
    drawn.set_minor_formatter(NullFormatter())


def _draw_lines(axes: Axes, chart: LineChart, palette: Palette) -> None:
    for number, line in enumerate(chart.lines):
        place = palette.number(line.contender or line.name, number)
        _draw_line(axes, line, _QUIET if line.is_limit else COLORS[place], place)
    _prepare(axes, chart.x, chart.y)
    for mark in chart.marks:
        _draw_mark(axes, mark)


def _draw_line(axes: Axes, line: Line, color: str, place: int) -> None:
    y = _numbers(line.y)
    known = line.low is not None and line.high is not None
    low, high = _numbers(line.low or ()), _numbers(line.high or ())
    if line.style == "points":
        axes.plot(line.x, y, "o", color=color, label=_text(line.name))
        if known:
            axes.vlines(line.x, low, high, color=color)
        return
    if known:
        axes.fill_between(line.x, low, high, color=color, alpha=_SHADE, linewidth=0)
    dashes: dict[str, Any] = {"dashes": DASHES[place]} if DASHES[place] else {}
    if line.is_limit:
        dashes = {"linestyle": "dotted"}
    steps = "steps-post" if line.style == "steps" else "default"
    axes.plot(line.x, y, color=color, drawstyle=steps, label=_text(line.name), **dashes)


def _draw_mark(axes: Axes, mark: Mark) -> None:
    color = _TONES[mark.tone]
    axes.axvline(mark.x, color=color, linestyle="--", linewidth=1.2, label=_text(mark.name))


def _draw_histogram(axes: Axes, chart: Histogram, palette: Palette) -> None:
    from agentbench_tui.presentation.charts import Axis
    from agentbench_tui.presentation.numbers import count

    for number, (name, counts) in enumerate(chart.counts):
        color = COLORS[palette.number(name, number)]
        axes.stairs(counts, chart.edges, color=color, label=_text(name))
        axes.stairs(counts, chart.edges, color=color, fill=True, alpha=_SHADE)
    _prepare(axes, chart.x, Axis("answers", count))


def _draw_intervals(axes: Axes, chart: IntervalChart) -> None:
    for place, row in enumerate(chart.rows):
        color = _VERDICTS.get(row.note, _QUIET)
        if row.value is None:
            continue
        if row.low is not None and row.high is not None:
            axes.hlines(place, row.low, row.high, color=color, linewidth=2)
        axes.plot(row.value, place, "o", color=color)
        axes.annotate(
            _text(row.note), (1.01, place), xycoords=("axes fraction", "data"), color=color,
            va="center", fontsize="small", annotation_clip=False,
        )  # fmt: skip
    if chart.reference is not None:
        axes.axvline(chart.reference, color="black", linestyle="--", linewidth=0.8)
    if chart.axis.log:
        axes.set_xscale("log")
    _label(axes.xaxis, chart.axis)
    axes.set_yticks(range(len(chart.rows)), [_text(row.name) for row in chart.rows])
    axes.set_ylim(len(chart.rows) - 0.5, -0.5)


def _draw_dots(axes: Axes, chart: ScatterChart, palette: Palette) -> None:
    front = sorted((dot.x, dot.y) for dot in chart.dots if dot.on_front)
    if len(front) > 1:
        axes.plot(*zip(*front, strict=True), "--", color=_QUIET, label="Pareto front")
    for number, dot in enumerate(chart.dots):
        _draw_dot(axes, dot, COLORS[palette.number(dot.name, number)])
    axes.margins(0.12)
    _prepare(axes, chart.x, chart.y)


def _draw_dot(axes: Axes, dot: Dot, color: str) -> None:
    axes.plot(dot.x, dot.y, "o", color=color)
    if dot.x_low is not None and dot.x_high is not None:
        axes.hlines(dot.y, dot.x_low, dot.x_high, color=color)
    if dot.y_low is not None and dot.y_high is not None:
        axes.vlines(dot.x, dot.y_low, dot.y_high, color=color)
    axes.annotate(
        _text(dot.name), (dot.x, dot.y), xytext=(5, 5), textcoords="offset points",
        fontsize="small",
    )  # fmt: skip


def _draw_radar(axes: Axes, chart: Radar, palette: Palette) -> None:
    count = len(chart.dimensions)
    angles = [2 * math.pi * place / count for place in range(count)]
    polar: Any = axes  # its class is private
    polar.set_theta_offset(math.pi / 2)
    polar.set_theta_direction(-1)
    for number, (name, values) in enumerate(chart.shapes):
        place = palette.number(name, number)
        color, draw = COLORS[place], partial(axes.plot, label=_text(name))
        if any(value is None for value in values):  # a missing score is no 0: no outline
            draw(angles, _numbers(values), "o", color=color)
            continue
        closed = [*_numbers(values), *_numbers(values[:1])]
        dashes: dict[str, Any] = {"dashes": DASHES[place]} if DASHES[place] else {}
        draw([*angles, angles[0]], closed, color=color, marker="o", markersize=3, **dashes)
    axes.set_xticks(angles, [_text(name) for name in chart.dimensions])
    axes.set_ylim(0, 1)
