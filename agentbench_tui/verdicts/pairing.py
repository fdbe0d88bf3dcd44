"""Which values of two sides belong together: those of the same case and seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from agentbench_tui.verdicts.evidence import Floats, Integers, TaskEvidence

LEAST_PAIRS = 6
"""With fewer no sign-flip p is below 0.05: of 5 pairs the least is 0.0625."""


@dataclass(frozen=True, slots=True)
class CaseValues:
    """One value for each case and seed of one side, the mean over its repeats and iterations."""

    case: Integers
    seed: Integers
    cluster: Integers
    value: Floats


@dataclass(frozen=True, slots=True)
class Pairs:
    """The cases and seeds that both sides have a value of."""

    case: Integers
    cluster: Integers
    a: Floats
    b: Floats
    only_in_a: int
    """Cases and seeds of which B has no value: not asked, or not answered."""
    only_in_b: int

    def __len__(self) -> int:
        return len(self.case)

    @property
    def left_out(self) -> tuple[str, ...]:
        """How many values of each side have no counterpart, in words."""
        counts = (("A", self.only_in_a, "B"), ("B", self.only_in_b, "A"))
        return tuple(
            f"{count} of {side} without a value of {other} left out"
            for side, count, other in counts
            if count
        )

    @property
    def is_clustered(self) -> bool:
        """Whether some pairs go together, by their author's word or as seeds of one case."""
        return len(np.unique(self.cluster)) < len(self.cluster)


def case_values(evidence: TaskEvidence, metric: str, *, on_logs: bool) -> CaseValues:
    """`metric` (of `evidence.OF_OBSERVATIONS`) by case and seed; geometric means `on_logs`."""
    column = evidence.values[metric]
    known = ~np.isnan(column)
    value, case, seed = column[known], evidence.case[known], evidence.seed[known]
    _, first, place, counts = np.unique(
        np.stack([case, seed], axis=1),
        axis=0,
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    sums = np.bincount(place.reshape(-1), np.log(value) if on_logs else value, len(counts))
    means = sums / counts
    return CaseValues(
        case[first],
        seed[first],
        evidence.cluster[known][first],
        np.exp(means) if on_logs else means,
    )


def pair(a: CaseValues, b: CaseValues) -> Pairs:
    """The values that belong together, in the order of A."""
    of_b = {key: row for row, key in enumerate(_keys(b))}
    rows = [(row, of_b[key]) for row, key in enumerate(_keys(a)) if key in of_b]
    in_a = np.array([row for row, _ in rows], np.int64)
    in_b = np.array([row for _, row in rows], np.int64)
    return Pairs(
        a.case[in_a],
        a.cluster[in_a],
        a.value[in_a],
        b.value[in_b],
        len(a.case) - len(rows),
        len(b.case) - len(rows),
    )


def repeat_means(evidence: TaskEvidence, metric: str, cases: Integers, *, on_logs: bool) -> Floats:
    """The mean over these cases in each repeat that has a value, a case counting once.

    Geometric means `on_logs`, where all values are above 0.
    """
    column = evidence.values[metric]
    known = ~np.isnan(column) & np.isin(evidence.case, cases)
    value, repeat = column[known], evidence.repeat[known]
    on_logs = on_logs and bool((value > 0).all())
    _, place = np.unique(evidence.case[known], return_inverse=True)
    cells, cell = np.unique(repeat * (place.max(initial=0) + 1) + place, return_inverse=True)
    means = np.bincount(cell, np.log(value) if on_logs else value) / np.bincount(cell)
    _, of = np.unique(cells // (place.max(initial=0) + 1), return_inverse=True)
    found = np.bincount(of, means) / np.bincount(of)
    return np.exp(found) if on_logs else found


def _keys(values: CaseValues) -> list[tuple[int, int]]:
    return list(zip(values.case.tolist(), values.seed.tolist(), strict=True))
