"""Several numbers over the same recent seconds, with marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.painting import Row, notice, page, span
from agentbench_tui.tui.theme import Palette
from agentbench_tui.tui.widgets.painted import Painted
from agentbench_tui.tui.widgets.sparkline import SparklineData, paint_sparkline

LABEL_CELLS = 9
_RIGHT_CELLS = 13
"""Cells at the right of a one-row sparkline: a gap, the value, a gap."""
_MOST_ROWS = 3
"""Maximum rows per line."""


@dataclass(frozen=True, slots=True)
class TimeSeriesData:
    """Lines over the same seconds; the newest value is the last of each."""

    lines: Sequence[SparklineData] = ()
    marks: Sequence[tuple[int, str]] = ()
    """(places before the newest one, note) of the user's marks. Notes are sanitized."""
    reason: str = "no data yet"


def paint_time_series(
    data: TimeSeriesData, width: int, height: int, palette: Palette, glyphs: Glyphs
) -> list[Row]:
    """Paint the lines, each as high as possible, and the marks below them."""
    if not data.lines or width < 1 or height < 1:
        return notice(data.reason, max(0, width), max(0, height), palette, glyphs)
    each = min(_MOST_ROWS, max(1, (height - bool(data.marks)) // len(data.lines)))
    lead = LABEL_CELLS + 1 if each == 1 else 0
    across = width - lead - (_RIGHT_CELLS - 1 if each == 1 else 0)
    rows: list[Row] = []
    for line in data.lines:
        shown = replace(line, label_cells=LABEL_CELLS)
        rows += paint_sparkline(shown, width, each, palette, glyphs)
    if height > len(data.lines):
        rows = rows[: height - 1] if data.marks else rows
        rows += _marks(data.marks, lead, across, palette, glyphs)
    return page(rows, width, height, palette.text)


def _marks(
    marks: Sequence[tuple[int, str]], lead: int, across: int, palette: Palette, glyphs: Glyphs
) -> list[Row]:
    """Return a row with a pointer at each mark, with its note if there is room."""
    cells = [" "] * max(0, across)
    for back, note in marks:
        place = across - 1 - back
        if not 0 <= place < across:
            continue
        text = f"{glyphs.up} {glyphs.plain(one_line(note, 60))}".rstrip()
        start = place if place + len(text) <= across else max(0, place - len(text) + 1)
        if start < place:  # the pointer stays below its second
            text = f"{text[2:]} {glyphs.up}" if len(text) > 1 else text
            start = place - len(text) + 1
        if start < 0 or any(cell != " " for cell in cells[start : start + len(text)]):
            text, start = glyphs.up, place
        cells[start : start + len(text)] = text
    if not any(cell != " " for cell in cells):
        return []
    label = f"{'marks':<{lead}}"[:lead]
    return [[span(label, palette.dim), span("".join(cells[:across]), palette.accent)]]


class TimeSeries(Painted):
    """Shows a `TimeSeriesData`."""

    def __init__(self, data: TimeSeriesData | None = None, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._data = data or TimeSeriesData()

    def show(self, data: TimeSeriesData) -> None:
        """Show this from now on."""
        self._data = data
        self.redraw()

    def paint(self, width: int, height: int) -> list[Row]:
        return paint_time_series(self._data, width, height, self.palette, self.glyphs)
