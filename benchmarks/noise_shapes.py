"""Made-up histories of runs with a known truth, in six shapes of noise.

One value a run, in ms. Every draw comes from the generator that is handed in.

- `iid`: normal on logs;
- `ar1`: runs hang together, correlation 0.5 from run to run;
- `t3`: Student's t with 3 degrees of freedom, same standard deviation;
- `outliers`: normal, and 4% of runs are 15 to 60% slower;
- `two machines`: normal, and 35% of runs, at random, are 4% slower;
- `drift`: normal, and every run is 0.06% slower than the one before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SHAPES = ("iid", "ar1", "t3", "outliers", "two machines", "drift")
RUNS, STEP_AT, CHECKED_FROM = 60, 38, 20
LEVEL_MS = 850.0
_CORRELATION = 0.5
_DRIFT = math.log(1.0006)


@dataclass(frozen=True, slots=True)
class Histories:
    """Many histories of one kind."""

    values: Floats
    """[series, runs], ms."""
    reruns: Floats
    """[series, runs], ms: what a second run right after each would have given."""


def histories(
    shape: str, noise: float, step: float, series: int, draw: np.random.Generator
) -> Histories:
    """`noise`: standard deviation of a run on logs; `step`: 0.1 is 10% slower from run 38 on.

    A re-run shares the state of its run where the shape has one: correlated runs stay correlated.
    Its outliers, and the machine that it lands on, are new.
    """
    size = (series, RUNS)
    logs = np.full(size, math.log(LEVEL_MS))
    logs[:, STEP_AT:] += math.log1p(step)
    if shape == "drift":
        logs += _DRIFT * np.arange(RUNS)
    if shape == "ar1":
        fresh = noise * math.sqrt(1 - _CORRELATION**2)
        first = _correlated(noise, fresh, size, draw)
        second = _CORRELATION * first + draw.normal(0, fresh, size)
    else:
        first, second = (_independent(shape, noise, size, draw) for _ in range(2))
    return Histories(np.exp(logs + first), np.exp(logs + second))


def _correlated(
    noise: float, fresh: float, size: tuple[int, int], draw: np.random.Generator
) -> Floats:
    noises = draw.normal(0, fresh, size)
    noises[:, 0] = draw.normal(0, noise, size[0])
    for run in range(1, size[1]):
        noises[:, run] += _CORRELATION * noises[:, run - 1]
    return noises


def _independent(
    shape: str, noise: float, size: tuple[int, int], draw: np.random.Generator
) -> Floats:
    if shape == "t3":
        return np.asarray(noise / math.sqrt(3) * draw.standard_t(3, size))
    noises = draw.normal(0, noise, size)
    if shape == "outliers":
        noises += (draw.random(size) < 0.04) * np.log1p(draw.uniform(0.15, 0.6, size))
    if shape == "two machines":
        noises += (draw.random(size) < 0.35) * math.log(1.04)
    return noises
