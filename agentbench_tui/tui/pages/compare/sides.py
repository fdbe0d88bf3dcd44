"""Chooses what to compare: all possible selectors, and the marked ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import Binding
from textual.containers import Horizontal
from textual.message import Message

from agentbench_tui.tui.drawing.panel import panel
from agentbench_tui.tui.pages.compare.selector_rows import chosen_table, offers_table, short
from agentbench_tui.tui.widgets.grid import Grid

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from agentbench_tui.tui.app import AgentbenchApp
    from agentbench_tui.verdicts.selection.selectable import Offer


class _Offers(Grid):
    """A table whose key bar names what Enter does here, since there is nothing to open."""

    BINDINGS: ClassVar = [Binding("enter", "choose", "Add or drop")]


class Sides(Horizontal):
    """Changes the marked selectors of the session; `Wanted` requests the comparison."""

    DEFAULT_CSS: ClassVar[str] = """
    Sides #offers { width: 2fr; } Sides #chosen { width: 1fr; }
    """
    BINDINGS: ClassVar = [
        Binding("a", "add", "Add", tooltip="the one at the cursor to what is compared"),
        Binding("d", "drop", "Drop", tooltip="the one at the cursor from what is compared"),
        Binding("o", "lead", "Control", tooltip="the one at the cursor becomes the control"),
        Binding("c", "compare", "Compare", tooltip="what was chosen"),
        Binding("x", "mark", "Mark", show=False, tooltip="add or drop the one at the cursor"),
    ]

    class Wanted(Message):
        """The comparison is requested; at least two selectors are marked."""

    def __init__(self, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._offers: list[Offer] = []
        self._words = ""

    def compose(self) -> ComposeResult:
        yield panel(_Offers(id="offers"), "a adds one to compare, c compares, / filters")
        yield panel(_Offers(id="chosen"), "compared")

    def show(self, offers: list[Offer], words: str) -> None:
        """Show the `offers` (of `selectable`) that contain all of the words."""
        self._offers, self._words = offers, words
        self.query_one("#offers", Grid).show(offers_table(offers, self._marked, words))
        self.query_one("#chosen", Grid).show(chosen_table(self._marked))

    @property
    def _session(self) -> AgentbenchApp:
        return cast("AgentbenchApp", self.app)

    @property
    def _marked(self) -> list[str]:
        return self._session.shared.marked

    def _at_cursor(self) -> str | None:
        chosen = self.query_one("#chosen", Grid)
        return (chosen if chosen.has_focus else self.query_one("#offers", Grid)).cursor_key

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        """Add the selector on Enter, or drop it."""
        event.stop()
        self.action_mark()

    def action_add(self) -> None:
        """Add the selector at the cursor to the comparison."""
        selector = self._at_cursor()
        if selector is None:
            self.notify("nothing was measured yet: press 2 to run some")
        elif selector in self._marked:
            self.notify(f"{short(selector)} is compared already", markup=False)
        else:
            self.action_mark()

    def action_drop(self) -> None:
        """Remove the selector at the cursor from the comparison."""
        if self._at_cursor() in self._marked:
            self.action_mark()
        else:
            self.notify("the one at the cursor is not compared")

    def action_mark(self) -> None:
        """Add the selector at the cursor, or drop it."""
        selector = self._at_cursor()
        if selector is not None:
            self._session.mark(selector)
            self.show(self._offers, self._words)

    def action_lead(self) -> None:
        """Make the selector at the cursor the control, or the second one."""
        if len(self._marked) < 2:
            self.notify("a control needs another one to be compared with: a adds")
            return
        selector = self._at_cursor()
        lead = selector if selector in self._marked[1:] else self._marked[1]
        self._marked.remove(lead)
        self._marked.insert(0, lead)
        self.show(self._offers, self._words)

    def action_compare(self) -> None:
        """Compare the chosen selectors."""
        if len(self._marked) < 2:
            self.notify("choose two at least: a adds the one at the cursor")
        else:
            self.post_message(self.Wanted())
