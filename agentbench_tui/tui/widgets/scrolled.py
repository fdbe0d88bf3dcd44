"""Base of widgets whose lines scroll with keys and the wheel if they do not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from agentbench_tui.tui.widgets.painted import Painted

if TYPE_CHECKING:
    from textual.events import MouseScrollDown, MouseScrollUp

_WHEEL_LINES = 3


class Scrolled(Painted, can_focus=True):
    """Paints from the line `top` on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "step(1)", "Down", show=False),
        Binding("up", "step(-1)", "Up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("home", "end(0)", "First line", show=False),
        Binding("end", "end(1)", "Last line", show=False),
    ]

    top = 0

    def last_top(self) -> int:
        """Return the top line when the last one is visible; 0 if all fit."""
        raise NotImplementedError

    def action_step(self, lines: int) -> None:
        """Scroll down by this many lines, at most until the last one is visible."""
        self.top = max(0, min(self.top + lines, self.last_top()))
        self.redraw()

    def action_page(self, pages: int) -> None:
        """Scroll down by this many screens, less one line."""
        self.action_step(pages * max(1, self.size.height - 1))

    def action_end(self, last: int) -> None:
        """Go to the first line (0) or the last (1)."""
        self.action_step(self.last_top() if last else -self.top)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """Scroll, even without the focus."""
        event.stop()
        self.action_step(_WHEEL_LINES)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """Scroll back."""
        event.stop()
        self.action_step(-_WHEEL_LINES)
