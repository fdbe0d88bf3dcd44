"""Interrupts user code that blocks the event loop.

A signal is handled by the loop, which is blocked while a synchronous scorer or agent runs.
Functions that call such code are marked `breakable`: below them the second signal raises
`BrokenOff`, which propagates like a cancellation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])
_breakable: set[CodeType] = set()


class BrokenOff(asyncio.CancelledError):
    """Raised in user code when the run is to end immediately."""


def breakable(function: _Function) -> _Function:
    """Mark a function below which `BrokenOff` may be raised at any point."""
    _breakable.add(function.__code__)
    return function


def is_breakable(frame: FrameType | None) -> bool:
    """Return whether a marked function is `frame` or among its callers."""
    while frame is not None:
        if frame.f_code in _breakable:
            return True
        frame = frame.f_back
    return False
