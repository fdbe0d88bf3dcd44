"""Nested named weights as an icicle plot: each frame above its parts, as wide as its weight."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar
from zlib import crc32

from rich.cells import cell_len
from rich.style import Style
from textual.binding import Binding, BindingType

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import percent, quantity
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.painting import Row, aligned, join, notice, page, shorten, span
from agentbench_tui.tui.theme import Palette
from agentbench_tui.tui.widgets.painted import Painted

Path = tuple[int, ...]
"""Which child, and which of its children, and so on; empty at the root."""
_WARM = (1, 3, 6)
"""Series whose hues are used; the hue of a frame has no meaning."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A name, its weight including its parts, and its parts."""

    name: str
    value: float
    children: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True)
class Flame:
    """Content of a flame graph."""

    root: Frame | None
    unit: str = "ms"
    reason: str = "no profile was taken"


@dataclass(frozen=True, slots=True)
class Gaze:
    """Current focus."""

    focus: Path = ()
    """The frame that fills the width."""
    at: Path = ()
    """The frame that the keys are at: the focused one, or one in it."""


@dataclass(frozen=True, slots=True)
class Box:
    """A frame's cells in its row: from `start` to before `end`."""

    path: Path
    frame: Frame
    start: int
    end: int


def boxes(root: Frame, focus: Path, width: int, levels: int) -> list[list[Box]]:
    """Return the frames with at least one cell, level by level from the focused one down, at most
    `levels`.
    """
    rows = [[Box(focus, frame_at(root, focus), 0, width)]]
    while len(rows) < levels:
        below = [child for box in rows[-1] for child in _inside(box)]
        if not below:
            break
        rows.append(below)
    return rows


def _inside(box: Box) -> Iterator[Box]:
    """Yield the children side by side. Children that took more than their parent, such as parallel
    work, share its width.
    """
    weights = [_weight(child) for child in box.frame.children]
    whole = max(_weight(box.frame), sum(weights))
    if not whole:
        return
    room, before = box.end - box.start, 0.0
    for number, (child, weight) in enumerate(zip(box.frame.children, weights, strict=True)):
        start = box.start + round(room * min(1.0, before / whole))
        before += weight
        end = box.start + round(room * min(1.0, before / whole))
        if end > start:
            yield Box((*box.path, number), child, start, end)


def _weight(frame: Frame) -> float:
    return frame.value if math.isfinite(frame.value) and frame.value > 0 else 0.0


def frame_at(root: Frame, path: Path) -> Frame:
    """Return the frame at the path; the last existing one if there is none."""
    for number in path:
        if not 0 <= number < len(root.children):
            break
        root = root.children[number]
    return root


def moved(root: Frame, gaze: Gaze, key: str) -> Gaze:
    """Return the focus after `down` (the largest child), `up`, `left` or `right` (a sibling), `in`
    (the current frame fills the width) or `out` (the parent of the focused frame does).
    """
    focus, at = gaze.focus, gaze.at
    if key == "in":
        return Gaze(at, at)
    if key == "out" or (key == "up" and at == focus):
        return Gaze(focus[:-1], at if key == "out" else focus[:-1])
    if key == "up":
        return Gaze(focus, at[:-1])
    if key == "down":
        children = frame_at(root, at).children
        if not children:
            return gaze
        largest = max(range(len(children)), key=lambda number: _weight(children[number]))
        return Gaze(focus, (*at, largest))
    if at == focus:
        return gaze
    siblings = len(frame_at(root, at[:-1]).children)
    step = 1 if key == "right" else -1
    return Gaze(focus, (*at[:-1], min(siblings - 1, max(0, at[-1] + step))))


def paint_flame(
    flame: Flame, gaze: Gaze, width: int, height: int, palette: Palette, glyphs: Glyphs
) -> list[Row]:
    """Paint the focused frame on top, its content below; the current frame in the last row.

    Above them, when something is focused, the way to it.
    """
    if flame.root is None or not _weight(flame.root):
        return notice(flame.reason, width, height, palette, glyphs)
    head = (
        [_way(flame.root, gaze.focus, width, palette, glyphs)] if gaze.focus and height > 2 else []
    )
    foot = [_told(flame, gaze, width, palette, glyphs)]
    levels = max(0, height - len(head) - len(foot))
    first = max(0, len(gaze.at) - len(gaze.focus) - levels + 1)
    found = boxes(flame.root, gaze.focus, width, first + levels)[first:] if levels else []
    body = [_level(row, gaze.at, flame.unit, width, palette, glyphs) for row in found]
    return [
        *page([*head, *body], width, height - 1, palette.text),
        *page(foot, width, 1, palette.text),
    ]


