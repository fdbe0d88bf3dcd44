"""The terminal session: recent runs and the leaderboard, a run watched live, a first run started.

Everything shown comes from the store, so a run that another process or another SSH session
carries out looks the same here as one that was started here.
"""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.screen import Screen
from textual.widgets import DataTable, Footer, Header, Static

from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.model.untrusted import one_line
from agentbench_tui.store.database import connect_to_read
from agentbench_tui.store.locking import is_leased
from agentbench_tui.store.viewer import Viewer, wish_row
from agentbench_tui.store.writer import write_once
from agentbench_tui.tui.run_picture import RunPicture
from agentbench_tui.verdicts.run_list import answers_shown, runs_document
from agentbench_tui.verdicts.figures import dollars, number
from agentbench_tui.verdicts.leaderboard import category_leaderboard

if TYPE_CHECKING:
    from pathlib import Path

    from agentbench_tui.store.viewer import Update

REFRESH_S = 0.5
RUNS_SHOWN = 100
SHORT_ID = 18
"""Characters of a run's id in the table: its time and some chance, enough to find it by."""
_WELCOME = "No run yet. Press r for a first one: four small agents on small tasks, 10 seconds."


class HomeScreen(Screen[None]):
    """Recent runs, and who leads."""

    BINDINGS: ClassVar = [
        Binding("r", "app.run_quickstart", "Run quickstart"),
        Binding("q", "app.quit", "Quit"),
    ]

    def __init__(self, database: Path) -> None:
        super().__init__()
        self._database = database
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._version = -1

    def compose(self) -> ComposeResult:
        yield Header()
        with Vertical():
            yield Static(_WELCOME, id="notice")
            yield DataTable(id="runs", cursor_type="row", zebra_stripes=True)
            yield Static("Leaderboard, last 30 days", id="title")
            yield DataTable(id="leaders", cursor_type="none")
        yield Footer()

    def on_mount(self) -> None:
        self.query_one("#runs", DataTable).add_columns(
            "run", "status", "suites", "agents", "right/answered/asked", "USD", "started (UTC)"
        )
        self.query_one("#leaders", DataTable).add_columns(
            "category", "#", "agent", "overall", "accuracy", "speed", "efficiency", "cost",
            "reliability",
        )  # fmt: skip
        self.refresh_tables()
        self.set_interval(REFRESH_S, self.refresh_tables)

    def on_unmount(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def refresh_tables(self) -> None:
        """Read again when something was committed since the last look."""
        try:
            if not self._changed():
                return
            assert self._connection is not None
            runs = runs_document(self._connection, self._database, RUNS_SHOWN)["runs"]
            board = category_leaderboard(self._connection)
        except (AgentbenchError, sqlite3.Error) as error:
            self.query_one("#notice", Static).update(Text(self._reason(error)))
            return
        self.query_one("#notice", Static).update(
            Text(one_line(str(self._database)) if runs else _WELCOME)
        )
        self._fill("#runs", [(run["id"], _run_cells(run)) for run in runs])
        leaders = [
            (f"{name}/{entry['agent_id']}/{entry['simulated']}", _leader_cells(name, entry))
            for name, entries in board["categories"].items()
            for entry in entries
        ]
        self._fill("#leaders", leaders)

    def _reason(self, error: Exception) -> str:
        return _WELCOME if not self._database.exists() else one_line(str(error))

    def _changed(self) -> bool:
        inode = os.stat(self._database).st_ino if self._database.exists() else 0  # noqa: PTH116
        if self._connection is None or inode != self._inode:
            if self._connection is not None:
                self._connection.close()
            self._connection = None
            self._connection = connect_to_read(self._database)
            self._inode, self._version = inode, -1
        newest = self._connection.execute("PRAGMA data_version").fetchone()[0]
        changed = newest != self._version
        self._version = newest
        return bool(changed)

    def _fill(self, selector: str, rows: list[tuple[str, list[Text]]]) -> None:
        """Replace the rows; the cursor stays on its row."""
        table = self.query_one(selector, DataTable)
        place = table.cursor_row
        table.clear()
        for key, cells in rows:
            table.add_row(*cells, key=key)
        if rows:
            table.move_cursor(row=min(place, len(rows) - 1))

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        if event.row_key.value is not None:
            self.app.push_screen(RunScreen(self._database, event.row_key.value))


def _run_cells(run: dict[str, Any]) -> list[Text]:
    cells = (
        run["id"][:SHORT_ID],
        run["status"],
        ", ".join(run["suite_ids"]),
        ", ".join(run["agents"]),
        answers_shown(run),
        dollars(run["cost_usd"]),
        run["started_at"][:19].replace("T", " "),
    )
    return [Text(one_line(str(cell), 60)) for cell in cells]


def _leader_cells(category: str, entry: dict[str, Any]) -> list[Text]:
    show = number()
    style = "bold" if entry["rank"] in {1, 2, 3} and not entry["simulated"] else ""
    name = entry["agent_id"] + (" (simulated)" if entry["simulated"] else "")
    scores = ("overall", "accuracy", "speed", "efficiency", "cost", "reliability")
    rank = "–" if entry["rank"] is None else str(entry["rank"])
    cells = [category, rank, one_line(name, 40), *(show(entry[score]) for score in scores)]
    return [Text(cell, style=style) for cell in cells]


class RunScreen(Screen[None]):
    """One run, live while it goes on."""

    BINDINGS: ClassVar = [
        Binding("escape", "app.pop_screen", "Back"),
        Binding("p", "wish('pause')", "Pause"),
        Binding("g", "wish('resume')", "Go on"),
        Binding("s", "wish('stop')", "Stop"),
    ]

    def __init__(self, database: Path, run_id: str) -> None:
        super().__init__()
        self._database = database
        self._run_id = run_id
        self._run_key = 0

    def compose(self) -> ComposeResult:
        yield Header()
        with VerticalScroll():
            yield Static("", id="picture")
        yield Footer()

    def on_mount(self) -> None:
        self.sub_title = f"run {self._run_id}"
        self.run_worker(self._follow(), exclusive=True)

    async def _follow(self) -> None:
        picture = RunPicture()
        target = self.query_one("#picture", Static)
        try:
            async with Viewer(self._database, self._run_id) as viewer:
                async for update in viewer.updates():
                    self._run_key = update.run["key"]
                    if update.run["status"] == "running":
                        self._mark_interrupted(update)
                    picture.take(update)
                    target.update(picture.draw(update))
        except (AgentbenchError, sqlite3.Error) as error:
            target.update(Text(one_line(str(error))))

    def _mark_interrupted(self, update: Update) -> None:
        """As everywhere else, when the run's process is gone."""
        if is_leased(self._database, self._run_id):
            return
        for row in (update.run, *update.executions):
            if row["status"] in {"running", "planned"}:
                row["status"] = "interrupted"
        update.live.clear()

    def action_wish(self, wish: str) -> None:
        """Ask the run's process for something; it answers in the store."""
        statement, values = wish_row(self._run_key, wish)
        try:
            write_once(self._database, [lambda c: c.execute(statement, values)])
        except (AgentbenchError, sqlite3.Error) as error:
            self.notify(one_line(str(error)), severity="error")
        else:
            self.notify(f"asked the run to {wish}")


class AgentbenchApp(App[None]):
    """agentbench in a terminal."""

    TITLE = "agentbench"
    CSS = """
    #notice, #title { height: auto; padding: 0 1; color: $text-muted; }
    #runs { height: 1fr; }
    #leaders { height: auto; max-height: 50%; }
    """

    def __init__(self, database: Path) -> None:
        super().__init__()
        self._database = database

    def on_mount(self) -> None:
        self.push_screen(HomeScreen(self._database))

    def action_run_quickstart(self) -> None:
        """Start the quickstart suite in a process of its own and watch it."""
        self.run_worker(self._start, thread=True, exclusive=True)

    def _start(self) -> None:
        command = [sys.executable, "-m", "agentbench_tui", "run", "quickstart", "--detach"]
        done = subprocess.run(
            [*command, "--db", str(self._database)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            run_id = done.stdout.strip()
            self.call_from_thread(self.push_screen, RunScreen(self._database, run_id))
        else:
            reason = one_line(done.stderr.strip().rpartition("\n")[2])
            self.call_from_thread(self.notify, reason, severity="error")


def open_session(database: Path) -> None:
    """Run the terminal session until the user leaves it."""
    AgentbenchApp(database).run()
