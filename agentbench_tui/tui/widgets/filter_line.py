"""A line above the footer for words that rows must contain."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Input


class FilterLine(Input):
    """Hidden until it is opened. Enter keeps the filter, Esc removes it; both leave the line."""

    DEFAULT_CSS: ClassVar[str] = """
    FilterLine { display: none; height: 1; border: none; padding: 0 1; background: $panel; }
    FilterLine.-open { display: block; }
    FilterLine:focus { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "clear", "No filter", show=False),
        Binding("enter", "keep", "Keep filter", show=False),
    ]

    class Filtered(Message):
        """The filter words have changed."""

        def __init__(self, words: str) -> None:
            super().__init__()
            self.words = words

    class Left(Message):
        """The input has lost the focus."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(placeholder="rows that contain …  (enter keeps, esc clears)", id=id)

    def open(self) -> None:
        """Show the line and focus it."""
        self.add_class("-open")
        self.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Filter while the user types."""
        event.stop()
        self.post_message(self.Filtered(self.value.strip()))

    def action_keep(self) -> None:
        """Return to the rows; the line stays unless it is empty."""
        self.set_class(bool(self.value.strip()), "-open")
        self.post_message(self.Left())

    def action_clear(self) -> None:
        """Show all rows again."""
        self.value = ""
        self.remove_class("-open")
        self.post_message(self.Left())


def holds(words: str, *texts: str) -> bool:
    """Return whether every word occurs in one of the texts, ignoring case."""
    everything = "\n".join(texts).casefold()
    return all(word in everything for word in words.casefold().split())
