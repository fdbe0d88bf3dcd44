"""Charts as values, whatever draws them: a page as SVG, a file as PNG or PDF, a terminal as dots.

A chart holds numbers and their meaning, no colors and no coordinates. None among its numbers is
what was not measured: it leaves a gap and is never drawn as 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec

from agentbench_tui.presentation.numbers import amount

Numbers: TypeAlias = Sequence[float | None]
LOG_FROM = 20.0
"""Ratio of the largest to the smallest value from which an axis is logarithmic."""


class Axis(msgspec.Struct, frozen=True):
    """What one direction of a chart measures."""

    title: str
    show: Callable[[float | None], str] = amount
    """Formats a value, with its unit."""
    log: bool = False
    """Whether equal distances are equal ratios; values of 0 and below are then not drawn."""
    low: float | None = None
    high: float | None = None
    """Ends of the scale; by the data if None."""


class Line(msgspec.Struct, frozen=True):
    """Points joined in the order of x, or single points."""

    name: str
    x: Sequence[float]
    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    """Ends of the interval at each point, drawn as a band (of points: as bars)."""
    style: Literal["line", "points", "steps"] = "line"
    labels: Sequence[str] | None = None
    """What each point is, such as the run that it belongs to."""
    contender: str = ""
    """Contender of the line, if its name is another: a contender has one color in a report."""
    is_limit: bool = False
    """Whether the line is a limit instead of a measurement."""


class Mark(msgspec.Struct, frozen=True):
    """A place on the x axis that something happened at, such as a change point."""

    x: float
    name: str
    tone: Literal["good", "bad", "plain"] = "plain"


class LineChart(msgspec.Struct, frozen=True):
    """Lines, points and bands over x."""

    title: str
    summary: str
    """What the chart shows, for readers who cannot see it."""
    x: Axis
    y: Axis
    lines: Sequence[Line]
    marks: Sequence[Mark] = ()


class Histogram(msgspec.Struct, frozen=True):
    """Counts of values between edges; one series per group, all with the same edges."""

    title: str
    summary: str
    x: Axis
    edges: Sequence[float]
    """One more than there are counts."""
    counts: Sequence[tuple[str, Sequence[int]]]
    """Name of a group → its counts."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its interval, as one row of an interval chart."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    note: str = ""
    """Such as the verdict."""


class IntervalChart(msgspec.Struct, frozen=True):
    """Values with their intervals, one below the other (a forest plot)."""

    title: str
    summary: str
    axis: Axis
    rows: Sequence[Interval]
    reference: float | None = None
    """Where nothing differs: 0 of a difference, 1 of a ratio."""


class Dot(msgspec.Struct, frozen=True):
    """One contender of a scatter chart."""

    name: str
    x: float
    y: float
    x_low: float | None = None
    x_high: float | None = None
    y_low: float | None = None
    y_high: float | None = None
    on_front: bool = False
    """Whether no other contender is better in one direction and at least as good in the other."""
    note: str = ""
    """How certain that is."""


class ScatterChart(msgspec.Struct, frozen=True):
    """Contenders in two dimensions, with the front of those that nobody beats in both."""

    title: str
    summary: str
    x: Axis
    y: Axis
    dots: Sequence[Dot]


class Radar(msgspec.Struct, frozen=True):
    """Scores of 0..1 in several dimensions, one outline per contender."""

    title: str
    summary: str
    dimensions: Sequence[str]
    shapes: Sequence[tuple[str, Numbers]]
    """Name of a contender → its score in each dimension."""


Chart: TypeAlias = LineChart | Histogram | IntervalChart | ScatterChart | Radar
