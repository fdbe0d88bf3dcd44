"""What the live view costs a load run: the same load with it, in a pseudo-terminal, and without.

    python benchmarks/load_ui.py [--seconds S] [--repeats N]

An open loop of 200/s, TTFT 50 ms, 32 tokens 10 ms apart, on a practice server that writes down
what it did; with and without the view in turn, in reversed order every other time. Reported are
the error of the p99 of TTFT in percent of the server's own, the sender's CPU a request, and what
the terminal had to take. Server, sender and view want a core each: with fewer the bars cannot be
held against the view, and that is said.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import resource
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from load import AGENTBENCH, ENVIRONMENT, bar, mock, say

COLUMNS, LINES = 120, 40
RATE = 200
CORES_WANTED = 3
"""One each for the server, the sender and the view."""


class Measured(NamedTuple):
    """One run."""

    error_percent: float
    """Of the reported p99 of TTFT, against the server's."""
    sender_us: float
    """CPU of the sender, a request."""
    tree_s: float
    """CPU of the command and all its processes; the server's is not in it."""
    terminal_bytes: int
    terminal_s: float
    """From the first byte to the last."""
    verdict: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=6.0, help="of a window")
    parser.add_argument("--repeats", type=int, default=2, help="of each way")
    given = parser.parse_args()
    found: dict[bool, list[Measured]] = {False: [], True: []}
    for nth in range(given.repeats):
        for live in (False, True) if nth % 2 == 0 else (True, False):
            one = measure(given.seconds, live=live)
            found[live].append(one)
            say(
                "with the view" if live else "without it   ",
                f"TTFT p99 off by {one.error_percent:+.2f}%, {one.sender_us:,.0f} us a request,"
                f" {one.tree_s:.2f} s CPU in all, {one.terminal_bytes:,} bytes drawn,"
                f" {one.verdict}",
                "",
            )
    report(found[False], found[True])


def report(without: list[Measured], beside: list[Measured]) -> None:
    spare = len(os.sched_getaffinity(0)) >= CORES_WANTED
    growth = fmean(abs(one.error_percent) for one in beside) - fmean(
        abs(one.error_percent) for one in without
    )
    cpu = 100 * (fmean(o.sender_us for o in beside) / fmean(o.sender_us for o in without) - 1)
    view_s = fmean(one.tree_s for one in beside) - fmean(one.tree_s for one in without)
    if spare:
        bar("TTFT p99 error grows by, points", growth, "<= 1", growth <= 1)
        bar("sender's CPU a request grows by, %", cpu, "<= 2", cpu <= 2)
    else:
        print(f"      fewer than {CORES_WANTED} cores, none to spare: the bars do not hold here")
        say("TTFT p99 error grows by, points (bar 1)", growth, "")
        say("sender's CPU a request grows by, % (bar 2)", cpu, "")
    say("CPU that the view takes for itself", view_s, "s a run, its start in")
    rates = [one.terminal_bytes / one.terminal_s for one in beside if one.terminal_s > 0]
    say("to the terminal", fmean(rates) if rates else 0.0, "bytes/s")


def measure(seconds: float, *, live: bool) -> Measured:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with mock(folder, "--ttft", "50ms", "--itl", "10ms", "--tokens", "32") as server:
            command = [
                *AGENTBENCH, "load", f"openai:{server.url}#mock", "--rate", str(RATE),
                "--requests", str(round(RATE * seconds)), "--warmup", "0",
                "--db", str(folder / "bench.db"), "--format", "json",
            ]  # fmt: skip
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            found, terminal = in_terminal(command if live else [*command, "--no-ui", "--quiet"])
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
        truth = server.truth(skip=0)
    stamps = [at for at, _ in terminal]
    return Measured(
        error_percent=100 * (found["metrics"]["ttft_ms"]["p99"] / truth["ttft_ms"]["p99"] - 1),
        sender_us=found["harness"]["cpu_us_per_request"],
        tree_s=after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        terminal_bytes=sum(count for _, count in terminal),
        terminal_s=stamps[-1] - stamps[0] if stamps else 0.0,
        verdict=found["verdict"],
    )


def in_terminal(command: list[str]) -> tuple[dict[str, Any], list[tuple[float, int]]]:
    """Run a command whose input and errors are a terminal: its document, and what it drew when."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    drawn: list[tuple[float, int]] = []

    def drain() -> None:
        while True:
            try:
                data = os.read(master, 1 << 16)
            except OSError:  # the last process of the terminal is gone
                return
            if not data:
                return
            drawn.append((time.monotonic(), len(data)))

    process = subprocess.Popen(
        command,
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=slave,
        env={**ENVIRONMENT, "TERM": "xterm-256color"},
    )
    os.close(slave)
    reader = threading.Thread(target=drain)
    reader.start()
    out, _ = process.communicate()
    reader.join()
    os.close(master)
    if process.returncode:
        sys.exit(f"{' '.join(command)}: exit {process.returncode}")
    document: dict[str, Any] = json.loads(out)
    return document, drawn


if __name__ == "__main__":
    main()
