"""Starts runs in processes of their own, detached from the session."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from agentbench_tui.model.errors import AgentbenchError
from agentbench_tui.model.text.untrusted import one_line
from agentbench_tui.process.environment import python_module

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_START_LIMIT_S = 60.0


def start_detached(database: Path, arguments: Sequence[str]) -> str:
    """Start `agentbench ARGUMENTS` (a run, a load or a stress); return the run's id when it is
    stored. Raises AgentbenchError with the reason.
    """
    command = python_module("agentbench_tui", *arguments, "--detach")
    try:
        done = subprocess.run(
            [*command, "--db", str(database)],
            stdin=subprocess.DEVNULL,  # keys are the session's
            capture_output=True,
            text=True,
            check=False,
            timeout=_START_LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        raise AgentbenchError(f"the run did not start within {_START_LIMIT_S:g} s") from None
    except OSError as error:
        reason = f"no run could be started: {(error.strerror or str(error)).lower()}"
        raise AgentbenchError(reason) from error
    if done.returncode == 0:
        return done.stdout.strip()
    said = one_line(done.stderr.strip().rpartition("\n")[2])
    reason = said or f"the run did not start: exit code {done.returncode}, without a word"
    raise AgentbenchError(reason)
