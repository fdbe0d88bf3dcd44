"""Base of widgets whose lines scroll with the arrow keys if they do not fit."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from agentbench_tui.tui.widgets.painted import Painted


class Scrolled(Painted, can_focus=True):
    """Paints from the line `top` on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "step(1)", "Down", show=False),
        Binding("up", "step(-1)", "Up", show=False),
    ]

    top = 0

    def last_top(self) -> int:
        """Return the top line when the last one is visible; 0 if all fit."""
        raise NotImplementedError

    def action_step(self, lines: int) -> None:
        """Scroll down by this many lines, at most until the last one is visible."""
        self.top = max(0, min(self.top + lines, self.last_top()))
        self.redraw()
