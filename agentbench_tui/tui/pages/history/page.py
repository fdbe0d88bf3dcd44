"""History: whether an agent is better or worse than before, since when, and what to do about it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal, Vertical

from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.regressions import place_words
from agentbench_tui.store.database import reading
from agentbench_tui.store.queries.baselines import DEFAULT
from agentbench_tui.store.writes.baselines import keep_accepted, keep_baseline
from agentbench_tui.tui.dialogs.asking import Sure
from agentbench_tui.tui.dialogs.choice import Choice
from agentbench_tui.tui.drawing.grid_data import GridData
from agentbench_tui.tui.drawing.panel import entitle, panel
from agentbench_tui.tui.pages.history.found import Found, look_up
from agentbench_tui.tui.pages.history.plot import course_plot
from agentbench_tui.tui.pages.history.rows import (
    after,
    agents_table,
    alarms_table,
    before_and_now,
    finding_sentences,
    findings_table,
    key_of,
    verdict_sentences,
    versions_table,
)
from agentbench_tui.tui.pages.page import NOTHING_YET, Page
from agentbench_tui.tui.widgets.filter_line import FilterLine
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.tui.widgets.plot import Plot, PlotData
from agentbench_tui.tui.widgets.sentences import Sentences
from agentbench_tui.verdicts.regression.alarms import Standing, standings
from agentbench_tui.verdicts.regression.baseline import baseline_of_selector, target_words
from agentbench_tui.verdicts.regression.metric_series import (
    Series,
    acceptable_at,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from textual.app import ComposeResult

    from agentbench_tui.store.queries.baselines import AcceptedChange


class History(Page[Found]):
    """One agent's runs over time, with every agent's state at the side."""

    EVERY_S: ClassVar[float] = 3.0
    DEFAULT_CSS: ClassVar[str] = """
    History #main { width: 1fr; }
    History #course { height: 1fr; min-height: 8; }
    History #findings { height: auto; min-height: 6; max-height: 14; }
    History.-huge #findings { max-height: 18; }
    History.-low #findings { max-height: 9; }
    History #side { width: 46; }
    History.-huge #side { width: 72; }
    History #verdict { height: 1fr; min-height: 6; }
    History #finding { height: 13; }
    History #alarms { height: 9; }
    History.-low #finding { height: 7; } History.-low #alarms { height: 6; }
    History.-narrow #side { display: none; width: 1fr; }
    History.-narrow.-detailed #side { display: block; }
    History.-narrow.-detailed #main { display: none; }
    """
    BINDINGS: ClassVar = [
        Binding("a", "agent", "Agent", tooltip="another one"),
        Binding("b", "benchmark", "Benchmark", tooltip="the next one"),
        Binding("o", "metric", "Metric", tooltip="the next one"),
        Binding("B", "baseline", "Baseline", tooltip="a version that all later runs are held to"),
        Binding("A", "accept", "Accept", tooltip="the change at the cursor as the new level"),
        Binding("g", "time", "Order or time", show=False, tooltip="how runs lie in the plot"),
        Binding("s", "sort", "Sort", show=False, tooltip="the worst first, or by benchmark"),
        Binding("slash", "filter", "Filter", show=False, key_display="/"),
        Binding("v", "view", "Panel", show=False, tooltip="the next one"),
        Binding("x", "mark", "Mark", show=False, tooltip="this agent, to compare it"),
        Binding("c", "app.go('compare')", "Compare", show=False, tooltip="those marked"),
        Binding("y", "copy", "Copy", show=False, tooltip="the finding at the cursor"),
        Binding("e", "command", "Command line", show=False, tooltip="that prints the same"),
        Binding("escape", "back", "Plot", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._found: Found | None = None
        self._series: dict[str, Series] = {}
        self._at: str | None = None
        """Key of the finding that is shown."""
        self._by_time = False
        self._worst_first = True
        self._words = ""
        self._standings: list[Standing] = []

    def crumbs(self) -> tuple[str, ...]:
        if self._found is None or not self._found.agent:
            return ("History",)
        return ("History", self._found.agent)

    def content(self) -> ComposeResult:
        with Horizontal():
            with Vertical(id="main"):
                yield panel(Plot(id="course"), "a metric over the runs")
                yield panel(Grid(id="findings"), "findings: enter compares before and now")
            with Vertical(id="side"):
                yield panel(Sentences(id="verdict"), "verdict and health, 0 to 100")
                yield panel(Sentences(id="finding"), "the finding at the cursor")
                yield panel(Grid(id="alarms"), "all agents, worst first: enter opens")
        yield FilterLine(id="filter")

    def on_mount(self) -> None:
        self.query_one("#findings", Grid).focus()
        self.query_one("#alarms", Grid).show(alarms_table(()))

    def read(self, connection: sqlite3.Connection) -> Found:
        return look_up(connection, self.shared.agent, self._found)

    def show(self, found: Found) -> None:
        if found is self._found:
            self.tell(found.problem if found.agent else NOTHING_YET)
            return
        if self._found is None or self._found.agent != found.agent:
            self._at = None
        self._found = found
        self.tell(found.problem if found.agent else NOTHING_YET)
        self._show_findings()
        if found.course is None:
            self.query_one("#course", Plot).show(PlotData(reason=found.problem or NOTHING_YET))
            self.query_one("#verdict", Sentences).show(())
        else:
            self.query_one("#verdict", Sentences).show(verdict_sentences(found.course))
        known = found.course.standing if found.course else None
        self.run_worker(
            lambda: self._look_at_all(known), thread=True, group="alarms", exclusive=True
        )

    def _show_findings(self) -> None:
        course = self._found.course if self._found else None
        grid = self.query_one("#findings", Grid)
        if course is None:
            self._series = {}
            grid.show(GridData(reason="nothing to judge yet"))
            self._show_one()
            return
        self._series = {key_of(one): one for one in course.series}
        table = findings_table(course, self._words, worst_first=self._worst_first)
        grid.show(table)
        if self._at is None and table.rows:
            grid.move_to(table.rows[0].key)
        self._at = grid.cursor_key
        self._show_one()

    def _show_one(self) -> None:
        """Show the finding at the cursor with its plot."""
        one = self._series.get(self._at or "")
        plot, facts = self.query_one("#course", Plot), self.query_one("#finding", Sentences)
        if one is None:
            facts.show(())
            return
        where = f"{one.metric} of {place_words(one.finding)}"
        drawn = course_plot(one, by_time=self._by_time)
        order = f"in {drawn.x_label}" if self._by_time else "colors are versions"
        entitle(plot, f"{where}: {counted(len(one.points), 'run')}, {order}")
        plot.show(drawn)
        entitle(facts, where)
        facts.show(finding_sentences(one))

    def _look_at_all(self, known: Standing | None) -> None:
        """Read the state of every agent, in a thread; that of the shown one is known."""
        try:
            with reading(self.shared.database) as connection:
                found = standings(connection, known=known)
        except AgentbenchError as error:
            self.app.call_from_thread(self.tell, str(error))
            return
        self.app.call_from_thread(self._show_alarms, found)

    def _show_alarms(self, found: list[Standing]) -> None:
        self._standings = found
        if self.is_attached:
            self.query_one("#alarms", Grid).show(alarms_table(found))

    def on_grid_moved(self, event: Grid.Moved) -> None:
        """Show the plot of the finding at the cursor."""
        if event.grid.id == "findings" and event.key is not None and event.key != self._at:
            self._at = event.key
            self._show_one()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        """Open the agent, or a comparison of the runs before and after the change."""
        event.stop()
        if event.grid.id == "alarms":
            self._choose_agent(event.key)
        elif event.grid.id == "findings":
            self._compare(self._series[event.key])

    def _compare(self, one: Series) -> None:
        """Compare the newest run with the one before its change, the earlier as the control."""
        sides = before_and_now(one, self._found.agent) if self._found else None
        if sides is None:
            self.notify("one run has nothing to be compared with: run again after a change")
            return
        self.shared.marked[:] = sides
        self.session.action_go("compare")

    def _choose_agent(self, agent: str | None) -> None:
        if agent is not None:
            self.shared.agent, self._at = agent, None
            self.remove_class("-detailed")
            self.query_one("#findings", Grid).focus()
            self.reload()

    def action_agent(self) -> None:
        """Choose an agent."""
        agents = self._found.agents if self._found else []
        if not agents:
            self.notify(NOTHING_YET)
            return
        at = self._found.agent if self._found else None
        choice = Choice("whose history", agents_table(agents), at)
        self.app.push_screen(choice, self._choose_agent)

    def action_benchmark(self) -> None:
        """Show the next benchmark, with the same metric if it has it."""
        self._step("benchmarks")

    def action_metric(self) -> None:
        """Show the next metric of this benchmark."""
        self._step("metrics of this benchmark")

    def _step(self, what: str) -> None:
        at = self._series.get(self._at or "")
        chosen = at and after(list(self._series.values()), at, by_place=what == "benchmarks")
        if chosen is None:
            self.notify(f"there are no other {what}")
            return
        self._at = key_of(chosen)
        self.query_one("#findings", Grid).move_to(self._at)
        self._show_one()

    def action_time(self) -> None:
        """Show runs in order, or by time."""
        self._by_time = not self._by_time
        self.notify("runs by time" if self._by_time else "runs in their order", timeout=2)
        self._show_one()

    def action_sort(self) -> None:
        """Sort the worst first, or by benchmark."""
        self._worst_first = not self._worst_first
        self._show_findings()

    def action_filter(self) -> None:
        self.query_one(FilterLine).open()

    def on_filter_line_filtered(self, event: FilterLine.Filtered) -> None:
        self._words = event.words
        self._show_findings()

    def on_filter_line_left(self) -> None:
        self.query_one("#findings", Grid).focus()

    def action_view(self) -> None:
        """Focus the next panel; on a small screen, show the other half of the page."""
        if self.has_class("-narrow"):
            self.toggle_class("-detailed")
            first = "#verdict" if self.has_class("-detailed") else "#findings"
            self.query_one(first).focus()
        else:
            self.focus_next()

    def action_back(self) -> None:
        """Show the plot, if only the side is shown."""
        self.remove_class("-detailed")
        self.query_one("#findings", Grid).focus()

    def action_mark(self) -> None:
        """Mark this agent in the judged version."""
        if self._found is None or self._found.course is None:
            self.notify("there is nothing here to mark yet")
            return
        document = self._found.course.document
        self.session.mark(f"{document.agent}@{document.version}")

    def action_copy(self) -> None:
        """Copy the finding at the cursor in words."""
        one = self._series.get(self._at or "")
        if one is None:
            self.notify("there is no finding here to copy yet")
            return
        said = "; ".join(f"{line.label} {line.words}" for line in finding_sentences(one))
        where = f"{one.metric} of {place_words(one.finding)}"
        self.app.copy_to_clipboard(one_line(f"{where}: {said}", 2000))
        self.notify("copied the finding")

    def action_command(self) -> None:
        """Show the command that prints the same in a shell."""
        agent = shlex.quote(self._found.agent) if self._found and self._found.agent else ""
        command = f"agentbench regressions {agent}".strip()
        self.tell_command(command)

    def action_baseline(self) -> None:
        """Choose the version as baseline for later runs."""
        course = self._found.course if self._found else None
        if course is None:
            self.notify("there is nothing yet that could be a baseline")
            return
        title = f"version to compare {course.agent} with from now on"
        self.app.push_screen(Choice(title, versions_table(course)), self._set_baseline)

    def _set_baseline(self, version: str | None) -> None:
        if version is None or self._found is None:
            return
        selector = f"{self._found.agent}@{version}"

        def keep() -> str:
            with reading(self.shared.database) as connection:
                found = baseline_of_selector(connection, selector, DEFAULT, None, None)
            keep_baseline(self.shared.database, found)
            return f"baseline of {found.agent_id}: {target_words(found)}"

        self._write(keep)

    def action_accept(self) -> None:
        """Accept the change at the cursor, after asking."""
        one = self._series.get(self._at or "")
        if one is None or self._found is None:
            self.notify("there is no finding here to accept yet")
            return
        verdict = one.finding.verdict
        if verdict not in {"regression", "improvement", "suspect"}:
            self.notify(f"'{verdict}' is not a change that can be accepted", markup=False)
            return
        agent = self._found.agent

        def look() -> None:
            try:
                with reading(self.shared.database) as connection:
                    changes = acceptable_at(connection, agent, one.place, one.metric)
            except AgentbenchError as error:
                self.app.call_from_thread(self.tell, str(error))
                return
            self.app.call_from_thread(self._ask_to_accept, agent, changes)

        self.run_worker(look, thread=True, group="write")

    def _ask_to_accept(self, agent: str, changes: list[AcceptedChange]) -> None:
        if not changes:
            self.notify("the change cannot be accepted, because its start is unknown")
            return
        one = changes[0]
        question = (
            f"Accept {one.metric} of {one.benchmark_id} since {one.since[:16]} as its new level?"
            f" Earlier runs are no longer used for comparison."
            f" `agentbench baseline accept {agent} --undo` undoes it."
        )
        sure = Sure(one_line(question, 400))
        self.app.push_screen(sure, lambda meant: self._accept(meant, changes))

    def _accept(self, sure: bool | None, changes: list[AcceptedChange]) -> None:
        def keep() -> str:
            keep_accepted(self.shared.database, changes)
            return f"accepted {changes[0].metric} of {changes[0].benchmark_id} as its new level"

        if sure:
            self._write(keep)

    def _write(self, keep: Callable[[], str]) -> None:
        """Write in a thread, since another process may hold the store; then read again."""

        def write() -> None:
            try:
                words = keep()
            except AgentbenchError as error:
                self.app.call_from_thread(self.tell, str(error))
                return
            self.app.call_from_thread(self.notify, one_line(words), markup=False)
            self.app.call_from_thread(self.reload)

        self.run_worker(write, thread=True, group="write")
