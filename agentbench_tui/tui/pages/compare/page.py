"""Compare: two or more selectors, metric by metric, in plots, and case by case."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal, Vertical
from textual.widgets import ContentSwitcher

from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.store.queries.history import stamp_of_executions
from agentbench_tui.tui.drawing.panel import entitle, panel
from agentbench_tui.tui.pages.compare.cases import CasesBeside
from agentbench_tui.tui.pages.compare.pictures import radar_of_sides
from agentbench_tui.tui.pages.compare.rows import (
    advice,
    is_at,
    matrix_table,
    metrics_table,
    verdict_lines,
)
from agentbench_tui.tui.pages.compare.selector_rows import short
from agentbench_tui.tui.pages.compare.sides import Sides
from agentbench_tui.tui.pages.compare.spread import Spreads
from agentbench_tui.tui.pages.page import Page
from agentbench_tui.tui.shared import MOST_MARKED
from agentbench_tui.tui.widgets.crumbs import CrumbBar
from agentbench_tui.tui.widgets.filter_line import FilterLine
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.tui.widgets.radar import RadarChart
from agentbench_tui.tui.widgets.sentences import Sentences
from agentbench_tui.verdicts.comparison.pictured import Pictured, pictured
from agentbench_tui.verdicts.selection.selectable import selectable, spelled_out

if TYPE_CHECKING:
    import sqlite3

    from textual.app import ComposeResult

    from agentbench_tui.contracts.compare import Pair
    from agentbench_tui.verdicts.evidence.place import Place
    from agentbench_tui.verdicts.selection.selectable import Offer

VIEWS = ("overview", "distributions", "cases", "matrix")
"""In the order in which `v` goes through them."""
SIDES = "sides"
"""The view in which one chooses."""
CASES_SHOWN = 200
_AROUND_ROWS = 3
"""Rows of a table's titles and its frame."""
_OF_COMPARISONS = {"view", "sides", "benchmark", "pair", "metric", "sort", "control", "copy"}
"""Actions that need a comparison."""


@dataclass(frozen=True, slots=True)
class Found:
    """Possible selectors, and the current comparison."""

    offers: list[Offer]
    asked: tuple[str, ...]
    """Marked selectors."""
    marked: tuple[str, ...]
    """Marked selectors, with a run of several agents expanded to each of them."""
    compared: Pictured | None = None
    problem: str = ""
    """Why there is no comparison."""


