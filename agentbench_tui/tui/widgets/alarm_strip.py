"""The alarms of runs in progress, on one line of every page; no line without any."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.painting import Row, page, row_width, shorten, span
from agentbench_tui.tui.theme import Palette
from agentbench_tui.tui.widgets.painted import Painted
from agentbench_tui.tui.widgets.status_bar import clock

if TYPE_CHECKING:
    from textual.events import MouseDown

    from agentbench_tui.verdicts.runs.run_alarms import Alarm

KEY = "!"
_BAD = frozenset({"failures", "stalled", "slo", "disk"})
"""Kinds that spoil results; the others make times doubtful."""
_LEAST = 24
"""Cells below which a further alarm is only counted."""


def paint_alarms(
    alarms: Sequence[Alarm], now: float, width: int, palette: Palette, glyphs: Glyphs
) -> Row:
    """Paint `‼ planner: 42% failed (limit 10%) for 0:34 · … +2  ! shows`; the first alarm is always
    there, and those without room are counted. `now`: seconds since 1970.
    """
    from agentbench_tui.presentation.alarms import alarm_words

    hint = f"  {KEY} shows"
    room = width - len(hint)
    row: Row = []
    for number, alarm in enumerate(alarms):
        is_bad = alarm.kind in _BAD
        style = palette.bad if is_bad else palette.warn
        mark = glyphs.bad if is_bad else glyphs.warn
        words = glyphs.plain(one_line(alarm_words(alarm), 200))
        age = glyphs.plain(f" for {clock(max(0.0, now - alarm.since))}")
        left = room - row_width(row)
        more = f" +{len(alarms) - number}"
        text = f"{mark} {words}{age}  "
        later = len(alarms) - number - 1
        need = len(text) + (len(f" +{later}") if later else 0)
        kept = left - len(age) - len(more) - 4
        if number and need > left and kept < _LEAST:
            row.append(span(shorten(more, left, glyphs), palette.title))
            break
        if need > left:
            kept = max(_LEAST, kept)
            text = f"{mark} {shorten(words, kept, glyphs)}{age}  "
        row.append(span(text, style))
    row = row if row_width(row) <= room else [span(shorten(row[0].text, room, glyphs), palette.bad)]
    row.append(span(" " * max(0, width - row_width(row) - len(hint)), palette.text))
    return [*row, span(hint, palette.accent)]


class AlarmStrip(Painted):
    """One row below the breadcrumbs while something is wrong; a click shows why."""

    SHOWS_DATA: ClassVar[bool] = False
    DEFAULT_CSS: ClassVar[str] = """
    AlarmStrip { height: 1; width: 1fr; background: $panel; display: none; }
    AlarmStrip.-open { display: block; }
    """
    ALLOW_SELECT = False

    alarms: Sequence[Alarm] = ()

    def show(self, alarms: Sequence[Alarm]) -> None:
        """Show these alarms, the most urgent first."""
        self.alarms = tuple(alarms)
        self.set_class(bool(alarms), "-open")
        self.redraw()

    def paint(self, width: int, height: int) -> list[Row]:
        rows = []
        if self.alarms:
            rows = [paint_alarms(self.alarms, time.time(), width, self.palette, self.glyphs)]
        return page(rows, width, height, self.palette.text)

    def on_mouse_down(self, event: MouseDown) -> None:
        event.stop()
        self.app.simulate_key("exclamation_mark")
