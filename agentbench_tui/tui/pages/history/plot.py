"""The plot of one metric over an agent's runs: versions, intervals, levels and their changes."""

from __future__ import annotations

import math
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from agentbench_tui.presentation.numbers import points, signed_percent
from agentbench_tui.tui.theme import SERIES
from agentbench_tui.tui.widgets.plot import Band, Limit, Line, Mark, PlotData

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentbench_tui.verdicts.regression.metric_series import LevelChange, Series, SeriesPoint

WORSE, BETTER = "▼", "▲"
_CHANGE = 5
"""Series whose hue shades the runs among which a level changed."""
_SCORE = "0..100"
_ROOM = 0.15
_DAY_S = 86_400.0
_HOURS_UP_TO = 2.0
"""In days; a longer time is given in days."""


def course_plot(series: Series, *, by_time: bool) -> PlotData:
    """Return the runs in order, or by the time at which they were made."""
    factor, unit = _scale(series.finding.unit)
    most = 100.0 if series.finding.unit in {"share", _SCORE} else math.inf
    points = series.points
    x, label = _times(points) if by_time else (list(map(float, range(len(points)))), "runs")
    values = [factor * point.value for point in points]
    limits = _limits(series, factor)
    edges = _edges(x)
    bands = [
        Band([edges[one.first], edges[one.last + 1]], [-math.inf] * 2, [math.inf] * 2, _CHANGE)
        for one in series.changes
        if one.last > one.first
    ]
    versions = list(dict.fromkeys(point.version for point in points))
    for at, point in zip(x, points, strict=True):
        if point.low is not None and point.high is not None:
            ends = [factor * point.low] * 2, [factor * point.high] * 2
            bands.append(Band([at, at], *ends, versions.index(point.version) % SERIES))
    return PlotData(
        lines=_lines(points, x, values, versions),
        bands=bands,
        marks=[Mark(edges[one.first], _words(one, series)) for one in series.changes],
        limits=limits,
        x_label=label,
        y_unit=unit,
        x_names=() if by_time else _moments(points),
        x_range=(edges[0], edges[-1]) if len(points) > 1 else None,
        y_range=_heights(points, values, factor, [one.at for one in limits], most),
        reason="no run has a value of it",
    )


def _moments(points: Sequence[SeriesPoint]) -> list[str]:
    """Format the time of each run; with seconds if two were in the same minute."""
    minutes = [point.at[5:16] for point in points]
    end = 16 if len(set(minutes)) == len(minutes) else 19
    return [point.at[5:end].replace("T", " ") for point in points]


def _scale(unit: str) -> tuple[float, str]:
    """Return unit and factor: shares in percent, money with its sign, scores without a unit."""
    return (100.0, "%") if unit == "share" else (1.0, {"USD": "$", _SCORE: ""}.get(unit, unit))


def _lines(
    points: Sequence[SeriesPoint],
    x: Sequence[float],
    values: Sequence[float],
    versions: Sequence[str],
) -> list[Line]:
    """Return one line per version, and one for runs that are not comparable with the newest."""
    lines = []
    for number, version in enumerate(versions):
        ours = [
            value if point.version == version and point.is_comparable else math.nan
            for point, value in zip(points, values, strict=True)
        ]
        if not all(map(math.isnan, ours)):
            lines.append(Line(version, x, ours, series=number % SERIES))
    others = [
        math.nan if point.is_comparable else value
        for point, value in zip(points, values, strict=True)
    ]
    if not all(map(math.isnan, others)):
        name = "measured otherwise: not comparable"
        lines.append(Line(name, x, others, series=len(versions) % SERIES))
    return lines


def _times(points: Sequence[SeriesPoint]) -> tuple[list[float], str]:
    """Return hours or days since the first run."""
    moments = [datetime.fromisoformat(point.at).timestamp() for point in points]
    if not moments:
        return [], ""
    days = [(moment - moments[0]) / _DAY_S for moment in moments]
    since = f"since {points[0].at[:16].replace('T', ' ')}"
    if days[-1] <= _HOURS_UP_TO:
        return [24 * day for day in days], f"hours {since}"
    return days, f"days {since}"


def _edges(x: Sequence[float]) -> list[float]:
    """Return positions before each run and after the last, half-way to the next one."""
    if not x:
        return []
    between = [(a + b) / 2 for a, b in pairwise(x)]
    if not between:
        return [x[0], x[0]]
    return [2 * x[0] - between[0], *between, 2 * x[-1] - between[-1]]


def _limits(series: Series, factor: float) -> list[Limit]:
    found = []
    before = series.finding.baseline_value
    if before is not None:
        found.append(Limit(factor * before, series.finding.against or "before"))
    if series.accepted is not None:
        found.append(Limit(factor * series.accepted.after, "accepted level"))
    return found


def _heights(
    points: Sequence[SeriesPoint],
    values: Sequence[float],
    factor: float,
    limits: Sequence[float],
    most: float,
) -> tuple[float, float] | None:
    """Return the range of values, levels and ends of intervals; nothing above `most`, the largest
    possible value.
    """
    known = [value for value in (*values, *limits) if math.isfinite(value)]
    if not known:
        return None
    known += [
        factor * end
        for point in points
        for end in (point.low, point.high)
        if end is not None and math.isfinite(end)
    ]
    low, high = min(known), max(known)
    room = _ROOM * ((high - low) or abs(high) / 10 or 1.0)
    least = max(0.0, low - room) if low >= 0 else low - room
    return least, min(high + room, max(high, most))


def _words(one: LevelChange, series: Series) -> str:
    """Format `▼ major +23.0%`."""
    sign = WORSE if one.worse else BETTER
    return " ".join(filter(None, (sign, one.severity, size_of(one.change, series))))


def size_of(change: float | None, series: Series) -> str:
    """Format a change in percent, or in points for shares."""
    if change is None:
        return ""
    if series.finding.change_is == "ratio":
        return signed_percent(change - 1)
    return points(change)
