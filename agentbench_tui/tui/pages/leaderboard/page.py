"""Leaderboard: agents ranked by a metric, the uncertainty of the ranks, and details of the agent
at the cursor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.binding import Binding
from textual.containers import Horizontal, Vertical

from agentbench_tui.model.text.plain_number import counted
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.tui.drawing.panel import entitle, panel
from agentbench_tui.tui.pages.leaderboard.executions import LeaderExecutions
from agentbench_tui.tui.pages.leaderboard.rows import (
    Leader,
    benchmarks_table,
    board_table,
    board_title,
    facts_of,
    leaders_by_key,
    notes_of,
    profiles_plot,
    radar_of,
)
from agentbench_tui.tui.pages.page import NOTHING_YET, Page
from agentbench_tui.tui.widgets.filter_line import FilterLine
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.tui.widgets.plot import Plot
from agentbench_tui.tui.widgets.radar import RadarChart
from agentbench_tui.tui.widgets.sentences import Sentences
from agentbench_tui.verdicts.ranking.leaders import ALL, Leaders, leaders

if TYPE_CHECKING:
    import sqlite3

    from textual.app import ComposeResult

    from agentbench_tui.tui.drawing.grid_data import GridData

One = TypeVar("One")
WINDOWS = (30, None, 1, 7)
"""Days that count, in the order in which `w` goes through them; None for all."""
_LONGEST_DAYS = 36_500


class Leaderboard(Page[Leaders]):
    """Boards of one category by one metric over one window."""

    DEFAULT_CSS: ClassVar[str] = """
    Leaderboard #boards { width: 1fr; }
    Leaderboard #measured { height: 1fr; min-height: 6; }
    Leaderboard.-tall #measured.-beside { height: auto; max-height: 65%; }
    Leaderboard #simulated { height: auto; max-height: 40%; min-height: 5; display: none; }
    Leaderboard #simulated.-some { display: block; height: 8; }
    Leaderboard.-only-simulated #measured { display: none; }
    Leaderboard.-only-simulated #simulated { height: 1fr; max-height: 100%; }
    Leaderboard #profiles { height: 1fr; min-height: 12; display: none; }
    Leaderboard.-tall #profiles.-some { display: block; }
    Leaderboard #details { width: 48; }
    Leaderboard.-huge #details { width: 84; }
    Leaderboard #radar { height: 1fr; min-height: 8; }
    Leaderboard #facts { height: 12; }
    Leaderboard #benchmarks { height: 7; }
    Leaderboard.-huge #facts { height: 14; } Leaderboard.-huge #benchmarks { height: 12; }
    Leaderboard.-low #facts { height: 9; } Leaderboard.-low #benchmarks { height: 6; }
    Leaderboard.-narrow Horizontal { layout: vertical; }
    Leaderboard.-narrow #boards { height: 1fr; }
    Leaderboard.-narrow #details { width: 1fr; height: 9; }
    Leaderboard.-narrow #radar, Leaderboard.-narrow #benchmarks { display: none; }
    Leaderboard.-narrow #facts { height: 1fr; }
    Leaderboard.-narrow.-detailed #details { height: 1fr; }
    Leaderboard.-narrow.-detailed #radar { display: block; }
    Leaderboard.-narrow.-detailed #benchmarks { display: block; }
    Leaderboard.-narrow.-detailed #boards { display: none; }
    Leaderboard.-narrow.-low #radar { height: 7; min-height: 7; }
    """
    BINDINGS: ClassVar = [
        Binding("g", "category", "Category", tooltip="the next kind of suites"),
        Binding("o", "metric", "Rank by", tooltip="the next metric"),
        Binding("w", "window", "Days", tooltip="30, all, 1 or 7 days"),
        Binding("x", "mark", "Mark", tooltip="the agent at the cursor, to compare it"),
        Binding("c", "compare", "Compare", tooltip="those marked"),
        Binding("slash", "filter", "Filter", show=False, key_display="/"),
        Binding("v", "view", "Panel", show=False, tooltip="boards, then what is known of one"),
        Binding("h", "history", "History", show=False, tooltip="of the agent at the cursor"),
        Binding("y", "copy", "Copy", show=False, tooltip="the line at the cursor"),
        Binding("e", "command", "Command line", show=False, tooltip="that prints the same"),
        Binding("escape", "back", "Boards", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._category: str | None = None
        self._metric: str | None = None
        self._days: int | None = WINDOWS[0]
        self._words = ""
        self._found: Leaders | None = None
        self._leaders: dict[str, Leader] = {}

    def crumbs(self) -> tuple[str, ...]:
        return ("Leaderboard", *([self._found.category] if self._found and self._found.category
                                 else []))  # fmt: skip

    def content(self) -> ComposeResult:
        with Horizontal():
            with Vertical(id="boards"):
                yield panel(Grid(id="measured"), "agents")
                yield panel(Grid(id="simulated"), "simulated agents")
                yield panel(Plot(id="profiles"), "profile")
            with Vertical(id="details"):
                yield panel(RadarChart(id="radar"), "scores, 0 to 100: this one and the next")
                yield panel(Sentences(id="facts"), "what is known")
                yield panel(Grid(id="benchmarks"), "scores by benchmark, 0 to 1")
        yield FilterLine(id="filter")

    def on_mount(self) -> None:
        self.query_one("#measured", Grid).focus()

    def read(self, connection: sqlite3.Connection) -> Leaders:
        return leaders(connection, category=self._category, metric=self._metric, days=self._days)

    def show(self, found: Leaders) -> None:
        self._found, self._category = found, found.category
        self._leaders = leaders_by_key(found)
        self._show_boards()
        notes = [words for board in found.boards for words in notes_of(board)]
        if notes:
            self.tell(notes[0] + (f" (and {len(notes) - 1} more notes)" if notes[1:] else ""))

    def _show_boards(self) -> None:
        assert self._found is not None
        for name, simulated in (("#measured", False), ("#simulated", True)):
            grid = self.query_one(name, Grid)
            boards = [one for one in self._found.boards if one["simulated"] is simulated]
            those = [one for one in self._leaders.values() if one.line["simulated"] is simulated]
            if boards:
                entitle(grid, board_title(boards[0], self._days))
            grid.show(self._board_table(those))
            grid.set_class(bool(those), "-some")
        board = self.query_one("#simulated", Grid)
        alone = board.cursor_key is not None and not self._has_measured()
        self.set_class(alone, "-only-simulated")
        if alone and self.query_one("#measured", Grid).has_focus:
            board.focus()
        self._show_profiles()
        self._show_details(self._at_cursor())

    def _has_measured(self) -> bool:
        return any(not one.line["simulated"] for one in self._leaders.values())

    def _show_profiles(self) -> None:
        """Show the profiles of the first board, if shares of cases were ranked."""
        first = next(iter(self._leaders.values()), None)
        plot = self.query_one("#profiles", Plot)
        drawn = first is not None and first.line["profile"] is not None
        plot.set_class(drawn, "-some")
        self.query_one("#measured").set_class(drawn, "-beside")
        if first is not None:
            metric = first.board["metric"]
            entitle(plot, f"profile: repeats of benchmarks with {metric} of x or more, %")
            those = [one for one in self._leaders.values() if one.board is first.board]
            plot.show(profiles_plot(those, self.shared.series, self._words))

    def _board_table(self, those: list[Leader]) -> GridData:
        shared = self.shared
        return board_table(those, shared.marked, shared.series, self._words, self._why_empty(those))

    def _why_empty(self, those: list[Leader]) -> str:
        if those:
            return ""
        if self._days is not None:
            days = counted(self._days, "day")
            return f"nothing was measured in the last {days}: w shows more, 2 runs some"
        return NOTHING_YET

    def _show_details(self, one: Leader | None) -> None:
        if one is None:
            return
        self.query_one("#radar", RadarChart).show(
            radar_of(one, list(self._leaders.values()), self.shared.series)
        )
        facts = self.query_one("#facts", Sentences)
        entitle(facts, f"{one.line['name']}: what is known")
        facts.show(facts_of(one))
        self.query_one("#benchmarks", Grid).show(benchmarks_table(one))

    def _board(self) -> Grid:
        """Return the focused board, or the last focused one."""
        simulated = self.query_one("#simulated", Grid)
        first = self.query_one("#measured", Grid)
        return simulated if simulated.has_focus or first.cursor_key is None else first

    def _at_cursor(self) -> Leader | None:
        return self._leaders.get((self._board().cursor_key or "").removesuffix("#"))

    def on_grid_moved(self, event: Grid.Moved) -> None:
        """Describe the contender at the cursor of the focused board."""
        if event.grid is self._board():
            self._show_details(self._at_cursor())

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        """Show the executions behind the agent."""
        event.stop()
        one = self._leaders.get(event.key or "")
        if one is not None and event.grid.id in {"measured", "simulated"}:
            self.app.push_screen(LeaderExecutions(one))

    def on_descendant_focus(self) -> None:
        """Describe the contender at the cursor of another board."""
        if self._leaders and isinstance(self.focused, Grid):
            self._show_details(self._at_cursor())

    def on_filter_line_filtered(self, event: FilterLine.Filtered) -> None:
        self._words = event.words
        if self._found is not None:
            self._show_boards()

    def on_filter_line_left(self) -> None:
        self._board().focus()

    def action_category(self) -> None:
        """Show the next category; after the last, all of them on one board."""
        known = self._found.categories if self._found else ()
        if len(known) < 2:
            self.notify(
                f"only {known[0]} suites were measured" if known else NOTHING_YET, markup=False
            )
            return
        self._category = _after(known, self._category)
        self._metric = None
        self._rank_again()

    def action_metric(self) -> None:
        """Rank by the next metric."""
        known = self._found.metrics if self._found else ()
        shown = self._found.boards[0]["metric"] if self._found and self._found.boards else None
        if not known:
            self.notify(NOTHING_YET)
            return
        self._metric = _after(known, self._metric or shown)
        self._rank_again()

    def action_window(self) -> None:
        """Use another number of days."""
        self._days = _after(WINDOWS, self._days)
        self._rank_again()

    def _rank_again(self) -> None:
        by = self._metric or "the main metric"
        days = "all days" if self._days is None else counted(self._days, "day")
        self.tell(f"ranking {self._category or ''} by {by} over {days} …")
        self.reload()

    def action_mark(self) -> None:
        """Mark or unmark the agent at the cursor."""
        one = self._at_cursor()
        if one is None:
            self.notify("there is no agent here to mark yet")
            return
        self.session.mark(one.line["name"])
        self._show_boards()

    def action_compare(self) -> None:
        """Compare the marked agents; with fewer than two, the page lets the user choose."""
        self.session.action_go("compare")

    def action_history(self) -> None:
        """Show the history of the agent at the cursor."""
        one = self._at_cursor()
        if one is None:
            self.notify("there is no agent here yet")
            return
        self.shared.agent = one.line["agent_id"]
        self.session.action_go("history")

    def action_filter(self) -> None:
        self.query_one(FilterLine).open()

    def action_view(self) -> None:
        """Focus the next panel; on a small screen, show the other half of the page."""
        self.toggle_class("-detailed")
        if self.has_class("-narrow"):
            self.query_one("#facts" if self.has_class("-detailed") else "#measured").focus()
        else:
            self.focus_next()

    def action_back(self) -> None:
        """Show the boards, if only the details of one agent are shown."""
        self.remove_class("-detailed")
        self._board().focus()

    def action_copy(self) -> None:
        """Copy the line at the cursor as text."""
        one = self._at_cursor()
        if one is None:
            self.notify("there is no line here to copy yet")
            return
        line = one.line
        words = f"{line['rank_shown']} {line['name']} {one.board['metric']} {line['score']:.6g}"
        self.app.copy_to_clipboard(one_line(words))
        self.notify("copied the line")

    def action_command(self) -> None:
        """Show the command that prints the same in a shell."""
        days = _LONGEST_DAYS if self._days is None else self._days
        parts = ["agentbench leaderboard", f"--days {days}"]
        if self._category is not None:
            parts.append("--overall" if self._category == ALL else f"--category {self._category}")
        parts += [f"--metric {self._metric}"] if self._metric else []
        self.tell_command(" ".join(parts))


def _after(all_of: tuple[One, ...], one: One | None) -> One:
    """Return the next item, cyclically."""
    return all_of[(all_of.index(one) + 1) % len(all_of)] if one in all_of else all_of[0]
