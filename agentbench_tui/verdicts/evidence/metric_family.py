"""Groups the tests of a comparison that are adjusted together, with their weights.

Accuracy comes first: it gets four fifths of the family's 5%, because a difference in it matters
most. By Holm's weighted rule (1979) unused error passes to the other tests, so that they have all
5% once accuracy is shown to differ. Excluded are tests that cannot fall below 5% with any outcome
(Tarone 1990), and costs that are tokens times a price: they carry the same information as the
tokens, and share their p.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from agentbench_tui.analysis.differences.multiplicity import benjamini_hochberg, weighted_holm
from agentbench_tui.verdicts.comparison.comparison import ALPHA

if TYPE_CHECKING:
    from agentbench_tui.verdicts.comparison.comparison import Comparison

Adjustment = Literal["holm", "benjamini-hochberg"]

_FIRST = "accuracy"
_SHARE_OF_FIRST = 0.8
_COST, _TOKENS = "cost_usd_per_task", "output_tokens"
_SAME = 1e-9
"""Relative difference up to which two figures are the same but for rounding."""


class Adjusted(msgspec.Struct, frozen=True):
    """p values adjusted together."""

    p: list[list[float | None]]
    """Adjusted p of each comparison of each group; None if it was not tested."""
    adjustment: Adjustment
    tests: int
    """Tests in the family."""


def adjusted_together(groups: Sequence[Sequence[Comparison]], most: int) -> Adjusted:
    """Adjust groups of comparisons; those of two sides on a benchmark form a group.

    Up to `most` tests are adjusted by Holm's method, more by Benjamini and Hochberg's.
    """
    family: list[tuple[int, int]] = []
    alone: list[tuple[int, int]] = []
    for place, group in enumerate(groups):
        for at, one in enumerate(group):
            if not one.comparable or one.p_tested is None:
                continue
            outside = _least_p(one) >= ALPHA or _twin(one, group) is not None
            (alone if outside else family).append((place, at))
    if not family:  # what can find nothing was tested all the same
        family, alone = alone, []
    tested = [groups[place][at] for place, at in family]
    p = [_p(one) for one in tested]
    name: Adjustment = "holm" if len(p) <= most else "benjamini-hochberg"
    new = weighted_holm(p, _weights(tested)) if name == "holm" else benjamini_hochberg(p)
    found: list[list[float | None]] = [[None] * len(group) for group in groups]
    for (place, at), value in zip(family, new, strict=True):
        found[place][at] = value
    for place, at in alone:
        one = groups[place][at]
        twin = _twin(one, groups[place])
        found[place][at] = _p(one) if twin is None else found[place][twin]
    return Adjusted(found, name, len(p))


def _p(one: Comparison) -> float:
    assert one.p_tested is not None
    return one.p_tested


def _weights(tested: Sequence[Comparison]) -> list[float]:
    """Return weights: four fifths shared by the tests of accuracy, the rest by the others."""
    first = sum(one.metric == _FIRST for one in tested)
    others = len(tested) - first
    if not first or not others:
        return [1.0] * len(tested)
    return [
        _SHARE_OF_FIRST / first if one.metric == _FIRST else (1 - _SHARE_OF_FIRST) / others
        for one in tested
    ]


def _least_p(one: Comparison) -> float:
    """Return the smallest p that the test could have had, given how many cases differ at all."""
    if one.only_a is None or one.only_b is None:
        return 0.0
    return min(1.0, 2.0 ** (1 - one.only_a - one.only_b))


def _twin(one: Comparison, group: Sequence[Comparison]) -> int | None:
    """Return the index of the tokens of which a cost is the same multiple on both sides."""
    if one.metric != _COST:
        return None
    for at, other in enumerate(group):
        if other.metric == _TOKENS and other.comparable and other.p_tested is not None:
            figures = ((one.ratio, other.ratio), (one.low, other.low), (one.high, other.high))
            same = all(
                x is not None and y is not None and math.isclose(x, y, rel_tol=_SAME)
                for x, y in (*figures, (one.p_tested, other.p_tested))
            )
            return at if same and one.n == other.n else None
    return None
