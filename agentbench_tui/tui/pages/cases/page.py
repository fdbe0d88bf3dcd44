"""Cases: the answers of one execution, filtered and sorted; for a load its slowest requests."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec.structs import replace
from textual.binding import Binding
from textual.containers import Horizontal

from agentbench_tui.model.text.untrusted import one_line, visible
from agentbench_tui.presentation.numbers import quantity
from agentbench_tui.store.queries.answer_pages import (
    MOST_SEARCHED,
    PAGE_ROWS,
    AnswerPage,
    Wanted,
    answer_page,
    count_wanted,
    seqs_of_case,
)
from agentbench_tui.store.queries.load import stored_requests
from agentbench_tui.store.queries.runs import failures_of, metrics_of
from agentbench_tui.tui.drawing.panel import entitle, panel
from agentbench_tui.tui.pages.cases.detail import CaseDetail
from agentbench_tui.tui.pages.cases.rows import (
    answers_table,
    failure_sentences,
    preview_of,
    sample_sentences,
    samples_table,
)
from agentbench_tui.tui.pages.execution_page import ExecutionPage, Looked
from agentbench_tui.tui.widgets.filter_line import FilterLine
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.tui.widgets.sentences import Sentences
from agentbench_tui.verdicts.load.slow_samples import SlowSamples, slow_samples

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from textual.app import ComposeResult

    from agentbench_tui.store.queries.answer_pages import Sort, Which

SORTS: tuple[Sort, ...] = ("order", "time", "credit", "tokens", "cost")
_SORTED = {
    "order": "as they came",
    "time": "slowest first",
    "credit": "least credit first",
    "tokens": "most tokens first",
    "cost": "dearest first",
}
_CHOSEN = {
    "all": "answers",
    "wrong": "wrong answers",
    "failed": "failures",
    "slow": "answers over p95",
    "apart": "answers of cases judged differently each time",
}
_PREVIEW = "at the cursor"
_NO_P95 = "the p95 latency of this execution is unknown: it has too few answers or is still running"


@dataclass(frozen=True, slots=True)
class Answers:
    """The shown data of an execution."""

    page: AnswerPage
    count: int | None
    """Number on all pages; not counted during a search."""
    failures: Mapping[str, int]
    p95_ms: float | None
    load: SlowSamples | None = None
    """Result of `slow_samples`, instead of answers."""
    led: tuple[int, ...] = ()
    """The answers to the case that another page led to."""


class Cases(ExecutionPage[Answers]):
    """The list of answers, with the one at the cursor next to it."""

    NAME = "Cases"
    DEFAULT_CSS: ClassVar[str] = """
    Cases #answers { width: 2fr; }
    Cases #preview { width: 1fr; }
    Cases.-narrow #preview { display: none; }
    Cases.-narrow.-preview #answers { display: none; }
    Cases.-narrow.-preview #preview { display: block; }
    """
    BINDINGS: ClassVar = [
        Binding("slash", "filter", "Filter", key_display="/", tooltip="text in id, input, answer"),
        Binding("w", "choose('wrong')", "Wrong"),
        Binding("f", "failed", "Failed", tooltip="then by kind"),
        Binding("s", "sort", "Sort", show=False, tooltip="time, credit, tokens, cost"),
        Binding("b", "choose('slow')", "Slow", show=False, tooltip="slower than the p95"),
        Binding("d", "choose('apart')", "Disagreeing", show=False,
                tooltip="cases whose repeats were judged differently"),
        Binding("a", "choose('all')", "All", show=False),
        Binding("greater_than_sign", "page(1)", "Next page", show=False, key_display=">"),
        Binding("less_than_sign", "page(-1)", "Page before", show=False, key_display="<"),
        Binding("v", "view", "Panel", show=False, tooltip="list, then the answer at the cursor"),
        Binding("y", "copy", "Copy", show=False, tooltip="the case's id and answer at the cursor"),
        Binding("e", "command", "Command line", show=False, tooltip="that prints the same"),
        Binding("escape", "back", "List", show=False),
    ]  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._query = Wanted()
        self._pages: list[tuple[float, int] | None] = [None]
        """Start of each page up to this one."""

    def content(self) -> ComposeResult:
        with Horizontal():
            yield panel(Grid(id="answers"), "answers")
            yield panel(Sentences(id="preview"), _PREVIEW)
        yield FilterLine(id="filter")

    def on_mount(self) -> None:
        self.query_one("#answers", Grid).focus()

    def execution_changed(self) -> None:
        self._query = replace(self._query, kind=None, slow_ms=None)
        self._pages = [None]

    def read_execution(self, connection: sqlite3.Connection, execution: dict[str, Any]) -> Answers:
        key = execution["key"]
        if sum(stored_requests(connection, key)):
            load = slow_samples(connection, execution, self._query.kind)
            return Answers(AnswerPage([], None), None, load.failures, None, load)
        wanted = self._query
        p95 = metrics_of(connection, key).get("e2e_ms.p95", {}).get("value")
        if wanted.which == "slow":
            wanted = replace(wanted, slow_ms=p95)
        page = answer_page(connection, key, wanted, self._pages[-1], PAGE_ROWS)
        count = None if wanted.words else count_wanted(connection, key, wanted)
        lead = self.lead
        led = seqs_of_case(connection, key, lead.case) if lead is not None and lead.case else ()
        return Answers(page, count, failures_of(connection, key), p95, led=led)

    def show_execution(self, looked: Looked[Answers]) -> None:
        grid, seen = self.query_one("#answers", Grid), looked.seen
        if seen.load is not None:
            entitle(grid, f"{looked.title}: {self._load_words(seen.load)}")
            grid.show(samples_table(seen.load, "no request ended so: a shows all"))
        else:
            entitle(grid, f"{looked.title}: {self._words(seen)}")
            reason = f"no {_CHOSEN[self._query.which]} here: a shows all answers"
            grid.show(answers_table(seen.page.rows, self._query.sort, reason))
            self._follow(seen.led)
        self._preview(grid.cursor_key)

    def _follow(self, led: tuple[int, ...]) -> None:
        """Open the answer that another page linked to."""
        lead = self.lead
        if lead is None or not lead.case:
            return
        if not led:
            case = one_line(lead.case, 60)
            self.notify(f"case {case} has no answer yet; those that are there are listed")
            return
        at = led.index(lead.answer) if lead.answer in led else 0
        self.query_one("#answers", Grid).move_to(str(led[at]))
        self.app.push_screen(CaseDetail(led, at))

    def on_grid_moved(self, event: Grid.Moved) -> None:
        """Show the answer at the cursor."""
        event.stop()
        self._preview(event.key)

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        """Show the answer in full on Enter."""
        event.stop()
        if self.looked is None:
            return
        if self.looked.seen.load is not None:
            self.notify("a load stores request times but no answers; there is nothing to open")
            return
        seqs = [row["seq"] for row in self.looked.seen.page.rows]
        seq = int(event.key)
        if seq in seqs:
            self.app.push_screen(CaseDetail(seqs, seqs.index(seq)))

    def on_grid_title_clicked(self, event: Grid.TitleClicked) -> None:
        """Sort by the clicked column."""
        event.stop()
        for sort in SORTS:
            if sort == event.column:
                self._ask(replace(self._query, sort=sort))

    def on_filter_line_filtered(self, event: FilterLine.Filtered) -> None:
        """Apply other filter words."""
        event.stop()
        self._ask(replace(self._query, words=event.words))

    def on_filter_line_left(self, event: FilterLine.Left) -> None:
        """Return to the list."""
        event.stop()
        self.query_one("#answers", Grid).focus()

    def action_filter(self) -> None:
        """Open the filter for words that the answers must contain."""
        if self._is_load():
            self.notify("a load keeps no words to look for: f chooses by how requests ended")
        else:
            self.query_one("#filter", FilterLine).open()

    def action_choose(self, which: Which) -> None:
        """Show only some of the answers; pressed again, all."""
        if self._is_load() and which != "all":
            self.notify("requests of a load are not judged: f chooses by how they ended")
            return
        if which == "slow" and (self.looked is None or self.looked.seen.p95_ms is None):
            self.notify(_NO_P95)
            return
        again = which == self._query.which
        self._ask(replace(self._query, which="all" if again else which, kind=None))

    def action_failed(self) -> None:
        """Show failures: all, then one kind after another, then all answers again."""
        kinds = [] if self.looked is None else [*self.looked.seen.failures]
        if not kinds:
            self.notify("nothing failed here")
            return
        choices: list[str | None] = [*kinds] if self._is_load() else [None, *kinds]
        at = -1
        if self._query.which == "failed" and self._query.kind in choices:
            at = choices.index(self._query.kind)
        if at + 1 == len(choices):
            self._ask(replace(self._query, which="all", kind=None))
        else:
            self._ask(replace(self._query, which="failed", kind=choices[at + 1]))

    def action_sort(self) -> None:
        """Sort by the next column."""
        if self._is_load():
            self.notify("of a load the slowest requests are shown, the slowest first")
            return
        sort = SORTS[(SORTS.index(self._query.sort) + 1) % len(SORTS)]
        self._ask(replace(self._query, sort=sort))

    def action_page(self, by: int) -> None:
        """Show the next or previous thousand."""
        after = None if self.looked is None else self.looked.seen.page.after
        if by > 0 and after is None:
            self.notify("there is no further page")
        elif by < 0 and len(self._pages) == 1:
            self.notify("this is the first page")
        else:
            self._pages = [*self._pages, after] if by > 0 else self._pages[:-1]
            self.query_one("#answers", Grid).action_end(0)
            self.reload()

    def action_view(self) -> None:
        """Focus the list, then the answer at the cursor."""
        self.toggle_class("-preview")
        at = "#preview" if self.has_class("-preview") else "#answers"
        self.query_one(at).focus()

    def action_back(self) -> None:
        """Return to the list; from there, to all answers."""
        if self.has_class("-preview"):
            self.action_view()
        elif self._query != Wanted():
            self.query_one("#filter", FilterLine).action_clear()
            self._ask(Wanted())

    def action_copy(self) -> None:
        """Copy id and answer at the cursor."""
        row = self._row(self.query_one("#answers", Grid).cursor_key)
        if row is None:
            self.notify("there is nothing at the cursor to copy")
            return
        words = f"{row['case_id']}\t{row['said'] or ''}"
        self.app.copy_to_clipboard(visible(words))
        self.notify("copied id and answer; enter and y copies a long answer whole")

    def action_command(self) -> None:
        """Show the command line that prints the same."""
        if self.looked is None:
            self.notify("no run is here to print")
            return
        one = self.looked.execution
        what = "samples" if self._is_load() else "show"
        options = [] if self._is_load() else ["--answers"]
        options += ["--wrong"] if self._query.which == "wrong" else []
        parts = ["agentbench", "runs", what, self.looked.run["id"], *options]
        parts += ["--agent", one["agent_id"], "--benchmark", one["benchmark_id"]]
        self.tell(shlex.join(parts))

    def _ask(self, wanted: Wanted) -> None:
        self._query, self._pages = wanted, [None]
        self.reload()

    def _is_load(self) -> bool:
        return self.looked is not None and self.looked.seen.load is not None

    def _row(self, key: str | None) -> dict[str, Any] | None:
        if self.looked is None or key is None:
            return None
        rows = self.looked.seen.page.rows
        return next((row for row in rows if str(row["seq"]) == key), None)

    def _preview(self, key: str | None) -> None:
        view = self.query_one("#preview", Sentences)
        if self.looked is not None and (load := self.looked.seen.load) is not None:
            row = next((one for one in load.rows if str(one.number) == key), None)
            entitle(view, "this request, and failures by kind")
            failures = load.failures
            view.show(failure_sentences(failures) if row is None
                      else sample_sentences(row, failures))  # fmt: skip
            return
        entitle(view, _PREVIEW)
        found = self._row(key)
        view.show([] if found is None else preview_of(found))

    def _words(self, seen: Answers) -> str:
        """Format `wrong answers 1–1,000 of 12,345, slowest first`."""
        what = _CHOSEN[self._query.which]
        if self._query.kind is not None:
            what = f"{what} of kind {self._query.kind}"
        if self._query.which == "slow":
            what = f"{what}, {quantity(seen.p95_ms, 'ms')}"
        first = (len(self._pages) - 1) * PAGE_ROWS
        shown = len(seen.page.rows)
        of = "" if seen.count is None else f" of {seen.count:,}"
        place = f" {first + 1:,}–{first + shown:,}{of}" if shown else ""
        more = ", > shows more" if seen.page.after is not None else ""
        found = ""
        if self._query.words:
            found = f" with '{self._query.words}'"
            if self.looked is not None and self.looked.execution["observed"] > MOST_SEARCHED:
                found += f" (of the first {MOST_SEARCHED:,})"
        return f"{what}{found}{place}, {_SORTED[self._query.sort]}{more}"

    def _load_words(self, load: SlowSamples) -> str:
        kind = "" if self._query.kind is None else f" that ended {self._query.kind}"
        read = "" if load.read == load.of else f", of the first {load.read:,}"
        return f"the slowest {len(load.rows):,}{kind} of {load.of:,} requests{read}"
