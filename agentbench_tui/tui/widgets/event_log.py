"""Events, one line each with its time, newest at the bottom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.grid_data import Role
from agentbench_tui.tui.drawing.painting import Row, notice, page, shorten, span, wraps
from agentbench_tui.tui.theme import Palette
from agentbench_tui.tui.widgets.painted import Painted
from agentbench_tui.tui.widgets.status_bar import clock

_TIME_CELLS = 8
_MOST_ROWS = 3
"""Maximum rows per event, so that others remain visible."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """One event. Its text may be untrusted; it is sanitized."""

    since_s: float
    """Since the run began."""
    text: str
    role: Role = "text"
    count: int = 1
    """How often it was repeated in a row."""


@dataclass(frozen=True, slots=True)
class LogData:
    """Events, oldest first."""

    lines: Sequence[LogLine] = ()
    reason: str = "nothing out of the ordinary yet"
    """Shown while there are no lines."""


def paint_log(
    data: LogData, width: int, height: int, palette: Palette, glyphs: Glyphs
) -> list[Row]:
    """Paint the newest events that fit; a long one continues in the next rows."""
    if not data.lines or width < 1 or height < 1:
        return notice(data.reason, max(0, width), max(0, height), palette, glyphs)
    rows: list[Row] = []
    for line in reversed(data.lines[-height:]):
        room = height - len(rows)
        if room < 1:
            break
        rows = [*_event(line, width, min(room, _MOST_ROWS), palette, glyphs), *rows]
    return page(rows, width, height, palette.text)


def _event(line: LogLine, width: int, most: int, palette: Palette, glyphs: Glyphs) -> list[Row]:
    """Return the event in at most this many rows; the last one is shortened."""
    time = f"{glyphs.plain(clock(line.since_s)):>{_TIME_CELLS - 1}} "
    signs = {"warn": f"{glyphs.warn} ", "bad": f"{glyphs.no} ", "accent": f"{glyphs.up} "}
    sign = signs.get(line.role, "  ")
    times = f" ({glyphs.plain('×')}{line.count:,})" if line.count > 1 else ""
    words = glyphs.plain(one_line(line.text, 400))
    room = max(1, width - len(time) - len(sign) - len(times))
    pieces = wraps(words, room)
    # The sign alone has the color: a column of failures would be louder than all the rest.
    style = palette.dim if line.role == "dim" else palette.text
    rows: list[Row] = []
    for start, end in pieces[:most]:
        is_last = len(rows) == most - 1
        text = shorten(words[start:], room, glyphs) if is_last else words[start:end].strip()
        lead = [span(time, palette.dim), span(sign, getattr(palette, line.role))]
        blank = [span(" " * (len(time) + len(sign)), palette.dim)]
        rows.append([*(blank if rows else lead), span(text, style)])
    rows[-1].append(span(times, palette.dim))
    return rows


class EventLog(Painted):
    """Shows a `LogData`."""

    def __init__(self, data: LogData | None = None, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._data = data or LogData()

    def show(self, data: LogData) -> None:
        """Show this from now on."""
        self._data = data
        self.redraw()

    def paint(self, width: int, height: int) -> list[Row]:
        return paint_log(self._data, width, height, self.palette, self.glyphs)
