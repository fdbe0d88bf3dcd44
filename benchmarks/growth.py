"""How commands grow with what the store holds: cases of a run, runs, agents, points of a sweep.

    python benchmarks/growth.py            # minutes
    python benchmarks/growth.py --large    # to a million cases, 20,000 runs, 1,000 agents; an hour

Each command is a process of its own: its CPU, wall time and peak memory, and the power of n with
which CPU grew since the size before (start-up left out). `!` marks what grows faster than n log n.
Runs and agents beyond the first are copies of a measured run under other names and times.
"""

from __future__ import annotations

import argparse
import math
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

SUITE = """
suite_id: growth
name: Growth
category: accuracy
description: Measures agentbench rather than an agent.
parameters:
  cases: 20
  point: 0
weights: {accuracy: 1, speed: 0, efficiency: 0, cost: 0, reliability: 0}
benchmarks:
  - benchmark_id: echo
    dataset: {data_source: "python:agents.py:numbers"}
    scorers: [exact]
    iterations: {warmup: 0, measured: 1}
    concurrency: 16
"""
AGENTS = """
import random

def numbers(cases=20, point=0):
    for number in range(cases):
        yield {"id": f"c{number}", "input": f"{number} {point}", "expected": "1"}

def first(prompt):
    return "1" if random.Random(prompt).random() < 0.7 else "0"

def second(prompt):
    return "1" if random.Random(prompt + "b").random() < 0.72 else "0"
"""
ENVIRONMENT = dict(os.environ)
# As installed: where Python may not keep what it compiles, every process compiles what it imports.
ENVIRONMENT.pop("PYTHONDONTWRITEBYTECODE", None)
STEEP = 1.15
"""The power of n of n log n is below 1.1 at these sizes; the rest is noise."""
ROW = "{:<34} {:>9} {:>9} {:>9} {:>8} {:>7}"


class Cost(NamedTuple):
    """Of one command."""

    cpu_s: float
    wall_s: float
    peak_mb: float


def measured(folder: Path, *arguments: str, allowed: Sequence[int] = (0,)) -> Cost:
    """Run agentbench once, in that folder, and see what it took."""
    command = [sys.executable, "-m", "agentbench_tui", *arguments]
    began = time.perf_counter()
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(
            command, cwd=folder, stdout=said, stderr=subprocess.STDOUT, env=ENVIRONMENT
        )
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in allowed:
        sys.exit(
            f"{command} ended with {process.returncode}:\n{(folder / 'said').read_text()[-2000:]}"
        )
    wall = time.perf_counter() - began
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1000)


class Table:
    """Prints a line for each measured command, and how it grew."""

    def __init__(self, start_s: float) -> None:
        self._start_s = start_s
        self._before: dict[str, tuple[int, float]] = {}
        self.steep: list[str] = []

    def add(self, name: str, size: int, cost: Cost) -> None:
        own = max(cost.cpu_s - self._start_s, 0.005)
        power, mark = "", ""
        if name in self._before:
            less, cheaper = self._before[name]
            grown = math.log(own / cheaper) / math.log(size / less)
            mark = " !" if grown > STEEP and own > 0.5 else ""
            power = f"{grown:.2f}{mark}"
        self._before[name] = size, own
        if mark:
            self.steep.append(f"{name} at {size:,}")
        print(
            ROW.format(
                name, f"{size:,}", f"{cost.cpu_s:.2f}", f"{cost.wall_s:.2f}",
                f"{cost.peak_mb:.0f}", power,
            ),
            flush=True,
        )  # fmt: skip


def run_arguments(database: str, cases: int, *more: str) -> list[str]:
    agents = ("--agent", "a=python:agents.py:first", "--agent", "b=python:agents.py:second")
    return ["run", "growth.yaml", *agents, "--set", f"cases={cases}", "--no-ui", "--quiet",
            "--db", database, *more]  # fmt: skip


