"""One number of a learning curve (area, last values, slope), and the mean of many curves.

A curve is steps, float64[n], strictly rising, and the value of the metric at each. Windows are
counted in steps, not in points: how often a run logged must not move its summary. A window that
the curve does not cover is an error, so that a run that stopped early is seen and counted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.analysis.distribution import student_quantile
from agentbench_tui.analysis.sample import Floats, column
from agentbench_tui.model.text.plain_number import plain

Window = Literal["first", "last"]
Curve: TypeAlias = tuple[ArrayLike, ArrayLike]
"""Steps and values."""


@dataclass(frozen=True, slots=True)
class MeanCurve:
    """The mean of several curves on common steps; columns of one length."""

    steps: Floats
    mean: Floats
    low: Floats | None
    """Lower end of the t interval at each step; None for a single curve."""
    high: Floats | None
    curves: int
    level: float


def auc(
    steps: ArrayLike,
    values: ArrayLike,
    *,
    percent: float = 0.25,
    window: Window = "last",
    step_min: float | None = None,
    step_max: float | None = None,
    normalize: bool = True,
) -> float:
    """Return the area under the curve over a window of steps: trapezoids, interpolated at the
    window's edges.

    The window is the first or last `percent` (a share, in (0, 1]) of the steps the curve spans, or
    `step_min` … `step_max`, both given, instead: for runs of unequal length only these are the same
    window. Divided by the window's length when `normalize`: the mean of the metric over the window,
    in the metric's unit.

    ValueError on NaN, on steps that do not rise, on a window that is not within the curve, and with
    fewer than 2 of the curve's points in it.
    """
    x, y = _curve(steps, values)
    start, end = _edges(x, percent, window, step_min, step_max)
    inside = (start <= x) & (x <= end)
    points = int(np.count_nonzero(inside))
    if points < 2:
        raise ValueError(
            f"{points} of {x.size} points lie in the window {plain(start)} to {plain(end)}; "
            "2 are needed"
        )
    first, last = np.interp([start, end], x, y)
    at = np.concatenate(([start], x[inside], [end]))
    height = np.concatenate(([first], y[inside], [last]))
    area = float(np.diff(at) @ (height[1:] + height[:-1])) / 2
    return area / (end - start) if normalize else area


def last_n(values: ArrayLike, n: int = 5) -> float:
    """Return the mean of the last n values. Raises ValueError for NaN, or for fewer values."""
    y = column(values)
    if n < 1:
        raise ValueError(f"at least 1 value is needed, got n = {n}")
    if y.size < n:
        raise ValueError(f"the mean of the last {n} values needs {n}, got {y.size}")
    return float(y[-n:].mean())


def slope(steps: ArrayLike, values: ArrayLike) -> float:
    """Return the slope of the least-squares line through the whole curve, in the metric's unit per
    step.

    ValueError as `auc`, and below 2 points.
    """
    x, y = _curve(steps, values)
    if x.size < 2:
        raise ValueError(f"a slope needs 2 points, got {x.size}")
    deviations = (x - x.mean()) / (x[-1] - x[0])  # of order 1: squares of steps could overflow
    return float(deviations @ (y - y.mean()) / (deviations @ deviations) / (x[-1] - x[0]))


def mean_curve(curves: Sequence[Curve], points: int = 200, level: float = 0.95) -> MeanCurve:
    """Return the mean over curves, one per seed, at `points` evenly spaced steps, with its t
    interval at each.

    Curves are interpolated, over the steps that all of them cover: a mean over those still running
    would jump where one ends. ValueError for no curves, for curves without steps in common, and as
    `auc`.
    """
    if points < 2 or not 0 < level < 1:
        raise ValueError(f"2 points and a level below 1 are needed, got {points} and {level}")
    if not curves:
        raise ValueError("a mean curve needs at least 1 curve")
    columns = [_curve(steps, values) for steps, values in curves]
    if any(x.size == 0 for x, _ in columns):
        raise ValueError("a curve without points has no place in a mean curve")
    start = max(float(x[0]) for x, _ in columns)
    end = min(float(x[-1]) for x, _ in columns)
    if not start < end:
        raise ValueError(
            f"the curves have no steps in common: one starts at {plain(start)}, "
            f"one ends at {plain(end)}"
        )
    grid = np.linspace(start, end, points)
    rows = np.stack([np.interp(grid, x, y) for x, y in columns])
    mean, count = rows.mean(axis=0), len(columns)
    if count == 1:
        return MeanCurve(grid, mean, None, None, 1, level)
    half = student_quantile(0.5 + level / 2, count - 1) * rows.std(axis=0, ddof=1)
    half /= math.sqrt(count)
    return MeanCurve(grid, mean, mean - half, mean + half, count, level)


def _curve(steps: ArrayLike, values: ArrayLike) -> tuple[Floats, Floats]:
    x, y = column(steps), column(values)
    if x.size != y.size:
        raise ValueError(f"{x.size} steps but {y.size} values")
    falls = np.flatnonzero(np.diff(x) <= 0)
    if falls.size:
        at = int(falls[0])
        raise ValueError(f"steps must rise, but {plain(x[at + 1])} follows {plain(x[at])}")
    return x, y


def _edges(
    x: Floats, percent: float, window: Window, step_min: float | None, step_max: float | None
) -> tuple[float, float]:
    """Return the first and last step of the window."""
    if x.size < 2:
        raise ValueError(f"the area under a curve needs at least 2 points, got {x.size}")
    first, last = float(x[0]), float(x[-1])
    if (step_min is None) != (step_max is None):
        raise ValueError("a window needs both step_min and step_max, or neither")
    if step_min is not None and step_max is not None:
        if not first <= step_min < step_max <= last:
            raise ValueError(
                f"the window {plain(step_min)} to {plain(step_max)} does not lie within the curve, "
                f"{plain(first)} to {plain(last)}"
            )
        return step_min, step_max
    if not 0 < percent <= 1:
        raise ValueError(f"percent is a share above 0 and up to 1, got {percent}")
    if window == "last":
        return (first if percent == 1 else last - percent * (last - first)), last
    if window == "first":
        return first, (last if percent == 1 else first + percent * (last - first))
    raise ValueError(f"window is first or last, not {window!r}")
