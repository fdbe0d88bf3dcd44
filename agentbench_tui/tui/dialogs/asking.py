"""Two short dialogs over a page: a confirmation, and a line of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

if TYPE_CHECKING:
    from textual.app import ComposeResult

_CSS = """
{name} {{ align: center middle; }}
{name} > Vertical {{
    width: 90%; max-width: 72; height: auto; padding: 1 2;
    border: round $primary; background: $surface;
}}
{name} Static {{ height: auto; }}
"""


class Sure(ModalScreen[bool]):
    """A confirmation; returns True if confirmed."""

    DEFAULT_CSS: ClassVar[str] = _CSS.format(name="Sure")
    BINDINGS: ClassVar = [
        Binding("y,enter", "answer(True)", "Yes"),
        Binding("n,escape,q", "answer(False)", "No"),
    ]

    def __init__(self, question: str) -> None:
        """`question` must be safe to display."""
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Text(self._question), markup=False)
            yield Static(Text("\ny yes   n no", "bold"), markup=False)

    def action_answer(self, meant: bool) -> None:
        """Close with this answer."""
        self.dismiss(meant)


class Line(ModalScreen[str | None]):
    """A text input; returns the line, or None after escape."""

    DEFAULT_CSS: ClassVar[str] = _CSS.format(name="Line")
    AUTO_FOCUS: ClassVar[str] = "Input"
    BINDINGS: ClassVar = [Binding("escape", "leave", "Leave")]

    def __init__(self, question: str, most: int = 80) -> None:
        super().__init__()
        self._question = question
        self._most = most

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Text(self._question), markup=False)
            yield Input(max_length=self._most)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Return the line on Enter."""
        event.stop()
        self.dismiss(event.value.strip())

    def action_leave(self) -> None:
        """Close without a line."""
        self.dismiss(None)
