"""Ends a server started by agentbench after its parent has ended in any way.

`python -m agentbench_tui.stress.faults.end_guard` reads lines: `PID START` for the server's first
process, `-` when there is none any more. When its input ends, also because the parent was killed,
it kills the process tree of the last named process. This is necessary because servers do not read
their input, whose end tells other child processes to end.
"""

from __future__ import annotations

import signal
import sys

from agentbench_tui.process.adoption import send_signal
from agentbench_tui.process.snapshot import read_process
from agentbench_tui.stress.faults.process_fault import tree_of
from agentbench_tui.stress.faults.stop_guard import ALL_GO_ON as NONE
from agentbench_tui.stress.faults.stop_guard import Key

_SWEEPS = 3
"""A process may fork while the others are killed."""


def end(key: Key) -> None:
    """Send SIGKILL to exactly this process and its descendants, if they still exist."""
    pid, started = key
    for _ in range(_SWEEPS):
        now = read_process(pid)
        if now is None or now.started != started:
            return
        # The root last: without it nobody knows whose the others are.
        members = sorted(tree_of((pid,)).values(), key=lambda info: info.pid == pid)
        for info in members:
            send_signal(info, signal.SIGKILL)


def main() -> int:
    """Entry point of `python -m`."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    server: Key | None = None
    for line in sys.stdin:
        text = line.strip()
        if text == NONE:
            server = None
        else:
            pid, started = text.split()
            server = int(pid), float(started)
    if server is not None:
        end(server)
    return 0


if __name__ == "__main__":
    sys.exit(main())
