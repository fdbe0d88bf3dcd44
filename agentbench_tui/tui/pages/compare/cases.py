"""Cases that only one of two selectors gets right, with both answers to the one at the cursor."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.binding import Binding, BindingType
from textual.containers import Vertical

from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.store.database import reading
from agentbench_tui.tui.drawing.panel import entitle, panel
from agentbench_tui.tui.pages.cases.detail import CaseDetail
from agentbench_tui.tui.pages.cases.reading import Transcript, beside
from agentbench_tui.tui.pages.compare.rows import cases_table, cases_title
from agentbench_tui.tui.pages.compare.selector_rows import short
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.tui.widgets.transcript import TranscriptView
from agentbench_tui.verdicts.comparison.case_beside import answer_to_case, conversation

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from agentbench_tui.contracts.compare import CaseDisagreement, ComparedBenchmark, Pair
    from agentbench_tui.tui.pages.page import Page
    from agentbench_tui.verdicts.evidence.place import Place


class CasesBeside(Vertical):
    """The list above, the transcripts below; Enter focuses these, and on a small screen they then
    take the full height.
    """

    SCOPED_CSS: ClassVar[bool] = False
    DEFAULT_CSS: ClassVar[str] = """
    CasesBeside #apart { height: 1fr; min-height: 5; }
    CasesBeside #beside { height: 2fr; }
    .-low CasesBeside.-reading #apart { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "detail", "Answer", show=False, tooltip="its scores and where time went")
    ]

    def __init__(self, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._pair: Pair | None = None
        self._answers: tuple[int, ...] = ()
        """Those whose transcripts are shown, by `seq`."""

    def compose(self) -> ComposeResult:
        yield panel(Grid(id="apart"), "cases that only one gets right")
        yield panel(TranscriptView(id="beside"), "transcripts, A and B")

    def show(self, pair: Pair, place: Place | None, words: str) -> None:
        """Show the cases of a pair of the document, at one place or at all of them."""
        self._pair = pair
        cases = self.query_one("#apart", Grid)
        entitle(cases, f"{cases_title(pair, place)}; enter reads both")
        cases.show(cases_table(pair, place, words))
        self._read(cases.cursor_key)

    def enter(self) -> None:
        """Focus the list."""
        self.remove_class("-reading")
        self.query_one("#apart", Grid).focus()

    def leave_transcripts(self) -> bool:
        """Go back to the list; return False if it is already focused."""
        was_reading = self.query_one("#beside", TranscriptView).has_focus
        if was_reading:
            self.enter()
        return was_reading

    def on_grid_moved(self, event: Grid.Moved) -> None:
        """Show the case at the cursor."""
        event.stop()
        self._read(event.key)

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        """Focus both transcripts on Enter."""
        event.stop()
        self.add_class("-reading")
        self.query_one("#beside", TranscriptView).focus()

    def action_detail(self) -> None:
        """Open everything stored about the answers, one after another."""
        if self._answers:
            self.app.push_screen(CaseDetail(self._answers, 0))
        else:
            self.notify("there is no answer to this case")

    def _read(self, key: str | None) -> None:
        """Read both transcripts of a case, in a thread; only while they are visible."""
        pair = self._pair
        if key is None or pair is None or not self.display:
            return
        number, _, case_id = key.partition("/")
        of = pair.benchmarks[int(number)]
        apart = () if of.disagreements is None else of.disagreements.first
        case = next((one for one in apart if one.case_id == case_id), None)
        if case is not None:
            self.run_worker(
                lambda: self._transcripts(pair, of, case), thread=True, group="case", exclusive=True
            )

    def _transcripts(self, pair: Pair, of: ComparedBenchmark, case: CaseDisagreement) -> None:
        page = cast("Page[Any]", self.screen)
        try:
            with reading(page.shared.database) as connection:
                found = {
                    label: answer_to_case(
                        connection, executions.execution_ids, case.case_id, right=said.right > 0.5
                    )
                    for label, executions, said in (
                        (pair.a, of.a, case.a),
                        (pair.b, of.b, case.b),
                    )
                }
        except (AgentbenchError, sqlite3.Error) as error:
            self.app.call_from_thread(page.tell, str(error))
            return
        sides = [
            Transcript(short(label), () if row is None else conversation(row))
            for label, row in found.items()
        ]
        answers = tuple(row["seq"] for row in found.values() if row is not None)
        self.app.call_from_thread(self._show, case.case_id, sides, answers)

    def _show(self, case_id: str, sides: list[Transcript], answers: tuple[int, ...]) -> None:
        self._answers = answers
        view = self.query_one("#beside", TranscriptView)
        entitle(view, f"case {case_id}, A and B; n: the next difference, enter: scores and timing")
        view.show(beside(*sides))
