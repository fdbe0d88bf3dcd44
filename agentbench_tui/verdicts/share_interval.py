"""Intervals of a difference of shares, put into a comparison."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agentbench_tui.analysis.paired_effect import TOO_FEW
from agentbench_tui.analysis.proportion import clopper_pearson, newcombe
from agentbench_tui.verdicts.comparison import EQUIVALENCE_LEVEL, LEVEL
from agentbench_tui.verdicts.load_evidence import LoadEvidence
from agentbench_tui.verdicts.moments import all_binary

if TYPE_CHECKING:
    from agentbench_tui.analysis.interval import Interval
    from agentbench_tui.analysis.sample import Floats
    from agentbench_tui.verdicts.comparison import Comparison
    from agentbench_tui.verdicts.evidence import Evidence


def with_room(inner: Interval | None, only_a: int, only_b: int, n: int) -> Interval | None:
    """At least as wide as the exact ends of what each side alone may be right on.

    Of few such cases Newcombe's is too narrow: with none of 100 on one side, and a truth of 2
    points, 14 % were called equivalent where 5 % are due.
    """
    most_b = clopper_pearson(only_b, n, EQUIVALENCE_LEVEL)
    most_a = clopper_pearson(only_a, n, EQUIVALENCE_LEVEL)
    if inner is None or most_a is None or most_b is None:
        return inner
    low, high = only_b / n - most_a.high, most_b.high - only_a / n
    return replace(inner, low=min(inner.low, low), high=max(inner.high, high))


def with_newcombe(found: Comparison, a: Floats, b: Floats) -> Comparison:
    """Of independent cases; as it is where some are neither right nor wrong."""
    if not all_binary(a, b) or not len(a) or not len(b):
        return found
    counts = int(b.sum()), len(b), int(a.sum()), len(a)
    return with_newcombe_of(found, counts, "Newcombe's interval")


def with_newcombe_counts(found: Comparison, a: Evidence, b: Evidence) -> Comparison:
    """A share that was the same in every repeat of a side: as sure as its answers are many."""
    n_a, n_b = (
        one.observed(found.metric)
        if isinstance(one, LoadEvidence)
        else len(one.per_repeat(found.metric))
        for one in (a, b)
    )
    counts = round((found.b or 0) * n_b), n_b, round((found.a or 0) * n_a), n_a
    return with_newcombe_of(found, counts, "Newcombe's interval of all answers")


def with_newcombe_of(found: Comparison, counts: tuple[int, int, int, int], name: str) -> Comparison:
    """`counts`: how many of B, of how many, and the same of A."""
    outer, inner = (newcombe(*counts, level) for level in (LEVEL, EQUIVALENCE_LEVEL))
    test = found.method.partition(";")[0]
    notes = tuple(one for one in found.notes if outer is None or not one.startswith(TOO_FEW))
    found = with_intervals(found, outer, inner)
    return replace(found, method=f"{test}; {name}", notes=notes)


def with_intervals(found: Comparison, outer: Interval | None, inner: Interval | None) -> Comparison:
    """Shown is the outer, and the inner decides on equivalence."""
    low, high = (None, None) if outer is None else (outer.low, outer.high)
    inner_low, inner_high = (None, None) if inner is None else (inner.low, inner.high)
    return replace(found, low=low, high=high, inner_low=inner_low, inner_high=inner_high)
