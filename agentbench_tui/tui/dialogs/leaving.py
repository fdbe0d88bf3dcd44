"""Question about a running run when its session is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from rich.text import Text
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

if TYPE_CHECKING:
    from textual.app import ComposeResult

Choice = Literal["detach", "stop", "stay"]


class Leaving(ModalScreen[Choice]):
    """Returns the choice."""

    DEFAULT_CSS: ClassVar[str] = """
    Leaving { align: center middle; }
    Leaving > Vertical {
        width: 90%; max-width: 72; height: auto; padding: 1 2;
        border: round $primary; background: $surface;
    }
    Leaving Static { height: auto; }
    """
    BINDINGS: ClassVar = [
        Binding("d,enter", "choose('detach')", "Leave it running"),
        Binding("s", "choose('stop')", "Stop it"),
        Binding("escape,n,q", "choose('stay')", "Stay"),
    ]

    def __init__(self, count: int) -> None:
        """`count`: number of running runs."""
        super().__init__()
        self._count = count

    def compose(self) -> ComposeResult:
        one = self._count == 1
        which = "The run is still running" if one else f"{self._count} runs are still running"
        it = "it" if one else "them"
        text = Text(f"{which}. Leave {it} running, or stop {it}?\n\n")
        for key, words in (
            ("d", f"detach: leave {it} running; `agentbench attach` reopens {it}"),
            ("s", f"stop {it}: in-flight requests finish, measurements are kept"),
            ("esc", "stay here"),
        ):
            text.append(f"{key:>4}  ", "bold").append(f"{words}\n")
        with Vertical():
            yield Static(text, markup=False)

    def action_choose(self, choice: Choice) -> None:
        """Close with this answer."""
        self.dismiss(choice)
