"""Stress: where an agent fails, what fails first, and how it recovers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal, Vertical

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.stress.sentences import headline, scale_line, standing_line
from agentbench_tui.tui.dialogs.choice import Choice
from agentbench_tui.tui.drawing.grid_data import GridData
from agentbench_tui.tui.drawing.panel import entitle, panel
from agentbench_tui.tui.pages.page import Page
from agentbench_tui.tui.pages.stress.pictures import COURSE, TITLES, pictures_of
from agentbench_tui.tui.pages.stress.rows import (
    advice_sentences,
    runs_table,
    scenario_sentences,
    scenarios_table,
    title_of,
)
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.tui.widgets.plot import Plot, PlotData
from agentbench_tui.tui.widgets.sentences import Sentence, Sentences
from agentbench_tui.verdicts.stress.stress_runs import Seconds, StressRun, stress_run, stress_runs

if TYPE_CHECKING:
    import sqlite3

    from textual.app import ComposeResult

    from agentbench_tui.contracts.stress import AgentStress, ScenarioResult
    from agentbench_tui.store.queries.stress import StressRunRow

NO_STRESS = (
    "No stress run is stored yet: press 2 and choose stress-smoke, or run"
    " `agentbench stress TARGET` in a shell."
)
_NOTHING = Seconds((), (), (), (), ())


@dataclass(frozen=True, slots=True)
class Found:
    """Data of the page, from the store."""

    runs: list[StressRunRow]
    run: StressRun | None


class Stress(Page[Found]):
    """One stress run, agent by agent; a running one is read again after each window."""

    DEFAULT_CSS: ClassVar[str] = """
    Stress #scenarios { height: auto; min-height: 6; max-height: 11; }
    Stress #pictures { width: 1fr; }
    Stress #picture { height: 1fr; }
    Stress #course { height: 1fr; }
    Stress.-low #course { display: none; }
    Stress #side { width: 52; }
    Stress.-huge #side { width: 84; }
    Stress #facts { height: 1fr; }
    Stress #advice { height: 9; }
    Stress.-huge #advice { height: 14; }
    Stress.-narrow #side { display: none; width: 1fr; }
    Stress.-narrow.-detailed #side { display: block; }
    Stress.-narrow.-detailed #pictures { display: none; }
    Stress.-low #advice { display: none; }
    """
    BINDINGS: ClassVar = [
        Binding("o", "run", "Run", tooltip="another stress run"),
        Binding("v", "view", "View", tooltip="the next picture of the scenario"),
        Binding("d", "details", "Details", tooltip="details and recommendations"),
        Binding("n", "agent", "Agent", show=False, tooltip="the next agent of the run"),
        Binding("w", "watch", "Watch", tooltip="the run on the page Live"),
        Binding("y", "copy", "Copy", show=False, tooltip="the scenario in a line"),
        Binding("e", "command", "Command line", show=False, tooltip="that prints the same"),
        Binding("escape", "back", "Pictures", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._found: Found | None = None
        self._chosen: str | None = None
        """Run that the user chose here."""
        self._agent = 0
        self._view: str | None = None
        """None while each scenario shows its most telling picture."""

    def crumbs(self) -> tuple[str, ...]:
        agent = self._agent_shown
        if self._found is None or self._found.run is None or agent is None:
            return ("Stress",)
        return ("Stress", f"run {self._found.run.run_id[:18]}", agent.agent)

    def content(self) -> ComposeResult:
        yield panel(Grid(id="scenarios"), "scenarios")
        with Horizontal():
            with Vertical(id="pictures"):
                yield panel(Plot(id="picture"), "picture")
                yield panel(Plot(id="course"), TITLES[COURSE])
            with Vertical(id="side"):
                yield panel(Sentences(id="facts"), "the scenario at the cursor")
                yield panel(Sentences(id="advice"), "recommendations, most severe first")

    def on_mount(self) -> None:
        self.query_one("#scenarios", Grid).focus()

    def on_screen_resume(self) -> None:
        """The latest choice on another page takes precedence over an earlier one here."""
        if self.shared.run_id is not None:
            self._chosen = None
        super().on_screen_resume()

    def read(self, connection: sqlite3.Connection) -> Found:
        runs = stress_runs(connection)
        ids = [one.run_id for one in runs]
        wanted = self._chosen or self.shared.run_id
        if not ids:
            return Found([], None)
        run_id = next((one for one in ids if one == wanted), ids[0])
        return Found(runs, stress_run(connection, self.shared.database, run_id))

    def show(self, found: Found) -> None:
        before, self._found = self._found, found
        grid = self.query_one("#scenarios", Grid)
        run = found.run
        if before is None or before.run is None or run is None or before.run.run_id != run.run_id:
            self._agent = 0
        agent = self._agent_shown
        if run is None or agent is None:
            grid.show(GridData(reason=NO_STRESS))
            for plot in self.query(Plot):
                plot.show(PlotData(reason="nothing was put under stress yet"))
            return
        self.tell(" · ".join(self._notes(run, agent)))
        which = f" ({self._agent + 1} of {len(run.agents)}, n)" if len(run.agents) > 1 else ""
        simulated = " (simulated)" if agent.simulated else ""
        entitle(grid, f"{agent.agent}{simulated}{which}: {standing_line(agent)}")
        grid.show(scenarios_table(agent, run))
        self.query_one("#advice", Sentences).show(advice_sentences(agent.scenarios))
        self._show_one()

    @staticmethod
    def _notes(run: StressRun, agent: AgentStress) -> list[str]:
        notes = [scale_line(agent)] if scale_line(agent) else []
        if run.status == "running":
            notes.append("still running; updated after each window")
        elif run.status != "complete":
            notes.append(f"run {run.status}")
        return notes

    @property
    def _agent_shown(self) -> AgentStress | None:
        run = self._found.run if self._found else None
        if run is None or not run.agents:
            return None
        return run.agents[min(self._agent, len(run.agents) - 1)]

    def _at_cursor(self) -> ScenarioResult | None:
        agent, key = self._agent_shown, self.query_one("#scenarios", Grid).cursor_key
        if agent is None:
            return None
        return next((one for one in agent.scenarios if one.execution_id == key), None)

    def _show_one(self) -> None:
        """Show plots and facts of the scenario at the cursor."""
        one = self._at_cursor()
        if one is None or self._found is None or self._found.run is None:
            return
        course = self._found.run.courses.get(one.execution_id, _NOTHING)
        pictures = pictures_of(one, course)
        picture, plot = self.query_one("#picture", Plot), self.query_one("#course", Plot)
        plot.show(pictures.get(COURSE, PlotData(reason="no second was measured yet")))
        name = self._view if self._view in pictures else self._first(pictures)
        if name is None:
            entitle(picture, str(one.name))
            picture.show(PlotData(reason=one.reason or "nothing was measured yet"))
        else:
            entitle(picture, f"{one.name}: {TITLES[name]}")
            picture.show(pictures[name])
        facts = self.query_one("#facts", Sentences)
        name = f"{one.name}: "
        found = title_of(one, self._found.run.statuses.get(one.execution_id, ""))
        entitle(facts, f"{name}what was found")
        facts.show([Sentence(found.removeprefix(name), "found", "title"), *scenario_sentences(one)])

    def _first(self, pictures: dict[str, PlotData]) -> str | None:
        """Return the first picture; the course has a separate place if two fit."""
        names = [name for name in pictures if name != COURSE or self.has_class("-low")]
        return next(iter(names or pictures), None)

    def on_grid_moved(self, event: Grid.Moved) -> None:
        """Show another scenario with its most informative plot."""
        if event.grid.id == "scenarios":
            self._view = None
            self._show_one()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        """Enter: show the details of the scenario."""
        event.stop()
        self.action_details()

    def _choose(self, run_id: str | None) -> None:
        if run_id is not None:
            self._chosen, self._view = run_id, None
            self.shared.run_id = None
            self.reload()

    def action_run(self) -> None:
        """Choose a stress run."""
        runs = self._found.runs if self._found else []
        if not runs:
            self.notify(NO_STRESS)
            return
        at = self._found.run.run_id if self._found and self._found.run else None
        self.app.push_screen(Choice("which stress run", runs_table(runs), at), self._choose)

    def action_view(self) -> None:
        """Show the next plot."""
        one = self._at_cursor()
        if one is None or self._found is None or self._found.run is None:
            self.notify(NO_STRESS)
            return
        course = self._found.run.courses.get(one.execution_id, _NOTHING)
        pictures = pictures_of(one, course)
        names = list(pictures)
        if len(names) < 2:
            self.notify("there is no other picture of this scenario yet")
            return
        at = self._view if self._view in names else self._first(pictures)
        self._view = names[(names.index(at) + 1) % len(names)] if at is not None else names[0]
        self.remove_class("-detailed")
        self._show_one()

    def action_details(self) -> None:
        """Show the facts, which replace the pictures on a small screen."""
        if self.has_class("-narrow"):
            self.toggle_class("-detailed")
        facts, grid = self.query_one("#facts"), self.query_one("#scenarios")
        is_hidden = self.has_class("-narrow") and not self.has_class("-detailed")
        (grid if facts.has_focus or is_hidden else facts).focus()

    def action_back(self) -> None:
        """Return to the scenarios and their plots."""
        self.remove_class("-detailed")
        self.query_one("#scenarios", Grid).focus()

    def action_agent(self) -> None:
        """Show the next agent of the run."""
        run = self._found.run if self._found else None
        if run is None or len(run.agents) < 2:
            self.notify("one agent was put under stress in this run; o shows other runs")
            return
        self._agent = (self._agent + 1) % len(run.agents)
        assert self._found is not None
        self.show(self._found)

    def action_watch(self) -> None:
        """Show the run on the page Live."""
        run = self._found.run if self._found else None
        if run is None:
            self.notify(NO_STRESS)
        else:
            self.session.watch_run(run.run_id, replay=run.status != "running")

    def action_copy(self) -> None:
        """Copy the scenario as a line."""
        one = self._at_cursor()
        if one is None:
            self.notify("there is no scenario here to copy yet")
            return
        self.app.copy_to_clipboard(one_line(headline(one), 1000))
        self.notify("copied the scenario")

    def action_command(self) -> None:
        """Show the command that prints the same in a shell."""
        run = self._found.run if self._found else None
        command = "agentbench stress TARGET"
        if run is not None:
            command = f"agentbench runs show {run.run_id} --format json"
            agent = self._agent_shown
            if agent is not None:
                command += f"\nagentbench profile {run.run_id}/{agent.agent}  (where time went)"
        self.tell_command(command)
