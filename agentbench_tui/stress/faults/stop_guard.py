"""Continues stopped processes after the process that stopped them has ended in any way.

`python -m agentbench_tui.stress.faults.stop_guard` reads lines and echoes each once it is
processed: `PID START` for a process that is about to be stopped, `-` when all continue again. When
its input ends, also because the parent was killed, every process named since the last `-` gets
SIGCONT; then it ends. It ignores the signals that end programs, so that the reader of its output
cannot end it early.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable

from agentbench_tui.process.adoption import send_signal
from agentbench_tui.process.snapshot import read_process

ALL_GO_ON = "-"

Key = tuple[int, float]
"""Pid and start mark, see `ProcessInfo.key`."""


def as_line(key: Key) -> str:
    """Encode a process key as the guard reads it."""
    return f"{key[0]} {key[1]!r}"


def let_go_on(keys: Iterable[Key]) -> None:
    """Send SIGCONT to exactly these processes, if they still exist."""
    for pid, started in keys:
        now = read_process(pid)
        if now is not None and now.started == started:
            send_signal(now, signal.SIGCONT)


def main() -> int:
    """Entry point of `python -m`."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    stopped: set[Key] = set()
    for line in sys.stdin:
        text = line.strip()
        if text == ALL_GO_ON:
            stopped.clear()
        else:
            pid, started = text.split()
            stopped.add((int(pid), float(started)))
        try:
            sys.stdout.write(line)
            sys.stdout.flush()
        except OSError:  # nobody reads any more; the end of the input follows
            break
    let_go_on(stopped)
    return 0


if __name__ == "__main__":
    sys.exit(main())
