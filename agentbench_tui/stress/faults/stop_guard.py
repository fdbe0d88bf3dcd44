"""Continues what was stopped when whoever stopped it is gone, however it went.

`python -m agentbench_tui.stress.faults.stop_guard` reads lines and repeats each when it has taken
it in: `PID START` for a process that is about to be stopped, `-` when all go on again. When its
input ends, which it does also when its parent is killed outright, every process it was told of
since the last `-` gets SIGCONT; then it ends. Signals that end programs it ignores: who reads its
output must not be able to end it before that.
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
    """As the guard reads it."""
    return f"{key[0]} {key[1]!r}"


def let_go_on(keys: Iterable[Key]) -> None:
    """SIGCONT to exactly these processes, as far as they still are."""
    for pid, started in keys:
        now = read_process(pid)
        if now is not None and now.started == started:
            send_signal(now, signal.SIGCONT)


def main() -> int:
    """What `python -m` runs."""
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