def by_cases(folder: Path, sizes: Sequence[int], table: Table) -> None:
    """One run of two agents."""
    for size in sizes:
        database = f"cases-{size}.db"
        table.add(
            "run of two agents, cases", size, measured(folder, *run_arguments(database, size))
        )
        for name, arguments in readings(database).items():
            table.add(f"{name}, cases", size, measured(folder, *arguments, allowed=(0, 3)))
        (folder / database).unlink()


def readings(database: str) -> dict[str, list[str]]:
    """Commands that read what is stored."""
    to = ("--db", database)
    return {
        "runs list": ["runs", "list", *to],
        "runs show": ["runs", "show", "latest", *to],
        "leaderboard": ["leaderboard", *to],
        "compare": ["compare", "a", "b", *to],
        "regressions": ["regressions", "a", *to],
        "stats summary": ["stats", "summary", "a", *to],
        "agents list": ["agents", "list", *to],
        "cost": ["cost", *to],
    }


def by_runs(folder: Path, sizes: Sequence[int], table: Table) -> None:
    """Many runs of two agents."""
    measured(folder, *run_arguments("runs.db", 20))
    for size in sizes:
        with closing(sqlite3.connect(folder / "runs.db")) as store:
            copy_runs(store, size)
        for name, arguments in readings("runs.db").items():
            table.add(f"{name}, runs", size, measured(folder, *arguments, allowed=(0, 1, 3)))


def by_agents(folder: Path, sizes: Sequence[int], table: Table) -> None:
    """One run of many agents."""
    for size in sizes:
        database = f"agents-{size}.db"
        measured(folder, *run_arguments(database, 50))
        with closing(sqlite3.connect(folder / database)) as store:
            copy_agents(store, size)
        for name in ("runs show", "leaderboard", "compare", "cost"):
            arguments = readings(database)[name]
            table.add(f"{name}, agents", size, measured(folder, *arguments, allowed=(0, 3)))
        # Each pair by whole repeats.
        database = f"repeats-{size}.db"
        measured(folder, *run_arguments(database, 10, "--runs", "3"))
        with closing(sqlite3.connect(folder / database)) as store:
            copy_agents(store, size)
        arguments = ["leaderboard", "--metric", "e2e_ms", "--db", database]
        table.add("leaderboard of times, agents", size, measured(folder, *arguments))


def by_points(folder: Path, sizes: Sequence[int], table: Table) -> None:
    """A sweep."""
    for size in sizes:
        points = f"    sweep: {{parameters: {{point: {[*range(size)]}}}}}\n"
        (folder / "swept.yaml").write_text(SUITE + points)
        cost = measured(
            folder, "run", "swept.yaml", "--agent", "a=python:agents.py:first", "--set", "cases=1",
            "--no-ui", "--quiet", "--db", f"points-{size}.db",
        )  # fmt: skip
        table.add("run of a sweep, points", size, cost)


# Copies.


def copy_runs(store: sqlite3.Connection, wanted: int) -> None:
    """Copy the first run until there are so many, a few minutes apart, the newest now."""
    have = store.execute("SELECT COUNT(*) FROM runs").fetchone()[0]
    (first,) = store.execute("SELECT MIN(key) FROM runs").fetchone()
    executions = [row[0] for row in store.execute(
        "SELECT key FROM benchmark_executions WHERE run_key=? ORDER BY key", (first,))]  # fmt: skip
    newest = datetime.now(UTC)
    with store:
        for number in range(have, wanted):
            at = (newest - timedelta(minutes=2 * (wanted - number))).isoformat()
            run = copied(store, "runs", "key=?", (first,), key=None, id=str(uuid.uuid4()),
                         started_at=at, ended_at=at)  # fmt: skip
            for execution in executions:
                key = copied(store, "benchmark_executions", "key=?", (execution,), key=None,
                             id=str(uuid.uuid4()), run_key=run, start_time=at, end_time=at,
                             created_at=at)  # fmt: skip
                copied(store, "metrics", "execution_key=?", (execution,), execution_key=key)
                for table in ("iterations", "answers"):
                    copied(store, table, "execution_key=?", (execution,), seq=None, run_key=run,
                           execution_key=key)  # fmt: skip


