"""Pairs the values of two sides by case and, if there is one, by seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from agentbench_tui.analysis.sample import count_distinct, distinct, mean_by, sorted_distinct

if TYPE_CHECKING:
    from agentbench_tui.analysis.sample import Floats, Integers
    from agentbench_tui.verdicts.evidence.task_evidence import TaskEvidence

LEAST_PAIRS = 6
"""Minimum number of pairs: with 5, the smallest sign-flip p is 0.0625."""


class CaseValues(msgspec.Struct, frozen=True):
    """One value for each case and seed of one side, the mean over its repeats and iterations."""

    case: Integers
    seed: Integers
    cluster: Integers
    value: Floats
    first: Integers
    """The row of its first answer: by it the values are in the order of asking."""

    def only(self, cases: Integers) -> CaseValues:
        """Return the values of some cases, in their order."""
        kept = np.isin(self.case, cases)
        return CaseValues(
            self.case[kept], self.seed[kept], self.cluster[kept], self.value[kept], self.first[kept]
        )

    @property
    def is_clustered(self) -> bool:
        """Return whether some values are correlated: declared clusters, or seeds of one case."""
        return count_distinct(self.cluster) < len(self.cluster)

    def independent(self, *, on_logs: bool, is_paid: bool) -> Floats:
        """Return one value for each cluster, so that their mean is that of all values, and their
        variance that of the clustered standard error (CR1).

        Amounts that are paid are sums, which stay at 0 or above.
        """
        if not self.is_clustered:
            return self.value
        x = np.log(self.value) if on_logs else self.value
        _, place = np.unique(self.cluster, return_inverse=True)
        center = 0.0 if is_paid else float(x.mean())
        sums = np.bincount(place.reshape(-1), x - center)
        found = center + sums * (len(sums) / len(x))
        return np.asarray(np.exp(found) if on_logs else found, np.float64)


class Pairs(msgspec.Struct, frozen=True):
    """The cases and seeds that both sides have a value for."""

    case: Integers
    cluster: Integers
    a: Floats
    b: Floats
    only_in_a: int
    """Number of cases and seeds without a value of B: not asked, or not answered."""
    only_in_b: int
    first_a: Integers
    """Order of asking: see `CaseValues.first`."""
    first_b: Integers

    def __len__(self) -> int:
        return len(self.case)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Say how many values of each side have no counterpart."""
        counts = (("A", self.only_in_a, "B"), ("B", self.only_in_b, "A"))
        return tuple(
            f"{count} of {side} without a value of {other} left out"
            for side, count, other in counts
            if count
        )

    @property
    def is_clustered(self) -> bool:
        """Return whether some pairs are correlated: declared clusters, or seeds of one case."""
        return count_distinct(self.cluster) < len(self.cluster)


def case_values(
    evidence: TaskEvidence, metric: str, *, on_logs: bool, seeded: bool = True
) -> CaseValues:
    """Return `metric` (of `evidence.OF_OBSERVATIONS`) by case and seed; geometric means if
    `on_logs`.

    By case alone where not `seeded`: the seed is 0 then.
    """
    column = evidence.values[metric]
    known = np.flatnonzero(~np.isnan(column))
    if len(known) == len(column):  # of a million values no copy is made
        value, case, cluster = column, evidence.case, evidence.cluster
    else:
        value, case, cluster = column[known], evidence.case[known], evidence.cluster[known]
    seed = evidence.seed[known] if seeded else np.zeros_like(known)
    seeds = sorted_distinct(seed)
    _, first, place, counts = distinct(_keys(case, seed, seeds))
    sums = np.bincount(place, np.log(value) if on_logs else value, len(counts))
    means = sums / counts
    of_case = case[first]
    return CaseValues(
        of_case,
        seed[first] if len(seeds) > 1 else np.broadcast_to(seeds, len(first)),
        of_case if cluster is case else cluster[first],
        np.exp(means) if on_logs else means,
        known[first],
    )


def pair(a: CaseValues, b: CaseValues) -> Pairs:
    """Return the values that belong together, in the order of A."""
    seeds = np.unique([*sorted_distinct(a.seed), *sorted_distinct(b.seed)])
    of_a, of_b = (_keys(one.case, one.seed, seeds) for one in (a, b))
    if np.array_equal(of_a, of_b):
        return Pairs(a.case, a.cluster, a.value, b.value, 0, 0, a.first, b.first)
    in_a = np.flatnonzero(np.isin(of_a, of_b, assume_unique=True))
    in_b = np.searchsorted(of_b, of_a[in_a])
    return Pairs(
        a.case[in_a],
        a.cluster[in_a],
        a.value[in_a],
        b.value[in_b],
        len(a.case) - len(in_a),
        len(b.case) - len(in_b),
        a.first[in_a],
        b.first[in_b],
    )


class RepeatMeans(msgspec.Struct, frozen=True):
    """The mean over the same cases in each repeat of one side."""

    value: Floats
    """One for each repeat that has values."""
    rest: float
    """Variance of the side's mean that comes from single answers: from neither case nor repeat."""


def repeat_means(
    evidence: TaskEvidence, metric: str, cases: Integers, *, on_logs: bool
) -> RepeatMeans:
    """Return the mean over these cases in each repeat, each case counting once; means of logs if
    `on_logs`.

    Where a repeat lacks some of them its mean is that of how far the others lie from their own
    case's, so that a repeat in which the slow ones failed is not fast. `on_logs` all values have to
    be above 0.
    """
    column = evidence.values[metric]
    known = ~np.isnan(column) & np.isin(evidence.case, cases)
    value = np.log(column[known]) if on_logs else column[known]
    _, repeat = np.unique(evidence.repeat[known], return_inverse=True)
    _, case = np.unique(evidence.case[known], return_inverse=True)
    if not len(value):
        return RepeatMeans(value, 0.0)
    repeats, asked = int(repeat.max()) + 1, int(case.max()) + 1
    cells, means = mean_by(repeat.reshape(-1) * asked + case.reshape(-1), value)
    repeat, case = np.divmod(cells, asked)
    _, of_case = mean_by(case, means)
    _, luck = mean_by(repeat, means - of_case[case])
    free = len(cells) - repeats - asked + 1
    rest = means - of_case[case] - luck[repeat]
    variance = float(rest @ rest) / free / len(cells) if free > 0 else 0.0
    if len(cells) == repeats * asked:  # equal repeats stay equal to the last digit
        return RepeatMeans(np.bincount(repeat, means) / asked, variance)
    return RepeatMeans(of_case.mean() + luck, variance)


def _keys(case: Integers, seed: Integers, seeds: Integers) -> Integers:
    """Return a number for each combination of case and seed, ordered by both; `seeds` are all
    existing ones, in order.
    """
    return case if len(seeds) < 2 else case * len(seeds) + np.searchsorted(seeds, seed)
