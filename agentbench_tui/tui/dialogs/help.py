"""Shows which keys do what, from the bindings of the current page."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widgets import Static

from agentbench_tui.tui.page_list import PAGES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

_KEY_WIDTH = 12
MOVES = frozenset(
    ("Up", "Down", "Page up", "Page down", "First", "Last", "Focus Next", "Focus Previous",
     "Copy selected text")
)  # fmt: skip
"""Keys of every list and panel: listed after those of the page."""
_NOTES = (
    "A run is a separate process: leaving this session, or losing the connection, does not end",
    "it; `agentbench attach` comes back to it. Hold Shift to select text with the mouse.",
)


class Help(ModalScreen[None]):
    """Help, shown over its page."""

    BINDINGS: ClassVar = [
        Binding("escape,question_mark,q", "dismiss", "Close", key_display="esc"),
    ]

    def __init__(self, page: Screen[object]) -> None:
        super().__init__()
        self._page = page

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield Static(self._words(), markup=False)

    def _words(self) -> Text:
        text = Text()
        here = [
            (self.app.get_key_display(active.binding), active.binding)
            for active in self._page.active_bindings.values()
            if active.binding.description and not active.binding.system
        ]
        text.append("Pages, from everywhere\n", "bold")
        for page in PAGES:
            text.append(f"  {page.key:<{_KEY_WIDTH}}{page.title}: {page.what}\n")
        text.append("\nKeys here\n", "bold")
        _tell([one for one in here if one[1].description not in MOVES], text)
        text.append("\nMoving about\n", "bold")
        _tell([one for one in here if one[1].description in MOVES], text)
        text.append("\n" + "\n".join(_NOTES))
        return text


def _tell(keys: Sequence[tuple[str, Binding]], text: Text) -> None:
    """Return a line for each action; pages add their own."""
    told = {page.title for page in PAGES}
    for key, binding in keys:
        if binding.description in told or binding.action in told:
            continue
        told.add(binding.action)
        line = f"  {key:<{_KEY_WIDTH}}{binding.description}"
        text.append(line + (f": {binding.tooltip}" if binding.tooltip else "") + "\n")
