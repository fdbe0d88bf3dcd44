"""The shown moment of a run: a bar over its whole length with failures and marks, and keys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from textual import events
from textual.message import Message

from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.painting import Row, fit, join, page, runs, span
from agentbench_tui.tui.theme import Palette
from agentbench_tui.tui.widgets.painted import Painted
from agentbench_tui.tui.widgets.status_bar import clock

_LEAST_BAR = 8


@dataclass(frozen=True, slots=True)
class ScrubberData:
    """Position of a viewer in a run."""

    at_s: float = 0.0
    length_s: float = 0.0
    speed: float = math.inf
    playing: bool = True
    live: bool = False
    """Whether the newest state of a running run is shown."""
    failures_s: Sequence[float] = ()
    marks_s: Sequence[float] = ()


def paint_scrubber(
    data: ScrubberData, width: int, height: int, palette: Palette, glyphs: Glyphs
) -> list[Row]:
    """Paint one row: state, bar, position and length."""
    if width < 1 or height < 1:
        return page([], max(0, width), max(0, height), palette.text)
    state = span(f"{glyphs.plain(state_words(data))} ", palette.accent)
    place = f" {glyphs.plain(clock(data.at_s))}/{glyphs.plain(clock(data.length_s))}"
    left, cells = bar_place(data, width, glyphs)
    if cells < _LEAST_BAR:
        row = [state, span(place.strip(), palette.text)]
    else:
        assert left == cell_len(state.text)
        row = join(state, *_bar(data, cells, palette, glyphs), span(place, palette.text))
    return page([fit(row, width, palette.text)], width, height, palette.text)


def state_words(data: ScrubberData) -> str:
    """Return `live`, `replay ×4`, `held` or `at the end`."""
    if data.live:
        return "live"
    if not data.playing:
        return "held"
    if data.at_s >= data.length_s:
        return "at the end"
    return "replay, fast" if math.isinf(data.speed) else f"replay ×{data.speed:g}"


def bar_place(data: ScrubberData, width: int, glyphs: Glyphs) -> tuple[int, int]:
    """Return (first cell, cells) of the bar in a row of `width` cells."""
    left = cell_len(glyphs.plain(state_words(data))) + 1
    place = f" {clock(data.at_s)}/{clock(data.length_s)}"
    return left, width - left - cell_len(place)


def _bar(data: ScrubberData, cells: int, palette: Palette, glyphs: Glyphs) -> Row:
    length = max(data.length_s, 1e-9)

    def cell_of(at_s: float) -> int:
        return min(cells - 1, max(0, int(at_s / length * cells)))

    here = cell_of(data.at_s)
    shown: list[tuple[str, Style]] = [
        (glyphs.heavy, palette.series[0].style) if cell <= here else (glyphs.light, palette.frame)
        for cell in range(cells)
    ]
    for at_s in data.marks_s:
        if 0 <= at_s <= data.length_s:
            shown[cell_of(at_s)] = (glyphs.up, palette.accent)
    for at_s in data.failures_s:  # where both share a cell, this is what one must not miss
        if 0 <= at_s <= data.length_s:
            shown[cell_of(at_s)] = (glyphs.no, palette.bad)
    shown[here] = (glyphs.markers[0], palette.title)
    return runs(shown)


class Scrubber(Painted):
    """Shows a `ScrubberData`; a click or a drag on the bar requests that time."""

    SHOWS_DATA: ClassVar[bool] = False
    DEFAULT_CSS: ClassVar[str] = "Scrubber { height: 1; width: 1fr; }"

    class Sought(Message):
        """A time was requested, in seconds after the beginning."""

        def __init__(self, at_s: float) -> None:
            super().__init__()
            self.at_s = at_s

    def __init__(self, data: ScrubberData | None = None, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._data = data or ScrubberData()
        self._dragging = False

    @property
    def data(self) -> ScrubberData:
        """Return the shown data."""
        return self._data

    def show(self, data: ScrubberData) -> None:
        """Show this from now on."""
        self._data = data
        self.redraw()

    def paint(self, width: int, height: int) -> list[Row]:
        return paint_scrubber(self._data, width, height, self.palette, self.glyphs)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._dragging = True
        self.capture_mouse()
        self._seek(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._dragging:
            self._seek(event)

    def on_mouse_up(self) -> None:
        self._dragging = False
        self.release_mouse()

    def _seek(self, event: events.MouseEvent) -> None:
        place = event.get_content_offset(self)
        left, cells = bar_place(self._data, self.size.width, self.glyphs)
        if place is None or cells < _LEAST_BAR:
            return
        share = min(1.0, max(0.0, (place.x - left) / max(1, cells - 1)))
        self.post_message(self.Sought(share * self._data.length_s))
