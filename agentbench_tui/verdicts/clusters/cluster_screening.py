"""Searches undeclared clusters among many cases: in a sample first, then where the sample shows
them.

Reading the texts and fields of a million cases takes minutes. A sample of 20,000 shows what could
matter to so many: two cases of one cluster have to be alike for it to count at all, and the sample
holds hundreds of such pairs even of clusters of five cases that are scattered over the dataset.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from agentbench_tui.verdicts.clusters.case_groupings import LEAST_SIZE, declared_grouping, groupings
from agentbench_tui.verdicts.clusters.undeclared_clusters import Candidates, Grouped

if TYPE_CHECKING:
    from collections.abc import Callable

    from agentbench_tui.analysis.sample import Integers
    from agentbench_tui.verdicts.evidence.case_numbers import CaseNumbers

MOST_CASES = 20_000
"""Number of cases up to which all are examined; above it, a sample of this size."""
_BLOCK = 100
"""Cases of the sample in a row: cases of one document mostly follow each other."""
_SEED = 42

Build: TypeAlias = "Callable[[Integers, Grouped], Candidates]"
"""Candidates of some cases and their groupings."""


def screened(numbers: CaseNumbers, cases: Integers, build: Build) -> Candidates:
    """Return the candidates for clusters of these cases; for many cases those that a sample
    shows.

    A grouping that the sample shows, or makes suspect, is judged on all cases, adjusted for all
    groupings that were looked at.
    """
    if len(cases) <= MOST_CASES:
        return build(cases, Grouped(partial(groupings, numbers, cases)))
    sample = sample_of(cases)
    # In a sample a case has less company.
    least = 1 + (LEAST_SIZE - 1) * len(sample) / len(cases)
    shown = build(sample, Grouped(partial(groupings, numbers, sample, least), least))
    names = shown.noticed()
    if not names:
        return Candidates()
    found = build(
        cases, Grouped(lambda: [declared_grouping(numbers, cases, name) for name in names])
    )
    return replace(found, looked_at=len(shown.groupings))


def sample_of(cases: Integers) -> Integers:
    """Draw `MOST_CASES` of these cases, in blocks of consecutive cases, one from each stretch."""
    blocks = MOST_CASES // _BLOCK
    begins = np.linspace(0, len(cases), blocks + 1).astype(np.int64)
    free = np.diff(begins) - _BLOCK
    first = begins[:-1] + np.random.default_rng(_SEED).integers(0, free + 1)
    rows = (first[:, None] + np.arange(_BLOCK)).ravel()
    return np.asarray(cases[rows], np.int64)
