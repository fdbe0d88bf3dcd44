"""A timer with absolute deadlines, far more precise than an event loop's own.

On Linux it is a timerfd that the loop watches: the kernel wakes the loop at the requested
nanosecond, while asyncio rounds its waits up to whole milliseconds and uvloop spins below one.
Elsewhere, and if the kernel refuses, it uses the loop's own timers. The clock is always
`time.perf_counter_ns`; on Linux that is CLOCK_MONOTONIC, which the timerfd also uses.
"""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections.abc import Callable
from typing import Protocol

from agentbench_tui.model.clock import perf_counter_ns

now_ns = perf_counter_ns
"""The clock of every deadline."""

_NS_PER_S = 1_000_000_000
_FIRST_NS = 1
"""The earliest deadline the kernel knows: long past, so it fires at once; 0 would disarm."""
_CLOCK_MONOTONIC = 1
_TFD_TIMER_ABSTIME = 1


class DeadlineTimer:
    """Calls back once when a deadline has passed, never before it.

    For many deadlines keep them in a queue, arm the first, and let the callback do all that is
    due before it arms the next: one wake-up then serves all that have come. An exception of the
    callback goes to the loop's exception handler. To be used from the loop's thread only.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
        """Raises OSError if no more files can be opened."""
        self._callback = callback
        self._at_ns: int | None = None
        alarm = _new_alarm(loop, self._wake)
        self.precise = isinstance(alarm, _TimerFd)
        """Whether the kernel keeps the deadlines; False: the loop does, to about a millisecond."""
        self._set, self._clear, self._close = alarm.set, alarm.clear, alarm.close

    def arm(self, at_ns: int) -> None:
        """Set the callback time to `at_ns`, replacing an earlier one; a past time means the next
        turn.
        """
        self._at_ns = at_ns
        self._set(at_ns)

    def disarm(self) -> None:
        """Cancel the deadline, even one that has passed but was not called back yet."""
        self._at_ns = None
        self._clear()

    def close(self) -> None:
        """Disarm, and release resources. It cannot be armed again. Idempotent."""
        self._at_ns = None
        self._set = _refuse
        self._close()

    def _wake(self) -> None:
        # The loop may have seen the alarm of a deadline that another callback, in the same turn,
        # has replaced or dropped since.
        if self._at_ns is None or now_ns() < self._at_ns:
            return
        self._at_ns = None
        try:
            self._callback()
        finally:
            if self._at_ns is None:
                self._clear()


def _refuse(at_ns: int) -> None:
    """Replaces a closed alarm, whose descriptor may belong to another file now."""
    raise RuntimeError(f"a closed timer cannot be armed (for {at_ns} ns)")


class _Alarm(Protocol):
    """Wakes at the deadline or slightly before, repeatedly until it is set or cleared."""

    def set(self, at_ns: int) -> None: ...
    def clear(self) -> None: ...
    def close(self) -> None: ...


def _new_alarm(loop: asyncio.AbstractEventLoop, wake: Callable[[], None]) -> _Alarm:
    if sys.platform == "linux":
        try:
            return _TimerFd(loop, wake)
        except OSError as error:
            if error.errno != errno.ENOSYS:  # a kernel, or a sandbox of one, without timerfd
                raise
    return _LoopTimer(loop, wake)


class _TimerFd:
    """A file descriptor that is readable from the deadline until it is set again.

    Setting takes back readability (timerfd_settime(2)), so nothing is ever read from it.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, wake: Callable[[], None]) -> None:
        self._loop = loop
        self._fd, self._set_time = _open_timerfd()
        loop.add_reader(self._fd, wake)

    def set(self, at_ns: int) -> None:
        self._set_time(max(at_ns, _FIRST_NS))

    def clear(self) -> None:
        if self._fd >= 0:
            self._set_time(0)

    def close(self) -> None:
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1


class _LoopTimer:
    """The loop's own timer, set again when it wakes too early, since loops round to their
    resolution.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, wake: Callable[[], None]) -> None:
        self._loop = loop
        self._wake = wake
        self._handle: asyncio.Handle | None = None

    def set(self, at_ns: int) -> None:
        self.clear()
        wait_ns = at_ns - now_ns()
        if wait_ns > 0:
            self._handle = self._loop.call_later(wait_ns / _NS_PER_S, self._ring, at_ns)
        else:
            self._handle = self._loop.call_soon(self._wake)

    def clear(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    close = clear

    def _ring(self, at_ns: int) -> None:
        if now_ns() < at_ns:
            self.set(at_ns)
        else:
            self._wake()


def _open_timerfd() -> tuple[int, Callable[[int], object]]:
    """Return a new timerfd, and a function that sets its deadline (0 disarms it)."""
    if sys.platform == "linux" and sys.version_info >= (3, 13):
        flags = os.TFD_NONBLOCK | os.TFD_CLOEXEC
        fd = os.timerfd_create(_CLOCK_MONOTONIC, flags=flags)
        set_time = os.timerfd_settime_ns

        def set_ns(at_ns: int) -> object:
            return set_time(fd, flags=_TFD_TIMER_ABSTIME, initial=at_ns)

        return fd, set_ns
    return _open_timerfd_by_ctypes()


def _open_timerfd_by_ctypes() -> tuple[int, Callable[[int], object]]:
    """Do the same through the C library, for Python before 3.13."""
    import ctypes

    class TimerSpec(ctypes.Structure):
        """struct itimerspec; the interval stays 0."""

        _fields_ = (
            ("interval_s", ctypes.c_long),
            ("interval_ns", ctypes.c_long),
            ("value_s", ctypes.c_long),
            ("value_ns", ctypes.c_long),
        )

    # PyDLL keeps the interpreter's lock: the calls take less time than giving it away would.
    library = ctypes.PyDLL(None, use_errno=True)
    fd = library.timerfd_create(_CLOCK_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC)
    if fd < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"no timer can be made: {os.strerror(number)}")
    spec = TimerSpec()
    reference = ctypes.byref(spec)
    set_time = library.timerfd_settime

    def set_ns(at_ns: int) -> object:
        spec.value_s, spec.value_ns = divmod(at_ns, _NS_PER_S)
        return set_time(fd, _TFD_TIMER_ABSTIME, reference, None)

    return fd, set_ns
