"""Panels as PNG or SVG, by matplotlib, without a screen and without its global state."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import MissingExtra, UsageError, write_error
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.reports.figures.panel import Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SUFFIXES = (".png", ".svg")
_INCHES = (6.4, 4.2)
"""Inches of one panel."""
_LEGEND_INCHES = 0.22
"""Height of a row of the legend."""
_LONGEST = 50
"""Characters of a name."""
_DOTS_PER_INCH = 150
_DASHES = ("solid", "dashed", "dotted")


def check_path(path: Path) -> None:
    """Raises UsageError for a suffix that names no kind of picture, MissingExtra without
    matplotlib: better before the work than after it."""
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{path}: a plot is written as .png or .svg")
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingExtra("Writing plots to files", "plot") from None


def write(panels: Sequence[Panel], path: Path) -> None:
    """The panels side by side in one file; the same plot gives the same bytes.

    Raises UsageError for a suffix or a place that cannot be written, MissingExtra.
    """
    check_path(path)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_INCHES[0] * len(panels), _INCHES[1]), layout="constrained")
    rows = [
        _draw(figure.add_subplot(1, len(panels), number), panel)
        for number, panel in enumerate(panels, start=1)
    ]
    figure.set_figheight(_INCHES[1] + _LEGEND_INCHES * max(rows))
    kind = path.suffix.lower().removeprefix(".")
    undated = {"Date": None} if kind == "svg" else None
    try:
        with rc_context({"svg.hashsalt": "agentbench"}):
            figure.savefig(path, format=kind, dpi=_DOTS_PER_INCH, metadata=undated)
    except OSError as error:
        raise write_error(path, error) from None


def _draw(axes: Axes, panel: Panel) -> int:
    """Draw a panel and return the rows of its legend."""
    axes.set_title(_plain(panel.title))
    axes.set_xlabel(_plain(panel.x_label))
    axes.set_ylabel(_plain(panel.y_label))
    for number, band in enumerate(panel.bands):
        color = f"C{number}"
        axes.fill_between(
            band.x, band.low, band.high, alpha=0.2, color=color, label=_plain(band.name)
        )
    if panel.bars:
        axes.stairs(panel.bars.counts, panel.bars.edges, fill=True, color="C0", alpha=0.6)
    for number, line in enumerate(panel.lines):
        marker = "o" if len(line.x) == 1 else None
        style = _DASHES[number % len(_DASHES)]
        axes.plot(line.x, line.y, linestyle=style, marker=marker, label=_plain(line.name))
    for name, level in panel.levels.items():
        axes.axhline(level, color="gray", linestyle="--", label=_plain(f"{name}: {level:.4g}"))
    for number, (name, mark) in enumerate(panel.marks.items(), start=1):
        axes.axvline(mark, color=f"C{number}", label=_plain(f"{name}: {mark:.4g}"))
    axes.set_xlim(*panel.x_range())
    axes.set_ylim(*panel.y_range())
    rows = len(axes.get_legend_handles_labels()[1])
    if rows:
        # Below, where it hides no value; a place within takes long to find among many values.
        axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.15))
    return rows


def _plain(text: str) -> str:
    """Text that matplotlib does not take for a formula, nor for a label to leave out."""
    return one_line(text, _LONGEST).replace("$", r"\$").lstrip("_")
