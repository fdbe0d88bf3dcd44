"""`spatial_comprehensive` and `spatial_index_profiler`: the cost of building, querying and
moving.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from agentbench_tui.experiments.experiment import (
    Experiment,
    ExperimentContext,
    register_experiment,
)
from agentbench_tui.experiments.spatial.index import INDEXES, Structure
from agentbench_tui.experiments.spatial.places import SIDE, draw_places
from agentbench_tui.model.clock import perf_counter
from agentbench_tui.model.identity import derive_seed

VARIANTS: Mapping[str, Mapping[str, Any]] = {
    name.replace("_", "-"): {"structure": name} for name in INDEXES
}


@register_experiment("spatial_comprehensive")
class SpatialComprehensive(Experiment):
    """Measures cKDTree, KD-tree, quadtree and hash grid: building, points within a radius, the
    nearest.

    All are asked for the same places; `found` is the same for all, since their answers are.
    """

    class Parameters(BaseModel):
        model_config = ConfigDict(extra="forbid")

        structure: Structure = "ckdtree"
        entities: int = Field(1000, ge=1)
        distribution: Literal["uniform", "clustered", "linear", "sparse"] = "uniform"
        world_size: float = Field(SIDE, gt=0, description="Length of each side of the square.")
        radius: float = Field(50.0, gt=0, description="In the unit of `world_size`.")
        radius_queries: int = Field(100, ge=1)
        nearest_queries: int = Field(50, ge=1)

    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = VARIANTS
    better: ClassVar[Mapping[str, Literal["lower", "higher"]]] = {
        "build_ms": "lower",
        "query_us": "lower",
        "nearest_us": "lower",
    }
    asks_agent = False
    tags: ClassVar[tuple[str, ...]] = ("spatial",)

    def setup(self, context: ExperimentContext) -> None:
        given = self.params
        self._build = INDEXES[given["structure"]]
        side = given["world_size"]
        places = draw_places(given["entities"], given["distribution"], context.seed)
        self._places = places * (side / SIDE)
        asked = np.random.default_rng(derive_seed(context.seed, 1))
        self._around = asked.uniform(0, side, (given["radius_queries"], 2)).tolist()
        self._nearest = asked.uniform(0, side, (given["nearest_queries"], 2)).tolist()

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        clock, radius = perf_counter, self.params["radius"]
        began = clock()
        index = self._build(self._places)
        built = clock()
        found = sum(len(index.within(x, y, radius)) for x, y in self._around)
        queried = clock()
        for x, y in self._nearest:
            index.nearest(x, y)
        ended = clock()
        return {
            "build_ms": 1e3 * (built - began),
            "query_us": 1e6 * (queried - built) / len(self._around),
            "nearest_us": 1e6 * (ended - queried) / len(self._nearest),
            "found": found,
        }


@register_experiment("spatial_index_profiler")
class SpatialIndexProfiler(Experiment):
    """Measures keeping a structure up to date: steps in which some points move and some are
    queried.

    With `batch` all moves of a step are told at once, without it one by one; both have the same
    moves and questions, and end with the same points in the same places. A tree is built anew at
    each telling.
    """

    class Parameters(BaseModel):
        model_config = ConfigDict(extra="forbid")

        structure: Structure = "ckdtree"
        entities: int = Field(1000, ge=1)
        batch: bool = True
        steps: int = Field(10, ge=1)
        moves: int = Field(18, ge=1, description="Points that move in a step.")
        queries: int = Field(25, ge=1, description="Questions after the moves of a step.")
        world_size: float = Field(SIDE, gt=0, description="Length of each side of the square.")
        radius: float = Field(50.0, gt=0, description="In the unit of `world_size`.")

    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = VARIANTS
    better: ClassVar[Mapping[str, Literal["lower", "higher"]]] = {
        "build_ms": "lower",
        "move_us": "lower",
        "query_us": "lower",
    }
    asks_agent = False
    tags: ClassVar[tuple[str, ...]] = ("spatial", "profiling")

    def setup(self, context: ExperimentContext) -> None:
        given = self.params
        self._build = INDEXES[given["structure"]]
        side = given["world_size"]
        self._places = draw_places(given["entities"], "uniform", context.seed) * (side / SIDE)
        draw = np.random.default_rng(derive_seed(context.seed, 1))
        moves = min(given["moves"], given["entities"])
        self._steps = [
            (
                draw.choice(given["entities"], moves, replace=False),
                draw.uniform(0, side, (moves, 2)),
                draw.uniform(0, side, (given["queries"], 2)).tolist(),
            )
            for _ in range(given["steps"])
        ]

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        clock, radius, batch = perf_counter, self.params["radius"], self.params["batch"]
        began = clock()
        index = self._build(self._places)
        build_s = clock() - began
        move_s = query_s = 0.0
        found = moves = queries = 0
        for moved, places, asked in self._steps:
            began = clock()
            if batch:
                index.move(moved, places)
            else:
                for nth in range(len(moved)):
                    index.move(moved[nth : nth + 1], places[nth : nth + 1])
            told = clock()
            found += sum(len(index.within(x, y, radius)) for x, y in asked)
            query_s += clock() - told
            move_s += told - began
            moves += len(moved)
            queries += len(asked)
        total_s = build_s + move_s + query_s
        return {
            "build_ms": 1e3 * build_s,
            "move_us": 1e6 * move_s / moves,
            "query_us": 1e6 * query_s / queries,
            "build_percent": 100 * build_s / total_s,
            "move_percent": 100 * move_s / total_s,
            "query_percent": 100 * query_s / total_s,
            "found": found,
        }
