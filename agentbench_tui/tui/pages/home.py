"""Home: recent runs, suites and agents, the health of the machine, and first steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal, Vertical

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import money, short_percent
from agentbench_tui.presentation.runs import answers_shown
from agentbench_tui.tui.drawing.grid_data import Cell, Column, GridData, GridRow, Role
from agentbench_tui.tui.drawing.panel import panel
from agentbench_tui.tui.pages.page import NOTHING_YET, Page
from agentbench_tui.tui.widgets.filter_line import FilterLine, holds
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.tui.widgets.sentences import Sentence, Sentences
from agentbench_tui.verdicts.selection.listings import agents_document, runs_document

if TYPE_CHECKING:
    import sqlite3

    from textual.app import ComposeResult

    from agentbench_tui.contracts.listings import ListedAgent
    from agentbench_tui.contracts.runs import RunSummary
    from agentbench_tui.engine.suite.catalog import CatalogEntry
    from agentbench_tui.instruments.doctor import Check

RUNS_SHOWN = 200
FIRST_STEPS = (
    Sentence("run quickstart now: four small agents, about 10 seconds, no key and no cost", "r"),
    Sentence("choose a suite and agents of your own, put load on a server, or stress it", "2"),
    Sentence("say which keys do what, on this page and on every other", "?"),
    Sentence("find any page or command by typing a part of its name", "ctrl+p"),
)
_SHORT_ID = 18
"""Characters of a run's id: its time and some chance, enough to find it by."""
_RUNS = (
    Column("status", "status", 11),
    Column("suites", "suite", 11, flex=2),
    Column("agents", "agents", 11, flex=3),
    Column("progress", "progress", 11, priority=2),
    Column("answers", "right/answered/asked", 20, align="right", priority=3),
    Column("cost", "USD", 9, align="right", flex=1, priority=4),
    Column("verdict", "measured", 17, priority=5),
    Column("started", "when (UTC)", 11),
    Column("id", "run", _SHORT_ID, priority=6),
)
_PROGRESS = [column.key for column in _RUNS].index("progress")
_SUITES = (
    Column("name", "suite", 30, flex=1, has_names=True),
    Column("origin", "from", 8, priority=2),
)
_AGENTS = (
    Column("id", "agent", 12, flex=1, has_names=True),
    Column("versions", "versions", 8, align="right", priority=3),
    Column("runs", "runs", 5, align="right", priority=2),
)
_CHECKS = (Column("name", "", 10, flex=1), Column("finding", "", 12, flex=3))
_STATUS_ROLES: dict[str, Role] = {"running": "accent", "complete": "good", "incomplete": "warn"}
_CHECK_ROLES: dict[str, Role] = {"fail": "bad", "warn": "warn"}


@dataclass(frozen=True, slots=True)
class Overview:
    """Data of the page, from the store."""

    runs: tuple[RunSummary, ...]
    agents: tuple[ListedAgent, ...]


