"""Breaking off code of the user's that never gives the event loop back.

A signal is heard by the loop, and while a synchronous scorer or an agent that blocks runs, the
loop hears nothing. Functions of ours that call such code are marked `breakable`: beneath them the
second signal raises `BrokenOff`, which passes through as a cancellation does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])
_breakable: set[CodeType] = set()


class BrokenOff(asyncio.CancelledError):
    """Code of the user's was broken off because the run is to end at once."""


def breakable(function: _Function) -> _Function:
    """Mark a function beneath which `BrokenOff` may be raised at any point."""
    _breakable.add(function.__code__)
    return function


def is_breakable(frame: FrameType | None) -> bool:
    """Whether a marked function is among the callers of `frame`, or is its own."""
    while frame is not None:
        if frame.f_code in _breakable:
            return True
        frame = frame.f_back
    return False
