"""Histories of runs with a known truth, with the hours and the machines that they were made at.

Written apart from `noise_shapes.py`, by which the gate was made: other sizes, other draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SHAPES = (
    "independent", "correlated", "heavy tails", "outliers", "slow drift", "daily cycle",
    "alternating machines",
)  # fmt: skip
RUNS, CHECKED_FROM = 72, 24


@dataclass(frozen=True, slots=True)
class Series:
    """One history; a value a run, in ms."""

    values: Floats
    hours: Floats
    """Since its first run."""
    machine: NDArray[np.int64]
    step_at: int
    """The first run of the new level; the number of runs without a step."""


def series(shape: str, noise: float, step: float, draw: np.random.Generator) -> Series:
    """`noise` is the log-sd of a run; `step` of 0.1 makes runs 10% slower from some run on."""
    every = float(draw.choice([2, 3, 4, 6]))
    hours = every * np.arange(RUNS) + draw.uniform(0, 0.3, RUNS)
    logs = math.log(draw.uniform(50, 5_000)) + _noise(shape, noise, draw)
    machine = np.zeros(RUNS, np.int64)
    if shape == "slow drift":
        logs += math.log(1.0005) * np.arange(RUNS)
    if shape == "daily cycle":
        size, phase = draw.uniform(0.03, 0.10), draw.uniform(0, 24)
        angle = 2 * math.pi * (hours - phase) / 24
        logs += size * np.cos(angle) + 0.3 * size * np.cos(2 * angle + draw.uniform(0, 6))
    if shape == "alternating machines":
        machine = _machines(draw)
        logs += machine * draw.uniform(0.04, 0.15)
    at = int(draw.integers(36, 55)) if step else RUNS
    logs[at:] += math.log1p(step)
    return Series(np.exp(logs), hours, machine, at)


def _noise(shape: str, noise: float, draw: np.random.Generator) -> Floats:
    if shape == "heavy tails":
        return np.asarray(noise * draw.standard_t(4, RUNS) / math.sqrt(2))
    found = draw.normal(0, noise, RUNS)
    if shape == "correlated":
        for run in range(1, RUNS):
            found[run] = 0.4 * found[run - 1] + math.sqrt(1 - 0.4**2) * found[run]
    if shape == "outliers":
        found += (draw.random(RUNS) < 0.03) * draw.uniform(0.15, 0.5, RUNS)
    return found


def _machines(draw: np.random.Generator) -> NDArray[np.int64]:
    """In turns, at random, or a few runs each."""
    way = draw.integers(3)
    if way == 0:
        return np.arange(RUNS) % 2
    if way == 1:
        return draw.integers(0, 2, RUNS)
    lengths = draw.integers(2, 9, RUNS)
    return np.repeat(np.arange(RUNS) % 2, lengths)[:RUNS]