class Compare(Page[Found]):
    """Comparison of the marked selectors, the first as the control."""

    EVERY_S: ClassVar[float] = 3.0
    DEFAULT_CSS: ClassVar[str] = """
    Compare ContentSwitcher { height: 1fr; }
    Compare #verdict { height: 4; }
    Compare.-narrow #verdict { height: 5; }
    Compare #below { height: 19; }
    Compare.-tall #metrics { height: auto; min-height: 6; max-height: 15; }
    Compare.-tall.-huge #metrics { max-height: 26; }
    Compare.-tall #below { height: 1fr; min-height: 12; }
    Compare.-low #below { height: 6; }
    Compare #radar { width: 46; }
    Compare.-huge #radar { width: 76; }
    Compare.-narrow #radar, Compare.-low #radar { display: none; }
    """
    BINDINGS: ClassVar = [
        Binding("v", "view", "View", tooltip="overview, distributions, cases, matrix"),
        Binding("p", "sides", "Choose", tooltip="what is compared"),
        Binding("b", "benchmark", "Benchmark", tooltip="one benchmark, the next one, or all"),
        Binding("o", "control", "Control", tooltip="the next side becomes the control"),
        Binding("n", "pair", "Next pair", show=False, tooltip="of more than two sides"),
        Binding("f", "metric", "Next metric", show=False, tooltip="of the distributions"),
        Binding("s", "sort", "Sort", show=False, tooltip="metrics by verdict or by benchmark"),
        Binding("slash", "filter", "Filter", show=False, key_display="/"),
        Binding("y", "copy", "Copy", show=False, tooltip="the verdict, in words"),
        Binding("e", "command", "Command line", show=False, tooltip="that prints the same"),
        Binding("escape", "back", "Back", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._found: Found | None = None
        self._view = SIDES
        self._last = VIEWS[0]
        """The view before one chose."""
        self._choosing = True
        """Whether selectors are being chosen."""
        self._left_with: tuple[str, ...] = ()
        """Marked selectors when another screen was opened."""
        self._pair = 0
        self._place: Place | None = None
        self._by_verdict = False
        self._words = ""

    def crumbs(self) -> tuple[str, ...]:
        marked = self._found.marked if self._found else ()
        return ("Compare", *([" · ".join(map(short, marked))] if marked else []), self._view)

    def content(self) -> ComposeResult:
        with ContentSwitcher(initial=SIDES):
            yield Sides(id=SIDES)
            with Vertical(id="overview"):
                yield panel(Sentences(id="verdict"), "verdict")
                yield panel(Grid(id="metrics"), "metrics")
                with Horizontal(id="below"):
                    yield panel(RadarChart(id="radar"), "scores, 0 to 100")
                    yield panel(Sentences(id="advice"), "what to do about it, what to know")
            yield Spreads(id="distributions")
            yield CasesBeside(id="cases")
            with Vertical(id="matrix"):
                yield panel(
                    Grid(id="table"),
                    "what the row is against the column, with metrics better (+) and worse (-)",
                )
                yield panel(RadarChart(id="radar-of-all"), "scores, 0 to 100")
        yield FilterLine(id="filter")

    def on_mount(self) -> None:
        self.query_one("#offers", Grid).focus()

    def on_screen_suspend(self) -> None:
        """Prepare for other pages, where other selectors may be marked."""
        self._left_with = tuple(self.shared.marked)

    def on_screen_resume(self) -> None:
        marked = tuple(self.shared.marked)
        if marked != self._left_with:
            self._choosing = not marked
        super().on_screen_resume()
        if self.focused is None:  # the comparison came while another page was in front
            self._go(self._view)

    def reload(self) -> None:
        marked, compared = tuple(self.shared.marked), self._compared
        if not self._choosing and (compared is None or compared.selectors != marked):
            self.tell(f"comparing {', '.join(map(short, marked))} …")
        super().reload()

    def read(self, connection: sqlite3.Connection) -> Found:
        asked, before = tuple(self.shared.marked), self._compared
        offers = selectable(connection)
        if self._choosing:
            told = self._found.problem if self._found and self._found.marked == asked else ""
            return Found(offers, asked, asked, before, told)
        marked = asked
        try:
            marked = tuple(spelled_out(connection, asked)[:MOST_MARKED])
            if len(marked) < 2:
                return Found(offers, asked, marked, before)
            known = before is not None and before.selectors == marked
            if before is not None and known and before.stamp == stamp_of_executions(connection):
                return Found(offers, asked, marked, before)
            return Found(offers, asked, marked, pictured(connection, marked, CASES_SHOWN))
        except AgentbenchError as error:
            return Found(offers, asked, marked, None, f"{error} (d drops one, a adds another)")

    def show(self, found: Found) -> None:
        before, self._found = self._compared, found
        if tuple(self.shared.marked) == found.asked != found.marked:
            self.shared.marked[:] = found.marked
        self.query_one(Sides).show(found.offers, self._words)
        if found.problem or len(found.marked) < 2:
            self._choosing = True
            self.tell(found.problem)
        if found.compared is None or self._choosing:
            if self._view != SIDES:
                self._go(SIDES)
            return
        if self._view == SIDES or before is None or before.selectors != found.compared.selectors:
            self._pair, self._place = 0, None
            self._go(self._last)
        if before is not found.compared:
            self._show_all()

    def _show_all(self) -> None:
        """Show the comparison in every view."""
        compared, pair = self._compared, self._pair_shown
        if compared is None or pair is None:
            return
        self._show_overview(compared, pair)
        self.query_one(CasesBeside).show(pair, self._place, self._words)
        self.query_one(Spreads).show(compared, self._sides_of(compared, pair), self._place)
        labels = [side.label for side in compared.sides]
        table = self.query_one("#table", Grid)
        table.styles.height = len(labels) + _AROUND_ROWS
        table.show(matrix_table(compared.pairs, labels))
        self.query_one("#radar-of-all", RadarChart).show(
            radar_of_sides(compared.sides, compared.scores)
        )

    def _show_overview(self, compared: Pictured, pair: Pair) -> None:
        verdict, metrics = self.query_one("#verdict", Sentences), self.query_one("#metrics", Grid)
        count = len(compared.pairs)
        which = f" (pair {self._pair + 1} of {count}; n: the next)" if count > 1 else ""
        entitle(verdict, f"B {short(pair.b)} against A {short(pair.a)}, the control{which}")
        verdict.show(verdict_lines(compared.document, pair))
        where = "all benchmarks" if self._place is None else str(self._place)
        entitle(metrics, f"metrics on {where}; enter shows what is behind one")
        metrics.show(
            metrics_table(pair, self._place, by_verdict=self._by_verdict, words=self._words)
        )
        at = self._sides_of(compared, pair)
        self.query_one("#radar", RadarChart).show(
            radar_of_sides([compared.sides[n] for n in at], [compared.scores[n] for n in at])
        )
        self.query_one("#advice", Sentences).show(advice(compared.document, pair))

    @property
    def _compared(self) -> Pictured | None:
        return None if self._found is None else self._found.compared

    @property
    def _pair_shown(self) -> Pair | None:
        compared = self._compared
        return None if compared is None else compared.pairs[self._pair]

    @staticmethod
    def _sides_of(compared: Pictured, pair: Pair) -> tuple[int, int]:
        """Return the numbers of a pair's selectors."""
        labels = [side.label for side in compared.sides]
        return labels.index(pair.a), labels.index(pair.b)

    def _go(self, view: str) -> None:
        """Show a view and focus its main table."""
        if view != SIDES:
            self._last = view
        self._view = view
        self.query_one(ContentSwitcher).current = view
        self.refresh_bindings()
        self.query_one(CrumbBar).show(("agentbench", *self.crumbs()))
        if not self.is_active:
            return
        first = {SIDES: "#offers", "overview": "#metrics", "matrix": "#table"}.get(view)
        if view == "cases":
            self.query_one(CasesBeside).enter()
        elif first is not None:
            self.query_one(first).focus()
        else:
            self.set_focus(None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Disable keys of a comparison while selectors are being chosen."""
        return self._view != SIDES if action in _OF_COMPARISONS else True

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        """Open the row: from a metric its values or cases; from the matrix a pair."""
        event.stop()
        compared, pair = self._compared, self._pair_shown
        if compared is None or pair is None or event.key is None:
            return
        if event.grid.id == "metrics":
            number, _, attempts = event.key.partition("/")
            at = pair.benchmarks[int(number)] if attempts else pair.metrics[int(number)]
            self._place = next((one for one in compared.places if is_at(at, one)), None)
            metric = attempts or pair.metrics[int(number)].metric
            of_answers = self.query_one(Spreads).choose(metric.partition(".")[0])
            self._go("distributions" if of_answers else "cases")
        else:
            sides = [{one.a, one.b} for one in compared.pairs]
            self._pair = next(at for at, one in enumerate(sides) if event.key in one)
            self._go("overview")
        self._show_all()

    def on_sides_wanted(self) -> None:
        """Compare the chosen selectors."""
        self._choosing = False
        self.reload()

    def action_view(self) -> None:
        """Show the next view."""
        self._go(VIEWS[(VIEWS.index(self._view) + 1) % len(VIEWS)])
        self._show_all()

    def action_sides(self) -> None:
        """Choose what to compare."""
        self._choosing = True
        self._go(SIDES)

    def action_back(self) -> None:
        """Return from a transcript to the cases, or from choosing to the comparison."""
        if self._view == "cases":
            self.query_one(CasesBeside).leave_transcripts()
        elif self._view == SIDES and len(self.shared.marked) > 1:
            self.on_sides_wanted()

    def action_benchmark(self) -> None:
        """Show the next benchmark of the pair; after the last, all of them."""
        compared, pair = self._compared, self._pair_shown
        if compared is None or pair is None:
            return
        choices: list[Place | None] = [None]
        choices += [
            place for place in compared.places if any(is_at(one, place) for one in pair.benchmarks)
        ]
        if len(choices) < 3:
            self.notify("these two have one benchmark in common")
            return
        at = choices.index(self._place) if self._place in choices else 0
        self._place = choices[(at + 1) % len(choices)]
        self._show_all()

    def action_pair(self) -> None:
        """Show the next pair of more than two selectors."""
        compared = self._compared
        if compared is None or len(compared.pairs) < 2:
            self.notify("two sides are one pair: p adds a third")
            return
        self._pair = (self._pair + 1) % len(compared.pairs)
        self._place = None
        self._show_all()

    def action_metric(self) -> None:
        """Show the next metric with values of single answers."""
        if self._view != "distributions":
            self.notify("v leads to the distributions, whose metric this changes")
        elif not self.query_one(Spreads).next_metric():
            self.notify("single answers have values of one metric here")

    def action_sort(self) -> None:
        """Sort metrics by verdict, or by benchmark."""
        self._by_verdict = not self._by_verdict
        self._show_all()
        self.notify("worse and better first" if self._by_verdict else "benchmark by benchmark")

    def action_control(self) -> None:
        """Make the next selector the control, and compare again."""
        marked = self.shared.marked
        marked.append(marked.pop(0))
        self.reload()

    def action_filter(self) -> None:
        self.query_one(FilterLine).open()

    def on_filter_line_filtered(self, event: FilterLine.Filtered) -> None:
        self._words = event.words
        if self._found is not None:
            self.query_one(Sides).show(self._found.offers, self._words)
            self._show_all()

    def on_filter_line_left(self) -> None:
        self._go(self._view)

    def action_copy(self) -> None:
        """Copy the verdict in words."""
        compared, pair = self._compared, self._pair_shown
        if compared is not None and pair is not None:
            said = verdict_lines(compared.document, pair)
            self.app.copy_to_clipboard(one_line(" ".join(one.words for one in said), 2000))
            self.notify("copied the verdict")

    def action_command(self) -> None:
        """Show the command that prints the same in a shell."""
        sides = " ".join(map(shlex.quote, self.shared.marked)) or "A B"
        self.tell_command(f"agentbench compare {sides}")