def _level(
    row: Sequence[Box], at: Path, unit: str, width: int, palette: Palette, glyphs: Glyphs
) -> Row:
    parts: Row = []
    end = 0
    for box in row:
        parts.append(span(" " * (box.start - end), palette.text))
        here = box.path == at
        edge = glyphs.pointer if here else glyphs.growing[1] if glyphs.braille else glyphs.vertical
        room = box.end - box.start - 1
        name = glyphs.plain(one_line(box.frame.name))
        valued = f"{name}  {glyphs.plain(quantity(box.frame.value, unit))}"
        text = edge + aligned(valued if cell_len(valued) <= room else name, room, "left", glyphs)
        parts.append(span(text, palette.cursor + Style(bold=True) if here else _hue(box, palette)))
        end = box.end
    parts.append(span(" " * (width - end), palette.text))
    return join(*parts)


def _hue(box: Box, palette: Palette) -> Style:
    """Return the same style for a name everywhere; reversed, so that it is a filled box."""
    series = palette.of(_WARM[crc32(box.frame.name.encode()) % len(_WARM)])
    return series.style + Style(reverse=True, bold=False)


def _way(root: Frame, focus: Path, width: int, palette: Palette, glyphs: Glyphs) -> Row:
    names = [frame_at(root, focus[:depth]).name for depth in range(len(focus))]
    text = f" {glyphs.pointer} ".join(glyphs.plain(one_line(name)) for name in names)
    # The nearest holders matter most: what is cut is cut at the root.
    while len(names) > 1 and len(text) > width:
        names = names[1:]
        text = f" {glyphs.pointer} ".join([glyphs.ellipsis, *map(one_line, names)])
    return [span(shorten(glyphs.plain(text), width, glyphs), palette.dim)]


def _told(flame: Flame, gaze: Gaze, width: int, palette: Palette, glyphs: Glyphs) -> Row:
    """Return the name, its weight, its share of the whole and of its parent, and its own weight."""
    assert flame.root is not None
    frame, whole = frame_at(flame.root, gaze.at), _weight(flame.root)
    facts = [quantity(_weight(frame), flame.unit, glyphs.nothing)]
    if gaze.at:
        facts.append(f"{_percent(frame, whole)} of all")
    if len(gaze.at) > 1:
        parent = frame_at(flame.root, gaze.at[:-1])
        name = shorten(glyphs.plain(one_line(parent.name)), 20, glyphs)
        facts.append(f"{_percent(frame, _weight(parent))} of {name}")
    own = _weight(frame) - sum(map(_weight, frame.children))
    if frame.children and own > 0:
        facts.append(f"itself {quantity(own, flame.unit)}")
    hidden = len(frame.children) - sum(1 for _ in _inside(Box((), frame, 0, width)))
    if hidden:
        facts.append(f"{hidden:,} in it too thin to show")
    words = glyphs.plain(f"  {glyphs.separator} ".join(facts).replace("  ", " "))
    name = glyphs.plain(one_line(frame.name))
    return [
        span(shorten(name, max(8, width - len(words) - 2), glyphs), palette.title),
        span(f"  {words}", palette.text),
    ]


def _percent(frame: Frame, whole: float) -> str:
    return percent(_weight(frame) / whole) if whole else "–"


class FlameView(Painted, can_focus=True):
    """An icicle plot navigated with the arrow keys; Enter zooms in, Backspace out."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move('down')", "In it", show=False),
        Binding("up", "move('up')", "What holds it", show=False),
        Binding("left", "move('left')", "Before", show=False),
        Binding("right", "move('right')", "After", show=False),
        Binding("enter", "move('in')", "Zoom in"),
        Binding("backspace", "move('out')", "Zoom out"),
    ]

    flame = Flame(None)
    gaze = Gaze()

    def show(self, flame: Flame) -> None:
        """Show other content, focused on its root."""
        self.flame, self.gaze = flame, Gaze()
        self.redraw()

    def action_move(self, key: str) -> None:
        """See `moved`."""
        if self.flame.root is not None:
            self.gaze = moved(self.flame.root, self.gaze, key)
            self.redraw()

    def paint(self, width: int, height: int) -> list[Row]:
        return paint_flame(self.flame, self.gaze, width, height, self.palette, self.glyphs)
