"""`system_profiler`: resource use of a whole simulation."""

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
from agentbench_tui.experiments.farm.journal import Journal, Storage
from agentbench_tui.experiments.farm.perception import Perception
from agentbench_tui.experiments.farm.world import World, WorldSettings
from agentbench_tui.experiments.spatial.index import INDEXES
from agentbench_tui.experiments.values import LEAST_FOR
from agentbench_tui.model.clock import perf_counter, process_time


@register_experiment("system_profiler")
class SystemProfiler(Experiment):
    """Measures a whole simulation: steps per second, time by part, CPU and memory.

    Processor and memory are those of the process in which it runs, read while it runs: set
    `fresh_process` for figures that nothing else is in. Memory is looked at after every step.
    """

    class Parameters(BaseModel):
        model_config = ConfigDict(extra="forbid")

        num_agents: int = Field(50, ge=1)
        steps: int = Field(100, ge=1)
        world_size: int = Field(100, ge=1, description="Cells on each side.")
        radius: int = Field(5, ge=0, description="Cells seen in each direction.")
        storage: Storage = "memory"

    better: ClassVar[Mapping[str, Literal["lower", "higher"]]] = {
        "steps_per_s": "higher",
        "mean_step_ms": "lower",
        "p95_step_ms": "lower",
        "rss_growth_bytes": "lower",
    }
    asks_agent = False
    tags: ClassVar[tuple[str, ...]] = ("system", "simulation", "profiling")

    def setup(self, context: ExperimentContext) -> None:
        given = self.params
        side = given["world_size"]
        self._world = World(WorldSettings(given["num_agents"], side, side, seed=context.seed))
        self._folder = context.run_dir / "journals"
        shutil.rmtree(self._folder, ignore_errors=True)  # of this very run, interrupted here
        self._folder.mkdir()
        self._nth = 0

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        import psutil

        self._nth += 1
        path, process = self._folder / f"{self._nth}.db", psutil.Process()
        world, given = self._world.copy(), self.params
        perception = Perception(
            given["radius"], "hybrid", bilinear=True, build=INDEXES["hash_grid"]
        )
        journal = Journal(given["storage"], path)
        parts = {"world": 0.0, "perception": 0.0, "journal": 0.0}
        resident = [process.memory_info().rss]
        step_ms, agents = [], 0
        clock, cpu_began, began = perf_counter, process_time(), perf_counter()
        try:
            journal.open_with(world)
            for _ in range(given["steps"]):
                start = clock()
                perception.read_all(perception.observe_all(world))
                perceived = clock()
                record = world.step()
                stepped = clock()
                journal.write(record, world)
                written = clock()
                parts["perception"] += perceived - start
                parts["world"] += stepped - perceived
                parts["journal"] += written - stepped
                step_ms.append(1e3 * (written - start))
                agents += len(record.ids)
                resident.append(process.memory_info().rss)
            start = clock()
            journal.finish()
            parts["journal"] += clock() - start
        finally:
            journal.discard()
        wall_s, cpu_s = clock() - began, process_time() - cpu_began
        path.unlink(missing_ok=True)
        return _metrics(parts, step_ms, resident, agents, wall_s, cpu_s)

    def teardown(self, context: ExperimentContext) -> None:
        shutil.rmtree(context.run_dir / "journals", ignore_errors=True)


def _metrics(
    parts: Mapping[str, float],
    step_ms: list[float],
    resident: list[int],
    agents: int,
    wall_s: float,
    cpu_s: float,
) -> dict[str, Any]:
    import numpy as np

    metrics = {
        "steps_per_s": len(step_ms) / wall_s,
        "mean_step_ms": float(np.mean(step_ms)),
        "us_per_agent_step": 1e6 * wall_s / max(agents, 1),
        "agent_steps": agents,
        "cpu_percent": 100 * cpu_s / wall_s,
        "rss_growth_bytes": resident[-1] - resident[0],
        "rss_peak_bytes": max(resident),
        **{f"{name}_percent": 100 * spent / wall_s for name, spent in parts.items()},
    }
    if len(step_ms) >= LEAST_FOR[0.95]:
        metrics["p95_step_ms"] = float(np.quantile(step_ms, 0.95))
    return metrics
