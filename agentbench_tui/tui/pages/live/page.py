"""Live: a running run, or its replay at any speed, with control requests."""

from __future__ import annotations

import math
import sqlite3
import time
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.worker import WorkerError

from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.store.viewer import Viewer
from agentbench_tui.tui.pages.live import view as live_view
from agentbench_tui.tui.pages.live.control_requests import ControlRequests
from agentbench_tui.tui.pages.live.controlling import Controlling
from agentbench_tui.tui.pages.live.panels import EVIDENCE, VIEWS, Choices, LivePanels
from agentbench_tui.tui.pages.live.state import LATENCIES, LiveState
from agentbench_tui.tui.pages.live.tables import SIMULATED, parts_of
from agentbench_tui.tui.pages.page import NOTHING_YET, READING, Page
from agentbench_tui.tui.shared import Lead
from agentbench_tui.tui.widgets.gauge import Gauges
from agentbench_tui.tui.widgets.grid import Grid
from agentbench_tui.tui.widgets.scrubber import Scrubber

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.worker import Worker

    from agentbench_tui.store.viewer import Update
    from agentbench_tui.verdicts.runs.live_document import LiveDocument, LiveReader

DRAW_S = 0.25
_COURSES_S = 1.1
"""After this many seconds without a tick, the lines advance anyway."""


