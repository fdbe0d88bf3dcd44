"""The base of widgets whose lines move with the arrow keys where there are more than room."""

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
        """The line at the top when the last one is seen; 0 where there is room for all."""
        raise NotImplementedError

    def action_step(self, lines: int) -> None:
        """So many lines down, no further than the last one is seen."""
        self.top = max(0, min(self.top + lines, self.last_top()))
        self.redraw()
