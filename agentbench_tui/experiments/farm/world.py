"""A small simulated world of agents, for experiments.

Agents stand at real-valued places on a field of cells that grow a resource. In a step each looks
around itself, walks towards the richest cell it sees, eats there and spends energy to live. An
agent with enough energy creates a child and gives it half; one without energy dies. All agents are
one set of numpy arrays and act at once; where several eat from a cell they share it equally. Equal
settings give equal worlds, step for step.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

START_ENERGY = 10.0
LARGEST_MEAL = 4.0
LIVING_COST = 0.5
WALKING_COST = 0.1
"""Energy for each cell walked."""
BIRTH_ENERGY = 20.0
GROWTH = 0.05
"""Share of a cell's missing resources that grows again per step."""
FULL_CELL = 5.0
FARTHEST_WALK = 2.0
WALK, STAY, BORN, DIED = range(4)
"""Action of an agent in a step."""


@dataclass(frozen=True, slots=True)
class WorldSettings:
    """Settings of a world. Lengths are in cells."""

    agents: int = 30
    width: int = 100
    height: int = 100
    perception_radius: int = 3
    seed: int = 0
    population_changes: bool = True
    """False: no births and deaths, so that every step has as many agents as the first."""

    def __post_init__(self) -> None:
        if self.agents < 1 or self.width < 1 or self.height < 1 or self.perception_radius < 0:
            raise ValueError("a world has at least one agent, one cell, and no negative radius")


@dataclass(frozen=True, slots=True)
class StepRecord:
    """Events of one step: a row for each agent alive at its start, in order of id, then one for
    each newborn.
    """

    step: int
    ids: Ints
    actions: Ints
    x: Floats
    y: Floats
    energy: Floats
    """After the step; not above 0 for agents that died."""
    eaten: Floats


class World:
    """The state of the world, and its rules."""

    def __init__(self, settings: WorldSettings) -> None:
        self.settings = settings
        self.step_count = 0
        self._random = np.random.default_rng(settings.seed)
        n, shape = settings.agents, (settings.height, settings.width)
        self.resources: Floats = self._random.uniform(0, FULL_CELL, shape)
        self.ids: Ints = np.arange(n)
        self.x: Floats = self._random.uniform(0, settings.width, n)
        self.y: Floats = self._random.uniform(0, settings.height, n)
        self.energy: Floats = np.full(n, START_ENERGY)
        self._next_id = n
        reach = np.arange(-settings.perception_radius, settings.perception_radius + 1)
        self._dy, self._dx = (part.ravel() for part in np.meshgrid(reach, reach, indexing="ij"))
        self._far = np.hypot(self._dx, self._dy)

    @property
    def population(self) -> int:
        return len(self.ids)

    @property
    def places(self) -> Floats:
        """Return (population, 2): x and y."""
        return np.column_stack((self.x, self.y))

    def copy(self) -> World:
        """Return an independent world that continues exactly as this one would."""
        return copy.deepcopy(self)

    def cells(self) -> tuple[Ints, Ints]:
        """Return row and column of the cell under each agent."""
        return self.y.astype(np.int64), self.x.astype(np.int64)

    def step(self) -> StepRecord:
        """Run one step of all agents."""
        if not self.population:
            self._grow()
            return self._record(np.empty(0, np.int64), np.empty(0))
        target_x, target_y = self._richest_in_sight()
        walked = self._walk(target_x, target_y)
        eaten = self._eat()
        self.energy += eaten - LIVING_COST - WALKING_COST * walked
        actions = np.where(walked > 0, WALK, STAY)
        if self.settings.population_changes:
            actions[self.energy <= 0] = DIED
            actions, eaten = self._give_birth(actions, eaten)
        self._grow()
        record = self._record(actions, eaten)
        self._keep(actions != DIED)
        return record

    def _richest_in_sight(self) -> tuple[Floats, Floats]:
        """Return the center of each agent's preferred cell: rich and near. Ties are broken at
        random.
        """
        rows, columns = self.cells()
        height, width = self.resources.shape
        seen_y, seen_x = rows[:, None] + self._dy, columns[:, None] + self._dx
        outside = (seen_y < 0) | (seen_y >= height) | (seen_x < 0) | (seen_x >= width)
        outside |= self._far > self.settings.perception_radius
        there = self.resources[seen_y.clip(0, height - 1), seen_x.clip(0, width - 1)]
        worth = there - WALKING_COST * self._far + self._random.uniform(0, 1e-9, there.shape)
        best = np.where(outside, -np.inf, worth).argmax(axis=1)
        return columns + self._dx[best] + 0.5, rows + self._dy[best] + 0.5

    def _walk(self, target_x: Floats, target_y: Floats) -> Floats:
        """Move toward the targets, at most one step length; return the distance of each agent."""
        dx, dy = target_x - self.x, target_y - self.y
        way = np.hypot(dx, dy)
        share = np.minimum(1.0, FARTHEST_WALK / np.maximum(way, FARTHEST_WALK))
        self.x += dx * share
        self.y += dy * share
        return way * share

    def _eat(self) -> Floats:
        """Give each agent an equal share of its cell, at most one meal."""
        rows, columns = self.cells()
        flat = rows * self.settings.width + columns
        _, where, guests = np.unique(flat, return_inverse=True, return_counts=True)
        eaten = np.minimum(LARGEST_MEAL, self.resources[rows, columns] / guests[where])
        np.subtract.at(self.resources, (rows, columns), eaten)
        np.maximum(self.resources, 0, out=self.resources)  # of rounding
        return np.asarray(eaten)

    def _give_birth(self, actions: Ints, eaten: Floats) -> tuple[Ints, Floats]:
        parents = np.flatnonzero((self.energy >= BIRTH_ENERGY) & (actions != DIED))
        self.energy[parents] /= 2
        n = len(parents)
        self.ids = np.concatenate((self.ids, np.arange(self._next_id, self._next_id + n)))
        self._next_id += n
        for name in ("x", "y", "energy"):
            own = getattr(self, name)
            setattr(self, name, np.concatenate((own, own[parents])))
        return (
            np.concatenate((actions, np.full(n, BORN))),
            np.concatenate((eaten, np.zeros(n))),
        )

    def _grow(self) -> None:
        self.resources += GROWTH * (FULL_CELL - self.resources)
        self.step_count += 1

    def _keep(self, alive: NDArray[Any]) -> None:
        for name in ("ids", "x", "y", "energy"):
            setattr(self, name, getattr(self, name)[alive])

    def _record(self, actions: Ints, eaten: Floats) -> StepRecord:
        return StepRecord(
            self.step_count,
            self.ids.copy(),
            actions,
            self.x.copy(),
            self.y.copy(),
            self.energy.copy(),
            eaten,
        )
