"""The kind `stress`: one scenario against one target, window after window."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import BaseModel


def block() -> type[BaseModel]:
    """The model of `stress:`."""
    from agentbench_tui.stress.spec import StressSpec

    return StressSpec
