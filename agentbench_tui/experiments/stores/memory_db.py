"""`memory_db`: the journal of a simulation on disk, in memory, or in memory until the end."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from agentbench_tui.experiments.experiment import (
    Experiment,
    ExperimentContext,
    register_experiment,
)
from agentbench_tui.experiments.farm.journal import Journal, Storage
from agentbench_tui.experiments.farm.simulation import SimulationConfig, simulate
from agentbench_tui.experiments.farm.world import World, WorldSettings


@register_experiment("memory_db")
class MemoryDatabase(Experiment):
    """Measures a simulation with its journal on disk, in memory, or in memory and copied at the
    end.

    On disk with SQLite's own settings, and with a write-ahead log. All simulate the same world from
    the same state; `total_s` is from the first row to the closed journal, the time of a call has
    the making of the empty journal in it too.
    """

    class Parameters(BaseModel):
        model_config = ConfigDict(extra="forbid")

        storage: Storage = "disk"
        num_steps: int = Field(100, ge=1)
        num_agents: int = Field(30, ge=1)
        world_size: int = Field(100, ge=1, description="Cells on each side.")

    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "disk": {"storage": "disk"},
        "disk-wal": {"storage": "disk_wal"},
        "memory": {"storage": "memory"},
        "memory-persist": {"storage": "memory_persist"},
    }
    better: ClassVar[Mapping[str, Literal["lower", "higher"]]] = {
        "total_s": "lower",
        "write_s": "lower",
        "persist_s": "lower",
        "simulate_s": "lower",
    }
    asks_agent = False
    tags: ClassVar[tuple[str, ...]] = ("database", "simulation")

    def setup(self, context: ExperimentContext) -> None:
        side, storage = self.params["world_size"], self.params["storage"]
        self._config = SimulationConfig(
            WorldSettings(self.params["num_agents"], side, side, seed=context.seed),
            self.params["num_steps"],
            use_in_memory_db=storage.startswith("memory"),
            persist_db_on_completion=storage == "memory_persist",
            write_ahead_log=storage == "disk_wal",
        )
        self._world = World(self._config.world)
        self._folder = context.run_dir / "journals"
        shutil.rmtree(self._folder, ignore_errors=True)  # of this very run, interrupted here
        self._folder.mkdir()
        self._path = self._folder / "journal.db"

    def before_each(self, context: ExperimentContext) -> None:  # noqa: ARG002
        self._path.unlink(missing_ok=True)
        self._start = self._world.copy()

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        found = simulate(self._config, self._path, self._start)
        file_bytes = self._path.stat().st_size if found.journal else 0
        return {
            "total_s": found.total_s,
            "simulate_s": found.simulate_s,
            "write_s": found.write_s,
            "persist_s": found.persist_s,
            "rows": found.rows,
            "file_bytes": file_bytes,
        }

    def teardown(self, context: ExperimentContext) -> None:
        shutil.rmtree(context.run_dir / "journals", ignore_errors=True)

    def effective(self, context: ExperimentContext) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the journal's location according to SQLite, and whether a file remains at the
        end.
        """
        probe = Journal(self._config.storage, self._folder / "probe.db")
        try:
            lies_at, pragmas = probe.settings()
            probe.finish()
            leaves_file = probe.path.exists()
        finally:
            probe.discard()
            probe.path.unlink(missing_ok=True)
        place = Path(lies_at).name if lies_at else "memory"
        return {**self.params, "storage": place, "leaves_file": leaves_file, **pragmas}
