"""A session in a real pseudo-terminal: every byte that it sends, and keys to it."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

PATIENCE_S = 60.0
_COLOR = re.compile(rb"\x1b\[[0-9;]*m")


class Terminal:
    """Runs `agentbench ARGUMENTS`, or a `program`, on its own terminal until the block ends."""

    def __init__(
        self,
        *arguments: str,
        folder: Path,
        size: tuple[int, int] = (120, 40),
        program: Sequence[str] = (sys.executable, "-m", "agentbench_tui"),
        **environment: str,
    ) -> None:
        """`environment`: besides the usual; an empty value takes a variable out."""
        columns, lines = size
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.modes_before = termios.tcgetattr(slave)
        self._slave = slave
        self._is_gone = False
        variables = {**os.environ, "TERM": "xterm-256color", **environment}
        self.process = subprocess.Popen(
            [*program, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env={name: value for name, value in variables.items() if value},
            start_new_session=True,
        )
        self.sent = b""
        """Everything so far."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if not self._is_gone:
            self.vanish()

    def vanish(self) -> None:
        """Close the terminal, as a lost connection does."""
        self._is_gone = True
        os.close(self._slave)
        os.close(self._master)

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def until(self, condition: Callable[[bytes], object], *, since: int = 0) -> None:
        """Read until it holds of what was sent from that place on."""
        deadline = time.monotonic() + PATIENCE_S
        while not condition(self.sent[since:]):
            assert time.monotonic() < deadline, f"it did not come: {self.sent[-3000:]!r}"
            self._read(0.1)

    def until_shown(self, words: str) -> None:
        """Read until the words were sent, in whatever colors: each may have a part of them."""
        self.until(lambda sent: words.encode() in _COLOR.sub(b"", sent))

    def until_quiet(self, seconds: float = 0.1) -> None:
        """Read until nothing has come for so long."""
        while self._read(seconds):
            pass

    def until_end(self) -> int:
        """Read until the program has ended; its exit code."""
        deadline = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"it did not end: {self.sent[-3000:]!r}"
            self._read(0.1)
        while self._read(0):
            pass
        return self.process.returncode

    def modes(self) -> list[object]:
        """How the terminal is set now, as `termios` has it."""
        return termios.tcgetattr(self._slave)

    def _read(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        self.sent += os.read(self._master, 1 << 16)
        return True
