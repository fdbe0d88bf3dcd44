"""Perception of agents: a window of channels around each, computed again after every step.

Channels: the resource of the cells, 0 beyond the border; the border; other agents; their energy.
The window has its agent in the middle, at its real-valued place, so that the resource is read
between cells: from the four around (bilinear) or from the one it falls in (nearest).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from agentbench_tui.model.clock import perf_counter

if TYPE_CHECKING:
    from agentbench_tui.experiments.farm.world import World
    from agentbench_tui.experiments.spatial.index import SpatialIndex

Singles = NDArray[np.float32]
StorageMode = Literal["dense", "hybrid"]

CHANNELS = ("resource", "border", "agents", "energy")
"""In hybrid storage the first is also stored densely; the rest are mostly empty."""


@dataclass(frozen=True, slots=True)
class Observation:
    """Observation of one agent: a dense part, and nonzero cells of the rest."""

    dense: Singles
    """(channels kept whole, side, side)."""
    where: NDArray[np.int32]
    """Flat indexes in the sparse channels."""
    values: Singles
    """Values at these indexes."""

    @property
    def nbytes(self) -> int:
        """Size of the arrays' contents."""
        return self.dense.nbytes + self.where.nbytes + self.values.nbytes

    def whole(self) -> Singles:
        """Return (channels, side, side) for a policy.

        Nothing is built if all channels are dense.
        """
        kept, side = len(self.dense), self.dense.shape[-1]
        if kept == len(CHANNELS):
            return self.dense
        rest = np.zeros((len(CHANNELS) - kept) * side * side, np.float32)
        rest[self.where] = self.values
        return np.concatenate((self.dense, rest.reshape(-1, side, side)))


@dataclass(slots=True)
class PerceptionProfile:
    """Time of perception by part in seconds, and the amount of work."""

    index_build_s: float = 0.0
    spatial_query_s: float = 0.0
    bilinear_s: float = 0.0
    nearest_s: float = 0.0
    assemble_s: float = 0.0
    """Border, other agents, and storing."""
    rebuild_s: float = 0.0
    """Time to make sparse data dense."""
    bilinear_points: int = 0
    nearest_points: int = 0
    rebuilds: int = 0
    observations: int = 0
    stored_bytes: int = 0
    whole_bytes: int = 0

    @property
    def total_s(self) -> float:
        """Return the total time of perception in seconds."""
        return (
            self.index_build_s
            + self.spatial_query_s
            + self.bilinear_s
            + self.nearest_s
            + self.assemble_s
            + self.rebuild_s
        )


class Perception:
    """Computes the observations of all agents of a world, with statistics."""

    def __init__(
        self,
        radius: int,
        storage: StorageMode,
        *,
        bilinear: bool,
        build: Callable[[NDArray[np.float64]], SpatialIndex],
    ) -> None:
        self.radius = radius
        self.storage = storage
        self.bilinear = bilinear
        self.profile = PerceptionProfile()
        self._build = build
        reach = np.arange(-radius, radius + 1)
        self._dy, self._dx = np.meshgrid(reach, reach, indexing="ij")

    def observe_all(self, world: World) -> list[Observation]:
        """Return the current observation of every agent, in order."""
        clock, profile = perf_counter, self.profile
        began = clock()
        index = self._build(world.places)
        profile.index_build_s += clock() - began
        return [self._observe(world, index, nth) for nth in range(world.population)]

    def read_all(self, observations: list[Observation]) -> float:
        """Read every observation densely, as a policy would; return the sum of all values."""
        began, total = perf_counter(), 0.0
        for one in observations:
            whole = one.whole()
            self.profile.rebuilds += whole is not one.dense
            self.profile.whole_bytes += whole.nbytes
            total += float(whole.sum())
        if self.storage == "hybrid":
            self.profile.rebuild_s += perf_counter() - began
        return total

    def _observe(self, world: World, index: SpatialIndex, nth: int) -> Observation:
        clock, profile = perf_counter, self.profile
        x, y = float(world.x[nth]), float(world.y[nth])
        began = clock()
        near = index.within(x, y, (self.radius + 1) * 2**0.5)  # to the far corner of a cell
        queried = clock()
        resource = self._resource(world, x, y)
        sampled = clock()
        others = near[near != nth]
        observation = self._assembled(world, x, y, others, resource)
        profile.assemble_s += clock() - sampled
        profile.spatial_query_s += queried - began
        if self.bilinear:
            profile.bilinear_s += sampled - queried
            profile.bilinear_points += resource.size
        else:
            profile.nearest_s += sampled - queried
            profile.nearest_points += resource.size
        profile.observations += 1
        profile.stored_bytes += observation.nbytes
        return observation

    def _resource(self, world: World, x: float, y: float) -> Singles:
        """Interpolate the field at the positions of the window; a cell's value holds at its
        center.
        """
        if not self.bilinear:
            rows, columns = int(y) + self._dy, int(x) + self._dx
            return self._cells(world, rows, columns)
        rows, columns = np.floor(y - 0.5) + self._dy, np.floor(x - 0.5) + self._dx
        down, right = (y - 0.5) % 1, (x - 0.5) % 1
        top, left = rows.astype(np.int64), columns.astype(np.int64)
        return np.asarray(
            self._cells(world, top, left) * ((1 - down) * (1 - right))
            + self._cells(world, top, left + 1) * ((1 - down) * right)
            + self._cells(world, top + 1, left) * (down * (1 - right))
            + self._cells(world, top + 1, left + 1) * (down * right),
            np.float32,
        )

    def _cells(self, world: World, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Singles:
        height, width = world.resources.shape
        inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        there = world.resources[rows.clip(0, height - 1), columns.clip(0, width - 1)]
        return np.where(inside, there, 0).astype(np.float32)

    def _assembled(
        self, world: World, x: float, y: float, others: NDArray[np.int64], resource: Singles
    ) -> Observation:
        side = 2 * self.radius + 1
        height, width = world.resources.shape
        rows, columns = int(y) + self._dy, int(x) + self._dx
        border = (rows < 0) | (rows >= height) | (columns < 0) | (columns >= width)
        at_row = world.y[others].astype(np.int64) - int(y) + self.radius
        at_column = world.x[others].astype(np.int64) - int(x) + self.radius
        seen = (at_row >= 0) & (at_row < side) & (at_column >= 0) & (at_column < side)
        flat = at_row[seen] * side + at_column[seen]
        cells, which, counts = np.unique(flat, return_inverse=True, return_counts=True)
        energy = np.bincount(which, world.energy[others[seen]], len(cells))
        if self.storage == "hybrid":
            outside = np.flatnonzero(border)
            where = np.concatenate((outside, side * side + cells, 2 * side * side + cells))
            values = np.concatenate((np.ones(len(outside)), counts, energy))
            return Observation(resource[None], where.astype(np.int32), values.astype(np.float32))
        whole = np.zeros((len(CHANNELS), side, side), np.float32)
        whole[0], whole[1] = resource, border
        whole[2].flat[cells], whole[3].flat[cells] = counts, energy
        return Observation(whole, np.empty(0, np.int32), np.empty(0, np.float32))
