"""Plots as values: made once from numbers, shown in a terminal or written to a file."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from agentbench_tui.reports.figures.panel import Band, Bars, Line, Panel, points

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

_MOST_BARS = 60
_ROUNDING = 1e-12
"""Relative spread below which there is no distribution to draw."""
_NO_BANDS: Mapping[str, tuple[Iterable[float], Iterable[float], Iterable[float]]] = {}
_NO_LINES: Mapping[str, float] = {}


@dataclass(frozen=True, slots=True)
class Plot:
    """One or more panels."""

    panels: tuple[Panel, ...]

    def text(self, width: int = 76, height: int = 16, *, colored: bool | None = None) -> str:
        """The plot in characters, panels one below the other: `width` cells, about `height` rows.

        Colors only where `colored` asks for them: leave it out for none when NO_COLOR is set or
        TERM is dumb or unknown. Lines differ by dashes as well.
        """
        from agentbench_tui.reports.figures.drawing import draw

        return draw(
            self.panels, width, height, colored=_colors_wanted() if colored is None else colored
        )

    def write(self, path: Path) -> None:
        """The plot as PNG or SVG, by the suffix of the path, panels side by side.

        Raises UsageError for another suffix or a place that cannot be written, MissingExtra
        without matplotlib.
        """
        from agentbench_tui.reports.figures.picture import write

        write(self.panels, path)


def histogram_plot(
    values: ArrayLike,
    *,
    marks: Mapping[str, float] = _NO_LINES,
    title: str = "",
    x_label: str = "",
) -> Plot:
    """How values are spread, in bars of equal width (the narrower of Sturges' and Freedman and
    Diaconis' rule, 60 bars at most), with named vertical lines. Values that are not finite are
    left out; those that differ by their rounding only are one bar."""
    import numpy as np

    known = np.asarray(values, dtype=np.float64).ravel()
    known = known[np.isfinite(known)]
    bars = None
    if known.size:
        if np.ptp(known) <= _ROUNDING * np.abs(known).max():
            known = np.full_like(known, np.median(known))
        counts, ends = np.histogram(known, bins=_bar_count(known))
        bars = Bars(tuple(ends.tolist()), tuple(map(float, counts.tolist())))
    return Plot((Panel(title, x_label, "count", bars=bars, marks=dict(marks)),))


def _bar_count(values: NDArray[np.float64]) -> int:
    import numpy as np

    low, first, third, high = np.quantile(values, (0, 0.25, 0.75, 1)).tolist()
    if low == high:
        return 1
    sturges = math.ceil(math.log2(values.size)) + 1
    width = 2 * (third - first) / math.cbrt(values.size)
    if not width:
        return sturges
    freedman_diaconis: int = math.ceil(min((high - low) / width, _MOST_BARS))
    return min(max(sturges, freedman_diaconis), _MOST_BARS)


def line_plot(
    series: Mapping[str, tuple[Iterable[float], Iterable[float]]],
    *,
    bands: Mapping[str, tuple[Iterable[float], Iterable[float], Iterable[float]]] = _NO_BANDS,
    lines: Mapping[str, float] = _NO_LINES,
    marks: Mapping[str, float] = _NO_LINES,
    title: str = "",
    x_label: str = "",
    y_label: str = "",
) -> Plot:
    """Curves by name, (x, y) each; bands (x, low, high) behind them, the first in the color of
    the first curve and so on; `lines` are horizontal, such as a threshold, `marks` vertical.

    Raises ValueError for columns of unequal length.
    """
    panel = Panel(
        title,
        x_label,
        y_label,
        lines=tuple(Line(name, *points(x, y)) for name, (x, y) in series.items()),
        bands=tuple(
            Band(name, *points(across, low), points(across, high)[1])
            for name, (x, low, high) in bands.items()
            for across in [tuple(x)]
        ),
        levels=dict(lines),
        marks=dict(marks),
    )
    return Plot((panel,))


def beside(*plots: Plot) -> Plot:
    """Several plots as the panels of one."""
    return Plot(tuple(panel for plot in plots for panel in plot.panels))


def _colors_wanted() -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") not in {"", "dumb"}
