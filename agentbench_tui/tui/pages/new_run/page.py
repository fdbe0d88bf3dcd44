"""New run: choose what to measure and how, preview it, and start it."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.widgets import Button

from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.model.text.secrets import redact
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.store.database import connect_to_read, default_database
from agentbench_tui.store.queries.selection import newest_specifications
from agentbench_tui.tui.dialogs.asking import Sure
from agentbench_tui.tui.drawing.panel import entitle, panel
from agentbench_tui.tui.pages.new_run.agent_choice import AgentChoice
from agentbench_tui.tui.pages.new_run.choice import FIELDS, Choice
from agentbench_tui.tui.pages.new_run.plan import Preview, asked, preview_of, preview_words, refusal
from agentbench_tui.tui.pages.new_run.suite_shelf import (
    ShelvedSuite,
    case_ids,
    own_agents,
    parameter_fields,
    read_shelf,
)
from agentbench_tui.tui.pages.page import Page
from agentbench_tui.tui.widgets.crumbs import CrumbBar
from agentbench_tui.tui.widgets.forms.option_form import OptionForm
from agentbench_tui.tui.widgets.forms.suite_tree import Place, SuiteTree
from agentbench_tui.tui.widgets.forms.typed_agent import TypedAgent
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.tui.widgets.sentences import Sentence, Sentences

if TYPE_CHECKING:
    import sqlite3

    from textual.app import ComposeResult

    from agentbench_tui.model.agent import AgentSpec

PAUSE_S = 0.3
"""After the last change, before the plan is made again."""
_LONGEST_COMMAND = 10_000
_TITLES = {"run": "how", "load": "how: a load of one target", "stress": "how: a stress"}


class _Agents(Grid):
    """Agents to pick from; Enter works like the space bar, since there is nothing to open."""

    BINDINGS: ClassVar = [
        Binding("enter", "pick", "Pick", show=False),
        Binding("space", "pick", "Pick"),
    ]


class NewRun(Page[list["AgentSpec"]]):
    """A form whose preview is the output of `--dry-run` for its command line."""

    WITHOUT_STORE: ClassVar[str] = ""
    READS_ALL: ClassVar[bool] = False
    DEFAULT_CSS: ClassVar[str] = """
    NewRun #suites { width: 2fr; height: 1fr; }
    NewRun #how { width: 3fr; }
    NewRun #agents { height: auto; min-height: 6; max-height: 13; }
    NewRun.-huge #agents { max-height: 24; }
    NewRun.-low #agents { height: 6; }
    NewRun #form { height: 1fr; min-height: 5; }
    NewRun #preview { height: 10; }
    NewRun.-low #preview { height: 7; }
    NewRun #go { height: 1; align-horizontal: right; padding: 0 1; }
    """
    BINDINGS: ClassVar = [
        Binding("ctrl+r", "start", "Start", priority=True),
        Binding("v", "view", "Panel", tooltip="suites, agents, form"),
        Binding("a", "ask", "Ask agent", tooltip="one short question to the agent at the cursor"),
        Binding("y", "copy", "Copy command", tooltip="the equivalent command line"),
        Binding("escape", "back", "Suites", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._choice = Choice()
        self._agents = AgentChoice()
        self._shelf: dict[str, ShelvedSuite] = {}
        self._preview: Preview | None = None
        self._planning = False
        self._about = ""
        """Description of the tree line at the cursor."""
        self._changed_at = 0
        """Counts changes; a preview of an older state is thrown away."""

    def crumbs(self) -> tuple[str, ...]:
        chosen = self._choice.suite if self._choice.what == "run" else self._choice.what
        return ("New run", *([chosen] if chosen else []))

    def content(self) -> ComposeResult:
        with Horizontal():
            yield panel(SuiteTree(id="suites"), "what: enter, parts: space")
            with Vertical(id="how"):
                agents = _Agents(id="agents", selectable=True)
                yield panel(agents, "agents: space picks, a asks one a question")
                yield TypedAgent(id="typed")
                yield panel(OptionForm(id="form"), _TITLES["run"])
        yield panel(Sentences(id="preview"), "what that does: y copies the command")
        with Horizontal(id="go"):
            yield Button("start  ctrl+r", id="start", compact=True, variant="primary")

    def on_mount(self) -> None:
        self.query_one(SuiteTree).focus()
        self.run_worker(self._read_shelf, thread=True, group="shelf")

    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        if self._shelf:
            self._begin_with_wish()

    def read(self, connection: sqlite3.Connection) -> list[AgentSpec]:
        # Slow to import; this is a thread.
        from agentbench_tui.experiments.variants import is_variant

        return [one for one in newest_specifications(connection) if not is_variant(one)]

    def show(self, found: list[AgentSpec]) -> None:
        self._agents.seen(found)
        self._show_agents()

    def _read_shelf(self) -> None:
        wish = self.shared.suite
        shelf = read_shelf([wish] if wish else [])
        self.app.call_from_thread(self.call_later, self._show_shelf, shelf)

    async def _show_shelf(self, shelf: list[ShelvedSuite]) -> None:
        self._shelf = {one.name: one for one in shelf}
        tree = self.query_one(SuiteTree)
        tree.fill(shelf)
        if self.is_active:
            tree.focus()
        self._show_agents()
        await self._fill_form()
        self._begin_with_wish()
        self._show_preview()

    def _begin_with_wish(self) -> None:
        """Select the suite that another page requested."""
        wish, self.shared.suite = self.shared.suite, None
        place = self.query_one(SuiteTree).open_suite(wish) if wish else None
        if place is not None:
            self.post_message(SuiteTree.Chosen(place))

    async def on_suite_tree_chosen(self, event: SuiteTree.Chosen) -> None:
        """Select another suite, a load or a stress."""
        place, choice = event.place, self._choice
        choice.benchmarks, choice.cases = [], []
        if place.kind == "load" or place.kind == "stress":
            choice.what, choice.own_agents = place.kind, []
        else:
            loaded = self._shelf[place.suite].loaded
            assert loaded is not None
            choice.what, choice.suite, choice.own_agents = "run", place.suite, own_agents(loaded)
        choice.values = {}
        self._agents.of_suite(choice.own_agents)
        self._show_agents()
        self._mark_tree()
        self.query_one(CrumbBar).show(("agentbench", *self.crumbs()))
        await self._fill_form()
        self._changed()

    def on_tree_node_highlighted(self, event: SuiteTree.NodeHighlighted[Place]) -> None:
        """Show the full description, for which the tree has no room."""
        event.stop()
        place = event.node.data
        self._about = "" if place is None or place.kind in {"category", "case"} else place.about
        self._show_preview()

    def on_suite_tree_picked(self, event: SuiteTree.Picked) -> None:
        """Pick or unpick a benchmark or case of the chosen suite."""
        event.stop()
        place, choice = event.place, self._choice
        if choice.what != "run" or place.suite != choice.suite:
            self.notify(f"choose the suite first: enter on {one_line(place.suite)}", markup=False)
            return
        many = choice.cases if place.kind == "case" else choice.benchmarks
        name = place.case or place.benchmark
        many.remove(name) if name in many else many.append(name)
        self._mark_tree()
        self._changed()

    def on_suite_tree_cases_wanted(self, event: SuiteTree.CasesWanted) -> None:
        """Read the cases in a thread."""
        event.stop()
        place = event.place
        self.run_worker(lambda: self._read_cases(place), thread=True, group="cases")

    def _read_cases(self, place: Place) -> None:
        loaded = self._shelf[place.suite].loaded
        assert loaded is not None
        names = [one.benchmark_id for one in loaded.suite.benchmarks]
        fault, ids, count = "", list[str](), 0
        try:
            ids, count = case_ids(loaded, names.index(place.benchmark))
        except AgentbenchError as error:
            fault = str(error)
        self.app.call_from_thread(self._show_cases, place, ids, count, fault)

    def _show_cases(self, place: Place, ids: list[str], count: int, fault: str) -> None:
        self.query_one(SuiteTree).show_cases(place, ids, count, fault)

    def _mark_tree(self) -> None:
        choice = self._choice
        tree = self.query_one(SuiteTree)
        picked = {(name, "") for name in choice.benchmarks}
        loaded = self._shelf[choice.suite].loaded if choice.suite in self._shelf else None
        if loaded is not None:
            names = [one.benchmark_id for one in loaded.suite.benchmarks]
            picked |= {(name, case) for name in names for case in choice.cases}
        tree.mark(choice.what, choice.suite or "", frozenset(picked))

    async def _fill_form(self) -> None:
        """Show the lines of the command, a suite's parameters first."""
        choice = self._choice
        specs = list(FIELDS[choice.what])
        shelved = self._shelf.get(choice.suite or "") if choice.what == "run" else None
        loaded = None if shelved is None else shelved.loaded
        if loaded is not None:
            specs = [*parameter_fields(loaded), *specs]
        form = self.query_one(OptionForm)
        entitle(form, f"{_TITLES[choice.what]}; empty lines are left as they are")
        await form.fill(specs, loaded)

    def on_option_form_changed(self, event: OptionForm.Changed) -> None:
        """Update the command for a changed value."""
        self._choice.values[event.option] = event.value
        self._changed()

    def on_typed_agent_taken(self, event: TypedAgent.Taken) -> None:
        """Add and pick a typed agent."""
        self._agents.add(event.text, only=self._choice.what == "load")
        self._show_agents()
        self._changed()

    def on_grid_picked(self, event: Grid.Picked) -> None:
        """Update the picked agents; a load has one."""
        event.stop()
        self._agents.pick(event.keys, only=self._choice.what == "load")
        self._show_agents()
        self._changed()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        """Pick an agent by a second click, like by the space bar."""
        event.stop()
        event.grid.action_pick()

    def _show_agents(self) -> None:
        grid = self.query_one("#agents", Grid)
        grid.show(self._agents.table(self._choice.what == "run"))
        grid.select(frozenset(self._agents.picked))
        self._choice.agents = self._agents.picked

    def _changed(self) -> None:
        """Show the changed command now, and its plan after a pause."""
        self._changed_at += 1
        self._preview = None
        self._show_preview()
        change = self._changed_at
        self.set_timer(PAUSE_S, lambda: self._plan(change))

    def _plan(self, change: int) -> None:
        if change != self._changed_at or self._planning or self._choice.lacking():
            return
        self._planning = True
        arguments = self._choice.arguments()
        self.run_worker(lambda: self._make_plan(change, arguments), thread=True, group="plan")

    def _make_plan(self, change: int, arguments: list[str]) -> None:
        try:
            with closing(connect_to_read(self.shared.database)) as connection:
                preview = preview_of(arguments, connection)
        except AgentbenchError:
            preview = preview_of(arguments, None)
        self.app.call_from_thread(self._planned, change, preview)

    def _planned(self, change: int, preview: Preview) -> None:
        self._planning = False
        if change != self._changed_at:
            self._plan(self._changed_at)
            return
        self._preview = preview
        self.query_one(OptionForm).tell(preview.fault)
        self._show_preview()

    def _show_preview(self) -> None:
        if lacking := self._choice.lacking():
            said = [Sentence(lacking, "next", "warn")]
        elif self._preview is None:
            said = [Sentence("looking …", "plan", "dim")]
        else:
            said = preview_words(self._preview)
        said.append(Sentence(self._command(), "command", "accent"))
        if self._about:
            said.append(Sentence(self._about, "here", "dim"))
        self.query_one("#preview", Sentences).show(said)

    def _command(self) -> str:
        """Return the command as typed in a shell, with secrets masked, without the default
        store.
        """
        own = self.shared.database == default_database()
        command = self._choice.command(None if own else self.shared.database)
        return one_line(redact(command), _LONGEST_COMMAND)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.action_start()

    def action_start(self) -> None:
        """Start it unless something is missing or invalid."""
        fault = self._choice.lacking()
        line = self.query_one(OptionForm).faulty()
        if line is not None:
            line.enter()
            fault = fault or line.fault
        fault = fault or (self._preview.fault if self._preview is not None else "")
        if fault:
            self.notify(one_line(fault, 300), severity="warning", markup=False)
            return
        self.session.start_run(self._choice.arguments())

    def action_view(self) -> None:
        """Focus the next panel."""
        order = ["#suites", "#agents", "#typed Input", "#form Input", "#preview"]
        panels = [self.query(name).first() for name in order if self.query(name)]
        inside = [self.focused is not None and one in self.focused.ancestors_with_self
                  for one in (*panels[:3], self.query_one("#form"), panels[-1])]  # fmt: skip
        at = inside.index(True) if True in inside else -1
        panels[(at + 1) % len(panels)].focus()

    def action_back(self) -> None:
        """Return to the suites."""
        self.query_one(SuiteTree).focus()

    def action_copy(self) -> None:
        """Copy the command line to the terminal's clipboard."""
        command = self._command()
        self.app.copy_to_clipboard(command)
        self.notify(one_line(command, 300), title="copied", markup=False)

    def action_ask(self) -> None:
        """Send one short question to the agent at the cursor; if it may cost money, say so."""
        argument = self.query_one("#agents", Grid).cursor_key
        if argument is None:
            self.notify("there is no agent to ask yet: type one below")
            return
        if self._agents.is_free(argument):
            self._ask(argument, meant=True)
            return
        question = f"This may cost money. Ask {one_line(redact(argument), 120)} one question?"
        self.app.push_screen(Sure(question), lambda meant: self._ask(argument, meant=bool(meant)))

    def _ask(self, argument: str, *, meant: bool) -> None:
        if meant:
            self.notify("asking …", timeout=3)
            arguments = self._choice.check_arguments(argument)
            self.run_worker(lambda: self._asked(arguments), thread=True, group="ask")

    def _asked(self, arguments: list[str]) -> None:
        said = asked(*arguments)
        fine = said.returncode == 0
        words = one_line(said.stdout.strip() if fine else redact(refusal(said.stderr)), 300)
        self.app.call_from_thread(
            self.notify, words, severity="information" if fine else "error", timeout=15,
            markup=False,
        )  # fmt: skip
