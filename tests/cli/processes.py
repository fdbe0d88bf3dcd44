"""The command as a process of its own, with agents that wait at a door until a test opens it."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "servers"))

import psutil
from ready_commands import ready_commands

PATIENCE_S = 100.0
COMMAND = [sys.executable, "-m", "agentbench_tui"]

# An agent that answers; at the prompts of DOOR it says that it has come, and waits to be let in.
AGENTS = """
import os
from pathlib import Path
here = Path(__file__).parent
def echo(prompt):
    with (here / "asked").open("a") as log:
        log.write(prompt + "\\n")
    if prompt in os.environ.get("DOOR", "").split():
        (here / "arrived").write_text(prompt)
        (here / "go").read_text()
    return prompt if int(prompt) % 3 else "?"
def other(prompt):
    return prompt if int(prompt) % 2 else "?"
"""


@dataclass(frozen=True)
class Place:
    """A folder with a suite, its agents and a database."""

    folder: Path

    @property
    def database(self) -> Path:
        return self.folder / "store.db"

    def environment(self, **more: str) -> dict[str, str]:
        return {**os.environ, "HOME": str(self.folder), "AGENTBENCH_DB": str(self.database), **more}

    def suite(self, count: int, **benchmark: Any) -> None:
        """Write the suite `suite.json`: `count` numbers, each to be said again."""
        listed = [{"id": f"c{n}", "input": str(n), "expected": str(n)} for n in range(count)]
        document = {
            "suite_id": "numbers",
            "category": "accuracy",
            "weights": {"accuracy": 1, "speed": 0, "efficiency": 0, "cost": 0, "reliability": 0},
            **benchmark.pop("suite", {}),
            "benchmarks": [
                {
                    "benchmark_id": "echo",
                    "dataset": {"cases": listed},
                    "scorers": ["exact"],
                    "iterations": {"warmup": 0, "measured": 1},
                    **benchmark,
                }
            ],
        }
        (self.folder / "suite.json").write_text(json.dumps(document))

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """A command from beginning to end, in a process of its own; see `ready_commands`."""
        return ready_commands().run(arguments, self.folder, self.environment(**environment))

    @contextmanager
    def started(self, *arguments: str, **environment: str) -> Iterator["subprocess.Popen[str]"]:
        """A command that goes on, killed at the end of the block if it still does."""
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=self.folder,
            env=self.environment(**environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            with process:
                try:
                    yield process
                finally:
                    if process.poll() is None:
                        process.kill()
        finally:
            process.wait()

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
            return connection.execute(statement, values).fetchall()

    def tables(self) -> list[tuple[Any, ...]]:
        """Names of tables; none while the database is being made."""
        return self.rows("SELECT name FROM sqlite_master WHERE type='table'")

    def doors(self) -> None:
        """Make the pipes at which an agent waits."""
        for name in ("arrived", "go"):
            os.mkfifo(self.folder / name)

    def someone_at_the_door(self) -> str:
        """Wait until an agent has come; its prompt."""
        return (self.folder / "arrived").read_text()

    def open_the_door(self) -> None:
        (self.folder / "go").write_text("")


def make_place(folder: Path) -> Place:
    (folder / "agents.py").write_text(AGENTS)
    return Place(folder)


def until(condition: Callable[[], bool]) -> None:
    """Ask until it holds: another process's work can only be seen from outside."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.01)


def kill(process: "subprocess.Popen[Any]") -> None:
    """kill -9, and wait until nothing of the command is left.

    Its end is seen before that of the child that carries it out, which may still hold its lease.
    """
    mine = psutil.Process(process.pid)
    family = [mine, *mine.children(recursive=True)]
    process.kill()
    process.wait()
    until(lambda: all(_is_over(one) for one in family))


def _is_over(process: psutil.Process) -> bool:
    """Whether it has closed its files: who inherits it need not have asked for its exit code."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def line_with(stream: Any, words: str) -> str:
    """Read lines until one holds the words."""
    for line in stream:
        if words in line:
            return str(line)
    raise AssertionError(f"the output ended without {words!r}")


INTERRUPT, TERMINATE, KILL = signal.SIGINT, signal.SIGTERM, signal.SIGKILL
