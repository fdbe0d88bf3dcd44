"""Programs that experiments start: their resource use, and a run that costs nothing but itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from agentbench_tui.model.clock import perf_counter
from agentbench_tui.process.environment import python_module

_AGENT = "def answer(question):\n    return '4'\n"


@dataclass(frozen=True, slots=True)
class Taken:
    """Resource use of a program from its start to its end."""

    seconds: float
    cpu_s: float
    """CPU time of it and its waited-for children, user and system."""
    output: str
    """Standard output."""


def run_module(name: str, *arguments: str) -> Taken:
    """Run `python -m NAME ARGUMENTS` with this process's modules.

    Raises RuntimeError with its last line of output unless it exits with 0.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = perf_counter()
        with subprocess.Popen(
            python_module(name, *arguments),
            stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment,
        ) as process:  # fmt: skip
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        seconds = perf_counter() - began
        if process.returncode:
            err.seek(0)
            last = err.read().decode(errors="replace").strip().rpartition("\n")[2]
            what = " ".join([name, *arguments[:1]])
            raise RuntimeError(f"`{what}` ended with {process.returncode}: {last}")
        out.seek(0)
        return Taken(seconds, usage.ru_utime + usage.ru_stime, out.read().decode(errors="replace"))


class NoopRun:
    """A run of this many cases with an agent that answers immediately, as a command of this
    program.
    """

    def __init__(self, folder: Path, cases: int, concurrency: int = 1) -> None:
        """Writes its files into the folder."""
        self._agent, self._suite = folder / "noop_agent.py", folder / f"noop-{cases}.json"
        self._agent.write_text(_AGENT)
        benchmark = {
            "benchmark_id": "noop",
            "dataset": {
                "cases": [{"input": f"2 + 2 ({n})", "expected": "4"} for n in range(cases)]
            },
            "scorers": ["exact"],
            "iterations": {"warmup": 0, "measured": 1},
            "concurrency": concurrency,
        }
        self._suite.write_text(json.dumps({"suite_id": "noop", "benchmarks": [benchmark]}))

    def run(self, *where: str) -> Taken:
        """Run it; `where` selects the database. Raises RuntimeError."""
        agent = f"python:{self._agent}:answer"
        words = (str(self._suite), "--agent", agent, "--no-ui", "--quiet", *where)
        return run_module("agentbench_tui", "run", *words)