def copy_agents(store: sqlite3.Connection, wanted: int) -> None:
    """Copy the two agents of the run under other names until there are so many."""
    (run,) = store.execute("SELECT key FROM runs").fetchone()
    executions = store.execute(
        "SELECT key, agent_id FROM benchmark_executions ORDER BY key"
    ).fetchall()
    with store:
        for number in range(len(executions), wanted):
            execution, agent = executions[number % len(executions)]
            name = f"{agent}{number}"
            copied(store, "agents", "id=?", (agent,), id=name, name=name)
            copied(store, "agent_versions", "agent_id=?", (agent,), agent_id=name)
            key = copied(store, "benchmark_executions", "key=?", (execution,), key=None,
                         id=str(uuid.uuid4()), agent_id=name, ordinal=number)  # fmt: skip
            copied(store, "metrics", "execution_key=?", (execution,), execution_key=key)
            for table in ("iterations", "answers"):
                copied(store, table, "execution_key=?", (execution,), seq=None, run_key=run,
                       execution_key=key)  # fmt: skip
            # Else all copies were equal, which is quicker to tell.
            store.execute(
                "UPDATE answers SET correct=1-correct, credit=1-credit WHERE execution_key=?"
                " AND (case_key * 7 + ?) % 11 < ?",
                (key, number, number % 5),
            )


def copied(
    store: sqlite3.Connection, table: str, which: str, values: tuple[object, ...], **changed: object
) -> int:
    """Copy rows of a table with some columns replaced; the key of the last one."""
    names = [row[1] for row in store.execute(f"PRAGMA table_info({table})")]
    kept = [name for name in names if name not in changed]
    marks = ", ".join(["?"] * len(changed) + kept)
    cursor = store.execute(
        f"INSERT INTO {table} ({', '.join([*changed, *kept])}) SELECT {marks} FROM {table}"
        f" WHERE {which}",
        (*changed.values(), *values),
    )
    return int(cursor.lastrowid or 0)


SMALL: dict[str, tuple[int, ...]] = {
    "cases": (1_000, 10_000, 100_000),
    "runs": (100, 1_000),
    "agents": (10, 100, 300),
    "points": (100, 500),
}
LARGE: dict[str, tuple[int, ...]] = {
    "cases": (1_000, 10_000, 100_000, 1_000_000),
    "runs": (100, 1_000, 5_000, 20_000),
    "agents": (10, 100, 300, 1_000),
    "points": (100, 1_000, 5_000),
}
PARTS: dict[str, Callable[[Path, Sequence[int], Table], None]] = {
    "cases": by_cases, "runs": by_runs, "agents": by_agents, "points": by_points,
}  # fmt: skip


def parts(names: Sequence[str]) -> Iterator[str]:
    yield from names or PARTS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", nargs="*", choices=[[], *PARTS], help="by default all")
    parser.add_argument("--large", action="store_true")
    chosen = parser.parse_args()
    sizes = LARGE if chosen.large else SMALL
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "growth.yaml").write_text(SUITE)
        (folder / "agents.py").write_text(AGENTS)
        start = min(measured(folder, "runs", "list", "--db", "none.db", allowed=(0, 2)).cpu_s
                    for _ in range(3))  # fmt: skip
        table = Table(start)
        print(ROW.format("command, by number of", "n", "CPU s", "wall s", "MB", "power"))
        for part in parts(chosen.part):
            PARTS[part](folder, sizes[part], table)
    print(f"start-up: {start:.2f} s CPU; steeper than n log n: {', '.join(table.steep) or 'none'}")


if __name__ == "__main__":
    main()
