"""The keys of the current page, on its last line. One widget: Textual's footer has a widget for
each key and recreates all of them when the focus moves, which costs more than the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.tui.drawing.glyphs import Glyphs
from agentbench_tui.tui.drawing.painting import Row, join, page, span
from agentbench_tui.tui.theme import Palette
from agentbench_tui.tui.widgets.painted import Painted

if TYPE_CHECKING:
    from textual.events import MouseDown, MouseMove
    from textual.screen import Screen


class Key(NamedTuple):
    """An active key."""

    key: str
    """Key to press."""
    shown: str
    """Key as displayed."""
    does: str
    enabled: bool = True
    tooltip: str = ""

    @property
    def width(self) -> int:
        """Return the cells: a blank before, between and after."""
        return cell_len(self.shown) + cell_len(self.does) + 3


def paint_keys(
    keys: Sequence[Key], width: int, height: int, palette: Palette, glyphs: Glyphs
) -> list[Row]:
    """Paint ` ⏎ Open  v View  q Quit `; an inactive key is dim."""
    parts = [
        part
        for key in keys
        for part in (
            span(f" {glyphs.plain(key.shown)}", palette.accent if key.enabled else palette.dim),
            span(f" {glyphs.plain(key.does)} ", palette.text if key.enabled else palette.dim),
        )
    ]
    return page([join(*parts)], width, height, palette.text)


class KeyBar(Painted):
    """One row at the foot of a screen; a click on a key presses it."""

    SHOWS_DATA: ClassVar[bool] = False
    DEFAULT_CSS: ClassVar[str] = "KeyBar { height: 1; width: 1fr; }"
    ALLOW_SELECT = False

    keys: tuple[Key, ...] = ()

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._show_keys_of)

    def on_unmount(self) -> None:
        self.screen.bindings_updated_signal.unsubscribe(self)

    def show(self, keys: Sequence[Key]) -> None:
        """Show the available keys."""
        self.keys = tuple(keys)
        self.redraw()

    def paint(self, width: int, height: int) -> list[Row]:
        return paint_keys(self.keys, width, height, self.palette, self.glyphs)

    def on_mouse_move(self, event: MouseMove) -> None:
        key = self._at(event.x)
        self.tooltip = key.tooltip or None if key else None

    def on_mouse_down(self, event: MouseDown) -> None:
        key = self._at(event.x)
        if key is None:
            return
        if key.enabled:
            self.app.simulate_key(key.key)
        else:
            self.app.bell()

    def _at(self, x: int) -> Key | None:
        ends = accumulate(key.width for key in self.keys)
        return next((key for key, end in zip(self.keys, ends, strict=True) if x < end), None)

    def _show_keys_of(self, screen: Screen[object]) -> None:
        if screen is not self.screen:
            return
        told: dict[str, Key] = {}
        for _, binding, enabled, tooltip in screen.active_bindings.values():
            if binding.show:
                shown = one_line(self.app.get_key_display(binding))
                key = Key(binding.key, shown, one_line(binding.description), enabled, tooltip)
                told.setdefault(binding.action, key)
        self.show(tuple(told.values()))
