"""Profile: use of time, tokens and the machine in one execution."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal

from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.numbers import percent, quantity
from agentbench_tui.tui.drawing.panel import entitle, panel
from agentbench_tui.tui.pages.execution_page import ExecutionPage, Looked
from agentbench_tui.tui.pages.profile.rows import (
    bottlenecks_of,
    flame_of,
    phases_table,
    resources_table,
    tokens_table,
    waterfall_at,
)
from agentbench_tui.tui.widgets.flame import FlameView
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.tui.widgets.sentences import Sentences
from agentbench_tui.tui.widgets.waterfall import WaterfallView
from agentbench_tui.verdicts.profile.profile import ExecutionProfile, answer_times, read_profile

if TYPE_CHECKING:
    import sqlite3

    from textual.app import ComposeResult

    from agentbench_tui.contracts.profile import ProfiledAnswer
    from agentbench_tui.verdicts.evidence.place import Execution
    from agentbench_tui.verdicts.profile.phases import Timed

VIEWS = ("phases", "answers", "flame", "use")
"""Rows of panels, of which a small terminal shows one."""


@dataclass(frozen=True, slots=True)
class ShownProfile:
    """A profile with the phases of its typical and its slowest answer."""

    profile: ExecutionProfile
    typical: tuple[Timed, ...] | None
    slowest: tuple[Timed, ...] | None


class Profile(ExecutionPage[ShownProfile]):
    """Phases above, one typical and the slowest answer below, then spans and resources."""

    NAME = "Profile"
    DEFAULT_CSS: ClassVar[str] = """
    Profile #phases-row { height: 1fr; min-height: 13; }
    Profile #answers-row { height: 11; }
    Profile #use-row { height: 11; }
    Profile.-huge #answers-row, Profile.-huge #use-row { height: 1fr; }
    Profile #phases { width: 3fr; } Profile #bottlenecks { width: 2fr; }
    Profile #flame { width: 3fr; }
    Profile #tokens { width: 2fr; } Profile #resources { width: 4fr; }
    Profile.-low Horizontal, Profile.-narrow Horizontal { display: none; }
    Profile.-low #answers-row, Profile.-narrow #answers-row,
    Profile.-low #use-row, Profile.-narrow #use-row { height: 1fr; }
    Profile.-low.-at-phases #phases-row, Profile.-narrow.-at-phases #phases-row,
    Profile.-low.-at-answers #answers-row, Profile.-narrow.-at-answers #answers-row,
    Profile.-low.-at-flame #use-row, Profile.-narrow.-at-flame #use-row,
    Profile.-low.-at-use #use-row, Profile.-narrow.-at-use #use-row { display: block; }
    Profile.-narrow Horizontal { layout: vertical; }
    Profile.-narrow #phases, Profile.-narrow #bottlenecks, Profile.-narrow #flame,
    Profile.-narrow #tokens, Profile.-narrow #resources { width: 100%; }
    Profile.-narrow #phases { height: 2fr; }
    Profile.-narrow.-at-flame #tokens, Profile.-narrow.-at-flame #resources,
    Profile.-narrow.-at-use #flame { display: none; }
    """
    BINDINGS: ClassVar = [
        Binding("v", "view", "Panel", tooltip="phases, answers, flame, tokens and machine"),
        Binding("n", "slowest", "Slowest", tooltip="the slowest answer in full"),
        Binding("y", "copy", "Copy", show=False, tooltip="the phase at the cursor"),
        Binding("e", "command", "Command line", show=False,
                tooltip="that prints the figures of this run"),
    ]  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._view = VIEWS[0]

    def content(self) -> ComposeResult:
        with Horizontal(id="phases-row"):
            yield panel(Grid(id="phases"), "phases")
            yield panel(Sentences(id="bottlenecks"), "bottlenecks: largest share, longest tail")
        with Horizontal(id="answers-row"):
            yield panel(WaterfallView(id="typical"), "a typical answer")
            yield panel(WaterfallView(id="slowest"), "the slowest answer")
        with Horizontal(id="use-row"):
            yield panel(FlameView(id="flame"), "agent's spans, mean ms an answer")
            yield panel(Grid(id="tokens"), "tokens")
            yield panel(Grid(id="resources"), "machine during the run")

    def on_mount(self) -> None:
        self.add_class(f"-at-{self._view}")
        self.query_one("#phases", Grid).focus()

    def read_execution(self, connection: sqlite3.Connection, execution: Execution) -> ShownProfile:
        found = read_profile(connection, execution)

        def phases(one: ProfiledAnswer | None) -> tuple[Timed, ...] | None:
            return None if one is None else answer_times(connection, found, one)

        return ShownProfile(found, phases(found.times.typical), phases(found.times.slowest))

    def show_execution(self, looked: Looked[ShownProfile]) -> None:
        profile = looked.seen.profile
        times = profile.times
        phases = self.query_one("#phases", Grid)
        total = quantity(times.total_ms, "ms")
        thing = "request" if profile.is_load else "answer"
        entitle(phases, f"{looked.title}: {total} in {counted(len(profile.observed), thing)}")
        phases.show(phases_table(times.phases))
        self.query_one("#bottlenecks", Sentences).show(bottlenecks_of(profile))
        for which, words, one, phases_of_one in (
            ("typical", "a typical one (median time)", times.typical, looked.seen.typical),
            ("slowest", "the slowest", times.slowest, looked.seen.slowest),
        ):
            view = self.query_one(f"#{which}", WaterfallView)
            entitle(view, words if one is None else f"{words}: {one.case_id}")
            view.show(waterfall_at(phases_of_one, 0.0 if one is None else one.total_ms))
        self.query_one("#flame", FlameView).show(flame_of(profile))
        self.query_one("#tokens", Grid).show(tokens_table(times.tokens))
        self.query_one("#resources", Grid).show(resources_table(profile.resources))

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        """Show the slowest answer."""
        event.stop()
        self.action_slowest()

    def action_slowest(self) -> None:
        """Show the slowest answer in full."""
        from agentbench_tui.tui.pages.cases.detail import CaseDetail

        one = None if self.looked is None else self.looked.seen.profile.times.slowest
        if one is None:
            self.notify("nothing was answered yet")
        elif self.looked is not None and self.looked.seen.profile.is_load:
            self.notify("a load stores request times but no answers; there is nothing to open")
        else:
            self.app.push_screen(CaseDetail([one.seq], 0))

    def action_view(self) -> None:
        """Focus the next panels if all fit, else show them."""
        self.remove_class(f"-at-{self._view}")
        self._view = VIEWS[(VIEWS.index(self._view) + 1) % len(VIEWS)]
        self.add_class(f"-at-{self._view}")
        first = {"answers": "typical", "use": "tokens"}.get(self._view, self._view)
        self.query_one(f"#{first}").focus()

    def action_copy(self) -> None:
        """Copy the phase at the cursor."""
        key = self.query_one("#phases", Grid).cursor_key
        if self.looked is None or key is None:
            self.notify("there is no phase to copy")
            return
        one = self.looked.seen.profile.times.phases[int(key)]
        share = percent(one.share)
        self.app.copy_to_clipboard(one_line(f"{one.name}\t{share}\tn = {one.n}"))
        self.notify("copied the phase")

    def action_command(self) -> None:
        """Show the command line that prints the figures of this run."""
        if self.looked is None:
            self.notify("no run is here to print")
        else:
            one = self.looked.execution
            of = f"{self.looked.run['id']}/{one['agent_id']}"
            words = ["agentbench", "profile", of, "--benchmark", one["benchmark_id"]]
            self.tell(shlex.join(words))
