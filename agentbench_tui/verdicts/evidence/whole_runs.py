"""Replaces repeats by whole runs, because repeats of a run share its conditions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agentbench_tui.analysis.sample import Floats, Integers
    from agentbench_tui.verdicts.evidence.place import Execution


def run_numbers(executions: Sequence[Execution], repeats_of: Iterable[int]) -> Integers:
    """Return the run number of each repeat, 0 … in the order of the executions."""
    numbers: dict[str, int] = {}
    of = [numbers.setdefault(row["run_id"], len(numbers)) for row in executions]
    return np.repeat(np.array(of, np.int64), list(repeats_of))


def mean_by_run(number: Integers, values: Floats) -> Floats:
    """Return the mean of the known values for each number; NaN if there is none."""
    known = ~np.isnan(values)
    count = int(number.max(initial=-1)) + 1
    found = np.full(count, math.nan)
    counts = np.bincount(number[known], minlength=count)
    sums = np.bincount(number[known], values[known], count)
    np.divide(sums, counts, out=found, where=counts > 0)
    return found
