"""What a session costs to open and to leave open: first frame, memory, bytes while nothing happens.

    python benchmarks/tui_start.py [--runs N] [--tries T] [--size 120x40]

A session in a pseudo-terminal, on a database with one run and on one with N (copies of that run's
rows). The first frame is there when the page's breadcrumbs are; the first figures when a run's
status is. The best of T tries counts, since others on the machine only add to it.
"""

from __future__ import annotations

import argparse
import os
import select
import sqlite3
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path

from load import AGENTBENCH, ENVIRONMENT, bar, say
from tui_live import Terminal

SETTLE_S = 4.0
IDLE_S = 10.0
LIMIT_S = 20.0
FRAME, FIGURES = b"agentbench", b"complete"


class Started(Terminal):
    """A session, with the moments at which something first stood on the screen."""

    command = (*AGENTBENCH, "session", "--db")

    def __init__(self, database: Path, columns: int, lines: int) -> None:
        self.began = time.monotonic()
        super().__init__(database, columns, lines)

    def seen_s(self, *words: bytes) -> list[float]:
        """Seconds from the start until each was drawn; infinite for what was not."""
        found: dict[bytes, float] = {}
        drawn = b""
        while len(found) < len(words) and time.monotonic() - self.began < LIMIT_S:
            if not select.select([self.master], [], [], 0.5)[0]:
                continue
            drawn += os.read(self.master, 1 << 16)
            now = time.monotonic() - self.began
            found |= {word: now for word in words if word in drawn and word not in found}
        return [found.get(word, float("inf")) for word in words]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000, help="in the large database")
    parser.add_argument("--tries", type=int, default=5)
    parser.add_argument("--size", default="120x40")
    given = parser.parse_args()
    columns, lines = map(int, given.size.split("x"))
    with tempfile.TemporaryDirectory() as name:
        small = Path(name) / "one.db"
        command = [*AGENTBENCH, "run", "quickstart", "--no-ui", "--quiet", "--db", str(small)]
        subprocess.run(
            command,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=ENVIRONMENT,
        )
        large = Path(name) / "many.db"
        multiply(small, large, given.runs)
        for words, database, limit_s in (("one run", small, 0.5), (f"{given.runs} runs", large, 1)):
            tries = [opened(database, columns, lines) for _ in range(given.tries)]
            frame, figures = (min(one[nth] for one in tries) for nth in (0, 1))
            bar(f"first frame, {words}, ms", 1e3 * frame, f"<= {1e3 * limit_s:g}", frame <= limit_s)
            say(f"its runs on the screen, {words}, ms", 1e3 * figures, "")
        with Started(large, columns, lines) as terminal:
            terminal.read(SETTLE_S)
            cpu, rate = terminal.watch(IDLE_S)
            say("CPU while nothing happens, % of a core", cpu, "")
            bar("to the terminal meanwhile, kB/s", rate / 1e3, "<= 1", rate <= 1e3)
            memory = terminal.process.memory_info().rss / 1e6
            bar("resident memory, MB", memory, "<= 120", memory <= 120)


def opened(database: Path, columns: int, lines: int) -> list[float]:
    with Started(database, columns, lines) as terminal:
        return terminal.seen_s(FRAME, FIGURES)


def multiply(source: Path, target: Path, count: int) -> None:
    """A database with the one run of `source` so many times: runs, executions and metrics, which
    is what lists and boards read."""
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)
        new.execute("PRAGMA foreign_keys=OFF")
        step = new.execute("SELECT MAX(key) FROM benchmark_executions").fetchone()[0]
        for table in ("metrics", "benchmark_executions", "runs"):
            moved = {
                "key": "key + copy" if table == "runs" else f"key + copy * {step}",
                "run_key": "run_key + copy",
                "execution_key": f"execution_key + copy * {step}",
                "id": "printf('%06x', copy) || substr(id, 7)",
            }
            columns = [row[1] for row in new.execute(f"PRAGMA table_info({table})")]
            chosen = ", ".join(moved.get(column, column) for column in columns)
            new.execute(
                f"WITH RECURSIVE numbers(copy) AS (SELECT 1 UNION ALL SELECT copy + 1 FROM numbers"
                f" WHERE copy < {count - 1}) INSERT INTO {table} ({', '.join(columns)})"
                f" SELECT {chosen} FROM {table}, numbers"
            )
        new.commit()


if __name__ == "__main__":
    main()
