"""Evidence made of numbers, as if it had been measured, and noise of seven shapes."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence

Floats = NDArray[np.float64]

SHAPES = (
    "log-normal 0.1", "log-normal 0.3", "Pareto tail", "two modes", "bursts", "AR(1) 0.7",
    "warm-up",
)  # fmt: skip


def asked(cases: int = 1, repeats: int = 1, *, seed: int = 42, **values: ArrayLike) -> TaskEvidence:
    """Every case asked once in every repeat; `values` by metric, [repeats, cases] or flat."""
    columns = {
        name: np.asarray(value, np.float64).reshape(repeats * cases)
        for name, value in values.items()
    }
    case = np.tile(np.arange(cases), repeats)
    return TaskEvidence(
        [],
        case,
        case,
        np.full(repeats * cases, seed),
        np.repeat(np.arange(repeats), cases),
        columns,
        repeats,
    )


@dataclass
class Repeats:
    """Evidence of whole repeats only, as of load."""

    values: dict[str, Sequence[float] | Floats]
    executions: list[dict[str, Any]] = field(default_factory=list)
    answers: int = 10_000
    """Of the repeat that has fewest."""

    def per_repeat(self, metric: str) -> Floats:
        return np.asarray(self.values.get(metric, []), np.float64)

    def fewest_answers(self, metric: str) -> int:
        return self.answers if metric in self.values else 0


def noise(shape: str, repeats: int, samples: int, draw: np.random.Generator) -> Floats:
    """Times in ms, [repeats, samples] in the order of asking, around 100 ms."""
    size = (repeats, samples)
    if shape == "log-normal 0.1":
        logs = draw.normal(0, 0.1, size)
    elif shape == "log-normal 0.3":
        logs = draw.normal(0, 0.3, size)
    elif shape == "Pareto tail":
        logs = np.log1p(0.2 * draw.pareto(2.5, size)) + draw.normal(0, 0.05, size)
    elif shape == "two modes":
        logs = draw.normal(0, 0.05, size) + np.where(draw.random(size) < 0.3, np.log(1.6), 0)
    elif shape == "bursts":
        begins = draw.random(size) < 0.03
        lasting = sum(np.roll(np.pad(begins, ((0, 0), (8, 0))), k, axis=1) for k in range(8))
        burst = np.asarray(lasting)[:, 8:] > 0
        logs = draw.normal(0, 0.1, size) + np.where(burst, np.log(3), 0)
    elif shape == "AR(1) 0.7":
        logs = draw.normal(0, 0.2, size)
        for place in range(1, samples):
            logs[:, place] = 0.7 * logs[:, place - 1] + np.sqrt(1 - 0.7**2) * logs[:, place]
    elif shape == "warm-up":
        logs = draw.normal(0, 0.1, size) + 0.5 * np.exp(-np.arange(samples) / 8)
    else:
        raise ValueError(shape)
    return np.asarray(100 * np.exp(logs))
