"""Evidence from numbers, as if it had been measured."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence


def asked(cases: int, repeats: int = 1, *, seed: int = 42, **values: ArrayLike) -> TaskEvidence:
    """Every case asked once in every repeat; `values` by metric, [repeats, cases] or flat."""
    columns = {
        name: np.asarray(value, np.float64).reshape(repeats * cases)
        for name, value in values.items()
    }
    case = np.tile(np.arange(cases), repeats)
    seeds = np.full(repeats * cases, seed)
    return TaskEvidence(
        [], case, case, seeds, np.repeat(np.arange(repeats), cases), columns, repeats
    )
