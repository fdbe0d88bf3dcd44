"""Untrusted text of agents: every terminal line passes through `visible` or `one_line`.

Secrets are the matter of `secrets`.
"""

from __future__ import annotations

from agentbench_tui.model.text.control_characters import visible
from agentbench_tui.model.text.secrets import redact

__all__ = ["one_line", "visible"]


def one_line(text: str, limit: int = 200) -> str:
    """Return `visible` text on one line.

    Secrets are masked before, because one with joined or cut lines would not be recognized.
    """
    joined = " ".join(text.split())
    if joined != text or len(joined) > limit:
        joined = " ".join(redact(text).split())
    return visible(joined, limit)
