"""Executes a plan from the command line: in this process, in a separate one, or detached."""

from __future__ import annotations

import asyncio
import functools
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from agentbench_tui.cli.console.output import print_prose, stdout_kept
from agentbench_tui.model.clock import monotonic
from agentbench_tui.model.importing import importing
from agentbench_tui.model.kinds import kind_named
from agentbench_tui.model.text.untrusted import visible
from agentbench_tui.process.supervision import note_run
from agentbench_tui.tui.look import Look

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Awaitable, Callable

    from agentbench_tui.cli.run.session_options import View
    from agentbench_tui.engine.run.coordinator import Outcome
    from agentbench_tui.engine.run.plan import Plan
    from agentbench_tui.model.kinds import Kind
    from agentbench_tui.store.location import Location

    ProgressLines = Callable[[Path, str, float], Awaitable[None]]
    Show = Callable[[sqlite3.Connection, dict[str, Any], str], None]

_OUTLOOKS_SHOWN = 2
PROGRESS_S = 5.0
"""Seconds between two lines of progress without a terminal."""

WARMING_S = 2.0
"""Seconds after which a message says that a load waits for its warm-up answers."""


class How(msgspec.Struct, frozen=True):
    """How a run is shown."""

    form: str
    view: View = "none"
    """View while it is running."""
    look: Look = msgspec.field(default_factory=Look)
    """Appearance of the session, if one shows it."""
    quiet: bool = False
    detach: bool = False
    show: Callable[[sqlite3.Connection, dict[str, Any], str], None] | None = None
    """Prints the result: connection, run document, format. By default scores and leaderboard."""


def run_plan(
    plan: Plan, database: str | None, persist: str | None, how: How, *, resume: bool = False
) -> int:
    """Execute a plan and print its result; return the exit code."""
    from agentbench_tui.cli.load.limits import warn_of_limits
    from agentbench_tui.store.location import Location

    for remark in plan.remarks:
        print_prose(visible(remark), err=True)
    check_plan(plan)
    warn_of_limits(plan, watched=how.view != "none" and not how.detach)
    location = Location.resolve(database, persist, resume=resume)
    try:
        return _run_at(location, plan, database, how, resume=resume)
    except KeyboardInterrupt:
        # An interrupt that comes after the run has ended still needs the way to continue it.
        click.echo("interrupted", err=True)
        if _can_be_resumed(location, plan.run_id):
            say_how_to_resume(plan.run_id)
        return 128 + signal.SIGINT


def _run_at(location: Location, plan: Plan, database: str | None, how: How, *, resume: bool) -> int:
    from agentbench_tui.cli.run import beside
    from agentbench_tui.store.database import create_or_migrate

    folder = location.working.parent
    is_new = database is not None and not folder.exists()
    create_or_migrate(location.working)
    if is_new:
        click.echo(f"created the folder {folder} for the database", err=True)
    stays = location.target is None and database != ":memory:"
    if how.detach:
        if not stays:
            raise click.UsageError("--detach needs a database file on a local disk")
        beside.leave(plan, location.working, how.form, resume=resume)
        return 0
    try:
        # What a session shows may be left alone, for which its database has to stay.
        if how.view == "full" and stays:
            ending = beside.show(plan, location.working, how.look, resume=resume)
            if ending.goes_on:
                click.echo(
                    f"the run continues; reopen it with `agentbench attach {plan.run_id}`", err=True
                )
                return 0
            number = ending.signal
        elif how.view != "none" and _own_progress(plan) is None:
            number = beside.draw(plan, location.working, resume=resume)
        else:
            number = _run_here(plan, location.working, quiet=how.quiet, resume=resume)
        code = report(location.working, plan, how)
    finally:
        # What was measured is kept, also when the run or its report broke off.
        delivered = location.deliver()
        location.discard()
        if delivered != location.working:
            click.echo(f"database: {delivered}", err=True)
    if number is None:
        return code
    say_how_to_resume(plan.run_id)
    return 128 + number


