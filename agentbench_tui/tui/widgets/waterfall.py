"""The use of one answer's time: its phases below each other on one axis."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import percent, quantity
from agentbench_tui.tui.drawing.axis import Axis
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.painting import Row, aligned, join, notice, page, shorten, span
from agentbench_tui.tui.theme import Palette
from agentbench_tui.tui.widgets.painted import Painted

_LEAST_BARS = 16
"""Cells below which figures give way to the bars."""
_FIGURE = 9
"""Cells of a time."""
_SHARE = 7
"""`100.0%` and a space."""
_DEEPEST = 12
"""Levels that are indented."""
_CELLS_PER_TICK = 14


@dataclass(frozen=True, slots=True)
class Phase:
    """A stretch of time, or a moment if it begins and ends at once."""

    name: str
    start_ms: float | None
    """Since the request was due; None where it was not measured."""
    end_ms: float | None = None
    """None while the phase is running."""
    children: tuple[Phase, ...] = ()
    reason: str = ""
    """Why it was not measured."""


@dataclass(frozen=True, slots=True)
class Waterfall:
    """One request and its answer."""

    phases: tuple[Phase, ...]
    total_ms: float | None = None
    """The whole, of which shares are shown; None while it is running."""
    reason: str = "no timing was recorded"


@dataclass(frozen=True, slots=True)
class _Layout:
    """Cells of each column; 0 for one without room."""

    name: int
    start: int
    end: int
    took: int
    share: int
    bars: int


def flattened(phases: Sequence[Phase], depth: int = 0) -> Iterator[tuple[int, Phase]]:
    """Yield every phase after its parent, with its depth."""
    stack = [(depth, phase) for phase in reversed(phases)]
    while stack:
        level, phase = stack.pop()
        yield level, phase
        stack += [(level + 1, child) for child in reversed(phase.children)]


def paint_waterfall(
    waterfall: Waterfall, first: int, width: int, height: int, palette: Palette, glyphs: Glyphs
) -> list[Row]:
    """Paint a row for each phase from `first` on: name, start, end, duration, share, and
    its bar.

    Above them the axis, below them the total. A phase that goes on ends in an arrow; a moment is a
    diamond.
    """
    lines = list(flattened(waterfall.phases))
    until = _until(waterfall, lines)
    if not lines or until is None:
        return notice(waterfall.reason, width, height, palette, glyphs)
    layout = _layout(lines, width)
    axis = Axis(min(0.0, *(_times(lines))), until)
    head = [_head(axis, layout, palette, glyphs)] if height > 2 else []
    foot = [_foot(waterfall, lines, first, height, palette, glyphs)] if height > 1 else []
    room = height - len(head) - len(foot)
    body = [
        _row(depth, phase, waterfall.total_ms, axis, layout, palette, glyphs)
        for depth, phase in lines[first : first + room]
    ]
    return [
        *page([*head, *body], width, len(head) + room, palette.text),
        *page(foot, width, len(foot), palette.text),
    ]


def _times(lines: Sequence[tuple[int, Phase]]) -> list[float]:
    found = [time for _, phase in lines for time in (phase.start_ms, phase.end_ms)]
    return [time for time in found if time is not None and math.isfinite(time)] or [0.0]


def _until(waterfall: Waterfall, lines: Sequence[tuple[int, Phase]]) -> float | None:
    """Return the end of the axis; None if nothing was measured."""
    if not any(_known(phase.start_ms) for _, phase in lines):
        return None
    known = _times(lines)
    begin = min(0.0, *known)
    if waterfall.total_ms is not None and math.isfinite(waterfall.total_ms):
        known.append(waterfall.total_ms)
    end = max(known)
    return end if end > begin else end + max(1.0, 1e-9 * abs(end))


def _known(time: float | None) -> bool:
    return time is not None and math.isfinite(time)


def _layout(lines: Sequence[tuple[int, Phase]], width: int) -> _Layout:
    """Return the layout; narrower ones drop the end, then the start, the share, the duration."""
    names = max(2 * min(depth, _DEEPEST) + cell_len(one_line(phase.name)) for depth, phase in lines)
    name = min(max(names, 5), 28, max(5, width // 3))
    optional = {"took": _FIGURE, "share": _SHARE, "start": _FIGURE, "end": _FIGURE}
    room = width - name - 1 - _LEAST_BARS
    cells = dict.fromkeys(optional, 0)
    for column, need in optional.items():
        if need > room:
            break
        cells[column] = need
        room -= need
    bars = max(0, width - name - 1 - sum(cells.values()))
    return _Layout(name=name, bars=bars, **cells)


def _columns(texts: Sequence[str], layout: _Layout, glyphs: Glyphs) -> str:
    """Return start, end, duration and share, as far as they have columns."""
    cells = (layout.start, layout.end, layout.took, layout.share)
    return "".join(
        aligned(glyphs.plain(text), room - 1, "right", glyphs) + " "
        for text, room in zip(texts, cells, strict=True)
        if room
    )


def _head(axis: Axis, layout: _Layout, palette: Palette, glyphs: Glyphs) -> Row:
    numbers = _columns(("start", "end", "took", "share"), layout, glyphs)
    ticks = axis.ticks(max(2, layout.bars // _CELLS_PER_TICK))
    labels = [" "] * layout.bars
    taken = -1
    for tick, label in zip(ticks, axis.labels(ticks, "ms"), strict=True):
        text = glyphs.vertical + glyphs.plain(label)
        start = _cell(axis, tick, layout.bars)
        if start > taken and start + len(text) <= layout.bars:
            labels[start : start + len(text)] = text
            taken = start + len(text)
    return join(
        span(aligned("phase", layout.name, "left", glyphs) + " " + numbers, palette.header),
        span("".join(labels), palette.dim),
    )


def _row(
    depth: int,
    phase: Phase,
    total: float | None,
    axis: Axis,
    layout: _Layout,
    palette: Palette,
    glyphs: Glyphs,
) -> Row:
    style = palette.of(depth).style
    indent = "  " * min(depth, _DEEPEST)
    name = aligned(indent + glyphs.plain(one_line(phase.name)), layout.name, "left", glyphs) + " "
    named = span(name, palette.text)
    begins, ends = phase.start_ms, phase.end_ms
    if begins is None or not math.isfinite(begins):
        empty = _columns(("", "", glyphs.nothing, ""), layout, glyphs)
        why = glyphs.plain(one_line(phase.reason))
        if not empty.strip():  # where no column says that there is none
            why = f"{glyphs.nothing} {why}".rstrip()
        told = span(shorten(why, layout.bars, glyphs), palette.dim)
        return join(named, span(empty, palette.dim), told)
    if ends is None or not math.isfinite(ends):
        numbers = _columns((quantity(begins, "ms"), "running", "", ""), layout, glyphs)
        bar = _bar(axis, begins, axis.high, layout.bars, glyphs)[:-1] + glyphs.pointer
        return join(named, span(numbers, palette.dim), span(bar, style))
    share = percent((ends - begins) / total) if total and math.isfinite(total) else ""
    times = (quantity(time, "ms") for time in (begins, ends, ends - begins))
    numbers = _columns((*times, share), layout, glyphs)
    bar = _bar(axis, begins, ends, layout.bars, glyphs)
    return join(named, span(numbers, palette.dim), span(bar, style))


def _cell(axis: Axis, time: float, cells: int) -> int:
    return min(cells - 1, max(0, int(axis.share(time) * cells)))


def _bar(axis: Axis, start: float, end: float, cells: int, glyphs: Glyphs) -> str:
    """Draw from the cell of the start to that of the end; the last cell is filled in eighths."""
    if not cells:
        return ""
    first = _cell(axis, start, cells)
    if end <= start:
        return " " * first + glyphs.markers[3] + " " * (cells - first - 1)
    filled = axis.share(end) * cells - first
    whole = min(cells - first, max(0, int(filled)))
    eighths = round((filled - whole) * 8)
    bar = glyphs.full * whole
    if len(bar) < cells - first and (eighths or not bar):
        bar += glyphs.growing[max(1, min(8, eighths))]
    return " " * first + bar + " " * (cells - first - len(bar))


def _foot(
    waterfall: Waterfall,
    lines: Sequence[tuple[int, Phase]],
    first: int,
    height: int,
    palette: Palette,
    glyphs: Glyphs,
) -> Row:
    total = waterfall.total_ms
    words = f"total {quantity(total, 'ms')}" if _known(total) else "running"
    shown = max(0, height - 2)
    row = [span(glyphs.plain(words), palette.title)]
    if len(lines) > shown:
        last = min(len(lines), first + shown)
        text = f"  phases {first + 1}{glyphs.nothing}{last} of {len(lines)}"
        row.append(span(text, palette.dim))
    return row


class WaterfallView(Painted, can_focus=True):
    """A waterfall that scrolls with the arrow keys, Page Up and Down, Home and End."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "scroll_by(1)", "Down", show=False),
        Binding("up", "scroll_by(-1)", "Up", show=False),
        Binding("pagedown", "scroll_by(10)", "Page down", show=False),
        Binding("pageup", "scroll_by(-10)", "Page up", show=False),
        Binding("home", "scroll_by(-1000000)", "First", show=False),
        Binding("end", "scroll_by(1000000)", "Last", show=False),
    ]

    waterfall = Waterfall(())
    first = 0

    def show(self, waterfall: Waterfall) -> None:
        """Show another request, keeping the scroll position if possible."""
        self.waterfall = waterfall
        self.redraw()

    def action_scroll_by(self, rows: int) -> None:
        """Scroll down by this many rows, within the phases."""
        self.first += rows
        self.redraw()

    def paint(self, width: int, height: int) -> list[Row]:
        phases = sum(1 for _ in flattened(self.waterfall.phases))
        self.first = min(max(0, phases - max(1, height - 2)), max(0, self.first))
        return paint_waterfall(self.waterfall, self.first, width, height, self.palette, self.glyphs)
