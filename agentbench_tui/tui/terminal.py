"""Gives the terminal back: to the shell while a session is stopped, and after it ends."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import termios
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterator

RESET = (
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l"  # no mouse
    "\x1b[?1004l\x1b[?2004l\x1b[?2048l\x1b[<u"  # no focus, paste, size or key reports
    "\x1b[?7h\x1b[?1049l\x1b[?25h\x1b[0m"  # wrapping lines, the usual screen, a cursor, no colors
)
"""Undoes whatever a session may have set in the terminal; otherwise without effect."""


def has_shell() -> bool:
    """Return whether a shell with job control could continue this process after a stop.

    It is an ancestor in the same terminal session, outside of this process group. Without one, as
    in `ssh -t HOST agentbench-tui`, the group is orphaned (POSIX) and would stay stopped forever.
    """
    with suppress(psutil.Error, OSError):
        for ancestor in psutil.Process().parents():
            if os.getpgid(ancestor.pid) != os.getpgrp():
                return os.getsid(ancestor.pid) == os.getsid(0)
    return False


def stop_foreground_job() -> None:
    """Stop every process of the foreground job, as the terminal does when it reads Ctrl-Z itself:
    the shell waits for wrappers such as `make`, `uv run` or a script, not for this process.
    """
    os.killpg(os.getpgrp(), signal.SIGTSTP)


@contextmanager
def terminal_kept() -> Iterator[None]:
    """Restore the terminal on an error or an exit within this context."""
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)

    def put_back() -> None:
        with suppress(OSError):  # it may be gone
            os.write(sys.stderr.fileno(), RESET.encode())
        with suppress(OSError, termios.error):
            termios.tcsetattr(descriptor, termios.TCSANOW, before)

    atexit.register(put_back)
    try:
        yield
    except BaseException:
        put_back()
        raise
    finally:
        atexit.unregister(put_back)
