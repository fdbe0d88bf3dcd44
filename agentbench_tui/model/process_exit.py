"""Keeps user code from ending the process, and distinguishes its exceptions from real signals.

An agent, a scorer or a dataset's generator runs in our process. `os._exit(0)` in it would end a run
as if all had gone well: no result, no gate judged, exit code 0. `guard` makes such a call raise
`ProcessExit` there, which is a failure of that code like any other exception.
"""

from __future__ import annotations

import os
import posix
import resource
import sys
from collections.abc import Awaitable, Callable
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from agentbench_tui.model.interpreter_state import remember, restore_imports

_HARM = {"_exit": "ended", "execv": "ended", "execve": "ended", "closerange": "closed the files of"}
"""Functions that end the program of this process, to which the other exec functions lead, or close
its files, each with what it would have done to agentbench."""
_LIMITERS = ("setrlimit", "prlimit")
_LEAST_MEMORY = 64 << 20
_LEAST_FILES = 64
_LEAST_FILE_SIZE = 1 << 30
"""What agentbench needs beyond what it has: bytes of memory, open files, and size of a database."""
_FORKED = 70
"""Exit code of a forked process that comes out of user code. Its parent may be waiting for it."""
_Value = TypeVar("_Value")
_exit = os._exit
_end: list[int] = []
_guarded_processes: set[int] = set()


class ProcessExit(BaseException):
    """Raised when user code asks the system to end this process. No `except Exception` hides it,
    and unlike SystemExit it does not end an event loop.
    """


class SignalInterrupt(KeyboardInterrupt):
    """Raised for a signal. A plain KeyboardInterrupt was raised by user code."""


def interrupt(*_: object) -> NoReturn:
    """Handle SIGINT like Python, but so that it can be distinguished from exceptions of user
    code.
    """
    raise SignalInterrupt


def passes(error: BaseException) -> bool:
    """Return whether an exception that left user code is the harness's: a signal, or the end of
    the task.
    """
    # Here, since who only makes scorers needs no event loop.
    import asyncio

    from agentbench_tui.model.breaking_off import BrokenOff

    if isinstance(error, SignalInterrupt | BrokenOff):
        return True
    if not isinstance(error, asyncio.CancelledError):
        return False
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class _OneProcess:
    """See `one_process`. A class, because it is entered three times per case, and a generator takes
    three times as long.
    """

    __slots__ = ("_pid",)

    def __enter__(self) -> None:
        self._pid = os.getpid()

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if os.getpid() != self._pid:
            # How a forked process usually ends, with its own exit code.
            code = error.code if isinstance(error, SystemExit) else _FORKED
            os._exit(code if isinstance(code, int) else int(code is not None))
        restore_imports()


def one_process() -> _OneProcess:
    """Run user code in the block; a process that it forked ends when it would leave the block.

    Otherwise it would continue as a second harness that uses the first one's files.
    """
    return _OneProcess()


async def in_one_process(value: Awaitable[_Value]) -> _Value:
    """Return the result of an awaitable of user code, within `one_process`."""
    with one_process():
        return await value


def end_with(code: int) -> None:
    """Let `os._exit` end the process again, with this code even if an `atexit` handler of user code
    gives another.
    """
    _end.append(code)


def guard() -> None:
    """Make `os._exit`, `os.exec…` and `os.closerange` raise ProcessExit in this process, and
    `resource.setrlimit` with a limit that agentbench has reached already.

    Processes that are forked from it end as they always did. From now on, user code is expected:
    the state of the interpreter is remembered.
    """
    if os.getpid() in _guarded_processes:
        return
    _guarded_processes.add(os.getpid())
    remember()
    for name in _HARM:
        guarded = _guarded(getattr(os, name), os.getpid())
        setattr(os, name, guarded)
        setattr(posix, name, guarded)
    for name in _LIMITERS:
        if hasattr(resource, name):
            setattr(resource, name, _limiting(getattr(resource, name), os.getpid()))


def _guarded(function: Callable[..., Any], pid: int) -> Callable[..., Any]:
    @wraps(function)
    def refuse(*arguments: Any, **named: Any) -> Any:
        if os.getpid() != pid:
            return function(*arguments, **named)
        if _end:
            _exit(_end[0])
        raise _refusal(f"os.{function.__name__}", f"{_HARM[function.__name__]} agentbench")

    return refuse


def _limiting(function: Callable[..., Any], pid: int) -> Callable[..., Any]:
    @wraps(function)
    def refuse(*arguments: Any) -> Any:
        *others, which, limits = arguments if len(arguments) > 1 else (0, None)
        is_here = os.getpid() == pid and (not others or others[0] in (0, pid))
        if is_here and (needed := _needed(which)) and _is_below(limits, needed):
            raise _refusal(
                f"resource.{function.__name__}",
                f"left agentbench, which it limits too, below the {needed:,} that it needs",
            )
        return function(*arguments)

    return refuse


def _needed(which: object) -> int:
    """Return the least limit with which agentbench can continue; 0 for limits that do no harm."""
    if which in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        try:
            pages = int(Path("/proc/self/statm").read_bytes().split()[0])
        except OSError:
            return _LEAST_MEMORY
        return pages * resource.getpagesize() + _LEAST_MEMORY
    if which == resource.RLIMIT_NOFILE:
        return _LEAST_FILES
    return _LEAST_FILE_SIZE if which == resource.RLIMIT_FSIZE else 0


def _is_below(limits: object, needed: int) -> bool:
    """Return whether a soft limit is set and too low; Python reports malformed limits."""
    if not isinstance(limits, tuple | list) or not limits or not isinstance(limits[0], int):
        return False
    return limits[0] != resource.RLIM_INFINITY and limits[0] < needed


def _refusal(name: str, harm: str) -> ProcessExit:
    caller = sys._getframe(2)
    place = f"{Path(caller.f_code.co_filename).name}:{caller.f_lineno}"
    return ProcessExit(
        f"{name}() at {place} would have {harm}; "
        "code that does so runs as a `command:` or `worker:` agent"
    )