class Live(Controlling, Page["LiveDocument | None"]):
    """One run."""

    BINDINGS: ClassVar = [
        Binding("space", "hold", "Pause/go on", tooltip="the run; in a replay the replay"),
        Binding("space", "replay", "Replay", tooltip="from the beginning"),
        Binding("space", "say_no_pause", "Pause", show=False, tooltip="a load cannot be paused"),
        Binding("S", "stop", "Stop", tooltip="finish in-flight requests, then stop"),
        Binding("S", "say_why_not", "Stop", show=False, tooltip="a run in progress"),
        Binding("v", "next_view", "Next panels", tooltip="or the cursor into the next"),
        Binding("h", "next_latency", "Latency", tooltip="end to end, TTFT, ITL, queueing"),
        Binding("M", "mark", "Mark", show=False, tooltip="this moment, with a note"),
        Binding("g", "axis", "Axis", show=False, tooltip="logarithmic or linear"),
        Binding("G", "gpu_processes", "GPU processes", show=False,
                tooltip="below each GPU, where the suite samples them"),
        Binding("x", "cancel", "Cancel case", show=False, tooltip="at the cursor, in flight"),
        Binding("plus,equals_sign", "push(1)", "More load", show=False, key_display="+",
                tooltip="a quarter more at once, or a second"),
        Binding("minus", "push(-1)", "Less load", show=False, key_display="-",
                tooltip="a fifth less"),
        Binding("comma", "step(-1)", "Back", show=False, tooltip="a moment back in the run"),
        Binding("full_stop", "step(1)", "Forth", show=False),
        Binding("less_than_sign", "speed(-1)", "Slower", show=False, tooltip="the replay"),
        Binding("greater_than_sign", "speed(1)", "Faster", show=False,
                tooltip="the replay, up to ×64, then as fast as can be"),
        Binding("left_square_bracket", "from_start", "Replay", show=False,
                tooltip="from the beginning"),
        Binding("right_square_bracket", "to_end", "To the newest", show=False),
        Binding("y", "copy", "Copy run id", show=False),
        Binding("e", "command_line", "As a command", show=False),
        Binding("escape", "back", "Back", show=False),
    ]  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._state = LiveState()
        self._viewer: Viewer | None = None
        self._run_id: str | None = None
        self._reader: LiveReader | None = None
        self._document: LiveDocument | None = None
        self._choices = Choices()
        self._changed: set[str] = set()
        self._second = 0
        self._courses_at = 0.0
        self._wishes = ControlRequests(self)
        self._following: Worker[None] | None = None

    def crumbs(self) -> tuple[str, ...]:
        return ("Live", self._run_id[:18]) if self._run_id else ("Live",)

    def content(self) -> ComposeResult:
        yield LivePanels()
        yield Scrubber()

    def on_mount(self) -> None:
        self._panels = self.query_one(LivePanels)
        self._scrubber = self.query_one(Scrubber)
        if self.session.draw_every_s is not None:
            self.set_interval(self.session.draw_every_s, self._draw)
        self._panels.query_one("#progress", Grid).focus()

    def on_resize(self) -> None:
        """Arrange the panels for the new size."""
        self._panels.share_out(self.size.width, self.size.height, self._choices.view)
        self._changed |= {"ticks", "gauges", "events", "moment", "board"}

    def read(self, connection: sqlite3.Connection) -> LiveDocument | None:
        # Who judges loads numpy: not before there is something to see.
        from agentbench_tui.verdicts.runs import live_document, run_choice

        wanted = self.shared.run_id or self._run_id
        run_id = wanted or run_choice.run_to_watch(connection, self.shared.database)
        if run_id is None:
            raise AgentbenchError(NOTHING_YET)
        if self._reader is None or self._run_id != run_id:
            self._reader = live_document.LiveReader(connection, self.shared.database, run_id)
        row = live_view.focus_of(self._state, self._choices.execution)
        key = None if row is None else row["key"]
        return self._reader.read(connection, key, live_view.board_moment(self._state))

    def show(self, found: LiveDocument | None) -> None:
        if found is None:
            return
        lost = self._following is not None and self._following.is_finished  # the store was gone
        if found.run_id != self._run_id or self.shared.replay or lost:
            self._follow(found.run_id)
        self._document = found
        interrupted = self._state.run.get("status") == "running" and not found.has_process
        if interrupted != self._state.interrupted:
            self._state.interrupted = interrupted
            self.refresh_bindings()
            self._changed |= {"ticks", "moment", "events"}
        self._changed |= {"board"}
        if found.reference is not None or found.of_kind is not None:
            self._changed |= {"ticks", "moment"}
        if self.session.draw_every_s is None:  # somebody asked for it
            self._draw()

    def _follow(self, run_id: str) -> None:
        """Show this run from now on."""
        self._run_id = self.shared.run_id = run_id
        self._state, self._document = LiveState(), None
        self._follow_newest_execution()
        speed = self.shared.speed if self.shared.replay else math.inf
        self.shared.replay = False
        self._following = self.run_worker(
            self._take_updates(run_id, speed), exclusive=True, group="follow"
        )
        self._explain_panels("")  # of this run nothing has arrived

    def action_to_end(self) -> None:
        """Jump to the newest row, and follow it and the execution that it is of."""
        super().action_to_end()
        self._follow_newest_execution()
        self._changed |= {"ticks", "moment"}

    def _follow_newest_execution(self) -> None:
        self._choices.execution = None
        self._panels.query_one("#progress", Grid).let_go()

    async def on_unmount(self) -> None:
        """End the viewer's thread before the loop that it reports to."""
        if self._following is not None:
            self._following.cancel()
            with suppress(WorkerError):
                await self._following.wait()

    async def _take_updates(self, run_id: str, speed: float) -> None:
        ours: Viewer | None = None
        try:
            async with Viewer(self.shared.database, run_id, speed=speed) as ours:
                self._viewer = ours
                async for update in ours.updates(DRAW_S, stay=True):
                    self._take(update)
        except (AgentbenchError, sqlite3.Error) as error:
            self.tell(str(error))
            self.session.store_was_gone()
        finally:
            if self._viewer is ours:  # and not that of the run that is followed instead
                self._viewer = None

    def _explain_panels(self, words: str) -> None:
        """Report no panel as empty before the first rows of the run have arrived."""
        is_waiting = self._following is not None and not self._following.is_finished
        super()._explain_panels(READING if is_waiting and not self._state.run else words)

    def _take(self, update: Update) -> None:
        first = not self._state.run
        was, live_at = self._state.run.get("status"), self._state.live_at
        was_replay, sent_load = self._state.is_replay, self._state.is_sending_load
        wishes = [(row["seq"], row["answer"]) for row in self._state.wishes]
        self._state.take(update)
        if first:
            self._explain_panels("")
        new = update.new
        if first or update.restarted or new["ticks"] or new["iterations"]:
            self._changed.add("ticks")
        if first or update.restarted or new["gauges"]:
            self._changed.add("gauges")
        if (
            first
            or update.restarted
            or new["failures"]
            or [(row["seq"], row["answer"]) for row in update.wishes] != wishes
        ):
            self._changed |= {"events", "moment"}
        if first or update.restarted or update.is_replay or self._state.live_at != live_at:
            self._changed.add("moment")
        if (
            first
            or update.is_replay != was_replay
            or update.run["status"] != was
            or self._state.is_sending_load != sent_load
        ):
            self.refresh_bindings()
        if update.is_replay != was_replay:
            self._changed.add("board")
        if update.run["status"] != was:
            self._changed |= {"ticks", "events", "moment"}
        self._read_for(update, is_first=first, has_ended=update.run["status"] != was)
        self._wishes.hear(update.wishes)
        if first and self.session.draw_every_s is None:
            self._draw()

    def _read_for(self, update: Update, *, is_first: bool, has_ended: bool) -> None:
        """Read what this update needs in addition to its rows."""
        row, document = live_view.focus_of(self._state, self._choices.execution), self._document
        if is_first and row is not None:  # read before any execution was known
            self.reload()
        elif has_ended or not live_view.is_about(document, row):
            self.store_changed()
        elif (
            document is not None
            and not update.is_behind
            and document.until != live_view.board_moment(self._state)
        ):
            self.store_changed()  # a replay commits nothing

    def _draw(self) -> None:
        """Draw what has changed, and once a second what changes with time."""
        if not self.is_current or not self._state.run:
            return
        now, state, document = time.time(), self._state, self._document
        if int(now) != self._second and state.is_going_on:
            self._second = int(now)
            self._changed.add("moment")
        changed, self._changed = self._changed, set()
        if changed & {"ticks", "latency"}:
            self._panels.show_latency(state, document, self._choices)
        if changed & {"ticks", "events"} or (
            "moment" in changed and now - self._courses_at > _COURSES_S
        ):
            self._courses_at = now
            self._panels.show_courses(state)
            self._panels.show_progress(state, self._choices, now)
        if "gauges" in changed:
            self._panels.show_machine(state, self._choices)
        if changed & {"events", "ticks"}:  # ticks count the failures whose rows are not stored
            self._panels.show_events(state)
        if "moment" in changed:
            self._panels.show_moment(state, document, self._choices, now)
            self._scrubber.show(live_view.scrubber(state, self._viewer, now))
        if changed & {"board", "moment"} and document is not None:
            self._panels.show_board(state, document, self.shared.series, self.read_age_s)
            self._panels.show_defined_metrics(state, document)

    # What a person can choose to see.

    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        self.show_evidence()

    def show_evidence(self) -> None:
        alarm, self.shared.evidence = self.shared.evidence, None
        if alarm is not None:
            self._show_panel(EVIDENCE[alarm.kind])
            if alarm.run_id != self._run_id:
                self.reload()

    def _show_panel(self, name: str) -> None:
        """Focus a panel, on a small screen in its view."""
        view = next(number for number, names in enumerate(VIEWS) if name in names)
        if self._panels.has_class("-paged"):
            self._show_view(view)
        panel = self._panels.query_one(f"#{name}")
        if panel.can_focus:
            self.call_after_refresh(panel.focus)

    def action_next_view(self) -> None:
        """Show the next panels on a small screen; on a large one focus the next panel."""
        if not self._panels.has_class("-paged"):
            self.focus_next("Grid, Gauges")
            return
        self._show_view((self._choices.view + 1) % len(VIEWS))
        for name in VIEWS[self._choices.view]:
            panel = self._panels.query_one(f"#{name}")
            if isinstance(panel, Grid | Gauges):
                self.call_after_refresh(panel.focus)  # when it has a size
                break

    def _show_view(self, view: int) -> None:
        self._choices.view = view
        self._panels.share_out(self.size.width, self.size.height, view)
        self._changed |= {"ticks", "gauges", "events", "moment", "board"}

    def action_next_latency(self) -> None:
        """Switch between end-to-end, first token, between chunks, and queueing."""
        if not self._is_here():
            return
        place = LATENCIES.index(self._choices.latency)
        self._choices.latency = LATENCIES[(place + 1) % len(LATENCIES)]
        self._changed.add("latency")
        self._draw()

    def action_gpu_processes(self) -> None:
        """List the processes on each GPU below it, or no longer."""
        if not self._is_here():
            return
        gpus = [kept[-1] for scope, kept in self._state.gauges.items() if scope.startswith("gpu:")]
        if not any(one.get("processes") for one in gpus):
            self.notify("no processes on GPUs were sampled: `gpu: [processes]` in the suite does")
            return
        self._choices.gpu_processes = not self._choices.gpu_processes
        self._changed.add("gauges")
        self._draw()

    def action_axis(self) -> None:
        """Switch between logarithmic and linear axis."""
        if not self._is_here():
            return
        self._choices.log_axis = not self._choices.log_axis
        self._changed.add("latency")
        self._draw()

    def on_grid_moved(self, event: Grid.Moved) -> None:
        """Show the times of the execution at the cursor, once the user moves it."""
        event.stop()
        if event.grid.id == "progress" and event.grid.is_held and event.key is not None:
            key = int(event.key)
            if key != self._choices.execution:
                self._choices.execution = key
                self._changed |= {"ticks", "moment"}
                self.reload()

    def on_grid_chosen(self, event: Grid.Chosen) -> None:
        """Show the answers of that execution or agent, or that answer."""
        event.stop()
        if event.key is None:
            return
        key, case, answer = event.key, "", None
        if event.grid.id == "board":
            agent = key.removesuffix(SIMULATED)
            rows = [row for row in self._state.executions if row["agent_id"] == agent]
        else:
            if event.grid.id == "slow":
                key, case, answer = parts_of(key)
            rows = [row for row in self._state.executions if str(row["key"]) == key]
        if not rows:
            return
        self.shared.run_id, self.shared.agent = self._run_id, rows[0]["agent_id"]
        self.session.show_answers(Lead(rows[0]["id"], case, answer))

    def action_copy(self) -> None:
        """Copy the run's id to the clipboard."""
        if self._is_here() and self._run_id:
            self.app.copy_to_clipboard(self._run_id)
            self.notify("copied: the run's id", timeout=2)

    def action_command_line(self) -> None:
        """Show the command that prints the same in a shell."""
        if self._is_here() and self._run_id:
            self.notify(f"agentbench runs show {self._run_id}", timeout=10)

    def action_back(self) -> None:
        """Return to the previous page, or leave a session that was opened for one run."""
        if self.shared.fixed_run:
            self.session.action_leave()
        elif len(self.app.screen_stack) > 1:
            self.app.pop_screen()
