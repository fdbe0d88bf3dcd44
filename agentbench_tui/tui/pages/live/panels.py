"""The panels of the page Live and how they share the screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.containers import Horizontal, Vertical
from textual.widgets import Static

from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.presentation.run import defined_metrics
from agentbench_tui.presentation.run_verdict import run_verdict
from agentbench_tui.tui.pages.live import tables as live_tables
from agentbench_tui.tui.pages.live import view as live_view
from agentbench_tui.tui.pages.live.machine import machine
from agentbench_tui.tui.widgets.event_log import EventLog
from agentbench_tui.tui.widgets.facts import Facts, fact_lines
from agentbench_tui.tui.widgets.gauge import Gauges, lines_of
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.tui.widgets.histogram import HistogramView
from agentbench_tui.tui.widgets.status_bar import StatusBar
from agentbench_tui.tui.widgets.time_series import TimeSeries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.app import ComposeResult
    from textual.widget import Widget

    from agentbench_tui.contracts.run import RunDocument
    from agentbench_tui.store.viewer import Row
    from agentbench_tui.tui.agent_series import AgentSeries
    from agentbench_tui.tui.pages.live.state import Latency, LiveState
    from agentbench_tui.verdicts.runs.live_document import LiveDocument
    from agentbench_tui.verdicts.runs.run_alarms import AlarmKind

VIEWS = (
    ("latency", "rates"),
    ("progress", "board", "own"),
    ("machine", "load"),
    ("slow", "failures", "log"),
)
"""Panels that are shown together if not all fit."""
EVIDENCE: Mapping[AlarmKind, str] = {
    "failures": "failures",
    "stalled": "slow",
    "slo": "latency",
    "disk": "machine",
    "gpu": "machine",
    "noise": "machine",
}
"""Panel that shows why there is an alarm."""
_FRAME = 2
_STATUS = 1
_LEAST_LATENCY = 8
"""Lines that the latency panel keeps; see `DEFAULT_CSS`."""
_LEAST_DEFINED = 3
_USUAL_WIDTH = 40
"""Assumed width of a panel without one."""
_OLD_S = 3.0
"""Age in seconds from which a ranking shows its age."""
_NEXT = "next: 9 answers · 5 compare · 4 leaderboard · `agentbench report`"
_TITLES = {
    "rates": "the last seconds, a second a cell",
    "progress": "progress by benchmark and agent",
    "machine": "machine, agents, GPUs",
    "load": "the running load",
    "own": "metrics of scorers and suites",
    "failures": "failures by kind",
    "slow": "longest in flight, then slowest answers",
    "log": "failures, control requests, marks",
}
_PLACES = 400
"""Seconds that the lines get: more than any terminal has cells for."""


@dataclass(slots=True)
class Choices:
    """What the user chose to see."""

    latency: Latency = "e2e"
    log_axis: bool = True
    execution: int | None = None
    """None: the execution with the most recent data."""
    view: int = 0
    gpu_processes: bool = False
    """Whether the processes on each GPU are listed below it."""


class LivePanels(Vertical):
    """All panels between status and scrubber. Panels without content leave their room to others."""

    DEFAULT_CSS: ClassVar[str] = """
    LivePanels { height: 1fr; }
    LivePanels #panes { height: 1fr; }
    LivePanels #answer { height: auto; max-height: 3; display: none; }
    LivePanels.-answered #answer { display: block; }
    LivePanels.-paged.-view-1 #answer, LivePanels.-paged.-view-2 #answer,
    LivePanels.-paged.-view-3 #answer { display: none; }
    LivePanels #left { width: 13fr; height: 1fr; }
    LivePanels #right { width: 8fr; height: 1fr; }
    LivePanels #latency { height: 1fr; min-height: 8; }
    LivePanels #log { height: 1fr; min-height: 3; }
    LivePanels.-all .-empty { display: none; }
    LivePanels.-paged .panel { display: none; }
    LivePanels.-paged.-view-0 #right, LivePanels.-paged.-view-1 #right { display: none; }
    LivePanels.-paged.-view-2 #left, LivePanels.-paged.-view-3 #left { display: none; }
    LivePanels.-paged .panel.-shown { display: block; height: 1fr; }
    LivePanels.-paged #load.-shown.-empty { display: none; }
    LivePanels.-paged #own.-shown { height: 2fr; }
    LivePanels.-paged #board.-shown { min-height: 5; }
    LivePanels.-paged #own.-shown.-empty { display: none; }
    LivePanels.-paged #latency.-shown { height: 2fr; }
    LivePanels.-paged #slow.-shown, LivePanels.-paged #progress.-shown { height: 2fr; }
    """

    def compose(self) -> ComposeResult:
        yield StatusBar()
        yield Static(id="answer", markup=False)
        with Horizontal(id="panes"):
            with Vertical(id="left"):
                yield self._panel(HistogramView(id="latency"))
                yield self._panel(TimeSeries(id="rates"))
                yield self._panel(Grid(id="progress"))
                yield self._panel(Grid(id="board"))
                yield self._panel(Grid(id="own"))
            with Vertical(id="right"):
                yield self._panel(Gauges(id="machine"))
                yield self._panel(Facts(id="load"))
                yield self._panel(Gauges(id="failures"))
                yield self._panel(Grid(id="slow"))
                yield self._panel(EventLog(id="log"))

    def on_mount(self) -> None:
        self._widgets: dict[str, Widget] = {
            name: self.query_one(f"#{name}")
            for name in ("latency", "board", *_TITLES)
        }  # fmt: skip
        self._status = self.query_one(StatusBar)
        self._heights: dict[str, int] = {}
        self._entitled: dict[Widget, str] = {}
        self._places: tuple[str, ...] = ()
        self._before: dict[str, int] = {}
        self._answered: RunDocument | None = None
        """The result whose verdict is shown."""

    def share_out(self, width: int, height: int, view: int) -> None:
        """Show all panels, or those of one view on a small screen."""
        paged = width < 100 or height < 34
        if paged != self.has_class("-paged") or not self._heights:
            self._heights.clear()
            for widget in self._widgets.values():
                widget.styles.clear_rule("height")
        self.set_class(paged, "-paged")
        self.set_class(not paged, "-all")
        for number, names in enumerate(VIEWS):
            self.set_class(number == view, f"-view-{number}")
            for name in names:
                self._widgets[name].set_class(paged and number == view, "-shown")

    def show_latency(
        self, state: LiveState, document: LiveDocument | None, choices: Choices
    ) -> None:
        """Show the distribution of times."""
        row = live_view.focus_of(state, choices.execution)
        reference = None
        if document is not None and live_view.is_about(document, row):
            reference = document.reference
        latency = self._widgets["latency"]
        assert isinstance(latency, HistogramView)
        self._entitle(latency, _latency_title(row, choices))
        lacking = live_view.percentiles_words(state, row, choices.latency)
        if lacking != str(latency.border_subtitle or ""):
            latency.border_subtitle = lacking
        latency.show(
            live_view.latency(state, row, choices.latency, choices.log_axis, reference)
        )  # fmt: skip

    def show_courses(self, state: LiveState) -> None:
        """Show rates over time, and marks."""
        time_series, rates = live_view.courses(state, _PLACES), self._widgets["rates"]
        assert isinstance(rates, TimeSeries)
        each = 3 if self.size.height >= 50 else 1
        self._fit("rates", len(time_series.lines) * each + bool(time_series.marks), least=2)
        rates.show(time_series)

    def show_progress(self, state: LiveState, choices: Choices, now: float) -> None:
        """Show the progress of each execution; the cursor is at the one whose times are shown."""
        progress, grid = live_tables.progress(state, now), self._widgets["progress"]
        assert isinstance(grid, Grid)
        self._fit("progress", len(progress.rows) + 1, most=max(4, self.size.height // 5))
        grid.show(progress)
        row = live_view.focus_of(state, choices.execution)
        if row is not None:
            grid.follow(str(row["key"]))

    def show_machine(self, state: LiveState, choices: Choices) -> None:
        """Show the gauges of the machine."""
        data = machine(state, with_processes=choices.gpu_processes)
        gauges = self._widgets["machine"]
        assert isinstance(gauges, Gauges)
        lines = lines_of(data, gauges.size.width or _USUAL_WIDTH, gauges.glyphs)
        self._fit("machine", lines, most=max(6, self.size.height // 2 - 4))
        gauges.show(data)

    def show_events(self, state: LiveState) -> None:
        """Show failures and control requests."""
        data, failures, log = (
            live_view.failures(state),
            self._widgets["failures"],
            self._widgets["log"],
        )
        assert isinstance(failures, Gauges)
        assert isinstance(log, EventLog)
        self._fit("failures", len(data.rows), most=6)
        failures.show(data)
        log.show(live_view.log_lines(state, 100))

    def show_moment(
        self, state: LiveState, document: LiveDocument | None, choices: Choices, now: float
    ) -> None:
        """Show what changes with time alone, and with live rows."""
        self._status.show(live_view.status(state, now))
        row = live_view.focus_of(state, choices.execution)
        of_kind = None
        known = document is not None and row is not None and document.focus == row["key"]
        if known and document is not None and not state.is_replay:
            of_kind = document.of_kind
        facts, load = live_tables.load_facts(state, row, now, of_kind), self._widgets["load"]
        assert isinstance(load, Facts)
        going_on = row is not None and not state.has_ended(row)
        self._entitle(load, _TITLES["load"] if going_on else "the load that was looked at last")
        lines = fact_lines(facts, load.size.width or _USUAL_WIDTH, load.glyphs)
        self._fit("load", lines, most=10, shrinks=False)
        load.show(facts)
        answers = () if document is None or state.is_replay else document.slowest
        data, slow = live_tables.slow(state, answers, now), self._widgets["slow"]
        assert isinstance(slow, Grid)
        lines = len(data.rows) + 1 if data.rows else 0
        self._fit("slow", lines, most=max(5, self.size.height // 6), shrinks=False)
        slow.show(data)

    def show_board(
        self, state: LiveState, document: LiveDocument, series: AgentSeries, age_s: float
    ) -> None:
        """Show the provisional ranking, with its age if it lags behind the other panels. Arrows
        show the last change of the order.
        """
        found = document.board
        places = tuple(live_tables.key_of(one) for one in found.standings)
        if places != self._places:
            self._before = {key: place for place, key in enumerate(self._places)}
            self._places = places
        grid = self._widgets["board"]
        assert isinstance(grid, Grid)
        order = {
            "overall": "overall score",
            "accuracy": "accuracy so far",
            "pnl": "mean P&L per episode",
        }
        by = order.get(found.score, "median time so far; places need scores")
        title = f"leaderboard of this run{live_view.board_when(state, document)}, by {by}"
        result = None if state.is_replay else document.result
        if result is not None and self.has_class("-paged") and found.score == "overall":
            title = run_verdict(result).words  # its view has no room for the answer
        elif age_s >= _OLD_S and state.is_going_on and not state.is_replay:
            title += f", as of {age_s:.0f} s ago"
        self._entitle(grid, title)
        self._show_answer(state, document)
        count = len(found.standings)
        self._fit("board", count + 1 if count > 1 else 0, most=max(4, self.size.height // 5))
        grid.show(live_tables.board(found, self._before, series))

    def show_defined_metrics(self, state: LiveState, document: LiveDocument) -> None:
        """Show the metrics that benchmarks define: of a run that has ended as in its result."""
        found = document.defined_metrics
        if document.result is not None:
            found = tuple(defined_metrics(document.result.executions))
        grid = self._widgets["own"]
        assert isinstance(grid, Grid)
        when = " so far" if document.result is None else " as it is now" if state.is_replay else ""
        self._entitle(grid, f"{_TITLES['own']}{when}")
        lines = len(found) + 1 if found else 0
        self._fit("own", lines, most=self._room_for_defined_metrics())
        grid.show(live_tables.defined_metrics(found))

    def _room_for_defined_metrics(self) -> int:
        """Return the lines that the other panels above leave."""
        above = ("rates", "progress", "board")
        taken = sum(lines + _FRAME for name in above if (lines := self._heights.get(name, 0)))
        room = self.size.height - _STATUS - _LEAST_LATENCY - taken - _FRAME
        return max(_LEAST_DEFINED, min(room, self.size.height // 4))

    def _show_answer(self, state: LiveState, document: LiveDocument) -> None:
        """Show the verdict of a run that has ended above everything else, and what to do next."""
        has_ended = document.result is not None and not state.is_replay
        self.set_class(has_ended, "-answered")
        if document.result is not None and document.result is not self._answered:
            self._answered = document.result
            plain = self._status.glyphs.plain
            words = one_line(run_verdict(document.result).words, 240)
            answer = Text(plain(words), "bold").append(f"\n{plain(_NEXT)}", "not bold dim")
            self.query_one("#answer", Static).update(answer)

    def _entitle(self, widget: Widget, title: str) -> None:
        """Set a title, without markup since it may name an agent."""
        if self._entitled.get(widget) != title:
            self._entitled[widget] = title
            widget.border_title = Text(one_line(title, 120))

    def _panel(self, widget: Widget) -> Widget:
        widget.add_class("panel")
        if widget.id in _TITLES:
            widget.border_title = _TITLES[widget.id]
        return widget

    def _fit(
        self,
        name: str,
        lines: int,
        *,
        least: int = 0,
        most: int | None = None,
        shrinks: bool = True,
    ) -> None:
        """Give a panel room for this many lines; without any it is hidden if all are shown.

        A panel does not shrink if `keeps` is set, so that others do not move.
        """
        shown = max(least, min(lines, lines if most is None else most))
        if not shrinks:
            shown = max(shown, self._heights.get(name, 0))
        if self._heights.get(name) == shown:
            return
        self._heights[name] = shown
        widget = self._widgets[name]
        widget.set_class(shown == 0, "-empty")
        if self.has_class("-all"):
            widget.styles.height = shown + _FRAME


def _latency_title(row: Row | None, choices: Choices) -> str:
    axis = "logarithmic" if choices.log_axis else "linear"
    whose = "" if row is None else f": {row['agent_id']} on {live_tables.where_words(row)}"
    return f"latency {live_view.LATENCY_NAMES[choices.latency]}, {axis}{whose}"
