"""The tool as a program: its start-up time, and the overhead per case."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel, Field

from agentbench_tui.experiments.experiment import Experiment, register_experiment
from agentbench_tui.experiments.program import NoopRun, Taken, run_module

if TYPE_CHECKING:
    from agentbench_tui.experiments.experiment import ExperimentContext

_FEW = 10


@register_experiment("self_start_up")
class StartUp(Experiment):
    """Start the program, let it print its help, and wait for its end."""

    better: ClassVar = {"cpu_ms": "lower"}
    asks_agent = False
    tags = ("self",)

    def execute_once(self, context: ExperimentContext) -> dict[str, float]:  # noqa: ARG002
        return {"cpu_ms": 1e3 * run_module("agentbench_tui", "--help").cpu_s}


@register_experiment("self_harness")
class HarnessOverhead(Experiment):
    """Run a suite with an agent that answers immediately: start, imports, cases and summary.

    `case_cpu_ms` is what a case adds: the CPU time beyond that of a run of ten cases, which is
    made before and not timed, by the cases beyond ten.
    """

    class Parameters(BaseModel):
        cases: int = Field(200, gt=_FEW, le=1_000_000)

    better: ClassVar = {"cpu_ms": "lower", "case_cpu_ms": "lower"}
    asks_agent = False
    tags = ("self",)

    def setup(self, context: ExperimentContext) -> None:
        self._folder = context.run_dir / "command"
        shutil.rmtree(self._folder, ignore_errors=True)  # of this very run, interrupted here
        self._folder.mkdir()
        self._few = NoopRun(self._folder, _FEW)
        self._all = NoopRun(self._folder, self.params["cases"])

    def before_each(self, context: ExperimentContext) -> None:  # noqa: ARG002
        self._few_cpu_s = self._run(self._few).cpu_s
        self._empty()

    def execute_once(self, context: ExperimentContext) -> dict[str, float]:  # noqa: ARG002
        taken, cases = self._run(self._all), self.params["cases"]
        return {
            "cpu_ms": 1e3 * taken.cpu_s,
            "case_cpu_ms": 1e3 * (taken.cpu_s - self._few_cpu_s) / (cases - _FEW),
            "cases": cases,
        }

    def teardown(self, context: ExperimentContext) -> None:
        shutil.rmtree(context.run_dir / "command", ignore_errors=True)

    def _run(self, which: NoopRun) -> Taken:
        return which.run("--db", str(self._folder / "store" / "noop.db"))

    def _empty(self) -> None:
        shutil.rmtree(self._folder / "store", ignore_errors=True)
