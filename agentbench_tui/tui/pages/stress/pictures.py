"""Plots of a stress scenario: latency over load, throughput over users, and its course in time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from agentbench_tui.presentation.numbers import amount
from agentbench_tui.tui.widgets.plot import Band, Limit, Line, Mark, PlotData
from agentbench_tui.verdicts.stress.stress_levels import level_curve, scaling_curve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agentbench_tui.contracts.stress import ScenarioResult, StressWindow
    from agentbench_tui.verdicts.stress.stress_runs import Seconds

LOAD, USERS, COURSE, LATENCY, MEMORY = "load", "users", "course", "latency", "memory"
TITLES = {
    LOAD: "p95 of latency over load, shaded where it breaks",
    USERS: "answered a second over users, and the scalability law",
    COURSE: "requests a second, in time",
    LATENCY: "latency of the windows, in time",
    MEMORY: "memory of the target, in time",
}
_BRACKET, _STAR = 5, 2
"""Series whose hues shade the bracket and the best load."""
_MOST_MARKS = 12


def pictures_of(scenario: ScenarioResult, course: Seconds) -> dict[str, PlotData]:
    """Return the pictures of a scenario, the most informative first."""
    found = {
        USERS: users_plot(scenario),
        LOAD: load_plot(scenario),
        COURSE: course_plot(course),
        LATENCY: latency_plot(scenario),
        MEMORY: memory_plot(scenario),
    }
    return {name: plot for name, plot in found.items() if plot is not None}


def load_plot(scenario: ScenarioResult) -> PlotData | None:
    """Return p95 over the raised level; None with fewer than three levels."""
    found = level_curve(scenario)
    if found is None:
        return None
    levels, verdicts = found.levels, found.verdicts
    lines = [Line("p95", levels, found.p95_ms, series=0)]
    for series, (verdict, name) in enumerate((("pass", "passes"), ("fail", "fails")), 1):
        ours = [
            value if one == verdict else math.nan
            for value, one in zip(found.p95_ms, verdicts, strict=True)
        ]
        if not all(map(math.isnan, ours)):
            lines.append(Line(name, levels, ours, series=series + 1))
    bands = []
    if found.passes is not None and found.fails is not None:
        bracket = [found.passes, found.fails]
        bands.append(Band(bracket, [-math.inf] * 2, [math.inf] * 2, _BRACKET))
    marks = [
        Mark(at, f"{words} {amount(at)}")
        for at, words in ((found.passes, "passes"), (found.fails, "fails"))
        if at is not None
    ]
    limit = found.limit_ms
    return PlotData(
        lines=lines,
        bands=bands,
        marks=marks,
        limits=[] if limit is None else [Limit(limit, "limit")],
        x_label=found.counts,
        y_unit="ms",
        y_range=(0.0, 1.1 * max([*found.p95_ms, limit or 0.0])),
    )


def users_plot(scenario: ScenarioResult) -> PlotData | None:
    """Return windows and the fitted law; None if no law was fitted."""
    scaling = scenario.scaling
    if scaling is None or not scaling.points:
        return None
    points = sorted((users, found) for users, found in scaling.points)
    loads, law = scaling_curve(scaling)
    star, ends = scaling.n_star, scaling.n_star_interval
    bands = []
    if star is not None and ends is not None:
        bands.append(Band(list(ends), [-math.inf] * 2, [math.inf] * 2, _STAR))
    top = 1.15 * max([*(found for _, found in points), *(one for one in law if one == one)])
    return PlotData(
        lines=(
            Line(f"law: {scaling.model}", loads, law, series=1),
            *_dots(points),
        ),
        bands=bands,
        marks=[] if star is None else [Mark(star, f"N* {amount(star)} users")],
        x_label="users at once",
        y_range=(0.0, top),
        y_unit="/s",
    )


def _dots(points: Sequence[tuple[float, float]]) -> list[Line]:
    """Return windows as unconnected points: the n-th window at every number of users."""
    columns: dict[float, list[float]] = {}
    for users, found in points:
        columns.setdefault(users, []).append(found)
    most = max(map(len, columns.values()))
    lines = []
    for number in range(most):
        # A gap after each point keeps it from being joined to the next.
        x, y = [], []
        for users, values in columns.items():
            if number < len(values):
                x += [users, users]
                y += [values[number], math.nan]
        lines.append(Line("" if number else "windows", x, y, series=0))
    return lines


def course_plot(course: Seconds) -> PlotData | None:
    """Return sent, answered and failed requests per second, with stress, faults and recoveries."""
    if not course.seconds:
        return None
    shown = [course.sent_per_s, course.answered_per_s, course.failed_per_s]
    lines = [
        Line(name, course.seconds, values, series=series)
        for name, values, series in zip(
            ("sent", "answered", "failed"), shown, (0, 2, 5), strict=True
        )
        if name != "failed" or any(value > 0 for value in values)
    ]
    return PlotData(
        lines=lines,
        marks=[Mark(at, name.removeprefix("fault ")) for at, name in course.events[:_MOST_MARKS]],
        x_label="seconds",
        y_unit="/s",
        y_from_zero=True,
    )


def latency_plot(scenario: ScenarioResult) -> PlotData | None:
    """Return percentiles of every window at its end."""
    windows = [one for one in scenario.windows if one.p50_ms is not None]
    if len(windows) < 2:
        return None
    x = _ends(scenario.windows, lambda window: window.p50_ms)
    limits = scenario.limits
    return PlotData(
        lines=(
            Line("p50", x, [_value(one.p50_ms) for one in windows], series=0),
            Line("p95", x, [_value(one.p95_ms) for one in windows], series=1),
        ),
        limits=[] if limits is None else [Limit(limits.p95_ms, "limit of p95")],
        x_label="seconds of windows",
        y_unit="ms",
        y_from_zero=True,
    )


def memory_plot(scenario: ScenarioResult) -> PlotData | None:
    """Return the memory of the target's processes at the end of every window; None if unknown."""
    windows = [one for one in scenario.windows if one.memory_mb is not None]
    if len(windows) < 2:
        return None
    return PlotData(
        lines=(
            Line(
                "memory",
                _ends(scenario.windows, lambda window: window.memory_mb),
                [_value(one.memory_mb) for one in windows],
            ),
        ),
        x_label="seconds of windows",
        y_unit="MB",
        y_from_zero=True,
    )


def _ends(
    windows: Sequence[StressWindow], value_of: Callable[[StressWindow], float | None]
) -> list[float]:
    """Return the elapsed seconds of windows at the end of each one with a value."""
    gone, found = 0.0, []
    for one in windows:
        gone += one.length_s
        if value_of(one) is not None:
            found.append(gone)
    return found


def _value(value: float | None) -> float:
    return math.nan if value is None else value
