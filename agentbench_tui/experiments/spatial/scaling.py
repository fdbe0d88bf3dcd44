"""`spatial_performance_analyzer`: how a structure's times grow with its points, and when it
pays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from agentbench_tui.experiments.experiment import (
    Experiment,
    ExperimentContext,
    register_experiment,
)
from agentbench_tui.experiments.spatial.index import INDEXES, Structure
from agentbench_tui.experiments.spatial.places import SIDE, draw_places
from agentbench_tui.experiments.spatial.structures import VARIANTS
from agentbench_tui.model.clock import perf_counter
from agentbench_tui.model.identity import derive_seed


@register_experiment("spatial_performance_analyzer")
class SpatialPerformanceAnalyzer(Experiment):
    """Measures how the times of a structure grow with its points, and when building it pays.

    `repaid_by_query_percent` is how much of the time to build one question saves against a search
    through all points: at 5 it has paid after 20 questions, below 0 it never pays. `…_exponent` is
    the slope of log time over log points by least squares over all sizes: about 1 where time grows
    in proportion. The radius is such that with every size a question finds equally many points.
    """

    class Parameters(BaseModel):
        model_config = ConfigDict(extra="forbid")

        structure: Structure = "ckdtree"
        sizes: list[int] = Field([250, 500, 1000, 2000, 4000], min_length=2)
        distribution: Literal["uniform", "clustered", "linear", "sparse"] = "uniform"
        neighbours: float = Field(10.0, gt=0, description="Points within the radius, on average.")
        queries: int = Field(50, ge=1)

    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = VARIANTS
    better: ClassVar[Mapping[str, Literal["lower", "higher"]]] = {
        "build_exponent": "lower",
        "query_exponent": "lower",
        "speedup_over_scan": "higher",
        "repaid_by_query_percent": "higher",
    }
    asks_agent = False
    tags: ClassVar[tuple[str, ...]] = ("spatial", "profiling")

    def setup(self, context: ExperimentContext) -> None:
        given = self.params
        self._build = INDEXES[given["structure"]]
        self._sizes = sorted(set(given["sizes"]))
        if len(self._sizes) < 2 or self._sizes[0] < 1:
            raise ValueError(f"sizes: at least two different ones from 1 up, not {given['sizes']}")
        self._places = [
            draw_places(n, given["distribution"], derive_seed(context.seed, n)) for n in self._sizes
        ]
        self._radii = [float(np.sqrt(given["neighbours"] / np.pi / n)) * SIDE for n in self._sizes]
        asked = np.random.default_rng(derive_seed(context.seed, 0))
        self._asked = asked.uniform(0, SIDE, (given["queries"], 2)).tolist()

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        clock = perf_counter
        build_s, query_s = [], []
        for places, radius in zip(self._places, self._radii, strict=True):
            began = clock()
            index = self._build(places)
            built = clock()
            found = self._ask(index.within, radius)
            asked = clock()
            build_s.append(built - began)
            query_s.append((asked - built) / len(self._asked))
        began = clock()
        scanned = self._ask(_scan(places), radius)
        scan_s = (clock() - began) / len(self._asked)
        if found != scanned:
            raise ValueError(f"{found} points found, {scanned} by a search through all")
        saved_s = scan_s - query_s[-1]
        return {
            "build_exponent": growth_exponent(self._sizes, build_s),
            "query_exponent": growth_exponent(self._sizes, query_s),
            "largest_build_ms": 1e3 * build_s[-1],
            "largest_query_us": 1e6 * query_s[-1],
            "scan_us": 1e6 * scan_s,
            "speedup_over_scan": scan_s / query_s[-1],
            "repaid_by_query_percent": 100 * saved_s / build_s[-1],
        }

    def _ask(self, within: Callable[[float, float, float], NDArray[Any]], radius: float) -> int:
        return sum(len(within(x, y, radius)) for x, y in self._asked)


def growth_exponent(sizes: list[int], seconds: list[float]) -> float:
    """Return the slope of log seconds over log sizes, by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _scan(places: NDArray[np.float64]) -> Callable[[float, float, float], NDArray[Any]]:
    """Return a search through all points without a structure."""

    def within(x: float, y: float, radius: float) -> NDArray[Any]:
        return np.flatnonzero(((places - (x, y)) ** 2).sum(axis=1) <= radius**2)

    return within
