"""Starting a load worker, also before there is a plan for it.

A worker takes as long to start as a plan to make. Whoever knows that there will be a load starts
one ahead, and the first that is needed is there already. It imports nothing heavy, and ends by
itself when its input closes, as it does when we end.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from agentbench_tui.process.environment import python_module

if TYPE_CHECKING:
    from agentbench_tui.process.child import Program

COMMAND = tuple(python_module("agentbench_tui.load.sending.worker"))
_ahead: list[Program] = []


def environment() -> dict[str, str]:
    """Ours, keys included, since agents may be opened in the worker; and our package is found."""
    package_root = str(Path(__file__).resolve().parents[3])
    paths = filter(None, [package_root, os.environ.get("PYTHONPATH")])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def start_ahead() -> None:
    """Start a worker that has no plan yet, unless one is there. Where that fails, the first that
    has a plan tells."""
    from agentbench_tui.process.child import SpawnError, start_program

    if _ahead:
        return
    try:
        _ahead.append(start_program(COMMAND, environment=environment()))
    except SpawnError:
        return


def take_ahead() -> Program | None:
    """The worker that was started ahead, once, if it still runs."""
    while _ahead:
        program = _ahead.pop()
        if program.popen.poll() is None:
            return program
        program.end()
    return None


def end_ahead() -> None:
    """End workers that were started ahead for nothing."""
    while _ahead:
        _ahead.pop().end()
