"""Cost: cost of a task and of a right answer, the Pareto front, and possible savings."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal, Vertical

from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.cost import per_success_words, title_of
from agentbench_tui.presentation.numbers import money, percent
from agentbench_tui.store.queries.history import stamp_of_history
from agentbench_tui.store.queries.prices import PriceTable, price_table
from agentbench_tui.tui.drawing.grid_data import GridData
from agentbench_tui.tui.drawing.panel import entitle, panel
from agentbench_tui.tui.pages.cost.rows import (
    agents_table,
    benchmarks_table,
    cost_scatter,
    is_spread,
    prices_table,
    savings,
    tasks_of,
    unknown_sentences,
)
from agentbench_tui.tui.pages.page import NOTHING_YET, Page
from agentbench_tui.tui.widgets.filter_line import FilterLine
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.tui.widgets.scatter import Scatter, ScatterPlot
from agentbench_tui.tui.widgets.sentences import Sentences
from agentbench_tui.verdicts.cost.cost_board import CostAsked, cost_document

if TYPE_CHECKING:
    import sqlite3

    from textual.app import ComposeResult

    from agentbench_tui.contracts.cost import CostDocument, CostGroup, CostLine
    from agentbench_tui.verdicts.selection.contenders import By

WINDOWS = (30, 36_500, 1, 7)
"""Numbers of days that `w` cycles through; the longest includes everything."""
_NEXT_BY: dict[By, By] = {"agent": "version", "version": "model", "model": "agent"}


@dataclass(frozen=True, slots=True)
class Found:
    """Data of the page, from the store."""

    document: CostDocument
    prices: PriceTable
    asked: CostAsked
    stamp: tuple[object, ...]
    """See `stamp_of_history`: costs rest on the same executions."""


class Cost(Page[Found]):
    """Groups of agents that answered the same cases, one group at a time."""

    EVERY_S: ClassVar[float] = 3.0
    DEFAULT_CSS: ClassVar[str] = """
    Cost #main { width: 1fr; }
    Cost #scatter { height: 1fr; min-height: 8; }
    Cost #agents { height: auto; min-height: 5; max-height: 11; }
    Cost.-huge #agents { max-height: 16; }
    Cost.-low #agents { max-height: 9; }
    Cost #side { width: 46; }
    Cost.-huge #side { width: 76; }
    Cost #savings { height: 1fr; min-height: 6; }
    Cost #benchmarks { height: 10; }
    Cost #unknown { height: 8; display: none; } Cost #unknown.-some { display: block; }
    Cost #prices { display: none; }
    Cost.-prices #prices { display: block; }
    Cost.-prices #savings { display: none; } Cost.-prices #benchmarks { display: none; }
    Cost.-narrow #side { display: none; width: 1fr; }
    Cost.-narrow.-detailed #side { display: block; }
    Cost.-narrow.-detailed #main { display: none; }
    """
    BINDINGS: ClassVar = [
        Binding("g", "scale", "Log", tooltip="a logarithmic axis of costs, or a linear one"),
        Binding("n", "group", "Group", tooltip="the next that were asked the same cases"),
        Binding("b", "by", "By", tooltip="agent, version or model"),
        Binding("v", "view", "Prices", tooltip="savings, then the prices that are applied"),
        Binding("w", "window", "Days", show=False, tooltip="30, all, 1 or 7 days"),
        Binding("slash", "filter", "Filter", show=False, key_display="/"),
        Binding("x", "mark", "Mark", show=False, tooltip="the agent at the cursor"),
        Binding("c", "app.go('compare')", "Compare", show=False, tooltip="those marked"),
        Binding("y", "copy", "Copy", show=False, tooltip="the line at the cursor"),
        Binding("e", "command", "Command line", show=False, tooltip="that prints the same"),
        Binding("escape", "back", "Scatter", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._asked = CostAsked()
        self._found: Found | None = None
        self._group = 0
        self._log: bool | None = None
        """None until the user chooses."""
        self._words = ""

    def crumbs(self) -> tuple[str, ...]:
        group = self._shown
        if group is None or group.current is None:
            return ("Cost",)
        return ("Cost", f"{group.current} in use")

    def content(self) -> ComposeResult:
        with Horizontal():
            with Vertical(id="main"):
                yield panel(ScatterPlot(id="scatter"), "cost and quality")
                yield panel(Grid(id="agents"), "agents")
            with Vertical(id="side"):
                yield panel(Sentences(id="savings"), "what would save, what to know")
                yield panel(Grid(id="benchmarks"), "by benchmark")
                yield panel(Sentences(id="unknown"), "cost is not known")
                yield panel(Grid(id="prices"), "prices applied last, $ a million tokens")
        yield FilterLine(id="filter")

    def on_mount(self) -> None:
        self.query_one("#agents", Grid).focus()

    def read(self, connection: sqlite3.Connection) -> Found:
        before, asked, stamp = self._found, self._asked, stamp_of_history(connection)
        # A run that goes on commits all the time, and must not be slowed down by reckoning.
        if before is not None and (before.asked, before.stamp) == (asked, stamp):
            return before
        return Found(cost_document(connection, asked), price_table(connection), asked, stamp)

    def show(self, found: Found) -> None:
        if found is self._found:
            self.tell("")
            return
        self._found = found
        self._group = min(self._group, max(0, len(found.document.groups) - 1))
        self.tell("")
        self.query_one("#prices", Grid).show(prices_table(found.prices))
        unknown = self.query_one("#unknown", Sentences)
        unknown.set_class(bool(found.document.unknown), "-some")
        unknown.show(unknown_sentences(found.document))
        self._show_group()

    @property
    def _shown(self) -> CostGroup | None:
        groups = self._found.document.groups if self._found else ()
        return groups[self._group] if groups else None

    def _show_group(self) -> None:
        group, agents = self._shown, self.query_one("#agents", Grid)
        scatter = self.query_one("#scatter", ScatterPlot)
        if group is None or self._found is None:
            agents.show(GridData(reason=self._why_empty()))
            scatter.show(Scatter((), "", "", reason=self._why_empty()))
            return
        log = is_spread(group) if self._log is None else self._log
        count = len(self._found.document.groups)
        which = f" (group {self._group + 1} of {count})" if count > 1 else ""
        entitle(scatter, f"cost of {tasks_of(group):,} tasks in $ and right answers in %{which}")
        scatter.show(cost_scatter(group, self.shared.series, log=log))
        entitle(agents, f"agents (enter: the one in use): {title_of(group)}")
        agents.show(agents_table(group, self.shared.series, self._words))
        self.query_one("#savings", Sentences).show(savings(self._found.document, group))
        self._show_one()

    def _why_empty(self) -> str:
        if self._found is not None and self._found.document.unknown:
            return "no cost is known: v shows why, and how it becomes known"
        days = self._asked.wanted.days
        if days is None or days == max(WINDOWS):
            return NOTHING_YET
        return f"nothing complete in the last {counted(days, 'day')}: w shows more, 2 runs some"

    def _at_cursor(self) -> CostLine | None:
        group, key = self._shown, self.query_one("#agents", Grid).cursor_key
        if group is None:
            return None
        return next((one for one in group.agents if one.name == key), None)

    def _show_one(self) -> None:
        one = self._at_cursor()
        if one is not None:
            grid = self.query_one("#benchmarks", Grid)
            entitle(grid, f"{one.name} by benchmark")
            grid.show(benchmarks_table(one))

    def on_grid_moved(self, event: Grid.Moved) -> None:
        if event.grid.id == "agents":
            self._show_one()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        """Select the agent in use, for savings; again: select none."""
        event.stop()
        if event.grid.id == "agents":
            names = () if self._asked.names == (event.key,) else (event.key,)
            self._ask(replace(self._asked, names=names))

    def _ask(self, asked: CostAsked) -> None:
        self._asked = asked
        self.tell("reckoning …")
        self.reload()

    def action_scale(self) -> None:
        """Switch between linear and logarithmic axis."""
        group = self._shown
        if group is None:
            self.notify(NOTHING_YET)
            return
        self._log = not (is_spread(group) if self._log is None else self._log)
        self._show_group()

    def action_group(self) -> None:
        """Show the next group."""
        count = len(self._found.document.groups) if self._found else 0
        if count < 2:
            self.notify("all measured agents were asked the same cases: there is one group")
            return
        self._group = (self._group + 1) % count
        self._show_group()

    def action_by(self) -> None:
        """Group by agents, versions or models."""
        wanted = self._asked.wanted
        by = _NEXT_BY[wanted.by]
        self._ask(replace(self._asked, names=(), wanted=replace(wanted, by=by)))
        self.notify(f"by {by}")

    def action_window(self) -> None:
        """Use another number of days."""
        wanted = self._asked.wanted
        days = WINDOWS[(WINDOWS.index(wanted.days) + 1) % len(WINDOWS)]
        self._ask(replace(self._asked, wanted=replace(wanted, days=days)))
        self.notify("all days" if days == max(WINDOWS) else f"the last {counted(days, 'day')}")

    def action_view(self) -> None:
        """Switch between savings and prices; on a small screen with the scatter plot in between."""
        if self.has_class("-narrow") and not self.has_class("-detailed"):
            self.add_class("-detailed")
            self.query_one("#savings").focus()
            return
        self.toggle_class("-prices")
        if self.has_class("-prices"):
            self.query_one("#prices").focus()
        else:
            self.action_back()

    def action_back(self) -> None:
        """Return to the scatter plot and the agents."""
        self.remove_class("-detailed", "-prices")
        self.query_one("#agents", Grid).focus()

    def action_filter(self) -> None:
        self.query_one(FilterLine).open()

    def on_filter_line_filtered(self, event: FilterLine.Filtered) -> None:
        self._words = event.words
        self._show_group()

    def on_filter_line_left(self) -> None:
        self.query_one("#agents", Grid).focus()

    def action_mark(self) -> None:
        """Mark or unmark the agent at the cursor."""
        one = self._at_cursor()
        if one is None or self._asked.wanted.by == "model":
            self.notify("put the cursor on an agent to mark it; b shows agents instead of models")
            return
        self.session.mark(one.name)

    def action_copy(self) -> None:
        """Copy the line at the cursor as text."""
        one = self._at_cursor()
        if one is None:
            self.notify("there is no line here to copy yet")
            return
        task = money(one.cost_usd_per_task.value)
        right = one.correct_share.value
        share = "" if right is None else f" {percent(right)} right,"
        words = f"{one.name}{share} {task} a task, {per_success_words(one)} a right answer"
        self.app.copy_to_clipboard(one_line(words))
        self.notify("copied the line")

    def action_command(self) -> None:
        """Show the command that prints the same in a shell."""
        wanted = self._asked.wanted
        parts = ["agentbench cost", *map(shlex.quote, self._asked.names), f"--days {wanted.days}"]
        parts += [f"--by {wanted.by}"] if wanted.by != "agent" else []
        self.tell_command(" ".join(parts))
