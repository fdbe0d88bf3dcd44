"""A bound on the CPU time of work whose cost is for the agent's answer to say."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

Result = TypeVar("Result")


class OutOfTime(Exception):
    """The work was broken off."""


def can_limit() -> bool:
    """Whether this thread can be interrupted: signals reach only the main thread."""
    return threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer")


def limited(work: Callable[[], Result], limit_s: float) -> Result:
    """What `work` gives, if it takes no more CPU seconds of the process than that.

    For the main thread alone (`can_limit`). Raises OutOfTime, and whatever `work` raises.
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


def _out_of_time(_signal: int, _frame: FrameType | None) -> None:
    raise OutOfTime
