"""A configured simulation: a world that runs for a number of steps, with its journal."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from agentbench_tui.experiments.farm.journal import Journal, Storage
from agentbench_tui.experiments.farm.world import World, WorldSettings
from agentbench_tui.model.clock import perf_counter


@dataclass(slots=True)
class SimulationConfig:
    """Configuration of a simulation and its journal."""

    world: WorldSettings = WorldSettings()  # noqa: RUF009  # frozen
    steps: int = 100
    use_in_memory_db: bool = False
    persist_db_on_completion: bool = False
    """With the journal in memory: copy it into a file at the end."""
    write_ahead_log: bool = False
    """With the journal on disk: SQLite's write-ahead log instead of its default settings."""

    @property
    def storage(self) -> Storage:
        """Return the storage. Raises ValueError for a journal on disk that is to be copied
        there.
        """
        if not self.use_in_memory_db:
            if self.persist_db_on_completion:
                raise ValueError("persist_db_on_completion needs use_in_memory_db")
            return "disk_wal" if self.write_ahead_log else "disk"
        return "memory_persist" if self.persist_db_on_completion else "memory"


@dataclass(frozen=True, slots=True)
class SimulationResult:
    """Result of a simulation."""

    steps: int
    population: int
    rows: int
    """Number of the journal's rows."""
    simulate_s: float
    """Wall time of the world's own steps."""
    write_s: float
    """Wall time of the journal's transactions."""
    persist_s: float
    """Wall time of closing the journal, including the copy into a file."""
    journal: Path | None
    """Location of the journal; None if it was only in memory."""

    @property
    def total_s(self) -> float:
        return self.simulate_s + self.write_s + self.persist_s


def configure_for_performance_with_persistence(config: SimulationConfig) -> SimulationConfig:
    """Return the same simulation with its journal in memory, copied into a file at the end."""
    return dataclasses.replace(config, use_in_memory_db=True, persist_db_on_completion=True)


def get_recommended_config(
    num_agents: int = 30, num_steps: int = 100, *, seed: int = 0
) -> SimulationConfig:
    """Return a simulation whose journal is available for analysis afterwards at low cost.

    If the process dies before the end, the whole journal is lost.
    """
    config = SimulationConfig(WorldSettings(agents=num_agents, seed=seed), num_steps)
    return configure_for_performance_with_persistence(config)


def simulate(config: SimulationConfig, path: Path, world: World | None = None) -> SimulationResult:
    """Run the simulation from the start with its journal at `path`. A given world is modified."""
    world = World(config.world) if world is None else world
    clock = perf_counter
    journal = Journal(config.storage, path)
    try:
        began = clock()
        journal.open_with(world)
        write_s, simulate_s = clock() - began, 0.0
        for _ in range(config.steps):
            began = clock()
            record = world.step()
            stepped = clock()
            journal.write(record, world)
            simulate_s += stepped - began
            write_s += clock() - stepped
        rows = sum(journal.rows().values())
        began = clock()
        journal.finish()
        persist_s = clock() - began
    finally:
        journal.discard()
    kept = None if journal.storage == "memory" else path
    return SimulationResult(
        config.steps, world.population, rows, simulate_s, write_s, persist_s, kept
    )
