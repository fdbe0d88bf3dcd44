"""The machine itself, for any agent: memory, CPU, disk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel, Field

from agentbench_tui.experiments.experiment import Experiment, register_experiment

if TYPE_CHECKING:
    from agentbench_tui.experiments.experiment import ExperimentContext


@register_experiment("stateset_memory")
class MemoryUse(Experiment):
    """Measures filling a dictionary with texts and releasing it: time and memory.

    Memory is that of Python's own allocations, of one filling that is not timed: following them
    makes it many times slower.
    """

    class Parameters(BaseModel):
        entries: int = Field(1000, ge=1, le=10_000_000)

    better: ClassVar = {"peak_bytes": "lower", "kept_bytes": "lower"}
    asks_agent = False
    tags = ("stateset", "system")

    def setup(self, context: ExperimentContext) -> None:  # noqa: ARG002
        import tracemalloc

        was_on = tracemalloc.is_tracing()
        tracemalloc.start()
        try:
            self._fill()  # so that what is made once is there
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            self._fill()
            after, peak = tracemalloc.get_traced_memory()
        finally:
            if not was_on:
                tracemalloc.stop()
        self._memory = {"peak_bytes": peak - before, "kept_bytes": after - before}

    def execute_once(self, context: ExperimentContext) -> dict[str, int]:  # noqa: ARG002
        return {"entries": self._fill(), **self._memory}

    def _fill(self) -> int:
        return len({f"key-{n}": f"value {n} " * 10 for n in range(self.params["entries"])})


@register_experiment("stateset_cpu")
class ProcessorUse(Experiment):
    """Measures adding squares on one core."""

    class Parameters(BaseModel):
        numbers: int = Field(10_000, ge=1, le=1_000_000_000)

    asks_agent = False
    tags = ("stateset", "system")

    def execute_once(self, context: ExperimentContext) -> dict[str, int]:  # noqa: ARG002
        return {"sum": sum(n * n for n in range(self.params["numbers"]))}


@register_experiment("stateset_io")
class DiskUse(Experiment):
    """Measures writing a file, syncing it to disk, and reading it back."""

    class Parameters(BaseModel):
        kilobytes: int = Field(64, ge=1, le=1_000_000)

    asks_agent = False
    tags = ("stateset", "system")

    def setup(self, context: ExperimentContext) -> None:
        self.path = context.run_dir / "io.bin"
        self.block = os.urandom(1024)

    def execute_once(self, context: ExperimentContext) -> dict[str, int]:  # noqa: ARG002
        with self.path.open("wb") as file:
            for _ in range(self.params["kilobytes"]):
                file.write(self.block)
            file.flush()
            os.fsync(file.fileno())
        return {"read_bytes": len(self.path.read_bytes())}

    def teardown(self, context: ExperimentContext) -> None:  # noqa: ARG002
        self.path.unlink(missing_ok=True)
