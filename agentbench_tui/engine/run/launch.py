"""Starts a run as a separate process, so that measuring never shares a process with drawing."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from agentbench_tui.engine.run.plan import encode_plan
from agentbench_tui.process.environment import python_module

if TYPE_CHECKING:
    from agentbench_tui.engine.run.plan import Plan


def launch(
    plan: Plan, database: Path, log: Path, *, resume: bool = False
) -> subprocess.Popen[bytes]:
    """Start a process that executes the plan and outlives this process and its terminal.

    It has its own session, so a Ctrl-C in the terminal does not reach it. Its output goes to `log`.
    """
    descriptor, name = tempfile.mkstemp(prefix="agentbench-plan-", suffix=".json")
    command = python_module("agentbench_tui", "carry-out", name, "--db", str(database))
    if resume:
        command.append("--resume")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(encode_plan(plan))
        with log.open("ab") as output:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": _python_path()},
            )
    except BaseException:
        Path(name).unlink(missing_ok=True)  # whoever carries a plan out removes it, and nobody will
        raise


def _python_path() -> str:
    """Return this process's search path, so that `python:module:function` finds the same
    modules.
    """
    package_root = str(Path(__file__).resolve().parents[3])
    inherited = os.environ.get("PYTHONPATH")
    return package_root if not inherited else f"{package_root}{os.pathsep}{inherited}"


def log_path(run_id: str) -> Path:
    """Return the path for errors of a detached run: in the user's state folder, if it is
    writable.
    """
    from platformdirs import user_state_path

    folder = user_state_path("agentbench") / "runs"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.gettempdir())
    return folder / f"{run_id}.log"
