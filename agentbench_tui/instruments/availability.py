"""What a machine does not tell, and where it is looked for."""

from __future__ import annotations

from pathlib import Path

from agentbench_tui.model.errors import AgentbenchError

ROOT = Path("/")
"""Where `proc` and `sys` lie; tests bring their own."""


class NotAvailable(AgentbenchError):
    """This machine does not tell; the message says why, in half a line."""


def read_line(path: Path) -> str:
    """A one-line file of `proc` or `sys`. Raises NotAvailable when there is nothing to read."""
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
