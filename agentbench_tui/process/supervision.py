"""Runs a command in a forked child, so that its parent knows how it ended.

Code of the user's that is called inside our process can end it in ways that `model.process_exit`
cannot refuse: by a function of a C library, a crash, a signal. The exit code of such a process says
nothing. The child therefore notes its own end, the run that it carries out, and the call of the
user's code that began last, in memory that it shares with its parent. Where it ends without a note
of its end, the parent reports what was noted.

The fork costs about a millisecond, because it happens before anything large is imported and while
the process has a single thread.
"""

from __future__ import annotations

import mmap
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakSet

from agentbench_tui.process.starved_child import StarvedChild

if TYPE_CHECKING:
    import asyncio

_SIZE = 4096
_END, _ALIVE, _RUN, _CALL = slice(0, 32), slice(32, 64), slice(64, 256), slice(256, _SIZE)
_PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
NUDGE = signal.SIGURG
"""A signal that a child handles by doing nothing. Python handles signals in its main thread. While
one signal is on its way, the kernel may deliver the next to another thread; then a system call in
which the main thread waits is not interrupted. A nudge ends that call, and all pending signals are
handled."""
_NUDGE_EVERY_S, _NUDGES = 0.1, 5
_SILENT_NUDGES = 20
"""Nudges without a reaction after which user code is held to block the child."""
_TERMINATED_NUDGES = 50
"""Nudges without a reaction after which a child that was asked to terminate is killed."""
_LOOK_EVERY_S = 1.0
"""Interval at which the memory limit of a child is checked."""
_PR_SET_PDEATHSIG = 1
_SETTLING_S = 0.05
"""Wait after a stop of the child, for the signal that continues both to reach it."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a child ended without recording its end."""

    status: int
    """Its exit code; the negative number of the signal that ended it."""
    run_id: str
    """Id of the run that it executed; empty if it had not started one."""
    call: str
    """The call of the user's code that began last; empty if there was none."""
    ignored: int | None = None
    """The signal to which it did not react, so that it was killed; None for any other end."""
    starved: str = ""
    """Reason for which it was killed because it could not continue; empty for any other end."""


class _Notes:
    """Records that a child leaves for its parent."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _SIZE)
        self.writer = 0
        """The process that may write, excluding processes that it forks."""

    def write(self, place: slice, text: str) -> None:
        """Replace a record."""
        data = text.encode(errors="replace")[: place.stop - place.start - 1] + b"\0"
        self._memory[place.start : place.start + len(data)] = data

    def read(self, place: slice) -> str:
        """Return a record."""
        return self._memory[place].partition(b"\0")[0].decode(errors="replace")


_notes: _Notes | None = None
_last_call = ""


def note_run(run_id: str) -> None:
    """Record the run that this process executes. No effect without a waiting parent."""
    _note(_RUN, run_id)


def note_call(call: str) -> None:
    """Record the start of a call of the user's code, here and for a waiting parent."""
    global _last_call  # noqa: PLW0603 (of this process)
    _last_call = call
    _note(_CALL, call)


def last_call() -> str:
    """Return the call of the user's code that began last in this process; empty without one."""
    return _last_call


def note_no_call() -> None:
    """Record that no code of the user's runs any more: what follows must not be cut off."""
    _note(_CALL, "")


def note_alive(*_: object) -> None:
    """Handle a nudge: show the parent that this process runs Python code."""
    if _notes is not None:
        _note(_ALIVE, f"{time.monotonic_ns()}")


def _note(place: slice, text: str) -> None:
    if _notes is not None and _notes.writer == os.getpid():
        _notes.write(place, text)


_loops: WeakSet[asyncio.AbstractEventLoop] = WeakSet()


def end_forks_of(loop: asyncio.AbstractEventLoop) -> None:
    """End every process that code on this loop forks if it returns to the loop."""
    _loops.add(loop)


def _end_in_child() -> None:
    for loop in _loops:
        with suppress(RuntimeError):  # closed
            loop.call_soon(os._exit, 1)


os.register_at_fork(after_in_child=_end_in_child)


def supervised(work: Callable[[], int]) -> int | Ending:
    """Call `work` in a forked child; return its exit code, or how the child ended without one.

    Returns in both processes, in the child with the exit code, which is to be its own. What code
    that runs at the exit of the child does to its exit code is overruled. Signals sent to the
    parent reach the child, once each; a child whose parent is killed is killed.
    """
    global _notes  # of this process, like the memory behind it
    notes = _Notes()
    watched = {*_PASSED_ON, signal.SIGCHLD}
    is_apart = not any(map(os.isatty, range(3)))
    before = signal.signal(signal.SIGCHLD, lambda *_: None)  # a signal that is ignored wakes nobody
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    parent, (ending, kept) = os.getpid(), os.pipe()
    child = os.fork()
    if not child:
        notes.writer, _notes = os.getpid(), notes
        os.close(kept)
        if is_apart:
            os.setpgid(0, 0)
        _end_with(parent, ending)
        signal.signal(signal.SIGCHLD, before)
        signal.signal(NUDGE, note_alive)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        code = work()
        _note(_END, str(code))
        return code
    os.close(ending)
    silence, starved = _Silence(child, notes), StarvedChild(child)
    status, reason = _wait(child, watched, silence, starved, is_apart=is_apart)
    os.close(kept)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    noted = notes.read(_END)
    if noted:
        return int(noted)
    return Ending(status, notes.read(_RUN), notes.read(_CALL), silence.killed_after, reason)


