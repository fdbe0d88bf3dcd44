"""Keys and clicks that change a page's time or speed in a run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from agentbench_tui.store.playhead import next_speed
from agentbench_tui.tui.widgets.scrubber import Scrubber

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentbench_tui.store.viewer import Viewer
    from agentbench_tui.tui.pages.live.state import LiveState

_STEP_SHARE, _LEAST_STEP_S = 0.02, 1.0
"""Step of a key as a share of the run's length, and its minimum."""


class Replaying:
    """Part of a page that has a viewer and shows its position."""

    _viewer: Viewer | None
    _scrubber: Scrubber
    _changed: set[str]
    _state: LiveState
    notify: Callable[..., None]

    def on_scrubber_sought(self, event: Scrubber.Sought) -> None:
        """Move to the clicked time."""
        event.stop()
        if self._viewer is not None:
            self._viewer.seek(event.at_s)

    def action_step(self, direction: int) -> None:
        """Step back or forth."""
        if self._is_here() and self._viewer is not None:
            step = max(_LEAST_STEP_S, _STEP_SHARE * self._viewer.length_s)
            self._viewer.seek(self._scrubber.data.at_s + direction * step)

    def action_speed(self, direction: int) -> None:
        """Change the speed, from here on."""
        if not self._is_here() or self._viewer is None:
            return
        if not self._state.is_replay:
            self.notify(
                "the speed applies to a replay: press [ to start one from the beginning of the run"
            )
        else:
            before = self._viewer.speed
            self._viewer.play(next_speed(before, faster=direction > 0))
            if self._viewer.speed == before:
                self.notify(
                    "faster than this it cannot go" if direction > 0 else "no slower", timeout=2
                )
            self._changed.add("moment")

    def action_from_start(self) -> None:
        """Replay from the beginning, in real time unless another speed was chosen."""
        if self._is_here() and self._viewer is not None:
            speed = 1.0 if math.isinf(self._viewer.speed) else self._viewer.speed
            self._viewer.seek(0.0)
            self._viewer.play(speed)

    def action_to_end(self) -> None:
        """Jump to the newest row, and follow it."""
        if self._is_here() and self._viewer is not None:
            self._viewer.play(math.inf)

    def _is_here(self) -> bool:
        """Return whether there is a run on the page; say so if not."""
        if self._state.run:
            return True
        self.notify("no run on this page yet: 1 lists them, 2 starts one")
        return False
