"""Transcripts of agents, alone or two side by side, with marked differences.

Only the visible part is laid out: a position is a pair of lines and a row in it. Scrolling through
a hundred thousand lines is therefore as fast as through ten, and a resize keeps the position.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual.binding import Binding, BindingType

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.painting import Row, fit, join, notice, page, shorten, span, wraps
from agentbench_tui.tui.pages.cases.reading import Line, Pair, Reading
from agentbench_tui.tui.theme import DARK, Palette, palette
from agentbench_tui.tui.widgets.painted import Painted

_BESIDE_FROM = 40
"""Cells from which on two transcripts stand beside each other; one below the other before."""
_GUTTER = 3
_NARROW = 16
"""Cells below which lines are not indented."""
_LEAST_ROWS = 3
"""Rows up to which the names above are left out."""
_LEAST_SHARED = 0.3
"""Share of the shorter line that both must have for the rest to be pointed at."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A position in a reading: a pair of lines, and a row of it if it takes several."""

    pair: int = 0
    row: int = 0


@dataclass(frozen=True, slots=True)
class _Drawing:
    """One reading in a given width."""

    reading: Reading
    width: int
    palette: Palette
    glyphs: Glyphs

    def rows(self, at: int) -> list[Row]:
        """Return the rows of one pair."""
        pair = self.reading.pairs[at]
        if len(self.reading.names) == 1:
            return self._column(pair.left, None, self.width)
        if self.width >= _BESIDE_FROM:
            return self._beside(pair)
        return self._below(pair)

    def _beside(self, pair: Pair) -> list[Row]:
        room = (self.width - _GUTTER) // 2
        left = self._column(pair.left, pair.right, room)
        right = self._column(pair.right, pair.left, self.width - _GUTTER - room)
        frame = span(f" {self.glyphs.vertical} ", self.palette.frame)
        blank: Row = []
        return [
            join(
                *fit(one, room, self.palette.text), frame if at else self._mark(pair, frame), *other
            )
            for at, (one, other) in enumerate(zip_longest(left, right, fillvalue=blank))
        ]

    def _mark(self, pair: Pair, same: Segment) -> Segment:
        if pair.left == pair.right:
            return same
        if pair.left is None or pair.right is None:
            series = self.palette.of(0 if pair.right is None else 1)
            return span(f" {series.letter} ", series.style)
        return span(f" {self.glyphs.warn} ", self.palette.warn)

    def _below(self, pair: Pair) -> list[Row]:
        """Return what both have, or what A has and then what B has."""
        room = max(1, self.width - 2)
        if pair.left == pair.right:
            gap = span("  ", self.palette.text)
            return [join(gap, *row) for row in self._column(pair.left, None, room)]
        sides = ((0, pair.left, pair.right), (1, pair.right, pair.left))
        rows = []
        for number, line, other in sides:
            series = self.palette.of(number)
            mark = span(f"{series.letter} ", series.style)
            if line is not None:
                rows += [join(mark, *row) for row in self._column(line, other, room)]
        return rows

    def _column(self, line: Line | None, other: Line | None, width: int) -> list[Row]:
        """Return a line wrapped to this width, with differences from the other highlighted."""
        if line is None:
            return [[]]
        palette, glyphs = self.palette, self.glyphs
        text = glyphs.plain(line.text)
        if line.kind == "role":
            style = palette.accent if line.text == "assistant" else palette.title
            name = shorten(text, width, glyphs)
            rule = glyphs.horizontal * max(0, width - cell_len(name) - 1)
            return [[span(name, style), span(f" {rule}" if rule else "", palette.frame)]]
        first, later, style = {
            "text": ("  ", "  ", palette.text),
            "call": (f"  {glyphs.arrow} ", "    ", palette.header),
            "result": (f"  {glyphs.vertical} ", f"  {glyphs.vertical} ", palette.dim),
        }[line.kind]
        if width < _NARROW:
            first = later = ""
        low, high = (0, 0) if other is None else apart(text, glyphs.plain(other.text))
        rows: list[Row] = []
        for start, end in wraps(text, max(1, width - cell_len(first))):
            a, b = (min(end, max(start, place)) for place in (low, high))
            rows.append(
                [
                    span(later if rows else first, palette.frame),
                    span(text[start:a], style),
                    span(text[a:b], style + palette.selected),
                    span(text[b:end], style),
                ]
            )
        return rows


def apart(text: str, other: str) -> tuple[int, int]:
    """Return the part of a text that differs from another: the part between their common
    beginning and end. Nothing is marked if that is nearly all.
    """
    shorter = min(len(text), len(other))
    start = next((at for at in range(shorter) if text[at] != other[at]), shorter)
    ends = range(1, shorter - start + 1)
    tail = next((at - 1 for at in ends if text[-at] != other[-at]), shorter - start)
    return (start, len(text) - tail) if start + tail > shorter * _LEAST_SHARED else (0, 0)