def say_how_to_resume(run_id: str) -> None:
    """Print the command that continues a run."""
    click.echo(f"continue the run with `agentbench resume {run_id}`", err=True)


def _can_be_resumed(location: Location, run_id: str) -> bool:
    """Return whether the database holds the run, and the run is not complete."""
    from agentbench_tui.model.errors import AgentbenchError
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.runs import find_run

    path = location.target or location.working
    try:
        with reading(path) as connection:
            return bool(find_run(connection, run_id)["status"] != "complete")
    except (AgentbenchError, OSError):
        return False


def _kinds(plan: Plan) -> dict[str, Kind]:
    """Return the kinds of the plan's benchmarks by name."""
    return {name: kind_named(name) for name in {one.benchmark["kind"] for one in plan.groups}}


def check_plan(plan: Plan) -> None:
    """Raise UsageError if a kind refuses to run its benchmarks."""
    for kind in _kinds(plan).values():
        if (check := kind.part("check_plan")) is not None:
            check(plan)


def _own_progress(plan: Plan) -> ProgressLines | None:
    """Return the kind's own progress lines, for a run whose benchmarks are all of that kind."""
    kinds = [*_kinds(plan).values()]
    return kinds[0].part("progress") if len(kinds) == 1 else None


def _run_here(plan: Plan, database: Path, *, quiet: bool, resume: bool) -> int | None:
    """Execute in this process, with a line of progress every few seconds; return the signal that
    ended it.
    """

    async def both() -> Outcome:
        with importing():
            from agentbench_tui.engine.run.coordinator import carry_out

        lines = None if quiet else asyncio.create_task(say_progress(plan, database))
        try:
            say = functools.partial(click.echo, err=True)
            return await carry_out(plan, database, resume=resume, say=say)
        finally:
            if lines is not None:
                lines.cancel()
                await asyncio.gather(lines, return_exceptions=True)

    note_run(plan.run_id)
    with stdout_kept():
        from agentbench_tui.model.errors import Unmeasured
        from agentbench_tui.process.event_loop import run_shared

        try:
            outcome = run_shared(both())
        except asyncio.CancelledError:  # a signal cancels nothing: code of the user's did
            raise Unmeasured(
                f"run {plan.run_id} stopped before its end: an agent or a scorer canceled the"
                f" tasks of agentbench. `agentbench resume {plan.run_id}` continues the run."
            ) from None
    note_run("")
    if outcome.signal is None and outcome.status == "interrupted":
        return int(signal.SIGINT)  # a viewer wished for it
    return outcome.signal


def carry_out_quietly(plan: Plan, database: Path, *, resume: bool) -> int:
    """Execute the plan in a launched process; its viewer prints the result."""
    number = _run_here(plan, database, quiet=True, resume=resume)
    return 0 if number is None else 128 + number


