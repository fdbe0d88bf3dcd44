"""`agentbench session`, which is also `agentbench-tui`: the interactive terminal session."""

from __future__ import annotations

import sys

import click

from agentbench_tui.cli.output import database_option, database_path


@click.command(short_help="Look and run interactively.")
@database_option
def session(database: str | None) -> int:
    """Runs and leaderboard in a terminal; watch a run live, start the quickstart.

    \b
    agentbench-tui
    agentbench session --db nightly.db
    """
    from agentbench_tui.model.errors import UsageError

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("the session needs a terminal; `agentbench runs list` does without")
    from agentbench_tui.tui.first_app import open_session

    open_session(database_path(database))
    return 0
