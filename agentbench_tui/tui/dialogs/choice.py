"""A short list over a page, to choose one item from."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from agentbench_tui.tui.drawing.panel import panel
from agentbench_tui.tui.widgets.grid import Grid

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from agentbench_tui.tui.drawing.grid_data import GridData


class Choice(ModalScreen[str | None]):
    """A list; returns the key of the chosen row, or None after escape."""

    DEFAULT_CSS: ClassVar[str] = """
    Choice { align: center middle; }
    Choice > Vertical { width: 90%; max-width: 100; height: 70%; max-height: 24; }
    Choice Grid { background: $surface; }
    Choice Static { height: 1; padding: 0 2; background: $panel; }
    """
    BINDINGS: ClassVar = [
        Binding("escape,q", "leave", "Leave"),
    ]

    def __init__(self, title: str, data: GridData, at: str | None = None) -> None:
        """`at`: key of the initial row."""
        super().__init__()
        self._title, self._data, self._at = title, data, at

    def compose(self) -> ComposeResult:
        with Vertical():
            yield panel(Grid(self._data, id="choices"), self._title)
            yield Static("enter chooses   esc leaves", markup=False)

    def on_mount(self) -> None:
        grid = self.query_one(Grid)
        if self._at is not None:
            grid.move_to(self._at)
        grid.focus()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        """Choose the row on Enter."""
        event.stop()
        self.dismiss(event.key)

    def action_leave(self) -> None:
        """Close without a choice."""
        self.dismiss(None)
