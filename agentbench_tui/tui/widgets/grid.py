"""A table that repaints only changed rows, and whose cursor stays with its row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.grid_cells import cells_of, names_of
from agentbench_tui.tui.drawing.grid_data import (
    GAP,
    Align,
    Cell,
    Column,
    GridData,
    GridRow,
    GridState,
    fitting,
    wanted,
)
from agentbench_tui.tui.drawing.painting import Row, aligned, fit, join, notice, page, span
from agentbench_tui.tui.theme import Palette
from agentbench_tui.tui.widgets.painted import Painted

__all__ = [
    "Cell", "Column", "Grid", "GridData", "GridRow", "GridState", "paint_grid",
]  # fmt: skip
_GUTTER = 2
"""Cells before the first column: the cursor, and the selection."""
_WHEEL_ROWS = 3


def paint_grid(
    data: GridData, state: GridState, width: int, height: int, palette: Palette, glyphs: Glyphs
) -> list[Row]:
    """Paint titles and rows in `height` rows of `width` cells; a bar at the right edge shows the
    visible part of a longer table.
    """
    if width < 1 or height < 1:
        return page([], max(0, width), max(0, height), palette.text)
    shown = max(0, height - 1)
    has_bar = len(data.rows) > shown and width > _GUTTER + 4
    room = max(1, width - _GUTTER - (1 + 1 if has_bar else 0))
    layout = fitting(data.columns, room, wanted(data))
    head = fit(_titles(data, layout, palette, glyphs), width, palette.header)
    if not data.rows:
        return [head, *notice(data.reason, width, shown, palette, glyphs)][:height]
    bar = _scroll_bar(len(data.rows), shown, state.top, palette, glyphs) if has_bar else []
    rows = [head]
    names = names_of(data.columns, layout, data.rows)
    for place, row in enumerate(data.rows[state.top : state.top + shown]):
        at_cursor = state.top + place == state.cursor
        gutter = _gutter(row, at_cursor, state, palette, glyphs)
        painted = join(gutter, cells_of(row, layout, data.columns, palette, glyphs, names))
        over = palette.selected if row.key in state.selected else None
        if at_cursor and state.focused:
            over = palette.cursor
        painted = fit(painted, width - 1 if has_bar else width, palette.text)
        if over is not None:
            painted = [
                Segment(piece.text, (piece.style or palette.text) + over) for piece in painted
            ]
        rows.append(join(*painted, bar[place]) if has_bar else painted)
    return page(rows, width, height, palette.text)


def _gutter(
    row: GridRow, at_cursor: bool, state: GridState, palette: Palette, glyphs: Glyphs
) -> Segment:
    pointer = glyphs.pointer if at_cursor else " "
    mark = glyphs.tick if row.key in state.selected else " "
    # Where one is not, the place where one was is of little interest.
    return span(pointer + mark, palette.accent if state.focused or mark != " " else palette.dim)


def _titles(
    data: GridData, layout: Sequence[tuple[int, int]], palette: Palette, glyphs: Glyphs
) -> Row:
    parts = [" " * _GUTTER]
    for place, (number, cells) in enumerate(layout):
        column = data.columns[number]
        parts.append(" " * GAP if place else "")
        text = aligned(glyphs.plain(one_line(column.title)), cells, column.align, glyphs)
        if data.sort is not None and data.sort[0] == column.key:
            text = _marked(text, glyphs.down if data.sort[1] else glyphs.up, column.align)
        parts.append(text)
    return [span("".join(parts), palette.header)]


def _marked(text: str, mark: str, align: Align) -> str:
    """Return the title with its mark, in the same width: next to the words, or instead of the
    last cell.
    """
    bare = text.strip(" ")
    room = len(text) - len(bare)
    if align == "right":
        marked = f"{mark} {bare}" if room > 1 else mark + (bare if room else bare[1:])
        return marked.rjust(len(text))
    return (f"{bare} {mark}" if room > 1 else (bare if room else bare[:-1]) + mark).ljust(len(text))


def _scroll_bar(rows: int, shown: int, top: int, palette: Palette, glyphs: Glyphs) -> Row:
    """Return a piece per row: the visible part of all rows."""
    size = max(1, shown * shown // rows)
    start = round((shown - size) * top / max(1, rows - shown))
    return [
        span(glyphs.full, palette.dim)
        if start <= place < start + size
        else span(glyphs.vertical, palette.frame)
        for place in range(shown)
    ]


class _GridMessage(Message):
    """Message from a table to its screen."""

    def __init__(self, grid: Grid) -> None:
        super().__init__()
        self.grid = grid

    @property
    def control(self) -> Grid:
        """Return the sender, for `on(Grid.Moved, "#agents")`."""
        return self.grid


class Grid(Painted, can_focus=True):
    """Shows a `GridData`; sorting and filtering are up to its creator.

    The cursor stays with its row when rows change places, once the user has moved it; until then it
    stays at the first row. If its row disappears, the cursor moves to the row in its place.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "end(0)", "First", show=False),
        Binding("end", "end(1)", "Last", show=False),
        Binding("enter", "choose", "Open"),
        Binding("space", "pick", "Select"),
    ]

    class Moved(_GridMessage):
        """The cursor is at another row; None: there are no rows."""

        def __init__(self, grid: Grid, key: str | None) -> None:
            super().__init__(grid)
            self.key = key

    class Chosen(_GridMessage):
        """A row was opened."""

        def __init__(self, grid: Grid, key: str) -> None:
            super().__init__(grid)
            self.key = key

    class Picked(_GridMessage):
        """The selected rows have changed."""

        def __init__(self, grid: Grid, keys: frozenset[str]) -> None:
            super().__init__(grid)
            self.keys = keys

    class TitleClicked(_GridMessage):
        """A column title was clicked, to sort by it."""

        def __init__(self, grid: Grid, column: str) -> None:
            super().__init__(grid)
            self.column = column

    def __init__(
        self,
        data: GridData | None = None,
        *,
        selectable: bool = False,
        id: str | None = None,  # noqa: A002
    ) -> None:
        """`selectable`: whether the space bar selects rows; otherwise it is the screen's key."""
        super().__init__(id=id)
        self._data = data or GridData()
        self._selectable = selectable
        self._cursor = self._top = 0
        self._key = self._data.rows[0].key if self._data.rows else None
        self._moved = False
        self._is_held = False
        self._selected: frozenset[str] = frozenset()

    @property
    def cursor_key(self) -> str | None:
        """Return the key of the row at the cursor; None without rows."""
        return self._key

    @property
    def selected(self) -> frozenset[str]:
        """Return the keys of the selected rows."""
        return self._selected

    def show(self, data: GridData) -> None:
        """Show this from now on."""
        if self.styles.auto_dimensions and len(data.rows) != len(self._data.rows):
            self.refresh(layout=True)
        self._data = data
        keys = [row.key for row in data.rows]
        if self._moved and self._key in keys:
            self._cursor = keys.index(self._key)
        self._selected = self._selected.intersection(keys)
        self._go(self._cursor)

    def move_to(self, key: str) -> None:
        """Move the cursor to the row with this key, if there is one."""
        for number, row in enumerate(self._data.rows):
            if row.key == key:
                self._moved = self._is_held = True
                self._go(number)
                return

    def follow(self, key: str) -> None:
        """Put the cursor at the row with this key, unless the user has put it somewhere."""
        if self._is_held or key == self._key:
            return
        for number, row in enumerate(self._data.rows):
            if row.key == key:
                self._go(number)
                return

    @property
    def is_held(self) -> bool:
        """Return whether the user has put the cursor somewhere."""
        return self._is_held

    def _put(self, number: int) -> None:
        """Put the cursor for the user, and report it the first time even if it stays there."""
        was_held, before = self._is_held, self._key
        self._is_held = True
        self._go(number)
        if not was_held and self._key == before:
            self.post_message(self.Moved(self, self._key))

    def let_go(self) -> None:
        """Let the cursor follow again."""
        self._is_held = False

    def select(self, keys: frozenset[str]) -> None:
        """Select these rows and no others."""
        self._selected = keys.intersection(row.key for row in self._data.rows)
        self.redraw()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Return the height of all rows and titles, for the height `auto`; that of the reason's
        line if there are none.
        """
        return 1 + max(1, len(self._data.rows))

    def paint(self, width: int, height: int) -> list[Row]:
        self._keep_cursor_seen(height - 1)
        state = GridState(self._cursor, self._top, self._selected, self.has_focus)
        return paint_grid(self._data, state, width, height, self.palette, self.glyphs)

    def _keep_cursor_seen(self, shown: int) -> None:
        most = max(0, len(self._data.rows) - max(1, shown))
        self._top = min(self._top, self._cursor, most)
        self._top = max(self._top, self._cursor - max(1, shown) + 1)

    def _go(self, number: int) -> None:
        """Put the cursor at this row or the nearest one, and scroll to it."""
        rows = self._data.rows
        self._cursor = max(0, min(number, len(rows) - 1))
        key = rows[self._cursor].key if rows else None
        if key != self._key:
            self._key = key
            self.post_message(self.Moved(self, key))
        self.redraw()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Leave the space bar to the screen if nothing can be selected."""
        return self._selectable if action == "pick" else True

    def action_move(self, rows: int) -> None:
        """Move the cursor down by this many rows."""
        self._moved = True
        self._put(self._cursor + rows)

    def action_page(self, pages: int) -> None:
        """Move the cursor down by this many screens."""
        self.action_move(pages * max(1, self.size.height - 2))

    def action_end(self, last: int) -> None:
        """Go to the first row (0) or the last (1)."""
        self._moved = bool(last)
        self._put(len(self._data.rows) - 1 if last else 0)

    def action_choose(self) -> None:
        """Report that the row was opened."""
        if self._key is not None:
            self.post_message(self.Chosen(self, self._key))

    def action_pick(self) -> None:
        """Select or deselect the row, and move the cursor to the next one."""
        if self._key is not None:
            self._selected = self._selected.symmetric_difference({self._key})
            self.post_message(self.Picked(self, self._selected))
            self.action_move(1)

    def on_focus(self) -> None:
        self.redraw()

    def on_blur(self) -> None:
        self.redraw()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.action_move(_WHEEL_ROWS)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.action_move(-_WHEEL_ROWS)

    def on_click(self, event: events.Click) -> None:
        """Sort by a clicked title; move to a clicked row, and open it on a second click."""
        place = event.get_content_offset(self)
        if place is None:
            return
        if place.y == 0:
            if (column := self._column_at(place.x)) is not None:
                self.post_message(self.TitleClicked(self, column))
            return
        number = self._top + place.y - 1
        if number < len(self._data.rows):
            if number == self._cursor and event.chain > 1:
                self.action_choose()
            self._moved = True
            self._put(number)

    def _column_at(self, x: int) -> str | None:
        start = _GUTTER
        has_bar = len(self._data.rows) > self.size.height - 1
        room = max(1, self.size.width - _GUTTER - (2 if has_bar else 0))
        for number, cells in fitting(self._data.columns, room, wanted(self._data)):
            if start <= x < start + cells:
                return self._data.columns[number].key
            start += cells + GAP
        return None
