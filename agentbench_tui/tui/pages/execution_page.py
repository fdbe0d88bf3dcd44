"""Base of pages on one execution of a run: selects the run, and one of its executions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from textual.binding import Binding

from agentbench_tui.store.queries.runs import executions_of, find_run
from agentbench_tui.tui.dialogs.run_choice import RunChoice
from agentbench_tui.tui.pages.page import Page
from agentbench_tui.verdicts.evidence.place import point_words

if TYPE_CHECKING:
    import sqlite3

    from agentbench_tui.tui.shared import Lead, Shared

Row = dict[str, Any]
Seen = TypeVar("Seen")


@dataclass(frozen=True, slots=True)
class Looked(Generic[Seen]):
    """One execution of a run, with the data for a page."""

    run: Row
    executions: list[Row]
    place: int
    """Index of the execution among them."""
    seen: Seen

    @property
    def execution(self) -> Row:
        return self.executions[self.place]

    @property
    def title(self) -> str:
        """`quickstart/word-problems, planner, rate=5 (simulated)`."""
        one = self.execution
        point = point_words(one["parameters"])
        suite, benchmark = one["suite_id"], one["benchmark_id"]
        where = benchmark if suite == benchmark else f"{suite}/{benchmark}"
        words = f"{where}, {one['agent_id']}"
        return words + (f", {point}" if point else "") + (
            " (simulated)" if one["simulated"] else ""
        )  # fmt: skip


class ExecutionPage(Page[Looked[Seen] | None], Generic[Seen]):
    """Base class; subclasses define `read_execution` and `show_execution`."""

    BINDINGS: ClassVar = [
        Binding("o", "pick_run", "Run", tooltip="choose which run is shown"),
        Binding("right_square_bracket", "execution(1)", "Execution", key_display="[ ]",
                tooltip="the next execution of the run"),
        Binding("left_square_bracket", "execution(-1)", "Execution before", show=False,
                key_display="["),
        Binding("x", "mark", "Mark", show=False, tooltip="this agent of this run, to compare it"),
        Binding("c", "app.go('compare')", "Compare", show=False, tooltip="what is marked"),
    ]  # fmt: skip
    EVERY_S = 5.0
    """A running run commits four times a second, and reading an execution takes time."""
    NAME: ClassVar[str]
    """Name of the page in the breadcrumbs."""

    def __init__(self) -> None:
        super().__init__()
        self.looked: Looked[Seen] | None = None
        self._wanted_id: str | None = None
        """Id of the execution chosen here."""
        self._agent: str | None = None
        """That was looked at when it was chosen: another page may have led here since."""
        self.lead: Lead | None = None
        """Link from another page, until it is shown."""

    def on_screen_resume(self) -> None:
        lead, self.shared.lead = self.shared.lead, None
        if lead is not None:
            self.lead, self._wanted_id, self._agent = lead, lead.execution, self.shared.agent
            self.execution_changed()
        super().on_screen_resume()

    def read_execution(self, connection: sqlite3.Connection, execution: Row) -> Seen:
        """Return the data of an execution. Runs in a thread."""
        raise NotImplementedError

    def show_execution(self, looked: Looked[Seen]) -> None:
        """Show the data of an execution."""
        raise NotImplementedError

    def execution_changed(self) -> None:
        """Another execution is about to be read: reset selections within the last one."""

    def crumbs(self) -> tuple[str, ...]:
        if self.looked is None:
            return (self.NAME,)
        return (self.NAME, self.looked.run["id"][:18], self.looked.title)

    def read(self, connection: sqlite3.Connection) -> Looked[Seen] | None:
        run = find_run(connection, self.shared.run_id or "latest")
        executions = executions_of(connection, run["key"])
        if not executions:
            return None
        chosen = self._wanted_id if self.shared.agent == self._agent else None
        place = _place(executions, chosen, self.shared)
        seen = self.read_execution(connection, executions[place])
        return Looked(run, executions, place, seen)

    def show(self, found: Looked[Seen] | None) -> None:
        if self.lead is not None and self._wanted:
            return  # read before somebody led here
        if found is None:
            self.tell("this run has no execution: press o to choose another one")
            return
        self.looked = found
        self._wanted_id, self._agent = found.execution["id"], self.shared.agent
        self.show_execution(found)
        self.lead = None

    def action_pick_run(self) -> None:
        """Choose another run."""
        current = None if self.looked is None else self.looked.run["id"]
        self.app.push_screen(RunChoice(self.shared.database, current), self._picked)

    def action_execution(self, by: int) -> None:
        """Show the next execution of the run, or the previous one, cyclically."""
        if self.looked is None or len(self.looked.executions) < 2:
            self.notify("this run has no other execution")
            return
        place = (self.looked.place + by) % len(self.looked.executions)
        self._wanted_id = self.looked.executions[place]["id"]
        self.execution_changed()
        self.reload()

    def action_mark(self) -> None:
        """Mark the agent in this run."""
        if self.looked is None:
            self.notify("no execution is here to mark")
        else:
            run, one = self.looked.run, self.looked.execution
            self.session.mark(f"run:{run['id']}/{one['agent_id']}")

    def _picked(self, run_id: str | None) -> None:
        if run_id is not None and (self.looked is None or run_id != self.looked.run["id"]):
            self.shared.run_id, self._wanted_id = run_id, None
            self.execution_changed()
            self.reload()


def _place(executions: list[Row], wanted_id: str | None, shared: Shared) -> int:
    """Return the index of the chosen execution; else of the first of the last viewed agent; else
    the first.
    """
    for place, one in enumerate(executions):
        if one["id"] == wanted_id:
            return place
    for place, one in enumerate(executions):
        if one["agent_id"] == shared.agent:
            return place
    return 0
