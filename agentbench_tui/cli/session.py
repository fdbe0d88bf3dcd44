"""The terminal session: `agentbench session` (the same as `agentbench-tui`) and `open`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.numbers import Number
from agentbench_tui.cli.console.output import database_option, database_path
from agentbench_tui.cli.run.session_options import look_options, show_session, take_look

if TYPE_CHECKING:
    from pathlib import Path

    from agentbench_tui.tui.look import Look


@click.command(short_help="Open the interactive session.")
@database_option
@look_options
def session(database: str | None, **given: Any) -> int:
    """Open the interactive session: live view, leaderboard, comparisons, history and more.

    \b
    agentbench-tui
    agentbench session --db nightly.db --theme light
    """
    from agentbench_tui.tui.shared import Shared

    return show_session(Shared(database_path(database)), take_look(given)).code


@click.command("open", short_help="Open a finished run, or replay it.")
@click.argument("run", default="latest")
@click.option("--replay", is_flag=True, help="Replay the run from its beginning.")
@click.option(
    "--speed",
    type=Number(0, 64, above=True),
    metavar="X",
    help="Speed of --replay relative to real time, up to 64.",
    show_default="1",
)
@database_option
@look_options
def open_(run: str, replay: bool, speed: float | None, database: str | None, **given: Any) -> int:
    """Open RUN (an id, a unique prefix of one, or `latest`) in the interactive session.

    \b
    agentbench open
    agentbench open 01a2203b --replay --speed 8
    """
    if speed is not None and not replay:
        raise click.UsageError("--speed needs --replay")
    path = database_path(database)
    run_id = _run_id(path, run)
    return _show_run(path, run_id, take_look(given), (speed or 1.0) if replay else None)


def _run_id(path: Path, wanted: str) -> str:
    """Return the full id of the selected run. Raises UsageError if there is none."""
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.runs import find_run

    with reading(path) as connection:
        run_id: str = find_run(connection, wanted)["id"]
        return run_id


def _show_run(path: Path, run_id: str, look: Look, speed: float | None = None) -> int:
    """Show a run; `speed`: that of a replay, None for the run itself."""
    from agentbench_tui.tui.shared import Shared

    shared = Shared(path, run_id, speed is not None, speed or 1.0, fixed_run=True)
    return show_session(shared, look, first="live").code
