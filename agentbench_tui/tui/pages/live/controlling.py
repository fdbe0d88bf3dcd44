"""Keys of a page that change a running run: pause, stop, cancel, load, and marks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from agentbench_tui.tui.dialogs.asking import Line, Sure
from agentbench_tui.tui.pages.live import view as live_view
from agentbench_tui.tui.pages.live.replay import Replaying
from agentbench_tui.tui.widgets.grid import Grid

if TYPE_CHECKING:
    from textual.app import App

    from agentbench_tui.tui.pages.live.control_requests import ControlRequests
    from agentbench_tui.tui.pages.live.panels import Choices, LivePanels


class Controlling(Replaying):
    """Part of the page Live that sends control requests to its run."""

    _run_id: str | None
    _panels: LivePanels
    _choices: Choices
    _wishes: ControlRequests
    app: App[object]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Offer only what the run can do: one that has ended cannot be stopped, and the space bar
        replays it; a load that is being sent cannot be paused.
        """
        if action == "stop":
            return self._is_live()
        if action == "replay":
            return not self._state.is_going_on
        if action == "hold":
            can_pause = not (self._is_live() and self._state.is_sending_load)
            return self._state.is_going_on and can_pause
        return True

    def action_hold(self) -> None:
        """Pause or resume the run, or the replay."""
        viewer = self._viewer
        if not self._is_here() or viewer is None:
            return
        if self._is_live():
            paused = any(live.get("paused") for live in self._state.live.values())
            self._wish("resume" if paused else "pause")
        elif viewer.is_playing:
            viewer.pause()
        else:
            viewer.play(1.0 if math.isinf(viewer.speed) else viewer.speed)

    def action_replay(self) -> None:
        """Replay a run that has ended."""
        self.action_from_start()

    def action_say_no_pause(self) -> None:
        """Report why the run cannot be paused now."""
        self.notify("a load goes by the clock and cannot be paused: S stops it, `resume` continues")

    def action_say_why_not(self) -> None:
        """Report why there is nothing to stop."""
        if self._is_here():
            self._can_wish()

    def action_stop(self) -> None:
        """Stop the run after confirmation."""
        question = (
            "Stop this run? In-flight requests finish first, and all measurements are "
            f"kept;\n`agentbench resume {self._run_id}` continues it later."
        )
        self.app.push_screen(Sure(question), lambda sure: self._wish("stop") if sure else None)

    def action_cancel(self) -> None:
        """Cancel the in-flight case at the cursor."""
        if not self._can_wish():
            return
        key = self._panels.query_one("#slow", Grid).cursor_key or ""
        kind, _, rest = key.partition("/")
        case_id = rest.partition("/")[2]
        if kind != "now" or not case_id:
            self.notify("put the cursor on a case in flight first (`v` or tab leads to them)")
            return
        self._wish("cancel", case_id)

    def action_push(self, direction: int) -> None:
        """Increase or decrease by a quarter: for a load its rate or users, else the concurrency."""
        if not self._can_wish():
            return
        row = live_view.focus_of(self._state, self._choices.execution)
        request = None if row is None else self._wishes.pushed(row["key"], self._state, direction)
        if request is None:
            self.notify("no running benchmark has an adjustable concurrency")
        else:
            self._wish(*request)

    def action_mark(self) -> None:
        """Mark this moment, with a note."""
        if not self._can_wish():
            return

        def keep(note: str | None) -> None:
            if note is not None:
                self._wish("mark", note)

        self.app.push_screen(Line("Mark this moment. A note (may be empty):"), keep)

    def _is_live(self) -> bool:
        return self._state.is_going_on and not self._state.is_replay

    def _can_wish(self) -> bool:
        """Return whether a control request can be received; otherwise say why not."""
        if self._is_live():
            return True
        if self._state.run.get("status") == "running" and not self._state.interrupted:
            self.notify("this moment is past: ] goes to the newest")
        else:
            self.notify("this run is over: nothing can be changed any more; [ replays it")
        return False

    def _wish(self, wish: str, argument: str | None = None) -> None:
        self._wishes.make(self._state.run["key"], wish, argument)
