"""The tool as a program: how long it takes to start, and what a case costs that costs nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, Field

from agentbench_tui.experiments.experiment import Experiment, register_experiment

if TYPE_CHECKING:
    from agentbench_tui.experiments.experiment import ExperimentContext

_AGENT = "def answer(question):\n    return '4'\n"


@register_experiment("self_start_up")
class StartUp(Experiment):
    """Start the program, have its help written, and wait for its end."""

    better: ClassVar = {"cpu_ms": "lower"}
    asks_agent = False
    tags = ("self",)

    def execute_once(self, context: ExperimentContext) -> dict[str, float]:  # noqa: ARG002
        return _program("--help")


@register_experiment("self_harness")
class HarnessOverhead(Experiment):
    """Run a suite with an agent that answers at once: all the time is the harness's own."""

    class Parameters(BaseModel):
        cases: int = Field(200, ge=1, le=1_000_000)

    better: ClassVar = {"cpu_ms": "lower"}
    asks_agent = False
    tags = ("self",)

    def setup(self, context: ExperimentContext) -> None:
        folder = context.run_dir
        self.agent, self.suite = folder / "noop_agent.py", folder / "noop.json"
        self.store = folder / "store"
        self.agent.write_text(_AGENT)
        cases = [{"input": f"2 + 2 ({n})", "expected": "4"} for n in range(self.params["cases"])]
        benchmark = {
            "benchmark_id": "noop",
            "dataset": {"cases": cases},
            "scorers": ["exact"],
            "iterations": {"warmup": 0, "measured": 1},
        }
        self.suite.write_text(json.dumps({"suite_id": "noop", "benchmarks": [benchmark]}))

    def execute_once(self, context: ExperimentContext) -> dict[str, float]:  # noqa: ARG002
        shutil.rmtree(self.store, ignore_errors=True)
        self.store.mkdir()
        found = _program(
            "run", str(self.suite), "--agent", f"python:{self.agent}:answer", "--no-ui", "--quiet",
            "--db", str(self.store / "noop.db"),
        )  # fmt: skip
        return {**found, "cases": self.params["cases"]}

    def teardown(self, context: ExperimentContext) -> None:  # noqa: ARG002
        shutil.rmtree(self.store, ignore_errors=True)
        for file in (self.agent, self.suite):
            file.unlink(missing_ok=True)


def _program(*arguments: str) -> dict[str, float]:
    """CPU time in ms, user and system, of one command of this program.

    Raises RuntimeError when it does not end with 0.
    """
    command = [sys.executable, "-m", "agentbench_tui", *arguments]
    environment: dict[str, Any] = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=environment, cwd=Path.cwd(),
    ) as process:  # fmt: skip
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"agentbench {arguments[0]} ended with {process.returncode}")
    return {"cpu_ms": 1000 * (usage.ru_utime + usage.ru_stime)}
