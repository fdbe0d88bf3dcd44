"""A run in a separate process: watched live, shown in a session, or detached."""

from __future__ import annotations

import asyncio
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import click

from agentbench_tui.cli.console.output import print_json

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

    from agentbench_tui.engine.run.plan import Plan
    from agentbench_tui.tui.look import Look

LAST_LOOK_S = 1.0
"""For the live view to see the end of a run whose process has ended."""


class Ending(NamedTuple):
    """How a session about a run ended."""

    signal: int | None = None
    """That ended the run, if one did."""
    goes_on: bool = False
    """Whether the run continues without this process."""


def draw(plan: Plan, database: Path, *, resume: bool) -> int | None:
    """Draw it as one view until it ends; return the signal that ended it, if one did."""
    from agentbench_tui.engine.run.launch import launch, log_path, wait_until_registered

    log = log_path(plan.run_id)
    process = launch(plan, database, log, resume=resume)
    with _passed_on(process):
        try:
            wait_until_registered(plan.run_id, database, process, log)
            asyncio.run(_watch(plan.run_id, database, process))
        finally:
            code = process.wait()
    return _signal_of(code, plan.run_id, log)


def show(plan: Plan, database: Path, look: Look, *, resume: bool) -> Ending:
    """Show it in a terminal session until the user leaves it."""
    from agentbench_tui.cli.run.session_options import show_session
    from agentbench_tui.engine.run.launch import launch, log_path, wait_until_registered
    from agentbench_tui.tui.shared import Shared

    log = log_path(plan.run_id)
    process = launch(plan, database, log, resume=resume)
    with _passed_on(process):
        wait_until_registered(plan.run_id, database, process, log)
    shared = Shared(database, run_id=plan.run_id, fixed_run=True)
    left = show_session(shared, look, first="live", own_run=plan.run_id)
    if process.poll() is None and left.choice != "stop":
        return Ending(goes_on=True)
    with _passed_on(process):
        if process.poll() is None:
            click.echo("waiting for in-flight requests; press Ctrl-C to stop at once", err=True)
        code = process.wait()
    return Ending(_signal_of(code, plan.run_id, log))


def _signal_of(code: int, run_id: str, log: Path) -> int | None:
    """Return the signal that ended the run, by the exit code of its process. Raises the run's
    error.
    """
    if code == -signal.SIGKILL:
        raise _killed(run_id)
    if code not in {0, 130, 143}:
        from agentbench_tui.engine.run.launch import launch_failure

        raise launch_failure(log, code)
    log.unlink(missing_ok=True)
    return None if code == 0 else code - 128


def _killed(run_id: str) -> Exception:
    from agentbench_tui.model.errors import Interrupted

    killed = Interrupted(f"the run's process was killed; `agentbench resume {run_id}` continues it")
    killed.exit_code = 128 + signal.SIGKILL
    return killed


async def _watch(run_id: str, database: Path, process: subprocess.Popen[bytes]) -> None:
    """Draw the run until it ends, or until its process has gone without recording its end."""
    from agentbench_tui.cli.run.live import watch

    watching = asyncio.create_task(watch(database, run_id))
    gone = asyncio.create_task(asyncio.to_thread(process.wait))
    await asyncio.wait((watching, gone), return_when=asyncio.FIRST_COMPLETED)
    # The end of an orderly one is in the store before its process ends.
    await asyncio.wait((watching,), timeout=LAST_LOOK_S)
    watching.cancel()
    await asyncio.gather(gone, return_exceptions=True)
    if watching.done() and not watching.cancelled():
        watching.result()


@contextmanager
def _passed_on(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Within this context, pass interrupt and termination on to the run, which has its own
    session.
    """
    before = {
        number: signal.signal(number, lambda number, _: process.send_signal(number))
        for number in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(number) != signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def leave(plan: Plan, database: Path, form: str, *, resume: bool) -> None:
    """Start the run, print its id and return."""
    from agentbench_tui.engine.run.launch import launch, log_path, wait_until_registered

    log = log_path(plan.run_id)
    process = launch(plan, database, log, resume=resume)
    wait_until_registered(plan.run_id, database, process, log)
    if form == "json":
        print_json(
            {
                "schema": "agentbench.run/1",
                "run_id": plan.run_id,
                "status": "running",
                "executions": [],
                "leaderboard": [],
            }
        )
    else:
        click.echo(plan.run_id)
        click.echo(f"`agentbench runs show {plan.run_id}` shows its progress", err=True)
