"""`observation_flow`, `perception_metrics` and `observation_profiler`: agents that look around.

The world moves on between any two observations, so nothing can be kept from the last one. Figures
are over all agents and all steps of one call, and begin at 0 with each call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from agentbench_tui.experiments.experiment import (
    Experiment,
    ExperimentContext,
    register_experiment,
)
from agentbench_tui.experiments.farm.perception import Perception, PerceptionProfile
from agentbench_tui.experiments.farm.world import World, WorldSettings
from agentbench_tui.experiments.spatial.index import INDEXES, Structure
from agentbench_tui.experiments.values import LEAST_FOR
from agentbench_tui.model.clock import perf_counter

_DIRECTIONS: Mapping[str, Literal["lower", "higher"]] = {
    "observes_per_sec": "higher",
    "mean_step_time_s": "lower",
    "p95_step_time_s": "lower",
    "stored_bytes_per_observation": "lower",
}


class _Observing(Experiment):
    """A world with a fixed number of agents that are observed after every step."""

    asks_agent = False
    tags: ClassVar[tuple[str, ...]] = ("perception", "simulation")
    better: ClassVar[Mapping[str, Literal["lower", "higher"]]] = _DIRECTIONS

    def setup(self, context: ExperimentContext) -> None:
        width, height = self._size()
        self._world = World(
            WorldSettings(
                self.params["num_agents"], width, height, seed=context.seed,
                population_changes=False,
            )
        )  # fmt: skip

    def _size(self) -> tuple[int, int]:
        raise NotImplementedError

    def _observed(self) -> tuple[PerceptionProfile, list[float]]:
        """Return the profile of all steps, and the seconds of perception in each."""
        world, given = self._world.copy(), self.params
        perception = Perception(
            given["radius"],
            given["storage_mode"],
            bilinear=given["bilinear"],
            build=INDEXES[given["structure"]],
        )
        steps = []
        for _ in range(given["steps"]):
            world.step()
            began = perf_counter()
            perception.read_all(perception.observe_all(world))
            steps.append(perf_counter() - began)
        return perception.profile, steps


class _Parameters(BaseModel):
    model_config = ConfigDict(extra="forbid")

    num_agents: int = Field(200, ge=1)
    steps: int = Field(20, ge=1)
    radius: int = Field(6, ge=0, description="Cells seen in each direction.")
    storage_mode: Literal["dense", "hybrid"] = "hybrid"
    bilinear: bool = True
    structure: Structure = Field("hash_grid", description="That finds who is near.")


@register_experiment("observation_flow")
class ObservationFlow(_Observing):
    """Measures the observations per second of all agents together, while the world changes.

    The time of perceiving is measured separately from the world's own steps, which are part of the
    call's time.
    """

    class Parameters(_Parameters):
        width: int = Field(200, ge=1)
        height: int = Field(200, ge=1)

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        return _flow(*self._observed())

    def _size(self) -> tuple[int, int]:
        return self.params["width"], self.params["height"]


@register_experiment("perception_metrics")
class PerceptionMetrics(_Observing):
    """Measures perception by storage and interpolation: dense or hybrid, bilinear or nearest.

    The world grows with the agents, so that each sees as many others whatever their number.
    """

    class Parameters(_Parameters):
        num_agents: int = Field(100, ge=1)
        steps: int = Field(10, ge=1)
        radius: int = Field(5, ge=0, description="Cells seen in each direction.")

    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        f"{storage}-{'bilinear' if bilinear else 'nearest'}": {
            "storage_mode": storage,
            "bilinear": bilinear,
        }
        for storage in ("hybrid", "dense")
        for bilinear in (True, False)
    }

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        profile, steps = self._observed()
        spent = {
            name: getattr(profile, name)
            for name in ("spatial_query_s", "bilinear_s", "nearest_s", "assemble_s", "rebuild_s")
        }
        points = {
            "bilinear_points": profile.bilinear_points,
            "nearest_points": profile.nearest_points,
        }
        return {**_flow(profile, steps), **spent, **points}

    def _size(self) -> tuple[int, int]:
        side = max(20, int(2.5 * self.params["radius"] * self.params["num_agents"] ** 0.5))
        return side, side


@register_experiment("observation_profiler")
class ObservationProfiler(_Observing):
    """Measures the time of perception by part, for each structure of neighbor search.

    Shares refer only to the time of perceiving, and add up to 100%.
    """

    class Parameters(_Parameters):
        world_size: int = Field(200, ge=1, description="Cells on each side.")

    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        name.replace("_", "-"): {"structure": name} for name in INDEXES
    }

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:  # noqa: ARG002
        profile, steps = self._observed()
        parts = {
            "index_build": profile.index_build_s,
            "spatial_query": profile.spatial_query_s,
            "interpolation": profile.bilinear_s + profile.nearest_s,
            "assemble": profile.assemble_s,
            "rebuild": profile.rebuild_s,
        }
        total_s = sum(steps)
        shares = {f"{name}_percent": 100 * spent / total_s for name, spent in parts.items()}
        shares["rest_percent"] = 100 * (1 - profile.total_s / total_s)
        return {
            "observes_per_sec": profile.observations / total_s,
            "us_per_observation": 1e6 * total_s / profile.observations,
            "mean_step_time_s": total_s / len(steps),
            **shares,
        }

    def _size(self) -> tuple[int, int]:
        return self.params["world_size"], self.params["world_size"]


def _flow(profile: PerceptionProfile, steps: list[float]) -> dict[str, Any]:
    import numpy as np

    total_s, count = sum(steps), profile.observations
    whole, stored = profile.whole_bytes / count, profile.stored_bytes / count
    metrics = {
        "total_observes": count,
        "total_time_s": total_s,
        "observes_per_sec": count / total_s,
        "mean_step_time_s": total_s / len(steps),
        "dense_bytes_per_observation": whole,
        "stored_bytes_per_observation": stored,
        "memory_reduction_percent": 100 * (1 - stored / whole),
        "dense_rebuilds": profile.rebuilds,
        "dense_rebuild_time_s_total": profile.rebuild_s,
    }
    if len(steps) >= LEAST_FOR[0.95]:
        metrics["p95_step_time_s"] = float(np.quantile(steps, 0.95))
    return metrics
