"""Starts a load worker, possibly before its plan exists.

Starting a worker takes about as long as making a plan. The caller can start one ahead as soon as a
load is certain, so that the first worker is ready in time. It imports nothing heavy, and ends when
its input closes, as it does when this process ends.
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
    """Return this process's environment, including keys, since agents may be opened in the
    worker, with the path of this package.
    """
    package_root = str(Path(__file__).resolve().parents[3])
    paths = filter(None, [package_root, os.environ.get("PYTHONPATH")])
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def start_ahead() -> None:
    """Start a worker without a plan, unless one exists.

    If that fails, the first worker with a plan reports it.
    """
    from agentbench_tui.process.child import SpawnError, start_program

    if _ahead:
        return
    try:
        _ahead.append(start_program(COMMAND, environment=environment()))
    except SpawnError:
        return


def take_ahead() -> Program | None:
    """Return the worker that was started ahead if it still runs; only once."""
    while _ahead:
        program = _ahead.pop()
        if program.popen.poll() is None:
            return program
        program.end()
    return None


def end_ahead() -> None:
    """End workers that were started ahead but not used."""
    while _ahead:
        _ahead.pop().end()
