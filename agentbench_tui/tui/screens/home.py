"""Home: recent runs, suites and agents, the health of the box, and what to do first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal, Vertical

from agentbench_tui.store.queries import list_agents
from agentbench_tui.tui.grid_data import Cell, Column, GridData, GridRow, Role
from agentbench_tui.tui.screens.page import NOTHING_YET, Page
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.verdicts.figures import dollars
from agentbench_tui.verdicts.run_list import answers_shown, runs_document

if TYPE_CHECKING:
    import sqlite3

    from textual.app import ComposeResult

    from agentbench_tui.engine.catalogue import CatalogueEntry
    from agentbench_tui.instruments.doctor import Check

RUNS_SHOWN = 200
_SHORT_ID = 18
"""Characters of a run's id: its time and some chance, enough to find it by."""
_RUNS = (
    Column("status", "status", 13),
    Column("suites", "suite", 14, flex=2),
    Column("agents", "agents", 16, flex=3),
    Column("answers", "right/answered/asked", 20, align="right", priority=2),
    Column("cost", "USD", 9, align="right", priority=3),
    Column("verdict", "measured", 17, priority=4),
    Column("started", "started (UTC)", 16, priority=2),
    Column("id", "run", _SHORT_ID, priority=5),
)
_SUITES = (Column("name", "suite", 16, flex=1), Column("origin", "from", 8, priority=2))
_AGENTS = (
    Column("id", "agent", 12, flex=1),
    Column("versions", "versions", 8, align="right", priority=3),
    Column("runs", "runs", 5, align="right", priority=2),
)
_CHECKS = (Column("name", "", 10), Column("finding", "", 12, flex=1))
_STATUS_ROLES: dict[str, Role] = {"running": "accent", "complete": "good", "incomplete": "warn"}
_CHECK_ROLES: dict[str, Role] = {"fail": "bad", "warn": "warn"}


@dataclass(frozen=True, slots=True)
class Overview:
    """What the page shows of the store."""

    runs: list[dict[str, Any]]
    agents: list[dict[str, Any]]


class Home(Page[Overview]):
    """The first page."""

    DEFAULT_CSS: ClassVar[str] = """
    Home #runs { height: 1fr; min-height: 6; }
    Home #below { height: 11; }
    Home.-low #below { height: 8; }
    Home #suites { width: 1fr; } Home #agents { width: 1fr; } Home #health { width: 2fr; }
    Home.-narrow #health { display: none; }
    """
    BINDINGS: ClassVar = [
        Binding("n", "app.go('new')", "New run"),
        Binding("r", "app.run_quickstart", "First run", tooltip="the quickstart suite, 10 seconds"),
        Binding("x", "mark", "Mark", tooltip="to compare: the run or agent at the cursor"),
        Binding("c", "app.go('compare')", "Compare", tooltip="what is marked"),
        Binding("p", "replay", "Replay", show=False, tooltip="the run again, from its beginning"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._checks: list[Check] | None = None

    def crumbs(self) -> tuple[str, ...]:
        return ("Home",)

    def content(self) -> ComposeResult:
        yield _panel(Grid(id="runs"), "recent runs")
        with Horizontal(id="below"):
            yield _panel(Grid(id="suites"), "suites: enter starts one")
            yield _panel(Grid(id="agents"), "agents: enter shows their history")
            with Vertical(id="health"):
                yield _panel(Grid(id="checks"), "this machine, as `agentbench doctor` sees it")

    def on_mount(self) -> None:
        self.query_one("#runs", Grid).focus()
        self.query_one("#checks", Grid).show(GridData(_CHECKS, reason="looking …"))
        self.run_worker(self._look_around, thread=True, group="health")

    def read(self, connection: sqlite3.Connection) -> Overview:
        return Overview(
            runs_document(connection, self.shared.database, RUNS_SHOWN)["runs"],
            list_agents(connection),
        )

    def show(self, found: Overview) -> None:
        rows = [_run_row(run) for run in found.runs]
        self.query_one("#runs", Grid).show(GridData(_RUNS, rows, reason=NOTHING_YET))
        agents = [
            GridRow(
                agent["id"],
                (
                    agent["id"] + (" (simulated)" if agent["simulated"] else ""),
                    str(agent["versions"]),
                    str(agent["runs"]),
                ),
            )
            for agent in found.agents
        ]
        self.query_one("#agents", Grid).show(GridData(_AGENTS, agents, reason="none measured yet"))

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        """Enter: watch the run, start the suite, look at the agent's history."""
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

    def action_replay(self) -> None:
        """The run at the cursor from its beginning."""
        key = self.query_one("#runs", Grid).cursor_key
        if key is None:
            self.notify("there is no run to replay yet")
        else:
            self.session.watch_run(key, replay=True)

    def _look_around(self) -> None:
        """In a thread: what does not come from the store."""
        from agentbench_tui.engine.catalogue import suite_catalogue
        from agentbench_tui.instruments.doctor import diagnose

        suites = suite_catalogue()
        self.app.call_from_thread(self._show_suites, suites)
        checks = diagnose(self.shared.database)
        self.app.call_from_thread(self._show_checks, checks)

    def _show_suites(self, suites: list[CatalogueEntry]) -> None:
        rows = [
            GridRow(suite.name, (suite.name, suite.origin), role="bad" if suite.fault else "text")
            for suite in suites
        ]
        self.query_one("#suites", Grid).show(GridData(_SUITES, rows))

    def _show_checks(self, checks: list[Check]) -> None:
        order = ("fail", "warn", "ok", "info")
        rows = [
            GridRow(check.name, (f"{_SIGNS[check.status]} {check.name}", check.finding),
                    role=_CHECK_ROLES.get(check.status, "dim"))
            for check in sorted(checks, key=lambda check: order.index(check.status))
        ]  # fmt: skip
        self.query_one("#checks", Grid).show(GridData(_CHECKS, rows))


_SIGNS = {"fail": "!!", "warn": "!", "ok": " ", "info": " "}


def _panel(grid: Grid, title: str) -> Grid:
    grid.add_class("panel")
    grid.border_title = title
    return grid


def _run_row(run: dict[str, Any]) -> GridRow:
    role = _STATUS_ROLES.get(run["status"], "bad")
    verdict = run["verdict"] or "–"
    return GridRow(
        run["id"],
        (
            Cell(run["status"], role=role),
            ", ".join(run["suite_ids"]),
            ", ".join(run["agents"]),
            answers_shown(run),
            dollars(run["cost_usd"]),
            Cell(verdict, role="warn" if verdict not in {"clean", "–"} else None),
            run["started_at"][:16].replace("T", " "),
            Cell(run["id"][:_SHORT_ID], role="dim"),
        ),
    )
