"""The picture of a question about sample sizes: half-width and CV against the number of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.report.plot import Plot, line_plot

if TYPE_CHECKING:
    from agentbench_tui.verdicts.spread import RunSpread

_MANY = 6
"""Points from which on that of 2 runs is left out: nine CVs high, it flattens all the others."""


def spread_plot(one: RunSpread) -> Plot:
    """Half-width and CV in percent against the number of runs, with bands and both thresholds."""
    points = one.curve.points
    if len(points) > _MANY:
        points = points[1:]
    n = [float(point.n) for point in points]
    marks = {}
    if one.needed.n is not None and points and one.needed.n <= points[-1].n:
        marks["runs needed"] = float(one.needed.n)
    return line_plot(
        {
            "half-width": (n, [100 * point.half_width for point in points]),
            "CV": (n, [100 * one.curve.spread.cv for _ in points] if one.curve.spread else []),
        },
        bands={
            "its 95 % band": (
                n,
                [100 * point.half_width_low for point in points],
                [100 * point.half_width_high for point in points],
            ),
            "CV as N runs tell it": (
                n,
                [100 * point.cv_low for point in points],
                [100 * point.cv_high for point in points],
            ),
        },
        lines=_levels(one),
        marks=marks,
        title=one.name,
        x_label="runs",
        y_label="% of the mean",
    )


def _levels(one: RunSpread) -> dict[str, float]:
    if one.threshold == one.half_width:
        return {"threshold": 100 * one.threshold}
    return {"half-width wanted": 100 * one.half_width, "CV threshold": 100 * one.threshold}
