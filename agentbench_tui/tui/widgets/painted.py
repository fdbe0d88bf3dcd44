"""Base of widgets that paint their own rows and refresh only changed cells."""

from __future__ import annotations

from typing import ClassVar

from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from agentbench_tui.tui.drawing.glyphs import Glyphs, glyphs
from agentbench_tui.tui.drawing.painting import Row, changed_cells, notice
from agentbench_tui.tui.theme import Palette, palette


class Painted(Widget):
    """A widget whose content is the result of `paint`.

    Code that changes its content calls `redraw`. Painting happens while the widget is on the
    screen; a hidden one paints when it is shown.
    """

    DEFAULT_CSS: ClassVar[str] = "Painted { height: 1fr; width: 1fr; }"
    SHOWS_DATA: ClassVar[bool] = True
    """Whether it has nothing to show while its page is reading, or could not be read."""

    _rows: list[Row]
    _strips: list[Strip]
    _painted_as: tuple[object, ...] = ()
    """Size and look of the cached content; empty if it is out of date."""

    def paint(self, width: int, height: int) -> list[Row]:
        """Return exactly `height` rows of exactly `width` cells, every segment with a style."""
        raise NotImplementedError

    @property
    def palette(self) -> Palette:
        """Return the palette of the current theme."""
        return palette(self.app.theme, no_color=self.app.no_color)

    @property
    def glyphs(self) -> Glyphs:
        """Return the app's glyphs if it has an attribute `glyphs`, else the terminal's."""
        chosen = getattr(self.app, "glyphs", None)
        return chosen if isinstance(chosen, Glyphs) else glyphs()

    def redraw(self) -> None:
        """Paint again and refresh the changed rows."""
        if not self.size or not self._is_seen() or self._painted_as != self._looks():
            self._painted_as = ()
            self.refresh()
            return
        width, height = self.size
        rows = self._painted(width, height)
        regions = []
        for y, row in enumerate(rows):
            # Textual sends a row from its left end, so only what stays at the right is saved.
            if end := changed_cells(self._rows[y], row):
                self._strips[y] = self._strip(row, width)
                regions.append(Region(0, y, end, 1))
        self._rows = rows
        if regions:
            self.refresh(*regions)

    def notify_style_update(self) -> None:
        """Repaint after a change of theme or style, because the cache has the old colors."""
        self._painted_as = ()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """Return one row of the last painting."""
        if not self._painted_as or self._painted_as[0] != self.size:
            width, height = self.size
            self._rows = self._painted(width, height) if width > 0 and height > 0 else []
            self._strips = [self._strip(row, width) for row in self._rows]
            self._painted_as = self._looks()
        if 0 <= y < len(self._strips):
            return self._strips[y]
        return Strip.blank(self.size.width, self.rich_style)

    def _painted(self, width: int, height: int) -> list[Row]:
        if words := self._without_data:
            return notice(words, width, height, self.palette, self.glyphs)
        return self.paint(width, height)

    @property
    def _without_data(self) -> str:
        """Return why its page has no data; empty if it has. That is no statement on the data."""
        return getattr(self.screen, "without_data", "") if self.SHOWS_DATA else ""

    def _looks(self) -> tuple[object, ...]:
        return self.size, self.app.theme, self.glyphs, self._without_data

    def _is_seen(self) -> bool:
        # While the session closes there is no screen any more, but widgets still lose the focus.
        if not self.is_attached or not self.app.screen_stack or not self.is_on_screen:
            return False
        # Textual takes a screen below an opaque one for visible too.
        see_through = self.app.screen.styles.background.a < 1
        return self.screen.is_active or (self.screen.is_current and see_through)

    def _strip(self, row: Row, width: int) -> Strip:
        return Strip(row, width).apply_style(self.rich_style)
