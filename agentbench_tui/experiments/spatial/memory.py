"""`spatial_memory_profiler`: the memory of a structure, as the operating system counts it.

Run as a program it measures one structure in this process, and prints what it found as JSON.
"""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from agentbench_tui.experiments.experiment import (
    Experiment,
    ExperimentContext,
    register_experiment,
)
from agentbench_tui.experiments.program import run_module
from agentbench_tui.experiments.spatial.index import INDEXES, Structure
from agentbench_tui.experiments.spatial.places import draw_places
from agentbench_tui.experiments.spatial.structures import VARIANTS


@register_experiment("spatial_memory_profiler")
class SpatialMemoryProfiler(Experiment):
    """Measures the memory of cKDTree, KD-tree, quadtree and hash grid, including points.

    Each time a fresh process builds several, keeps them, and reads the increase of its memory,
    which includes that of C code. `left_bytes` is the increase that remains after it has released
    them all, and built and released them once more: without leaks close to the value after the
    first time, `first_left_bytes`.
    """

    class Parameters(BaseModel):
        model_config = ConfigDict(extra="forbid")

        structure: Structure = "ckdtree"
        entities: int = Field(5000, ge=1)
        copies: int = Field(
            20, ge=1, description="Structures built: the more, the finer the reading of pages."
        )

    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = VARIANTS
    better: ClassVar[Mapping[str, Literal["lower", "higher"]]] = {
        "structure_bytes": "lower",
        "bytes_per_entity": "lower",
    }
    asks_agent = False
    tags: ClassVar[tuple[str, ...]] = ("spatial", "memory", "profiling")

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        given = self.params
        asked = [given["structure"], given["entities"], given["copies"], context.seed]
        metrics: dict[str, Any] = json.loads(run_module(__name__, *map(str, asked)).output)
        return metrics


def measured(structure: str, entities: int, copies: int, seed: int) -> dict[str, float]:
    """Return the memory of `copies` structures, built and released twice in this process."""
    import psutil

    process, build = psutil.Process(), INDEXES[structure]
    places = draw_places(entities, "uniform", seed)
    build(places[:1])  # libraries are loaded before
    gc.collect()
    before = process.memory_info().rss
    kept = [build(places) for _ in range(copies)]
    grown = process.memory_info().rss - before
    kept.clear()
    gc.collect()
    first_left = process.memory_info().rss - before
    kept = [build(places) for _ in range(copies)]
    kept.clear()
    gc.collect()
    left = process.memory_info().rss - before
    return {
        "structure_bytes": grown / copies,
        "bytes_per_entity": grown / copies / entities,
        "first_left_bytes": first_left,
        "left_bytes": left,
    }


def _main(arguments: list[str]) -> None:
    structure, entities, copies, seed = arguments
    found = measured(structure, int(entities), int(copies), int(seed))
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    _main(sys.argv[1:])
