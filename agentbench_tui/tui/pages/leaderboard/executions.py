"""The executions behind one agent's place on the leaderboard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding

from agentbench_tui.model.figures.dimension import DIMENSIONS
from agentbench_tui.presentation.numbers import money, of_dimension, score
from agentbench_tui.tui.drawing.grid_data import Cell, Column, GridData, GridRow
from agentbench_tui.tui.drawing.panel import panel
from agentbench_tui.tui.pages.page import Page
from agentbench_tui.tui.widgets.grid import Grid

if TYPE_CHECKING:
    import sqlite3

    from textual.app import ComposeResult

    from agentbench_tui.tui.pages.leaderboard.rows import Leader

_SHORT_ID = 18
_COLUMNS = (
    Column("benchmark", "benchmark", 14, flex=3),
    Column("suite", "suite", 12, flex=1, priority=4),
    Column("version", "version", 12, priority=5),
    Column("overall", "overall", 7, align="right"),
    *(
        Column(name, name, max(5, len(name)), align="right", priority=6 + place)
        for place, name in enumerate(DIMENSIONS)
    ),
    Column("answers", "answers", 7, align="right", priority=2),
    Column("cost", "USD", 12, align="right", priority=3),
    Column("made", "measured (UTC)", 16, priority=2),
    Column("run", "run", _SHORT_ID, priority=6),
)


class LeaderExecutions(Page[None]):
    """Shown over the leaderboard; Esc goes back."""

    BINDINGS: ClassVar = [
        Binding("escape", "app.pop_screen", "Back"),
        Binding("h", "history", "History", tooltip="of this agent, over its versions"),
        Binding("x", "mark", "Mark", tooltip="this agent in the run at the cursor"),
        Binding("c", "app.go('compare')", "Compare", tooltip="those marked"),
    ]

    def __init__(self, leader: Leader) -> None:
        super().__init__()
        self._leader = leader
        self._rows = {row["id"]: row for row in leader.details["executions"]}

    def crumbs(self) -> tuple[str, ...]:
        return ("Leaderboard", self._leader.line["name"], "executions")

    def content(self) -> ComposeResult:
        title = f"executions of {self._leader.line['name']}: enter shows the answers"
        yield panel(Grid(GridData(_COLUMNS, [*map(_row, self._rows.values())])), title)

    def on_mount(self) -> None:
        self.query_one(Grid).focus()

    def read(self, connection: sqlite3.Connection) -> None:
        """Do nothing: the data behind the rank do not change."""

    def show(self, found: None) -> None:
        """Do nothing: the content is shown from the start."""

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        """Show the answers of that execution."""
        event.stop()
        row = self._rows.get(event.key or "")
        if row is not None:
            self.shared.run_id = row["run_id"]
            self.shared.agent = self._leader.line["agent_id"]
            self.session.action_go("cases")

    def action_history(self) -> None:
        """Show the history of the agent."""
        self.shared.agent = self._leader.line["agent_id"]
        self.session.action_go("history")

    def action_mark(self) -> None:
        """Mark the agent in that run."""
        row = self._rows.get(self.query_one(Grid).cursor_key or "")
        if row is None:
            self.notify("no execution is here to mark")
        else:
            self.session.mark(f"run:{row['run_id']}/{self._leader.line['agent_id']}")


def _row(found: dict[str, Any]) -> GridRow:
    return GridRow(
        found["id"],
        (
            found["benchmark"],
            found["suite_id"],
            found["agent_version"],
            Cell(score(found["overall"]), role="title"),
            *(of_dimension(name)(found[name]) for name in DIMENSIONS),
            f"{found['answers']:,}",
            money(found["cost_usd"]),
            found["created_at"][:16].replace("T", " "),
            Cell(found["run_id"][:_SHORT_ID], role="dim"),
        ),
    )
