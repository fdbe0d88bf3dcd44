"""Signals of the process that carries a run out, given to its loop, or past one that is blocked."""

from __future__ import annotations

import asyncio
import signal
import threading
from typing import TYPE_CHECKING, Any, Self

from agentbench_tui.model.breaking_off import BrokenOff, is_breakable
from agentbench_tui.model.process_exit import SignalInterrupt
from agentbench_tui.process.supervision import NUDGE

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_PATIENCE = 3
"""Signals that the loop has not heard, the one just come included, at which it is left alone."""


class Signals:
    """While it is entered, interrupt, termination and a terminal that hangs up are `heard`.

    `heard` is called on the loop with the number. When the loop has not come to the signal before,
    the next one breaks off the user's code that blocks it (`BrokenOff`), and a third raises
    KeyboardInterrupt wherever the program is. An interrupt or a hang-up that the caller ignores
    (`&` in a script, `nohup`) stays ignored; termination never does.
    Outside the main thread, where Python lets nobody hear signals, it does nothing.

    A signal does not wake a loop by itself: the system may give it to another thread, or to this
    one just before it waits. `add_signal_handler` is there for the wake-up that it arranges. What
    wakes code of the user's that waits is the parent's `NUDGE`.
    """

    def __init__(self, heard: Callable[[int], None]) -> None:
        self._heard = heard
        self._unheard = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        if threading.current_thread() is not threading.main_thread():
            return self
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            before = signal.getsignal(number)
            if number == signal.SIGTERM or before != signal.SIG_IGN:
                self._loop.add_signal_handler(number, _woken)
                signal.signal(number, self._come)
                self._before[number] = before
        self._before[NUDGE] = signal.signal(NUDGE, lambda *_: None)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        for number, before in self._before.items():
            self._loop.remove_signal_handler(number)
            signal.signal(number, before)
        self._before.clear()

    def _come(self, number: int, frame: FrameType | None) -> None:
        assert self._loop is not None
        self._unheard += 1
        self._loop.call_soon_threadsafe(self._hear, number)
        if self._unheard > 1 and is_breakable(frame):
            raise BrokenOff
        if self._unheard >= _PATIENCE:
            raise SignalInterrupt

    def _hear(self, number: int) -> None:
        self._unheard -= 1
        self._heard(number)


def _woken() -> None:
    """What is to be done is done by then: `_come` runs before anything of a loop that wakes."""
