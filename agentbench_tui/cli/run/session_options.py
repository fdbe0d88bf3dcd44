"""Options for how a run is shown live, and for the terminal session."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click
from click.core import ParameterSource

from agentbench_tui.cli.console.numbers import Number
from agentbench_tui.tui.look import FASTEST_HZ, NOTIFICATIONS, USUAL_RATE_HZ, Look, why_not

if TYPE_CHECKING:
    from agentbench_tui.tui.session import Left
    from agentbench_tui.tui.shared import Shared

Command = TypeVar("Command", bound=Callable[..., Any])
View = Literal["none", "line", "full"]
_THEMES = ("dark", "light", "contrast", "ansi-dark", "ansi-light")
"""Names of themes on the command line; agentbench's own have the prefix `agentbench-`."""

_LOOK = (
    click.option(
        "--theme",
        type=click.Choice(_THEMES),
        envvar="AGENTBENCH_THEME",
        help="Color theme of the session. The `ansi` themes use the terminal's own colors.",
    ),
    click.option("--ascii", "only_ascii", is_flag=True, help="Use only ASCII characters."),
    click.option(
        "--no-mouse",
        is_flag=True,
        envvar="AGENTBENCH_NO_MOUSE",
        help="Leave the mouse to the terminal, so that text can be selected.",
    ),
    click.option(
        "--ui-rate",
        type=Number(0, FASTEST_HZ),
        default=USUAL_RATE_HZ,
        show_default=True,
        envvar="AGENTBENCH_UI_RATE",
        metavar="HZ",
        help="Redraws of the session per second; 0 redraws only when F5 is pressed.",
    ),
    click.option(
        "--notify",
        "notifications",
        type=click.Choice(NOTIFICATIONS),
        multiple=True,
        envvar="AGENTBENCH_NOTIFY",
        help="How the terminal reports a new alarm of a run in progress, such as an SLO that is "
        "missed: its bell, its title, or a desktop notification by OSC 9 or OSC 777; repeatable.",
        show_default="the session's alarm line only",
    ),
    click.option(
        "--screenshots",
        type=click.Path(path_type=Path, file_okay=False),
        envvar="AGENTBENCH_SCREENSHOTS",
        metavar="DIR",
        help="Folder for the screenshots taken with Ctrl-S.",
        show_default="the current folder",
    ),
)
_VIEW = (
    click.option(
        "--ui",
        type=click.Choice(("none", "line", "full")),
        envvar="AGENTBENCH_UI",
        help="Progress display: `full`, the interactive session; `line`, one updating view; "
        "`none`, one line every few seconds.",
        show_default="full if the terminal supports it",
    ),
    click.option("--no-ui", is_flag=True, help="Print progress lines only; short for --ui none."),
)


def look_options(command: Command) -> Command:
    """Add the options for the appearance of a session."""
    for option in reversed(_LOOK):
        command = option(command)
    return command


def view_options(command: Command) -> Command:
    """Add the options for how a run is shown, and for the appearance of the session."""
    for option in reversed((*_VIEW, *_LOOK)):
        command = option(command)
    return command


def take_look(given: dict[str, Any]) -> Look:
    """Return the chosen look, and remove its options from `given`."""
    theme, only_ascii = given.pop("theme"), given.pop("only_ascii")
    ours = theme in {"dark", "light", "contrast"}
    return Look(
        theme=f"agentbench-{theme}" if ours else theme,
        ascii_only=only_ascii,
        mouse=not given.pop("no_mouse"),
        rate_hz=given.pop("ui_rate"),
        notifications=tuple(given.pop("notifications")),
        screenshots=given.pop("screenshots") or Path(),
    )


def view_of(given: dict[str, Any]) -> View:
    """Return how the run is shown: as requested if possible, else the next best way."""
    asked: View | None = given["ui"]
    if given["no_ui"] or given["quiet"] or given["detach"] or asked == "none":
        return "none"
    if asked != "line" and why_not() is None:
        return "full"
    can_draw = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    return "line" if can_draw else "none"


def say_why_not(given: dict[str, Any]) -> None:
    """If the session was requested but cannot be shown, say why."""
    if given["ui"] != "full":
        return
    asked = click.get_current_context().get_parameter_source("ui")
    stronger = next((name for name in ("no_ui", "quiet", "detach") if given[name]), None)
    if stronger is not None:
        if asked is ParameterSource.COMMANDLINE:  # and not what somebody has for every day
            click.echo(f"--ui full: ignored because of --{stronger.replace('_', '-')}", err=True)
    elif (reason := why_not()) is not None:
        click.echo(f"--ui full: {reason}; showing lines instead", err=True)


def show_session(
    shared: Shared, look: Look, *, first: str = "home", own_run: str | None = None
) -> Left:
    """Run the session until the user leaves it. Raises UsageError if it cannot be shown."""
    reason = why_not()
    if reason is not None:
        from agentbench_tui.model.errors import UsageError

        instead = "runs list" if shared.run_id is None else f"runs show {shared.run_id}"
        raise UsageError(
            f"the session needs a terminal: {reason}; use `agentbench {instead}` instead"
        )
    from agentbench_tui.tui.session import open_session

    return open_session(shared, look, first=first, own_run=own_run)