def paint_transcript(
    reading: Reading, top: Spot, width: int, height: int, palette: Palette, glyphs: Glyphs
) -> list[Row]:
    """Paint from the row `top` on: names above, with the shown lines and their total number.

    Marked between two transcripts: `!` where lines differ, A or B where only that one has a line.
    In fewer than 40 cells they stand below each other.
    """
    if not reading.pairs:
        return notice(reading.reason, width, height, palette, glyphs)
    drawing = _Drawing(reading, width, palette, glyphs)
    head = [_head(reading, width, palette, glyphs)] if height > _LEAST_ROWS else []
    room = body_rows(height)
    body: list[Row] = []
    at = min(top.pair, len(reading.pairs) - 1)
    first = at
    while len(body) < room and at < len(reading.pairs):
        body += drawing.rows(at)[top.row if at == top.pair else 0 :]
        at += 1
    foot = [_foot(reading, first, at, palette, glyphs)] if height > 1 else []
    return [
        *page([*head, *body[:room]], width, len(head) + room, palette.text),
        *page(foot, width, len(foot), palette.text),
    ]


def body_rows(height: int) -> int:
    """Return the rows of the transcript itself at this height."""
    return height - 2 if height > _LEAST_ROWS else max(1, height - 1)


def moved(reading: Reading, spot: Spot, by: int, width: int, height: int, glyphs: Glyphs) -> Spot:
    """Return the position this many rows further down, or up; not beyond the last screen."""
    # Rows are counted here, not shown: any palette will do.
    drawing = _Drawing(reading, width, palette(DARK), glyphs)
    found = _stepped(drawing, spot, by)
    last = _stepped(drawing, Spot(len(reading.pairs)), -body_rows(height))
    return min(found, last, key=lambda one: (one.pair, one.row))


def _stepped(drawing: _Drawing, spot: Spot, by: int) -> Spot:
    pairs = len(drawing.reading.pairs)
    pair, row = spot.pair, spot.row + by
    while row < 0 and pair > 0:
        pair -= 1
        row += len(drawing.rows(pair))
    while pair < pairs and row >= (here := len(drawing.rows(pair))):
        pair, row = pair + 1, row - here
    return Spot(pair, max(0, row) if pair < pairs else 0)


def next_difference(reading: Reading, spot: Spot, way: int) -> Spot:
    """Return the next position below (1) or above (-1) where both begin to differ; the same
    position if there is none.
    """
    found = reading.differences
    at = bisect_right(found, spot.pair) if way > 0 else bisect_left(found, spot.pair) - 1
    return Spot(found[at]) if 0 <= at < len(found) else spot


def _head(reading: Reading, width: int, palette: Palette, glyphs: Glyphs) -> Row:
    names = [glyphs.plain(one_line(name)) for name in reading.names]
    if len(names) == 1:
        return [span(shorten(names[0], width, glyphs), palette.title)]
    if width < _BESIDE_FROM:
        text = shorten(f"A {names[0]}  B {names[1]}", width, glyphs)
        return [span(text, palette.title)]
    room = (width - _GUTTER) // 2
    parts: Row = []
    for number, name in enumerate(names):
        letter = palette.of(number)
        cell = [
            span(f"{letter.letter} ", letter.style),
            span(shorten(name, room - 2, glyphs), palette.title),
        ]
        parts += [*fit(cell, room, palette.text), span(" " * _GUTTER, palette.text)]
    return parts


def _foot(reading: Reading, first: int, last: int, palette: Palette, glyphs: Glyphs) -> Row:
    facts = [f"lines {first + 1:,}–{last:,} of {len(reading.pairs):,}"]
    if len(reading.names) == 2:
        count = len(reading.differences)
        places = "place differs" if count == 1 else "places differ"
        facts.append(f"{count:,} {places}" if count else "no differences")
    text = f" {glyphs.separator} ".join(map(glyphs.plain, [*facts, *reading.notes]))
    return [span(text, palette.dim)]


class TranscriptView(Painted, can_focus=True):
    """A reading that scrolls with the arrow keys, Page Up and Down, Home and End; `n` and `N` go to
    the next difference and back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "step(1)", "Down", show=False),
        Binding("up", "step(-1)", "Up", show=False),
        Binding("pagedown,space", "turn(1)", "Page down", show=False),
        Binding("pageup", "turn(-1)", "Page up", show=False),
        Binding("home", "ends(-1)", "Start", show=False),
        Binding("end", "ends(1)", "End", show=False),
        Binding("n", "difference(1)", "Next difference"),
        Binding("N", "difference(-1)", "Difference before"),
    ]

    reading = Reading((), ())
    top = Spot()

    def show(self, reading: Reading) -> None:
        """Show another reading, from its start."""
        self.reading, self.top = reading, Spot()
        self.redraw()

    def action_step(self, rows: int) -> None:
        """Scroll down by this many rows."""
        self._go(self._moved(self.top, rows))

    def action_turn(self, pages: int) -> None:
        """Scroll down by this many pages."""
        self.action_step(pages * body_rows(self.size.height))

    def action_ends(self, way: int) -> None:
        """Scroll to the start or the end."""
        self._go(Spot() if way < 0 else self._moved(Spot(len(self.reading.pairs)), 0))

    def action_difference(self, way: int) -> None:
        """Move to the next or previous difference."""
        self._go(next_difference(self.reading, self.top, way))

    def _moved(self, spot: Spot, by: int) -> Spot:
        width, height = self.size
        return moved(self.reading, spot, by, width, height, self.glyphs)

    def _go(self, spot: Spot) -> None:
        self.top = spot
        self.redraw()

    def paint(self, width: int, height: int) -> list[Row]:
        return paint_transcript(self.reading, self.top, width, height, self.palette, self.glyphs)
