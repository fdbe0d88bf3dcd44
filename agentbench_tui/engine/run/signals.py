"""Signals of the process that carries a run out, given to its loop, or past one that is blocked."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Self

from agentbench_tui.model.breaking_off import BrokenOff, is_breakable
from agentbench_tui.model.process_exit import SignalInterrupt
from agentbench_tui.process.supervision import NUDGE, note_alive

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_PATIENCE = 3
"""Number of signals not handled by the loop, including the current one, after which the loop is
bypassed.
"""


class Signals:
    """Within this context, interrupts, terminations and terminal hang-ups call `heard`.

    `heard` is called in the event loop with the signal's number. If the loop has not handled the
    previous signal, the next one breaks off the user's code that blocks it (`BrokenOff`), and a
    third raises KeyboardInterrupt anywhere. An interrupt or a hang-up that the caller ignores (`&`
    in a script, `nohup`) stays ignored; termination never does. Outside the main thread, where
    Python does not deliver signals, it does nothing.

    Python may run the handler of a signal during the handler of another. The second is deferred
    until the first has notified the loop, so that signals are handled in order of arrival. A signal
    does not wake an event loop by itself: the system may deliver it to another thread, or to this
    one just before it waits. `add_signal_handler` is used for its wake-up, and the parent's `NUDGE`
    wakes blocked code of the user.
    """

    def __init__(self, heard: Callable[[int], None]) -> None:
        self._heard = heard
        self._unheard = 0
        self._put_off: deque[int] = deque()
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
        self._before[NUDGE] = signal.signal(NUDGE, note_alive)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        for number, before in self._before.items():
            self._loop.remove_signal_handler(number)
            signal.signal(number, before)
        self._before.clear()

    def _come(self, number: int, frame: FrameType | None) -> None:
        assert self._loop is not None
        if _is_within(frame, Signals._come):
            self._put_off.append(number)
            self._loop.call_soon_threadsafe(self._tell_put_off)
            return
        self._tell(number)
        self._tell_put_off()
        if self._unheard > 1 and is_breakable(frame):
            raise BrokenOff
        if self._unheard >= _PATIENCE:
            raise SignalInterrupt

    def _tell(self, number: int) -> None:
        assert self._loop is not None
        self._unheard += 1
        self._loop.call_soon_threadsafe(self._hear, number)

    def _tell_put_off(self) -> None:
        while self._put_off:
            self._tell(self._put_off.popleft())

    def _hear(self, number: int) -> None:
        self._unheard -= 1
        self._heard(number)


def _is_within(frame: FrameType | None, function: Callable[..., object]) -> bool:
    while frame is not None:
        if frame.f_code is function.__code__:
            return True
        frame = frame.f_back
    return False


def _woken() -> None:
    """Return immediately: `_come` runs before anything in a loop that wakes."""
