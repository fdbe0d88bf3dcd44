"""kill -9 in the middle of a 10,000-case run, then resume; again and again.

    python benchmarks/kill_and_resume.py [TIMES]

After every kill: the database is sound and nothing that a reader had seen is gone. After every
resume: exactly 10,000 answers and the scores of a run that nobody disturbed.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

HERE = Path(__file__).parent / "harness"
CASES = 10_000


def agentbench(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "agentbench_tui", *arguments]


def answers(database: Path) -> int:
    if not database.exists():
        return 0
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        try:
            return int(connection.execute("SELECT COUNT(*) FROM answers").fetchone()[0])
        except sqlite3.OperationalError:  # no table yet
            return 0


def kill_at(database: Path, target: int) -> int:
    """Start a run, kill it once `target` answers can be seen; how many could."""
    process = subprocess.Popen(
        agentbench("run", str(HERE / "noop.yaml"), "--no-ui", "--quiet", "--db", str(database),
                   "--agent", f"python:{HERE / 'noop_agent.py'}:answer", "--set", f"cases={CASES}"),
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    seen = 0
    while seen < target and process.poll() is None:
        seen = answers(database)
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return seen


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    chance = random.Random(42)
    lost = wrong = killed_midway = 0
    for number in range(times):
        with tempfile.TemporaryDirectory() as folder:
            database = Path(folder) / "run.db"
            seen = kill_at(database, chance.randrange(1, CASES - 1000))
            kept = answers(database)
            with closing(sqlite3.connect(database)) as connection:
                sound = connection.execute("PRAGMA integrity_check").fetchone()[0]
            lost += kept < seen
            killed_midway += kept < CASES
            done = subprocess.run(
                agentbench("resume", "latest", "--no-ui", "--quiet", "--format", "json",
                           "--db", str(database)),
                stdout=subprocess.PIPE, check=kept < CASES,
            )  # fmt: skip
            final = answers(database)
            good = final == CASES
            if kept < CASES:
                execution = json.loads(done.stdout)["executions"][0]
                good = good and execution["cases"]["correct"] == CASES
                good = good and execution["scores"]["accuracy"] == 1.0
            wrong += not good
            print(
                f"{number + 1:>3}: seen {seen:>6}, kept {kept:>6}, after resume {final:>6}, {sound}"
            )
    print(f"killed midway {killed_midway} of {times}, lost {lost}, wrong after resume {wrong}")
    sys.exit(1 if lost or wrong else 0)


if __name__ == "__main__":
    main()
