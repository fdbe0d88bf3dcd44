"""Plots of a comparison: scores, and distributions of values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentbench_tui.analysis.histogram import Histogram
from agentbench_tui.model.figures.dimension import DIMENSIONS
from agentbench_tui.tui.drawing.histogram_data import HistogramData
from agentbench_tui.tui.drawing.plot_data import PlotData, cdf_plot
from agentbench_tui.tui.pages.compare.selector_rows import short
from agentbench_tui.tui.widgets.radar import Radar, Shape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.verdicts.selection.side import Side

_LOG_FROM = 30.0
"""Largest over median value from which on an axis is logarithmic."""


def radar_of_sides(sides: Sequence[Side], scores: Sequence[Mapping[str, float | None]]) -> Radar:
    """Return the five scores of every selector, from 0 to 100."""
    return Radar(
        DIMENSIONS,
        tuple(
            Shape(
                short(side.label),
                tuple(None if (one := found[name]) is None else 100 * one for name in DIMENSIONS),
                side.simulated,
            )
            for side, found in zip(sides, scores, strict=True)
        ),
        reason="no scores: they need a suite with weights",
    )


def unit_of(metric: str) -> str:
    """Return the unit in which values of a metric are shown."""
    return "ms" if metric.endswith("_ms") else ""


def spread_picture(
    metric: str, values: Sequence[Floats], labels: Sequence[str], pair: tuple[int, int]
) -> HistogramData:
    """Return B's values as bars, with A's as an outline over them."""
    a, b = pair
    return HistogramData.of(
        Histogram.of_many(values[b]),
        baseline=Histogram.of_many(values[a]) if len(values[a]) else None,
        baseline_name=short(labels[a]),
        unit=unit_of(metric),
        log=_is_log(values),
        title=f"{metric} of {short(labels[b])}",
        reason=f"{short(labels[b])} has no {metric} here",
        series=(b, a),
    )


def curve_picture(metric: str, values: Sequence[Floats], labels: Sequence[str]) -> PlotData:
    """Return the share of each selector's values that are at most x."""
    samples = {short(label): one.tolist() for label, one in zip(labels, values, strict=True)}
    return cdf_plot(samples, unit=unit_of(metric), log_x=_is_log(values))


def _is_log(values: Sequence[Floats]) -> bool:
    """Return whether a linear axis would squeeze most values to its low end."""
    import numpy as np

    known = np.concatenate(list(values)) if values else np.empty(0)
    if not len(known) or known.min() <= 0:
        return False
    return bool(known.max() > _LOG_FROM * np.median(known))
