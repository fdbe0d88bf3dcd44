"""`agentbench attach`: watches a run that another command started, until its result."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import click

from agentbench_tui.cli.console.output import FORMATS, database_option, database_path
from agentbench_tui.cli.run.options import how_of
from agentbench_tui.cli.run.session_options import show_session, view_options

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from pathlib import Path

    from agentbench_tui.cli.run.running import How
    from agentbench_tui.engine.run.plan import Plan

_LOOK_S = 0.5
"""Time between two looks at whether the run's process lives."""


@click.command(short_help="Watch a run that another command started.")
@click.argument("run", required=False)
@click.option(
    "--latest", is_flag=True, help="Watch the newest run, whether or not it is still running."
)
@database_option
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="Output format of the result.",
)
@view_options
def attach(run: str | None, latest: bool, database: str | None, **given: Any) -> int:
    """Watch RUN (an id or a unique prefix of one) live, and print its result when it has ended.

    Without RUN, watch the newest run that is still running. Leaving the view does not stop the
    run. The exit code is that of the run.

    \b
    agentbench attach
    agentbench attach 01a2203b
    agentbench attach --no-ui --format json
    """
    from agentbench_tui.cli.experiments.result import experiments_shown
    from agentbench_tui.cli.run.resume import as_begun
    from agentbench_tui.engine.run.plan import decode_plan
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.runs import find_run

    if run is not None and latest:
        raise click.UsageError("give a RUN or --latest, not both")
    path = database_path(database)
    with reading(path) as connection:
        row = find_run(connection, run or ("latest" if latest else _live(connection, path)))
    plan = decode_plan(row["plan"])
    how = how_of({**given, "quiet": False, "detach": False})
    _watch(path, plan, how)
    return _result(path, plan, as_begun(plan, experiments_shown(plan, how)))


def _live(connection: Any, path: Path) -> str:
    """Return the newest running run. Raises UsageError with what else there is."""
    from agentbench_tui.model.errors import UsageError
    from agentbench_tui.verdicts.runs.run_choice import live_run, resumable_run

    found = live_run(connection, path)
    if found is not None:
        return found
    stopped = resumable_run(connection, path)
    hint = f"`agentbench resume` continues run {stopped}" if stopped else "`agentbench runs list`"
    raise UsageError(f"no run is running; {hint}; `agentbench open` shows a finished one")


def _watch(path: Path, plan: Plan, how: How) -> None:
    """Show the run until it ends, or the user leaves the view."""
    if how.view == "full":
        from agentbench_tui.tui.shared import Shared

        shared = Shared(path, run_id=plan.run_id, fixed_run=True)
        show_session(shared, how.look, first="live")
        return
    from agentbench_tui.cli.run.live import watch
    from agentbench_tui.cli.run.running import say_progress

    if how.view == "line":
        shown = watch(path, plan.run_id, "Ctrl-C: stop watching; the run continues")
    else:
        shown = say_progress(plan, path)
    try:
        asyncio.run(_until_end(path, plan.run_id, shown))
    except KeyboardInterrupt:
        click.echo("", err=True)


async def _until_end(path: Path, run_id: str, shown: Coroutine[Any, Any, None]) -> None:
    """Show a view until the process of the run has ended."""
    from agentbench_tui.store.locking import is_leased

    showing = asyncio.create_task(shown)
    try:
        while is_leased(path, run_id):  # noqa: ASYNC110  # another process sends no event
            await asyncio.sleep(_LOOK_S)
    finally:
        showing.cancel()
        await asyncio.gather(showing, return_exceptions=True)


def _result(path: Path, plan: Plan, how: How) -> int:
    """Print the result of the run if it has ended; return its exit code."""
    from agentbench_tui.cli.run.running import report, say_how_to_resume
    from agentbench_tui.model.errors import Interrupted
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.locking import is_leased
    from agentbench_tui.store.queries.runs import find_run

    if is_leased(path, plan.run_id):
        click.echo(f"the run continues; reopen it with `agentbench attach {plan.run_id}`", err=True)
        return 0
    code = report(path, plan, how)
    with reading(path) as connection:
        status = find_run(connection, plan.run_id)["status"]
    if status in {"running", "interrupted"}:
        say_how_to_resume(plan.run_id)
        return Interrupted.exit_code
    return code
