"""Chooses a run from a list over the page, newest first."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.screen import ModalScreen

from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.store.database import reading
from agentbench_tui.tui.drawing.grid_data import Cell, Column, GridData, GridRow
from agentbench_tui.tui.drawing.panel import panel
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.verdicts.selection.listings import runs_document

if TYPE_CHECKING:
    from pathlib import Path

    from textual.app import ComposeResult

    from agentbench_tui.contracts.runs import RunSummary

SHOWN = 500
_SHORT_ID = 18
_COLUMNS = (
    Column("suites", "suite", 14, flex=2),
    Column("agents", "agents", 16, flex=3),
    Column("observed", "answers", 9, align="right", priority=2),
    Column("status", "status", 12, priority=3),
    Column("started", "started (UTC)", 16, priority=2),
    Column("id", "run", _SHORT_ID, priority=4),
)


class RunChoice(ModalScreen[str | None]):
    """A list of runs; returns the id of one, or None after escape."""

    DEFAULT_CSS: ClassVar[str] = """
    RunChoice { align: center middle; }
    RunChoice Grid { width: 90%; max-width: 130; height: 80%; background: $surface; }
    """
    BINDINGS: ClassVar = [Binding("escape,q", "leave", "Leave")]

    def __init__(self, database: Path, current: str | None) -> None:
        super().__init__()
        self._database = database
        self._current = current

    def compose(self) -> ComposeResult:
        yield panel(Grid(GridData(_COLUMNS, reason="reading …")), "runs: enter opens, esc leaves")

    def on_mount(self) -> None:
        self.query_one(Grid).focus()
        self.run_worker(self._read, thread=True)

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        """Choose the run on Enter."""
        event.stop()
        self.dismiss(event.key)

    def action_leave(self) -> None:
        """Close without a change of run."""
        self.dismiss(None)

    def _read(self) -> None:
        try:
            with reading(self._database) as connection:
                runs = runs_document(connection, self._database, SHOWN).runs
            reason = "no run is stored yet"
        except (AgentbenchError, sqlite3.Error) as error:
            runs, reason = (), str(error)
        self.app.call_from_thread(self._show, runs, reason)

    def _show(self, runs: tuple[RunSummary, ...], reason: str) -> None:
        if not self.is_attached:
            return
        grid = self.query_one(Grid)
        grid.show(GridData(_COLUMNS, [*map(_row, runs)], reason=reason))
        if self._current is not None:
            grid.move_to(self._current)


def _row(run: RunSummary) -> GridRow:
    return GridRow(
        run.id,
        (
            ", ".join(run.suite_ids),
            ", ".join(run.agents),
            f"{run.observed or 0:,}",
            run.status,
            run.started_at[:16].replace("T", " "),
            Cell(run.id[:_SHORT_ID], role="dim"),
        ),
    )
