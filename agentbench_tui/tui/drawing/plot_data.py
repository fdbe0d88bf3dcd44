"""Content of a plot before painting: lines, bands, marks and limits on two axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agentbench_tui.tui.drawing.axis import Axis, axis_of

_ROOM = 0.05
"""Free share at both ends of the upright axis."""
_STRETCH = 0.5
"""How far bands may extend the upright axis, relative to the range of the lines; limits twice."""
_MOST_STEPS = 400
"""Maximum number of steps of a distribution curve."""


@dataclass(frozen=True, slots=True)
class Line:
    """One series: points in the order in which they are joined. Nonfinite values are gaps."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    step: bool = False
    """Each value holds until the next point."""
    series: int | None = None
    """Number in the palette; by default its index among the lines."""


@dataclass(frozen=True, slots=True)
class Band:
    """The area between two curves over the same x, such as an interval."""

    x: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    series: int = 0


@dataclass(frozen=True, slots=True)
class Mark:
    """A vertical line, such as a change point or the current time."""

    at: float
    text: str = ""


@dataclass(frozen=True, slots=True)
class Limit:
    """A horizontal line: an objective that is kept or broken."""

    at: float
    text: str = ""


@dataclass(frozen=True, slots=True)
class PlotData:
    """Content of a plot. Names and texts may be untrusted; they are sanitized."""

    lines: Sequence[Line] = ()
    bands: Sequence[Band] = ()
    marks: Sequence[Mark] = ()
    limits: Sequence[Limit] = ()
    title: str = ""
    x_label: str = ""
    x_unit: str = ""
    y_unit: str = ""
    log_x: bool = False
    log_y: bool = False
    y_from_zero: bool = False
    x_names: Sequence[str] = ()
    """Labels for x = 0, 1, 2 …, instead of numbers."""
    x_range: tuple[float, float] | None = None
    """Chosen from the data by default."""
    y_range: tuple[float, float] | None = None
    reason: str = "no data yet"
    """Shown while there is nothing to draw."""


def cdf_plot(
    samples: Mapping[str, Iterable[float]], *, unit: str = "", log_x: bool = False, title: str = ""
) -> PlotData:
    """Return the share of values at or below each value, one step curve per name."""
    lines = []
    for name, values in samples.items():
        known = sorted(value for value in values if math.isfinite(value))
        every = max(1, math.ceil(len(known) / _MOST_STEPS))
        ranks = [*range(every - 1, len(known) - 1, every), len(known) - 1] if known else []
        lines.append(_curve(name, [(known[rank], (rank + 1) / len(known)) for rank in ranks]))
    return _curves(lines, unit, log_x, title)


def cdf_plot_of_buckets(
    histograms: Mapping[str, Sequence[tuple[float, float, int]]],
    *,
    unit: str = "",
    log_x: bool = False,
    title: str = "",
) -> PlotData:
    """Return the same from histograms' (from, to, count) in order; a bucket's values lie at its
    end.
    """
    lines = []
    for name, buckets in histograms.items():
        total, seen, points = sum(count for _, _, count in buckets), 0, []
        for _, high, count in buckets:
            seen += count
            points.append((high, seen / total if total else math.nan))
        lines.append(_curve(name, points))
    return _curves(lines, unit, log_x, title)


def _curve(name: str, points: Sequence[tuple[float, float]]) -> Line:
    """Return a distribution's curve, which rises from 0 at its first value."""
    x = [points[0][0], *(value for value, _ in points)] if points else []
    return Line(name, x, [0.0, *(100 * share for _, share in points)][: len(x)], step=True)


def _curves(lines: list[Line], unit: str, log_x: bool, title: str) -> PlotData:
    return PlotData(lines, title=title, x_unit=unit, y_unit="%", log_x=log_x, y_range=(0.0, 100.0))


def axes_of(data: PlotData) -> tuple[Axis, Axis] | None:
    """Return both axes; None if no point of a line or band can be shown."""
    points = [(x, y) for line in data.lines for x, y in zip(line.x, line.y, strict=False)]
    points += [
        (x, y)
        for band in data.bands
        for ends in (band.low, band.high)
        for x, y in zip(band.x, ends, strict=False)
        if not points
    ]
    known = [(x, y) for x, y in points if has_place(x, data.log_x) and has_place(y, data.log_y)]
    if not known:
        return None
    marks = [mark.at for mark in data.marks]
    x = axis_of([*(x for x, _ in known), *marks], log=data.log_x)
    if data.x_range is not None:
        x = axis_of(data.x_range, log=data.log_x) or x
    ends = data.y_range if data.y_range is not None else _heights(data, [y for _, y in known])
    y = axis_of(
        ends,
        log=data.log_y,
        from_zero=data.y_from_zero and not data.log_y,
        room=0.0 if data.y_range is not None else _ROOM,
    )
    return None if x is None or y is None else (x, y)


def has_place(value: float, log: bool) -> bool:
    """Return whether an axis, logarithmic or not, can show the value."""
    return math.isfinite(value) and (value > 0 or not log)


def _heights(data: PlotData, of_lines: list[float]) -> list[float]:
    """Return the range of the upright axis: all lines, and bands and limits if they are close."""
    low, high = min(of_lines), max(of_lines)
    if data.log_y:
        least, most = low / 10, high * 10
        near = far = (least, most)
    else:
        reach = (high - low) or abs(high) or 1.0
        near = low - _STRETCH * reach, high + _STRETCH * reach
        far = low - 2 * _STRETCH * reach, high + 2 * _STRETCH * reach
    of_bands = [
        min(max(value, near[0]), near[1])
        for band in data.bands
        for value in (*band.low, *band.high)
        if not math.isnan(value)
    ]
    return [low, high, *of_bands, *(one.at for one in data.limits if far[0] <= one.at <= far[1])]