class _Silence:
    """Watches whether a child reacts to signals, and kills it if user code keeps it from that.

    Code that holds Python's lock, such as a regular expression that backtracks without end, lets
    neither a time limit nor the handler of a signal run. A child that reacts is never killed, nor
    one that runs no code of the user's any more, because it may be saving its results.
    """

    def __init__(self, child: int, notes: _Notes) -> None:
        self._child = child
        self._notes = notes
        self._alive = ""
        self._nudges = 0
        self._numbers: list[int] = []
        self.killed_after: int | None = None

    def asked(self, number: int) -> None:
        """A signal was passed on."""
        if not self._numbers:
            self._alive, self._nudges = self._notes.read(_ALIVE), 0
        self._numbers.append(number)
        self._kill_if_due()

    def nudged(self) -> bool:
        """A nudge was sent; return whether the child has to be watched further."""
        if not self._numbers:
            return False
        self._nudges += 1
        if self._notes.read(_ALIVE) != self._alive:
            self._numbers.clear()
            return False
        call = self._notes.read(_CALL)
        if self._nudges == _SILENT_NUDGES and call:
            _warn(f"{call}: blocks agentbench; interrupt again to end the process at once")
        self._kill_if_due()
        return True

    def _kill_if_due(self) -> None:
        was_terminated = any(number != signal.SIGINT for number in self._numbers)
        is_silent = self._nudges >= _SILENT_NUDGES and len(self._numbers) > 1
        is_due = is_silent or (was_terminated and self._nudges >= _TERMINATED_NUDGES)
        if is_due and self._notes.read(_CALL):
            self.killed_after = self._numbers[-1]
            _send(self._child, signal.SIGKILL)


def _warn(line: str) -> None:
    from agentbench_tui.model.text.untrusted import one_line

    with suppress(OSError):
        os.write(2, f"agentbench: {one_line(line, 300)}\n".encode())


def _wait(
    child: int,
    watched: set[signal.Signals],
    silence: _Silence,
    starved: StarvedChild,
    *,
    is_apart: bool,
) -> tuple[int, str]:
    """Pass signals on until the child has ended; return its exit code and `starved` as in
    `Ending`.
    """
    nudges, reason = 0, ""
    while True:
        pid, status = os.waitpid(child, os.WNOHANG | os.WUNTRACED)
        if pid and not os.WIFSTOPPED(status):
            return os.waitstatus_to_exitcode(status), reason
        if pid and not is_apart:
            _stop_as_well(child)
        came = _next_signal(watched, _NUDGE_EVERY_S if nudges else _LOOK_EVERY_S)
        if came is None and not nudges:
            if not reason and (reason := starved.reason()):
                _send(child, signal.SIGKILL)
        elif came is None:
            _send(child, NUDGE)
            nudges = _NUDGES if silence.nudged() else nudges - 1
        elif came[0] != signal.SIGCHLD:
            nudges = _NUDGES
            if is_apart or not _reached_both(*came):
                _send(child, came[0])
            if came[0] == signal.SIGTERM or signal.getsignal(came[0]) != signal.SIG_IGN:
                silence.asked(came[0])


def _send(child: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(child, number)


def _next_signal(watched: set[signal.Signals], timeout_s: float) -> tuple[int, bool] | None:
    """The next signal, and whether the kernel sent it, as for a key pressed in a terminal. On Linux
    None where none comes in time; other systems have no time limit for it."""
    if sys.platform != "linux":
        return signal.sigwait(watched), True
    info: signal.struct_siginfo | None = signal.sigtimedwait(watched, timeout_s)
    if info is None or info.si_signo not in watched:  # 0 after a debugger has stopped us
        return None
    return info.si_signo, info.si_code > 0


def _reached_both(number: int, is_of_terminal: bool) -> bool:
    """Return whether a child in this process group also received the signal.

    A terminal that hangs up signals only the leader of its session. A signal that a process sent to
    the whole group cannot be distinguished from one to this process: the child then receives it
    twice.
    """
    is_alone = number == signal.SIGHUP and os.getsid(0) == os.getpid()
    return is_of_terminal and number in (signal.SIGINT, signal.SIGHUP) and not is_alone


def _stop_as_well(child: int) -> None:
    """Stop after a child that stopped itself, so that the shell takes its terminal back."""
    time.sleep(_SETTLING_S)
    pid, _ = os.waitpid(child, os.WNOHANG | os.WCONTINUED)
    if pid == 0:  # else both were stopped, and continue
        os.kill(os.getpid(), signal.SIGSTOP)
        os.kill(child, signal.SIGCONT)


def _end_with(parent: int, ending: int) -> None:
    """Make sure that this process is killed as soon as its parent has ended."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.close(ending)
    else:
        threading.Thread(target=_end_at, args=(ending,), daemon=True).start()
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def _end_at(ending: int) -> None:
    os.read(ending, 1)  # returns when the other end is closed, by the end of the parent
    os.kill(os.getpid(), signal.SIGKILL)