class Home(Page[Overview]):
    """The first page."""

    WITHOUT_STORE: ClassVar[str] = ""
    READS_ALL: ClassVar[bool] = False

    DEFAULT_CSS: ClassVar[str] = """
    Home #first { height: 6; } Home.-narrow #first { height: 9; }
    Home #runs { height: auto; min-height: 6; max-height: 65%; }
    Home.-narrow #runs { height: 1fr; max-height: 100%; }
    Home #below { height: 1fr; min-height: 8; }
    Home #suites { width: 4fr; } Home #agents { width: 3fr; } Home #health { width: 5fr; }
    Home.-narrow #below { display: none; layout: vertical; height: 1fr; }
    Home.-narrow.-below #below { display: block; } Home.-narrow.-below #runs { display: none; }
    Home.-narrow.-below #first { display: none; }
    Home.-narrow.-tall #runs { height: auto; max-height: 50%; }
    Home.-narrow.-tall #runs, Home.-narrow.-tall #below { display: block; }
    Home.-narrow #suites, Home.-narrow #agents, Home.-narrow #health { width: 1fr; }
    """
    BINDINGS: ClassVar = [
        Binding("n", "app.go('new')", "New run"),
        Binding("r", "app.run_quickstart", "First run", tooltip="the quickstart suite, 10 seconds"),
        Binding("x", "mark", "Mark", tooltip="to compare: the run or agent at the cursor"),
        Binding("c", "app.go('compare')", "Compare", tooltip="what is marked"),
        Binding("v", "view", "Panel", tooltip="runs, suites, agents, this machine"),
        Binding("slash", "filter", "Filter", show=False, key_display="/"),
        Binding("y", "copy", "Copy", show=False, tooltip="the id at the cursor"),
        Binding("e", "command", "Command line", show=False, tooltip="that prints the same"),
        Binding("escape", "back", "Runs", show=False),
        Binding("p", "replay", "Replay", show=False, tooltip="the run again, from its beginning"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._found: Overview | None = None
        self._words = ""

    def crumbs(self) -> tuple[str, ...]:
        return ("Home",)

    def content(self) -> ComposeResult:
        yield panel(Sentences(id="first"), "nothing was measured here yet: what to press first")
        yield panel(Grid(id="runs"), "recent runs: enter watches one")
        with Horizontal(id="below"):
            yield panel(Grid(id="suites"), "suites: enter starts one")
            yield panel(Grid(id="agents"), "agents: enter, history")
            with Vertical(id="health"):
                yield panel(Grid(id="checks"), "this machine, as `agentbench doctor` sees it")
        yield FilterLine(id="filter")

    def on_mount(self) -> None:
        first = self.query_one("#first", Sentences)
        first.can_focus = False
        first.show(FIRST_STEPS)
        self._show_first(not self.shared.database.exists())
        self.query_one("#runs", Grid).show(GridData(_RUNS, reason=NOTHING_YET))
        self.query_one("#agents", Grid).show(GridData(_AGENTS, reason="none measured yet"))
        self.query_one("#runs", Grid).focus()
        self.query_one("#checks", Grid).show(GridData(_CHECKS, reason="looking …"))
        self.run_worker(self._look_around, thread=True, group="health")

    def read(self, connection: sqlite3.Connection) -> Overview:
        return Overview(
            runs_document(connection, self.shared.database, RUNS_SHOWN).runs,
            agents_document(connection).agents,
        )

    def show(self, found: Overview) -> None:
        self._found = found
        self._show_first(not found.runs)
        self._show_rows()

    def _show_first(self, empty: bool) -> None:
        self.query_one("#first").display = empty

    def _show_rows(self) -> None:
        found, words = self._found, self._words
        if found is None:
            return
        kept = [run for run in found.runs if holds(words, *_texts_of(run))]
        # Sorting keeps the newest first among equals.
        kept.sort(key=lambda run: run.status != "running")
        this_year = max((run.started_at[:4] for run in kept), default="")
        rows = [_run_row(run, this_year) for run in kept]
        columns: tuple[Column, ...] = _RUNS
        if all(run.status != "running" for run in kept):
            columns = tuple(column for column in _RUNS if column.key != "progress")
            rows = [replace(row, cells=(*row.cells[:_PROGRESS], *row.cells[_PROGRESS + 1 :]))
                    for row in rows]  # fmt: skip
        grid = self.query_one("#runs", Grid)
        reason = f"no run with “{words}”" if words else NOTHING_YET
        grid.show(GridData(columns, rows, reason=reason))
        grid.select(frozenset(row.key for row in rows if f"run:{row.key}" in self.shared.marked))
        agents = [
            GridRow(
                agent.id,
                (
                    agent.id + (" (simulated)" if agent.simulated else ""),
                    str(agent.versions),
                    str(agent.runs),
                ),
            )
            for agent in found.agents
            if holds(words, agent.id)
        ]
        grid = self.query_one("#agents", Grid)
        grid.show(GridData(_AGENTS, agents, reason="none measured yet"))
        grid.select(frozenset(self.shared.marked))

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        """Open the row: watch the run, start the suite, show the agent's history."""
        event.stop()
        if event.key is None:
            return
        if event.grid.id == "runs":
            self.session.watch_run(event.key)
        elif event.grid.id == "suites":
            self.shared.suite = event.key
            self.session.action_go("new")
        elif event.grid.id == "agents":
            self.shared.agent = event.key
            self.session.action_go("history")

    def action_mark(self) -> None:
        """Mark the run or agent at the cursor for a comparison."""
        grid = self.focused
        if not isinstance(grid, Grid) or grid.id not in {"runs", "agents"} or not grid.cursor_key:
            self.notify("put the cursor on a run or an agent to mark it for a comparison")
            return
        selector = grid.cursor_key if grid.id == "agents" else f"run:{grid.cursor_key}"
        self.session.mark(selector)
        self._show_rows()

    def on_filter_line_filtered(self, event: FilterLine.Filtered) -> None:
        self._words = event.words
        self._show_rows()

    def on_filter_line_left(self) -> None:
        self.action_back()

    def action_filter(self) -> None:
        self.query_one(FilterLine).open()

    def action_view(self) -> None:
        """Focus the next panel; on a small screen, show the lower ones instead of the runs."""
        order = ["runs", "suites", "agents", "checks"]
        here = self.focused.id if self.focused is not None else None
        name = order[(order.index(here) + 1) % len(order)] if here in order else order[0]
        self.set_class(name != "runs", "-below")
        self.query_one(f"#{name}", Grid).focus()

    def action_back(self) -> None:
        """Return to the runs."""
        self.remove_class("-below")
        self.query_one("#runs", Grid).focus()

    def action_copy(self) -> None:
        """Copy the id or name at the cursor."""
        grid = self.focused
        if not isinstance(grid, Grid) or not grid.cursor_key:
            self.notify("there is nothing at the cursor to copy")
            return
        self.app.copy_to_clipboard(one_line(grid.cursor_key))
        self.notify(f"copied {one_line(grid.cursor_key)}", markup=False)

    def action_command(self) -> None:
        """Show the command that prints the same in a shell."""
        commands = {
            "suites": "agentbench suites list",
            "agents": "agentbench agents list",
            "checks": "agentbench doctor",
        }
        here = self.focused.id if self.focused is not None else None
        command = commands.get(here or "", "agentbench runs list")
        self.tell_command(command)

    def action_replay(self) -> None:
        """Replay the run at the cursor from its beginning."""
        key = self.query_one("#runs", Grid).cursor_key
        if key is None:
            self.notify("there is no run to replay yet")
        else:
            self.session.watch_run(key, replay=True)

    def _look_around(self) -> None:
        """Read what is not in the store, in a thread."""
        from agentbench_tui.engine.suite.catalog import suite_catalog
        from agentbench_tui.instruments.doctor import diagnose

        suites = suite_catalog()
        self.app.call_from_thread(self._show_suites, suites)
        checks = diagnose(self.shared.database)
        self.app.call_from_thread(self._show_checks, checks)

    def _show_suites(self, suites: list[CatalogEntry]) -> None:
        rows = [
            GridRow(suite.name, (suite.name, suite.origin), role="bad" if suite.fault else "text")
            for suite in suites
        ]
        self._show_found("#suites", GridData(_SUITES, rows))

    def _show_checks(self, checks: list[Check]) -> None:
        order = ("fail", "warn", "ok", "info")
        rows = [
            GridRow(check.name, (f"{_SIGNS[check.status]} {check.name}", check.finding),
                    role=_CHECK_ROLES.get(check.status, "dim"))
            for check in sorted(checks, key=lambda check: order.index(check.status))
        ]  # fmt: skip
        self._show_found("#checks", GridData(_CHECKS, rows))

    def _show_found(self, name: str, data: GridData) -> None:
        """Show the data from a thread, which may end while the page is being removed."""
        for grid in self.query(name).results(Grid):
            grid.show(data)


_SIGNS = {"fail": "!!", "warn": "!", "ok": " ", "info": " "}


def _texts_of(run: RunSummary) -> list[str]:
    """Return the texts that a filter searches."""
    return [run.id, run.status, run.started_at, *run.suite_ids, *run.agents,
            *run.tags]  # fmt: skip


def _progress(run: RunSummary) -> Cell:
    """Return the share of planned questions that a running run has asked."""
    if run.status != "running":
        return Cell("")
    share = min(1.0, (run.observed or 0) / run.planned) if run.planned else None
    return Cell(short_percent(share), bar=share)


def _when(started: str, this_year: str) -> str:
    """Format month, day and minute; with the year if it differs from the newest run's."""
    return started[5:16].replace("T", " ") if started.startswith(this_year) else started[:10]


def _run_row(run: RunSummary, this_year: str = "") -> GridRow:
    role = _STATUS_ROLES.get(run.status, "bad")
    verdict = run.verdict or "–"
    return GridRow(
        run.id,
        (
            Cell(run.status, role=role),
            ", ".join(run.suite_ids),
            ", ".join(run.agents),
            _progress(run),
            answers_shown(run),
            money(run.cost_usd),
            Cell(verdict, role="warn" if verdict not in {"clean", "–"} else None),
            _when(run.started_at, this_year),
            Cell(run.id[:_SHORT_ID], role="dim"),
        ),
    )
