"""What the page Live costs beside a real load: CPU, bytes to the terminal, keys, memory.

    python benchmarks/tui_live.py [--rate R] [--seconds S] [--size 120x40]

A session on that page in a pseudo-terminal watches an open loop against the C server of this
folder, so that the other end takes little of the machine; measured are the session's process (CPU,
resident memory), every byte that it writes, and how long after a key the screen begins to change.
Then the same after the run has ended, when nothing happens.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import select
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import time
from contextlib import closing
from pathlib import Path
from statistics import median, quantiles
from typing import Self

import psutil
from load import AGENTBENCH, ENVIRONMENT, bar, c_server, say

START_LIMIT_S = 20.0
SETTLE_S = 3.0
KEYS = ("h", "g")
"""That change the picture at once."""
KEY_PRESSES = 60
QUIET_S = 0.06
"""Nothing has come for so long: the next bytes are the key's."""
KEY_LIMIT_S = 2.0
SESSION = (
    "import sys; from pathlib import Path\n"
    "from agentbench_tui.tui.app import AgentbenchApp\n"
    "from agentbench_tui.tui.shared import Shared\n"
    "AgentbenchApp(Shared(Path(sys.argv[1])), first='live').run()\n"
)


class Terminal:
    """A session in a pseudo-terminal of a size."""

    command: tuple[str, ...] = (sys.executable, "-c", SESSION)
    """The database comes after it."""

    def __init__(self, database: Path, columns: int, lines: int) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self._child = subprocess.Popen(
            [*self.command, str(database)],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**ENVIRONMENT, "TERM": "xterm-256color", "COLORTERM": ""},
            start_new_session=True,
        )
        os.close(slave)
        self.process = psutil.Process(self._child.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.send_signal(signal.SIGTERM)
        try:
            self._child.wait(5)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        os.close(self.master)

    def read(self, seconds: float, *, until_bytes: bool = False) -> int:
        """Bytes that come within that time; the first of them end it where asked."""
        ends, count = time.monotonic() + seconds, 0
        while (left := ends - time.monotonic()) > 0:
            if not select.select([self.master], [], [], left)[0]:
                break
            count += len(os.read(self.master, 1 << 16))
            if until_bytes:
                break
        return count

    def cpu_s(self) -> float:
        times = self.process.cpu_times()
        return times.user + times.system

    def watch(self, seconds: float) -> tuple[float, float]:
        """(percent of a core, bytes a second) over that time."""
        began, before = time.monotonic(), self.cpu_s()
        count = self.read(seconds)
        took = time.monotonic() - began
        return 100 * (self.cpu_s() - before) / took, count / took

    def key_ms(self, key: str) -> float | None:
        """From the key to the first byte of its answer; None when none came."""
        while self.read(QUIET_S):
            pass
        os.write(self.master, key.encode())
        began = time.perf_counter()
        return 1e3 * (time.perf_counter() - began) if self.read(
            KEY_LIMIT_S, until_bytes=True
        ) else None  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rate", type=float, default=5000.0, help="requests a second asked for")
    parser.add_argument("--seconds", type=float, default=10.0, help="that are measured")
    parser.add_argument("--size", default="120x40")
    given = parser.parse_args()
    columns, lines = map(int, given.size.split("x"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with c_server() as port:
            database = folder / "bench.db"
            load_s = SETTLE_S + given.seconds + KEY_PRESSES * 0.4 + 8
            command = [
                *AGENTBENCH, "load", f"openai:http://127.0.0.1:{port}/v1#mock",
                "--no-stream", "--output-tokens", "1", "--rate", str(given.rate),
                "--duration", f"{load_s:.0f}s", "--warmup", "0", "--db", str(database),
                "--no-ui", "--quiet", "--drain", "1s",
            ]  # fmt: skip
            load = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT
            )
            try:
                wait_for(database)
                with Terminal(database, columns, lines) as terminal:
                    measure(terminal, given.seconds, load)
            finally:
                if load.poll() is None:
                    load.send_signal(signal.SIGINT)
                load.wait(30)
            say("samples a second that it watched", samples_per_s(database), "")


def samples_per_s(database: Path) -> float:
    """Of the whole load, by what was stored while it went on."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        first, last, observed = connection.execute(
            "SELECT min(at), max(at), sum(observed) FROM ticks"
        ).fetchone()
    return float(observed / (last - first))


def wait_for(database: Path) -> None:
    """Until the load has told something."""
    ends = time.monotonic() + START_LIMIT_S
    while time.monotonic() < ends:
        if database.exists():
            try:
                with sqlite3.connect(f"file:{database}?mode=ro", uri=True) as connection:
                    if connection.execute("SELECT 1 FROM ticks").fetchone():
                        return
            except sqlite3.OperationalError:
                pass
        time.sleep(0.1)
    sys.exit("the load did not begin")


def measure(terminal: Terminal, seconds: float, load: subprocess.Popen[bytes]) -> None:
    terminal.read(SETTLE_S)
    cpu, rate = terminal.watch(seconds)
    bar("CPU of the session, % of a core", cpu, "<= 7", cpu <= 7)
    bar("to the terminal, kB/s", rate / 1e3, "<= 25", rate <= 25e3)
    keys(terminal, "beside the load")
    load.send_signal(signal.SIGINT)
    load.wait(60)
    terminal.read(SETTLE_S)
    cpu, rate = terminal.watch(max(5.0, seconds / 2))
    say("CPU after the end, % of a core", cpu, "")
    bar("to the terminal after the end, kB/s", rate / 1e3, "<= 1", rate <= 1e3)
    keys(terminal, "after the end")
    memory = terminal.process.memory_info().rss / 1e6
    bar("resident memory, MB", memory, "<= 120", memory <= 120)


def keys(terminal: Terminal, when: str) -> None:
    taken = [terminal.key_ms(KEYS[nth % len(KEYS)]) for nth in range(KEY_PRESSES)]
    known = [one for one in taken if one is not None]
    say(f"keys {when} without an answer", len(taken) - len(known), f"of {len(taken)}")
    p95 = quantiles(known, n=20)[-1] if len(known) > 1 else float("nan")
    say(f"key to reaction {when}, median ms", median(known) if known else float("nan"), "")
    bar(f"key to reaction {when}, p95 ms", p95, "<= 50", p95 <= 50)


if __name__ == "__main__":
    main()
