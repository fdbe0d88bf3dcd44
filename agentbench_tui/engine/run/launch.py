"""Starts a run as a separate process, so that measuring never shares a process with drawing."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from agentbench_tui.engine.run.plan import encode_plan
from agentbench_tui.model.errors import AgentbenchError, Interrupted, Unmeasured, UsageError
from agentbench_tui.process.environment import python_module
from agentbench_tui.store.database import reading
from agentbench_tui.store.queries.progress import progress_of_run

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
                env={**os.environ, "PYTHONPATH": python_path()},
            )
    except BaseException:
        Path(name).unlink(missing_ok=True)  # whoever carries a plan out removes it, and nobody will
        raise


def python_path() -> str:
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


def wait_until_registered(
    run_id: str, database: Path, process: subprocess.Popen[bytes], log: Path
) -> None:
    """Wait for the run's row, which is written once its cases are read.

    Raises the error of the process if it ended before that.
    """
    with reading(database) as connection:
        while progress_of_run(connection, run_id) is None:
            if process.poll() is not None:
                raise launch_failure(log, process.returncode)
            time.sleep(0.02)


def launch_failure(log: Path, code: int) -> Exception:
    """Return the error of the run's process, with its exit code if that is one of agentbench's."""
    if code in {130, 143, -signal.SIGINT, -signal.SIGTERM}:
        log.unlink(missing_ok=True)
        interrupted = Interrupted("interrupted before the run began")
        interrupted.exit_code = code if code > 0 else 128 - code
        return interrupted
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    said = lines[-1].removeprefix("agentbench: ") if lines else "no message"
    if lines and (code == Unmeasured.exit_code or code > 128):  # code of the user's ended it
        unmeasured = Unmeasured(f"{said} (log: {log})")
        unmeasured.exit_code = code
        return unmeasured
    error = UsageError if code == UsageError.exit_code else AgentbenchError
    return error(f"the run's process failed: {said} (log: {log})")
