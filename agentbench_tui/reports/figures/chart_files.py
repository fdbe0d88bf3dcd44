"""The charts of a report as picture files, one for each chart."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import MissingExtra
from agentbench_tui.reports.palette import Palette

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from agentbench_tui.presentation.charts import Chart
    from agentbench_tui.presentation.full_report.parts import FullReport

FORMATS = ("png", "svg", "pdf")
_DOTS_PER_INCH = 150
_LONGEST = 60
"""Characters of a name."""
_STYLE = {
    "svg.hashsalt": "agentbench",  # the same chart gives the same bytes
    "svg.fonttype": "none",  # text stays text
    "text.parse_math": False,  # a dollar is a dollar
}
_UNDATED: dict[str, dict[str, None]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


def check_can_draw() -> None:
    """Raise MissingExtra without matplotlib."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingExtra("Writing charts to files", "plot") from None


def write_charts(report: FullReport, folder: Path, kind: str = "png") -> list[Path]:
    """Write each chart of a report into a folder as `NUMBER-CHAPTER-TITLE.KIND`.

    Raises OSError and MissingExtra. Files of earlier reports stay where they are.
    """
    check_can_draw()
    from matplotlib import rc_context

    from agentbench_tui.reports.figures.chart_figures import figure_of

    folder.mkdir(parents=True, exist_ok=True)
    palette = Palette(report.contenders)
    paths: list[Path] = []
    with rc_context(_STYLE), warnings.catch_warnings():  # type: ignore[arg-type]  # names of its settings
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        for name, chart in _named(report):
            figure = figure_of(chart, palette)
            if figure is not None:
                path = folder / f"{len(paths) + 1:02}-{name}.{kind}"
                figure.savefig(path, format=kind, dpi=_DOTS_PER_INCH, metadata=_UNDATED.get(kind))
                paths.append(path)
    return paths


def _named(report: FullReport) -> Iterator[tuple[str, Chart]]:
    for chapter in report.chapters:
        for section in chapter.sections:
            for chart in section.charts:
                words = f"{chapter.anchor} {chart.title}".lower()
                yield re.sub(r"[^a-z0-9]+", "-", words).strip("-")[:_LONGEST], chart
