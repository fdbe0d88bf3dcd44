"""`run_db`: a run of this program with its store on disk, in memory, or persisted at the end."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from agentbench_tui.experiments.experiment import (
    Experiment,
    ExperimentContext,
    register_experiment,
)
from agentbench_tui.experiments.program import NoopRun
from agentbench_tui.store.answer_counts import answers_stored


@register_experiment("run_db")
class RunDatabase(Experiment):
    """Measures `agentbench run` with `--db FILE`, `--db :memory:`, or `--db :memory: --persist
    FILE`.

    The agent answers at once, so that little but the harness and its store is in the times, which
    are those of the whole command; waiting for the disk is in `command_s` and not in `cpu_s`.
    """

    class Parameters(BaseModel):
        model_config = ConfigDict(extra="forbid")

        storage: Literal["disk", "memory", "memory_persist"] = "disk"
        cases: int = Field(1000, ge=1, le=1_000_000)

    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "disk": {"storage": "disk"},
        "memory": {"storage": "memory"},
        "memory-persist": {"storage": "memory_persist"},
    }
    better: ClassVar[Mapping[str, Literal["lower", "higher"]]] = {
        "command_s": "lower",
        "cpu_s": "lower",
        "cases_per_s": "higher",
    }
    asks_agent = False
    tags: ClassVar[tuple[str, ...]] = ("database", "self")

    def setup(self, context: ExperimentContext) -> None:
        self._folder = context.run_dir / "command"
        shutil.rmtree(self._folder, ignore_errors=True)  # of this very run, interrupted here
        self._folder.mkdir()
        self._run = NoopRun(self._folder, self.params["cases"], concurrency=16)
        self._nth = 0

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        self._nth += 1
        file = self._folder / f"{self._nth}.db"
        where = {
            "disk": ["--db", str(file)],
            "memory": ["--db", ":memory:"],
            "memory_persist": ["--db", ":memory:", "--persist", str(file)],
        }[self.params["storage"]]
        taken = self._run.run(*where)
        metrics = {
            "command_s": taken.seconds,
            "cpu_s": taken.cpu_s,
            "cases_per_s": self.params["cases"] / taken.seconds,
        }
        if file.exists():
            metrics["kept_answers"] = answers_stored(file)
        for one in self._folder.glob(f"{self._nth}.db*"):
            if one.is_dir():
                shutil.rmtree(one)
            else:
                one.unlink()
        return metrics

    def teardown(self, context: ExperimentContext) -> None:
        shutil.rmtree(context.run_dir / "command", ignore_errors=True)
