"""The picture of a question about sample sizes: half-width and CV against the number of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.reports.figures.plot import Plot, line_plot

if TYPE_CHECKING:
    from agentbench_tui.verdicts.statistics.spread import RunSpread

_REACH = 5
"""Times the highest point of the lines up to which a threshold is drawn with them."""
_MANY = 6
"""Points from which on that of 2 runs is left out: nine CVs high, it flattens all the others."""


def spread_plot(one: RunSpread) -> Plot:
    """Half-width and CV in percent against the number of runs, with bands and both thresholds."""
    points = one.curve.points
    if len(points) > _MANY:
        points = points[1:]
    n = [float(point.n) for point in points]
    half_widths = [100 * point.half_width for point in points]
    cv = [100 * one.curve.spread.cv for _ in points] if one.curve.spread else []
    near, far = _levels(one, max([*half_widths, *cv], default=0.0))
    marks = {}
    if one.needed.n is not None and points and one.needed.n <= points[-1].n:
        marks["runs needed"] = float(one.needed.n)
    return line_plot(
        {
            "half-width": (n, half_widths),
            "CV": (n if cv else [], cv),
        },
        bands={
            "its 95% band": (
                n,
                [100 * point.half_width_low for point in points],
                [100 * point.half_width_high for point in points],
            ),
            "CV as estimated by N runs": (
                n,
                [100 * point.cv_low for point in points],
                [100 * point.cv_high for point in points],
            ),
        },
        lines=near,
        marks=marks,
        title=", ".join(
            [one.name, *(f"{name} {level:g} far above" for name, level in far.items())]
        ),
        x_label="runs",
        y_label="% of the mean",
    )


def _levels(one: RunSpread, highest: float) -> tuple[dict[str, float], dict[str, float]]:
    """The thresholds that fit beside lines up to `highest`, and those that would flatten them."""
    levels = {"half-width wanted": 100 * one.half_width, "CV threshold": 100 * one.threshold}
    if one.threshold == one.half_width:
        levels = {"threshold": 100 * one.threshold}
    near = {name: level for name, level in levels.items() if level <= _REACH * highest}
    return near, {name: level for name, level in levels.items() if name not in near}
