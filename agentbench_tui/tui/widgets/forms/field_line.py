"""A line of a form: its label, its input, and below it the error."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.suggester import SuggestFromList
from textual.widgets import Input, Static

from agentbench_tui.model.text.untrusted import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult

_LONGEST = 300


class FieldLine(Vertical):
    """Arrow keys move to the line above or below. Label, hint and error may be untrusted."""

    DEFAULT_CSS: ClassVar[str] = """
    FieldLine { height: auto; }
    FieldLine Horizontal { height: 1; }
    FieldLine .label { height: 1; color: $text-muted; padding: 0 1 0 0; }
    FieldLine:focus-within .label { color: $primary; text-style: bold; }
    FieldLine Input { width: 1fr; height: 1; background: $surface; }
    FieldLine Input:focus { background: $panel; }
    FieldLine .fault { height: auto; display: none; color: $error; padding: 0 0 0 2; }
    FieldLine .fault.-some { display: block; }
    FieldLine .fault.-fine { color: $success; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "app.focus_next", "Next line", show=False),
        Binding("up", "app.focus_previous", "Line before", show=False),
    ]

    class Typed(Message):
        """The value has changed."""

        def __init__(self, line: FieldLine, value: str) -> None:
            super().__init__()
            self.line = line
            self.value = value

        @property
        def control(self) -> FieldLine:
            """Return the sender."""
            return self.line

    class Entered(Typed):
        """Enter was pressed."""

    def __init__(
        self,
        option: str,
        label: str,
        placeholder: str = "",
        words: Sequence[str] = (),
        *,
        value: str = "",
        label_cells: int = 15,
        id: str | None = None,  # noqa: A002
    ) -> None:
        """`option`: what it sets; `words`: suggestions while typing (→ accepts one).

        `label_cells`: room for the label, the space behind it included.
        """
        super().__init__(id=id)
        self.option = option
        self._label = Static(Text(one_line(label, 60)), classes="label", markup=False)
        self._label.styles.width = label_cells
        self._input = Input(
            value,
            Text(one_line(placeholder, 80)).plain,
            compact=True,
            suggester=SuggestFromList(words) if words else None,
        )

    @property
    def value(self) -> str:
        """Return the typed text."""
        return self._input.value.strip()

    @value.setter
    def value(self, value: str) -> None:
        self._input.value = value

    @property
    def fault(self) -> str:
        """Return the shown message, if it is an error."""
        told = self.query_one(".fault", Static)
        return "" if told.has_class("-fine") or not told.has_class("-some") else self._told

    _told = ""

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield self._label
            yield self._input
        yield Static("", classes="fault", markup=False)

    def tell(self, words: str, *, fine: bool = False) -> None:
        """Show a line below; an empty text removes it."""
        self._told = words
        told = self.query_one(".fault", Static)
        told.set_class(bool(words), "-some")
        told.set_class(fine, "-fine")
        told.update(Text(one_line(words, _LONGEST)))

    def enter(self) -> None:
        """Focus the input."""
        self._input.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Typed(self, self.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Entered(self, self.value))
