"""Missing facts about a machine, and where facts are read."""

from __future__ import annotations

from pathlib import Path

from agentbench_tui.model.errors import AgentbenchError

ROOT = Path("/")
"""Parent of `proc` and `sys`; tests use their own."""


class NotAvailable(AgentbenchError):
    """This machine does not report it; the message says why, in half a line."""


def read_line(path: Path) -> str:
    """Read a one-line file of `proc` or `sys`. Raises NotAvailable if it cannot be read."""
    try:
        line = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise NotAvailable(f"{path}: {plain(error)}") from error
    if not line:
        raise NotAvailable(f"{path}: empty")
    return line


def plain(error: Exception) -> str:
    """Why a file could not be used, in a few words."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    return "not in the form known"