async def say_progress(plan: Plan, database: Path) -> None:
    """Print a line about a run every few seconds, until canceled."""
    from agentbench_tui.cli.run.result import pause_words
    from agentbench_tui.model.text.untrusted import one_line
    from agentbench_tui.store.database import reading
    from agentbench_tui.store.queries.progress import (
        outlooks_of_run,
        pauses_of_run,
        progress_of_run,
    )

    began = monotonic()
    count = len(plan.executions())
    click.echo(f"run {plan.run_id}: {count} execution{'' if count == 1 else 's'}", err=True)
    if (own := _own_progress(plan)) is not None:
        await own(database, plan.run_id, began)
        return
    kinds = _kinds(plan).values()
    if any(kind.sends_load for kind in kinds):
        await _say_warming_up(plan, database)
        # What has gone by ticks is told in more words; they take long to load, so not at first.
        await asyncio.sleep(PROGRESS_S - WARMING_S)
        from agentbench_tui.cli.run.live import say

        await say(database, plan.run_id, PROGRESS_S, began)
        return
    # What code returns is neither right nor wrong.
    judged = any(kind.judges_answers for kind in kinds)
    with reading(database) as connection:
        while True:
            await asyncio.sleep(PROGRESS_S)
            done = progress_of_run(connection, plan.run_id)
            if done is None:
                continue
            outlooks = outlooks_of_run(connection, plan.run_id)[:_OUTLOOKS_SHOWN]
            precision = "".join(
                one_line(f"; {one['agent_id']} {one['benchmark_id']}: {one['outlook']}")
                for one in outlooks
            )
            right = f", {done['correct']} right" if judged else ""
            # Without this a viewer cannot tell a waiting run from one that hangs.
            if done["asked_to_wait"]:
                right += f", {done['asked_to_wait']:,} × asked to wait by the server"
            right += pause_words(pauses_of_run(connection, plan.run_id))
            click.echo(
                f"{monotonic() - began:5.0f} s  {done['observed']} of {done['planned']}"
                f" asked, {done['answered']} answered{right}{precision}",
                err=True,
            )


async def _say_warming_up(plan: Plan, database: Path) -> None:
    """Say what a load waits for if nothing has started by then."""
    from agentbench_tui.model.text.untrusted import one_line
    from agentbench_tui.store.database import reading
    from agentbench_tui.tui.pages.live.warming_up import warming_up_now

    await asyncio.sleep(WARMING_S)
    benchmarks = {
        execution.id: group.benchmark
        for group, execution in plan.executions()
        if kind_named(group.benchmark["kind"]).runs_by_schedule
    }
    with reading(database) as connection:
        said = warming_up_now(connection, plan.run_id, benchmarks)
    if said:
        click.echo(f"{WARMING_S:5.0f} s  {one_line(said)}", err=True)


def show_run(*, full: bool = False) -> Show:
    """Return what prints the result of any run; with `full` every figure of every execution."""

    def show(connection: sqlite3.Connection, document: dict[str, Any], form: str) -> None:
        with importing():
            from agentbench_tui.cli.run.result import print_run
            from agentbench_tui.verdicts.run_leaderboard import boards_without_scores

        boards = boards_without_scores(connection, document) if form in {"table", "md"} else ()
        print_run(document, form, full=full, boards=boards)

    return show


def report(database: Path, plan: Plan, how: How) -> int:
    """Print the result of a run; return its exit code by status, failures and gates."""
    with importing():
        from agentbench_tui.store.database import reading
        from agentbench_tui.verdicts.cost.unchecked_limits import unchecked_words
        from agentbench_tui.verdicts.runs.ended_run import ended_run, write_documents
        from agentbench_tui.verdicts.runs.gate import gate_lines

    with reading(database) as connection:
        ended = ended_run(connection, plan)
        document = ended.document
        (how.show or show_run())(connection, document, how.form)
    sys.stdout.flush()
    for line in write_documents(document, plan):
        click.echo(line, err=True)
    if how.form != "json":
        _say_failures(ended.failures)
    for line in unchecked_words(document):
        print_prose(visible(line), err=True)
    for line in gate_lines(ended.gates):
        print_prose(f"gate: {line}", err=True)
    return ended.exit_code


def _say_failures(details: list[dict[str, Any]]) -> None:
    from agentbench_tui.model.text.untrusted import one_line

    for row in details:
        place = f"{row['agent_id'] or ''} {row['benchmark_id'] or ''} {row['stage']}".strip()
        example = f" (case {row['case_id']})" if row["case_id"] else ""
        text = one_line(f"{place}: {row['kind']}: {row['detail']}{example}", 160)
        # Of a load the first few of each kind are kept: how many there were, the table tells.
        is_example = row["stage"] == "answer" and not row["case_id"]
        print_prose(f"  e.g.    {text}" if is_example else f"  {row['n']:>5} × {text}", err=True)
