"""How runs and executions ended, and how many answers they have, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentbench_tui.presentation.numbers import MISSING


def ending_words(of: Mapping[str, Any]) -> str:
    """The status of a run or an execution, and why it ended, where that says more."""
    status, reason = of["status"], of["stop_reason"]
    return str(status) if reason in {None, status} else f"{status} ({reason})"


def answers_shown(run: Mapping[str, Any]) -> str:
    """Format right, answered and asked of a run of `runs_document`; – for right if nothing is
    scored, as in loads.
    """
    right = run["correct"] or 0 if run["judged"] else MISSING
    return f"{right}/{run['answered'] or 0}/{run['observed'] or 0}"
