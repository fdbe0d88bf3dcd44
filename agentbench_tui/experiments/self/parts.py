"""Parts of the tool that work during measurements: the store, and the histogram."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel, Field

from agentbench_tui.experiments.experiment import Experiment, register_experiment
from agentbench_tui.model.clock import process_time, thread_time

if TYPE_CHECKING:
    from agentbench_tui.experiments.experiment import ExperimentContext

_INSERT = "INSERT INTO measured (name, value) VALUES (?, ?)"


@register_experiment("self_store")
class Store(Experiment):
    """Queue rows for the writer and wait until all are committed, into an empty table.

    Committed is what stands in SQLite's log; the disk need not have it yet. `cpu_ms` is of this
    process, the writer's thread with it.
    """

    class Parameters(BaseModel):
        rows: int = Field(1000, ge=1, le=1_000_000)

    better: ClassVar = {"cpu_ms": "lower"}
    asks_agent = False
    tags = ("self",)

    async def setup(self, context: ExperimentContext) -> None:
        from agentbench_tui.store.database import create_or_migrate
        from agentbench_tui.store.writer import Writer

        self.path = context.run_dir / "store.db"
        create_or_migrate(self.path)
        self.writer = Writer(self.path)
        await self.writer.apply(
            lambda c: c.execute("CREATE TABLE measured (name TEXT, value REAL) STRICT")
        )

    async def before_each(self, context: ExperimentContext) -> None:  # noqa: ARG002
        await self.writer.apply(lambda c: c.execute("DELETE FROM measured"))

    async def execute_once(self, context: ExperimentContext) -> dict[str, float]:  # noqa: ARG002
        began = process_time()
        for n in range(self.params["rows"]):
            self.writer.add(_INSERT, ("row", float(n)))
        await self.writer.flush()
        return {"rows": self.params["rows"], "cpu_ms": 1e3 * (process_time() - began)}

    def teardown(self, context: ExperimentContext) -> None:  # noqa: ARG002
        if hasattr(self, "writer"):
            self.writer.close()
        for file in self.path.parent.glob(f"{self.path.name}*"):
            file.unlink()


@register_experiment("self_histogram")
class HistogramRecord(Experiment):
    """Record values one by one, merge with another histogram, and compute a percentile."""

    class Parameters(BaseModel):
        values: int = Field(10_000, ge=1, le=10_000_000)

    better: ClassVar = {"cpu_ms": "lower"}
    asks_agent = False
    tags = ("self",)

    def setup(self, context: ExperimentContext) -> None:
        from agentbench_tui.analysis.histogram import Histogram

        draw = random.Random(context.seed)  # noqa: S311  # not a secret
        self.values = [draw.lognormvariate(3, 1) for _ in range(self.params["values"])]
        self.other = Histogram(self.values)

    def execute_once(self, context: ExperimentContext) -> dict[str, float | None]:  # noqa: ARG002
        from agentbench_tui.analysis.histogram import Histogram

        began = thread_time()
        histogram = Histogram(self.values)
        histogram.merge(self.other)
        p99 = histogram.percentile(0.99)
        cpu_ms = 1e3 * (thread_time() - began)
        return {"recorded": len(histogram), "p99": p99, "cpu_ms": cpu_ms}
