"""Limits the CPU time of work whose cost depends on the agent's answer."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, TypeVar

from agentbench_tui.model.answer import GraderFailure

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

Result = TypeVar("Result")
LIMIT_S = 5.0
"""CPU seconds that one answer may take: a valid one of 1 MB takes a schema some 3 s, 2,000 texts in
any order 4 s. On another thread than the main one, where no run scores, nothing limits it."""


class OutOfTime(Exception):
    """Raised when work exceeds its CPU limit."""


def can_limit() -> bool:
    """Return whether this thread can be interrupted: signals reach only the main thread."""
    return threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")


def limited(work: Callable[[], Result], limit_s: float) -> Result:
    """Return the result of `work` within this many CPU seconds of the process.

    Only for the main thread (`can_limit`). Raises OutOfTime, and the exceptions of `work`.
    """
    before = signal.signal(signal.SIGVTALRM, _out_of_time)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, limit_s)
        try:
            return work()
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    finally:
        signal.signal(signal.SIGVTALRM, before)


def within_limit(work: Callable[[], Result], what: str, advice: str) -> Result:
    """Return the result of `work` within `LIMIT_S`.

    Raises GraderFailure, which says that `what` took longer, with the advice; and the exceptions of
    `work`.
    """
    if not can_limit():
        return work()
    try:
        return limited(work, LIMIT_S)
    except OutOfTime:
        took = f"{what} took more than {LIMIT_S:g} s on this answer"
        raise GraderFailure(f"{took}; {advice}") from None


def _out_of_time(_signal: int, _frame: FrameType | None) -> None:
    raise OutOfTime
