"""Message and exit code if the user's code ended the process that it ran in."""

from __future__ import annotations

import os
import signal

import click

from agentbench_tui.model.errors import Unmeasured
from agentbench_tui.process.supervision import Ending

_ASKED_FOR = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


def exit_code_of(ended: int | Ending) -> int:
    """Return the exit code of a command; for one that ended without one, print why first.

    An end by interrupt, termination or hang-up is passed on: this process then ends by the same
    signal.
    """
    if isinstance(ended, int):
        return ended
    number = ended.ignored or -ended.status
    if number in _ASKED_FOR and not ended.ignored:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    from agentbench_tui.model.text.untrusted import one_line

    click.echo(f"agentbench: {one_line(abrupt_end(ended), 1000)}", err=True)
    return 128 + number if number > 0 and not ended.starved else Unmeasured.exit_code


def abrupt_end(ended: Ending) -> str:
    """Describe how a process ended before its work was done, where, and what to do."""
    how = f"code in its process ended it with exit code {ended.status}"
    if ended.status < 0:
        number = -ended.status
        name = signal.Signals(number).name if number in {*signal.Signals} else f"signal {number}"
        how = f"its process was killed by {name}"
    if ended.ignored:
        name = signal.Signals(ended.ignored).name
        how = f"its process did not react to {name}, because a call blocked it, and was killed"
    if ended.starved:
        how = f"{ended.starved}, and was killed"
    what = f"run {ended.run_id}" if ended.run_id else "the command"
    text = [f"{what} stopped before its end: {how}."]
    if ended.call:
        text.append(f"The last call that began: {ended.call}.")
    if ended.run_id:
        text.append(f"`agentbench resume {ended.run_id}` continues the run.")
    text.append(
        "Agents can run in a process of their own (`worker:`, `command:`), and experiments"
        " (`--fresh-process`)."
    )
    return " ".join(text)
