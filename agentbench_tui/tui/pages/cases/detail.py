"""One answer in full: the conversation, the scores, and the use of its time."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal, Vertical

from agentbench_tui.model.errors import UsageError
from agentbench_tui.model.text.untrusted import visible
from agentbench_tui.presentation.numbers import from_one
from agentbench_tui.store.queries.answer_pages import observation_at
from agentbench_tui.tui.drawing.panel import entitle, panel
from agentbench_tui.tui.pages.cases.rows import (
    facts_of,
    judged,
    transcript_of,
    waterfall_of_answer,
)
from agentbench_tui.tui.pages.page import Page
from agentbench_tui.tui.widgets.facts import Facts, FactsData
from agentbench_tui.tui.widgets.sentences import Sentences
from agentbench_tui.tui.widgets.transcript import TranscriptView
from agentbench_tui.tui.widgets.waterfall import WaterfallView

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from textual.app import ComposeResult

PANELS = ("transcript", "judged", "waterfall")
_LONGEST_COPY = 100_000


class CaseDetail(Page[dict[str, Any]]):
    """Shown over the list of answers; Esc goes back."""

    DEFAULT_CSS: ClassVar[str] = """
    CaseDetail #facts { height: 4; }
    CaseDetail.-narrow #facts { height: 6; }
    CaseDetail #transcript { width: 3fr; }
    CaseDetail #right { width: 2fr; }
    CaseDetail #judged { height: 1fr; } CaseDetail #waterfall { height: 1fr; }
    CaseDetail.-tall #facts { height: 6; }
    CaseDetail.-huge #right { width: 3fr; }
    CaseDetail.-narrow #transcript { width: 1fr; }
    CaseDetail.-narrow #right { display: none; width: 1fr; }
    CaseDetail.-narrow.-judged #transcript, CaseDetail.-narrow.-waterfall #transcript {
        display: none;
    }
    CaseDetail.-narrow.-judged #right, CaseDetail.-narrow.-waterfall #right { display: block; }
    CaseDetail.-narrow.-judged #waterfall { display: none; }
    CaseDetail.-narrow.-waterfall #judged { display: none; }
    """
    BINDINGS: ClassVar = [
        Binding("escape", "app.pop_screen", "Back"),
        # The transcript has a use for n, where two stand beside each other.
        Binding("n", "step(1)", "Next case", priority=True),
        Binding("p", "step(-1)", "Previous", priority=True),
        Binding("N", "step(-1)", "Previous case", show=False, priority=True),
        Binding("v", "view", "Panel", tooltip="transcript, scores, timing"),
        Binding("y", "copy", "Copy answer"),
        Binding("i", "copy_id", "Copy id", show=False),
        Binding("e", "command", "Command line", show=False, tooltip="that prints the same"),
    ]

    def __init__(self, seqs: Sequence[int], at: int) -> None:
        """Show the answer at index `at` of a list."""
        super().__init__()
        self._seqs = seqs
        self._at = at
        self._row: dict[str, Any] | None = None
        self._view = PANELS[0]

    def crumbs(self) -> tuple[str, ...]:
        name = "" if self._row is None else self._row["case_id"]
        return ("Cases", name, f"{self._at + 1:,} of {len(self._seqs):,}")

    def content(self) -> ComposeResult:
        yield panel(Facts(id="facts"), "this answer")
        with Horizontal():
            yield panel(TranscriptView(id="transcript"), "transcript, tool calls with results")
            with Vertical(id="right"):
                yield panel(Sentences(id="judged"), "scores with reasons, attempts, failures")
                yield panel(WaterfallView(id="waterfall"), "time since it was first sent")

    def on_mount(self) -> None:
        self.query_one("#transcript").focus()

    def store_changed(self) -> None:
        """Do nothing: an answer does not change."""

    def read(self, connection: sqlite3.Connection) -> dict[str, Any]:
        found = observation_at(connection, self._seqs[self._at])
        if found is None:
            raise UsageError("this answer is gone: its run was removed from the store")
        return found

    def show(self, found: dict[str, Any]) -> None:
        self._row = found
        asked = f"repeat {from_one(found['repeat'])}, iteration {from_one(found['iteration'])}"
        facts = self.query_one("#facts", Facts)
        entitle(facts, f"case {found['case_id']}, {asked}")
        facts.show(FactsData(facts_of(found)))
        self.query_one("#transcript", TranscriptView).show(transcript_of(found))
        self.query_one("#judged", Sentences).show(judged(found))
        waterfall = self.query_one("#waterfall", WaterfallView)
        waterfall.first = 0
        waterfall.show(waterfall_of_answer(found))

    def action_step(self, by: int) -> None:
        """Show the next answer of the list, or the previous one."""
        at = self._at + by
        if not 0 <= at < len(self._seqs):
            self.notify("this is the last one of the list" if by > 0 else "this is the first one")
            return
        self._at = at
        self.reload()

    def action_view(self) -> None:
        """Focus the next panel if all fit, else show it."""
        self._view = PANELS[(PANELS.index(self._view) + 1) % len(PANELS)]
        for name in PANELS[1:]:
            self.set_class(name == self._view, f"-{name}")
        self.query_one(f"#{self._view}").focus()

    def action_copy(self) -> None:
        """Copy the answer's sanitized text."""
        answer = {} if self._row is None else self._row["answer"] or {}
        said = answer.get("text") or ""
        if not said:
            self.notify("there is no text to copy: the answer has none")
            return
        self.app.copy_to_clipboard(visible(said, _LONGEST_COPY))
        self.notify("copied the answer")

    def action_command(self) -> None:
        """Show the command line that prints the case."""
        if self._row is not None:
            parts = ["agentbench", "runs", "show", self._row["run_id"]]
            self.tell(shlex.join([*parts, "--case", self._row["case_id"]]))

    def action_copy_id(self) -> None:
        """Copy the case's id."""
        if self._row is not None:
            self.app.copy_to_clipboard(visible(self._row["case_id"]))
            self.notify("copied the case's id")
