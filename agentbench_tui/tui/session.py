"""Opens the terminal session and says how it ended."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from agentbench_tui.tui.app import AgentbenchApp
from agentbench_tui.tui.kept_theme import keep_theme, kept_theme
from agentbench_tui.tui.terminal import terminal_kept

if TYPE_CHECKING:
    from agentbench_tui.tui.dialogs.leaving import Choice
    from agentbench_tui.tui.look import Look
    from agentbench_tui.tui.shared import Shared


class Left(NamedTuple):
    """How a session ended."""

    code: int
    """Exit code of the process."""
    choice: Choice | None
    """Choice about a run that was running; None if there was none."""


def open_session(
    shared: Shared, look: Look, *, first: str = "home", own_run: str | None = None
) -> Left:
    """Run the terminal session until the user leaves it.

    Raises the error of a failed session. `own_run`: a run that was started for this session, which
    leaving asks about.
    """
    without_colors = "NO_COLOR" in os.environ
    app = AgentbenchApp(
        shared,
        first=first,
        theme=look.theme or (None if without_colors else kept_theme()),
        keep_theme=None if without_colors else keep_theme,
        ascii_only=look.ascii_only,
        rate_hz=look.rate_hz,
        screenshots=look.screenshots,
        own_run=own_run,
        notifications=look.notifications,
    )
    with terminal_kept():
        app.run(mouse=look.mouse)
    if app.fault is not None:
        raise app.fault
    return Left(app.return_code or 0, app.choice)
